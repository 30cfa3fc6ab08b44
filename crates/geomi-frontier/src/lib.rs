//! Which URL next, and when: a pure scheduler that takes time as an argument.
