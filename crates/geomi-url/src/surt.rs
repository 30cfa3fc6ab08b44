//! The sort-friendly key archives use for a URL.
