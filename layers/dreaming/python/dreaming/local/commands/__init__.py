"""The commands of `dream`, one module for each command or small family."""
