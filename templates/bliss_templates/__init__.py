"""Templates of plugins; a package, so that they are found in wheels and in editable installs alike."""
