"""What is a data set in memory, how is it stored, and how is it read?"""
