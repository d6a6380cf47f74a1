"""What is measured for the claims of the paper `slam`: one declaration per experiment."""
