"""The Slack bot: questions in channels and direct messages, answers in their thread, one drift digest a run."""
