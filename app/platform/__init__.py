"""What touches the operating system: paths, logs, notifications, other programs, threads."""
