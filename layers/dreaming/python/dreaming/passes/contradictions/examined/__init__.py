"""Which beliefs the pass has examined, and which it has still to come to."""
