"""What is measured for the claims of the paper `lists`: one declaration per experiment."""
