"""What people said: comparisons, rankings, tallies; validated once, immutable."""
