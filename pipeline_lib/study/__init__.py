"""Which jobs does a study have, what do they cost, and what must run again?"""
