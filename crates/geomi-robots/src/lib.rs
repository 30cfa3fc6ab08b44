//! What a site permits, by RFC 9309.
