"""What does the paper `twolayer` predict, and what is measured? One module for each experiment."""
