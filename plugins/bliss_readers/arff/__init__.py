"""ARFF files, flat and relational."""
