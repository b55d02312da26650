"""What a person does to a belief: confirm, archive, restore."""
