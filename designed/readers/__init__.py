"""Readers, one format a file: each module has READER."""
