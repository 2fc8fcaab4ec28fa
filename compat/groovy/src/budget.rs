//! Limits the operations and memory of one run of a script.

/// Remaining operations and memory of a run. One operation is about one node of the syntax tree, or
/// one element of a collection that a library method visits. Bytes count all strings and
/// collections ever created, used or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Operations that the run may still execute.
    pub operations: u64,
    /// Bytes that the run may still allocate.
    pub bytes: u64,
}

impl Budget {
    /// Creates a budget for one run.
    pub fn new(operations: u64, bytes: u64) -> Self {
        Self { operations, bytes }
    }

    /// Consumes operations. Returns false if too few remain.
    pub(crate) fn take_operations(&mut self, count: u64) -> bool {
        let enough = self.operations >= count;
        self.operations = self.operations.saturating_sub(count);
        enough
    }

    /// Consumes bytes. Returns false if too few remain.
    pub(crate) fn take_bytes(&mut self, count: u64) -> bool {
        let enough = self.bytes >= count;
        self.bytes = self.bytes.saturating_sub(count);
        enough
    }
}

impl Default for Budget {
    /// Returns 20 million operations and 256 MiB.
    fn default() -> Self {
        Self::new(20_000_000, 256 << 20)
    }
}
