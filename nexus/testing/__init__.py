"""Doubles of the ports, shipped for tests of Nexus and of what is built on it."""
