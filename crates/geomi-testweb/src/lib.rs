//! A seeded synthetic web, as data and as a loopback server.
