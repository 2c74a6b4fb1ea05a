"""Checking the parameters of a baseline when it is fitted: scikit-learn's constructors only store."""

from bliss_framework.plugin import check_settings as check_settings
