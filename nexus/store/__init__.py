"""PostgreSQL behind the ports. Functions are synchronous and take a connection; callers own transactions and threads."""
