"""Erasing notes, and every wording that beliefs have from them."""
