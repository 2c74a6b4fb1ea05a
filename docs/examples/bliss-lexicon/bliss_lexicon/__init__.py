"""A reward for texts that mixes a user's own prior, a word list, into any other reward."""
