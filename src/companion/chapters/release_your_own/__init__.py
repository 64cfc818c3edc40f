"""From a file to a release."""
