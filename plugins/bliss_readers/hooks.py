"""What this plugin registers."""

from bliss_framework.plugin import Component, hookimpl
from bliss_readers.andrews_svm import AndrewsSvmReader
from bliss_readers.arff.arff_reader import ArffReader
from bliss_readers.bag_files.bag_files_reader import BagFilesReader
from bliss_readers.c45 import C45Reader
from bliss_readers.mat.mat_reader import MatReader
from bliss_readers.mill import MillReader
from bliss_readers.npy.npy_reader import NpyReader
from bliss_readers.npz.npz_reader import NpzReader
from bliss_readers.tables.csv_reader import CsvReader
from bliss_readers.tables.excel_reader import ExcelReader
from bliss_readers.tables.parquet_reader import ParquetReader
from bliss_readers.zarr_store import ZarrReader


@hookimpl
def bliss_readers() -> list[Component]:
    """Register the readers."""
    return [
        Component("csv", CsvReader, "Tables as text (.csv, .tsv): one line for each instance"),
        Component("npz", NpzReader, "The native form (.npz): NumPy arrays, dense or sparse rows"),
        Component("npy", NpyReader, "Rows that need not fit into memory (.npy), with a file of bags and labels beside"),
        Component("parquet", ParquetReader, "Parquet tables (.parquet): one row for each instance; extra files"),
        Component("excel", ExcelReader, "Excel workbooks (.xlsx): one row for each instance; extra files"),
        Component("zarr", ZarrReader, "The native form as a Zarr store: a folder of compressed chunks; extra zarr"),
        Component(
            "bag-files",
            BagFilesReader,
            "A folder with a file for each bag (.npy, .npz, .h5, .pt, .parquet, .csv), and a table of labels",
        ),
        Component("mat", MatReader, "MATLAB files (.mat): rows with bag ids, or a cell with a matrix for each bag"),
        Component("arff", ArffReader, "Weka's files (.arff), with a bag or an instance in each line"),
        Component("c45", C45Reader, "The files of MUSK in the UCI repository (.data with .names)"),
        Component("mill", MillReader, "Files of the MILL toolbox (.data), dense or sparse"),
        Component(
            "andrews-svm", AndrewsSvmReader, "The published form of MUSK, Elephant and TREC9 (.svm): sparse rows"
        ),
    ]
