//! Do we want this URL, and by which rule.
