"""Are limits of `certify` below the mean as often as it says?"""
