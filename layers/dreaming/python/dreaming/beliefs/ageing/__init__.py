"""What every moment of fading in a slice was computed under."""
