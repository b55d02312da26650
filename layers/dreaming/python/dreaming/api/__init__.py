"""What people and programs read: status, beliefs with their evidence, runs, retired notes."""
