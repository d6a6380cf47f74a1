"""What does the paper on feedback at the top claim, in numbers? One module an experiment."""
