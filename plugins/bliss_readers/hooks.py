"""What this plugin offers."""

from bliss_framework import Component, hookimpl
from bliss_readers.csv_table import CsvReader
from bliss_readers.npz import NpzReader
from bliss_readers.parquet_table import ParquetReader


@hookimpl
def bliss_readers() -> list[Component]:
    """Offer the readers."""
    return [
        Component("csv", CsvReader, "Tables as text (.csv, .tsv): one line for each instance"),
        Component("npz", NpzReader, "The native form (.npz): NumPy arrays, dense or sparse rows"),
        Component("parquet", ParquetReader, "Parquet tables (.parquet): one row for each instance; extra files"),
    ]
