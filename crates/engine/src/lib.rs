//! The one loop that turns a plan into events.
