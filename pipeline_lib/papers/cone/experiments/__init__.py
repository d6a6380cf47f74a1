"""What is measured for the claims of the paper `cone`: one declaration per experiment."""
