//! Bytes to a document: charset, links, title, text, fingerprint. It never fails.
