//! The clock and the read buffer that all connections of a worker thread share.

use std::cell::RefCell;

/// Size of the read buffer, in bytes. If bodies are dropped in the kernel, little of it is ever
/// written, so most of its pages are never allocated.
pub(crate) const BUFFER: usize = 1 << 20;

/// The clock and the read buffer of a worker thread.
pub(crate) struct WorkerIo<T> {
    pub time: T,
    pub buffer: RefCell<Box<[u8]>>,
}

impl<T> WorkerIo<T> {
    /// Creates a buffer of `BUFFER` bytes.
    pub fn new(time: T) -> Self {
        Self { time, buffer: RefCell::new(vec![0; BUFFER].into_boxed_slice()) }
    }
}
