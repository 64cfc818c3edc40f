"""What the sections of several chapters use: sweeps, enumerations, statistics, surveys, pictures, tables."""
