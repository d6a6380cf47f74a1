"""What do the papers claim, what speaks for and against each claim, and what follows?"""
