//! DNS, TCP, TLS and HTTP under limits, with the raw bytes kept.
