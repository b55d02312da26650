"""What all passes that call a model share: the limits of a call, and the organization's budget."""
