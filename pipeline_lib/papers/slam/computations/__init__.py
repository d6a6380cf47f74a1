"""What does the paper on perceptron-like algorithms claim, in numbers? One module an experiment."""
