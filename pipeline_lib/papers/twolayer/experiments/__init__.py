"""What is measured for the claims of the paper `twolayer`: one declaration per experiment."""
