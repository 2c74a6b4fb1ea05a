"""An experiment: settings in, results out."""
