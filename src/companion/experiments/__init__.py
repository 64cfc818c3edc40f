"""One module a paper: a function per figure or claim, from parameters to tidy frames and checks."""
