"""Designed against observed: findings that can be defended."""
