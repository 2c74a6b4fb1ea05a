"""Methods of the literature: softmax regression on features of an RBF kernel, each with a loss of its own."""
