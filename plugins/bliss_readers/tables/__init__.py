"""Tables: cells, what their columns mean, and the CSV and Parquet files that hold them."""
