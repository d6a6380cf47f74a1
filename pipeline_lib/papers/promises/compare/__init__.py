"""Does `compare` call equal runs different as rarely as it says, and does it find as much as Holm's correction?"""
