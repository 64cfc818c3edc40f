"""What the papers claim, what a chapter observed, the verdict that follows, and how it is shown."""
