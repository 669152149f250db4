"""Extractors of claims from text."""
