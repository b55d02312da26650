"""The two stacks: what must never be lost, and what can be deployed again at any time."""
