"""What this machine is, and the plan that follows from it."""
