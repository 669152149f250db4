"""Providers, one service a file: each module has PROVIDE = (port, factory)."""
