"""The first five minutes: what Underhill is, what this computer can do, which model suits it."""
