"""Tests on a real SLURM, whose daemons run on this machine from the packages of Debian: `make test-cluster`."""
