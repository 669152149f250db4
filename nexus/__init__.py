"""Nexus: designed and observed architecture, side by side, each with its evidence."""
