//! A run, shown: one file per format.
