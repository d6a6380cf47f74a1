"""What does the paper on the length of lists claim, in numbers? One module for each experiment."""
