"""Are the decisive numbers of the claims those of a second, plainer computation that shares no code with the first?"""
