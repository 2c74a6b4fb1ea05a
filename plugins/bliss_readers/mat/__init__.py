"""MATLAB files of bags."""
