"""Which learners are there? One module for each, which declares it as LEARNER."""
