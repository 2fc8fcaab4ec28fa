//! Readings from the server under test and from ourselves.
