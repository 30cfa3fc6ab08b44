//! What is kept: partition state, WARC, CDXJ, visits in Parquet, the crawl directory.
