"""The decay pass: what has faded is archived, what matters is announced before."""
