//! The journey of a URL: the one crawl loop, wired from the parts below.
