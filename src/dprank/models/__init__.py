"""Laws of comparisons and rankings, their samplers and likelihoods."""
