//! Limits what one run of a script may cost.

/// How much a run may still do. One operation is about one node of the tree, or one element of a collection that a library
/// method visits; bytes are those of strings and collections made, whether or not they are still in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Operations left.
    pub operations: u64,
    /// Bytes left.
    pub bytes: u64,
}

impl Budget {
    /// A budget of so many operations and bytes.
    pub fn new(operations: u64, bytes: u64) -> Self {
        Self { operations, bytes }
    }

    /// Takes operations; `false` if too few are left.
    pub(crate) fn take_operations(&mut self, count: u64) -> bool {
        let enough = self.operations >= count;
        self.operations = self.operations.saturating_sub(count);
        enough
    }

    /// Takes bytes; `false` if too few are left.
    pub(crate) fn take_bytes(&mut self, count: u64) -> bool {
        let enough = self.bytes >= count;
        self.bytes = self.bytes.saturating_sub(count);
        enough
    }
}

impl Default for Budget {
    /// 20 million operations and 256 MiB.
    fn default() -> Self {
        Self::new(20_000_000, 256 << 20)
    }
}
