"""What is measured for the claims of the paper `topk`: one declaration per experiment."""
