"""Which box of an image shows a class: label inference with its classifier and reward, and other methods."""
