//! Compresses and decompresses header fields (RFC 7541), with the static and the dynamic table.
//!
//! It has no I/O. `session` checks whether the fields are allowed in HTTP/2.

use super::static_table::STATIC;
use crate::multiplexing::field_block::{BadBlock, integer, put_integer, put_text, text};
use crate::request::fields::{HeaderField, Indexing};
use std::collections::VecDeque;

/// Size of a table entry in addition to its texts, in bytes (RFC 7541 section 4.1).
const ENTRY_OVERHEAD: usize = 32;
/// Default size of the dynamic table of either side, in bytes. The decoder's limit stays there.
pub const TABLE_SIZE: usize = 4096;

/// The dynamic table: fields that blocks may refer to, the newest first.
#[derive(Debug)]
struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    max_size: usize,
    /// Number of insertions and evictions.
    changes: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    name: Box<[u8]>,
    value: Box<[u8]>,
}

impl Entry {
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + ENTRY_OVERHEAD
    }
}

impl Table {
    fn new() -> Self {
        Self { entries: VecDeque::new(), size: 0, max_size: TABLE_SIZE, changes: 0 }
    }

    fn shrink_to(&mut self, max_size: usize) {
        while self.size > max_size {
            let Some(oldest) = self.entries.pop_back() else { return };
            self.size -= oldest.size();
            self.changes += 1;
        }
    }

    fn resize(&mut self, max_size: usize) {
        self.max_size = max_size;
        self.shrink_to(max_size);
    }

    fn insert(&mut self, entry: Entry) {
        self.changes += 1;
        // An entry that is larger than the table empties it (RFC 7541 section 4.4).
        self.shrink_to(self.max_size.saturating_sub(entry.size()));
        if entry.size() <= self.max_size {
            self.size += entry.size();
            self.entries.push_front(entry);
        }
    }

    /// Returns the field at an index of the combined static and dynamic tables.
    fn get(&self, index: usize) -> Result<(&[u8], &[u8]), BadBlock> {
        if let Some((name, value)) = index.checked_sub(1).and_then(|index| STATIC.get(index)) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let index = index.checked_sub(STATIC.len() + 1).ok_or(BadBlock::Index)?;
        self.entries.get(index).map(|entry| (&*entry.name, &*entry.value)).ok_or(BadBlock::Index)
    }
}

/// Decodes the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    name: Vec<u8>,
    value: Vec<u8>,
    /// The last block in each place.
    last: [LastBlock; 2],
    /// Repeated blocks that were not decoded, by their place. Their insertions are pending.
    pending_repeats: VecDeque<BlockPosition>,
}

/// Position of a block in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockPosition {
    /// Before the body.
    Head,
    /// After the body.
    Trailers,
}

/// Maximum number of repeated blocks with pending insertions: more entries do not
/// fit into the table.
const MAX_REPEATS: usize = TABLE_SIZE / ENTRY_OVERHEAD;

/// The last block that was decoded in a place. Replies of one server mostly have the same block
/// until the second in the Date field changes. Comparing is cheaper than decoding.
#[derive(Debug, Default)]
struct LastBlock {
    bytes: Vec<u8>,
    /// Entries that the block inserts into the table.
    inserted: Vec<Entry>,
    /// Set if the block refers to the table: the number of table changes after it.
    table_changes: Option<u64>,
}

impl Decoder {
    /// Creates a decoder with an empty table.
    pub fn new() -> Self {
        Self {
            table: Table::new(),
            name: Vec::new(),
            value: Vec::new(),
            last: Default::default(),
            pending_repeats: VecDeque::new(),
        }
    }

    /// True if this block has the same fields as the previous one in its place. It need
    /// not be decoded then.
    pub fn is_repeat(&mut self, place: BlockPosition, block: &[u8]) -> bool {
        let last = &self.last[place as usize];
        let has_same_references = match last.table_changes {
            None => true,
            Some(changes) => {
                changes == self.table.changes
                    && last.inserted.is_empty()
                    && self.pending_repeats.is_empty()
            }
        };
        let is_repeat = !block.is_empty() && *last.bytes == *block && has_same_references;
        if is_repeat && !last.inserted.is_empty() {
            if self.pending_repeats.len() == MAX_REPEATS {
                self.pending_repeats.pop_front();
            }
            self.pending_repeats.push_back(place);
        }
        is_repeat
    }

    /// Makes the pending insertions of repeated blocks. Only the last blocks leave
    /// entries in the table.
    fn insert_pending(&mut self) {
        for place in self.pending_repeats.drain(..) {
            self.last[place as usize]
                .inserted
                .iter()
                .for_each(|entry| self.table.insert(entry.clone()));
        }
    }

    /// Passes the fields of a block to `field`, in order: name and value.
    ///
    /// # Errors
    ///
    /// The error in the block. The connection is unusable afterwards.
    pub fn decode(
        &mut self,
        place: BlockPosition,
        block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), BadBlock> {
        self.insert_pending();
        let mut inserted = Vec::new();
        self.last[place as usize] = LastBlock::default();
        let mut rest = block;
        let mut has_fields = false;
        let mut uses_table = false;
        let mut resizes = false;
        while let Some(first) = rest.first() {
            match first {
                0x80.. => {
                    let index = integer(&mut rest, 7)?;
                    let (name, value) = self.table.get(index)?;
                    uses_table |= index > STATIC.len();
                    field(name, value);
                }
                0x40..0x80 => {
                    uses_table |= self.literal(&mut rest, 6)?;
                    field(&self.name, &self.value);
                    let entry = Entry { name: (&*self.name).into(), value: (&*self.value).into() };
                    inserted.push(entry.clone());
                    self.table.insert(entry);
                }
                0x20..0x40 => {
                    let size = integer(&mut rest, 5)?;
                    if has_fields || size > TABLE_SIZE {
                        return Err(BadBlock::TableSize);
                    }
                    self.table.resize(size);
                    resizes = true;
                    continue;
                }
                _ => {
                    uses_table |= self.literal(&mut rest, 4)?;
                    field(&self.name, &self.value);
                }
            }
            has_fields = true;
        }
        // A repeated block would resize the table again.
        if !resizes {
            let table_changes = uses_table.then_some(self.table.changes);
            self.last[place as usize] =
                LastBlock { bytes: block.to_vec(), inserted, table_changes };
        }
        Ok(())
    }

    /// Reads name and value of a literal field whose index has `bits` bits in the first byte.
    /// Returns true if the name is in the dynamic table.
    fn literal(&mut self, rest: &mut &[u8], bits: u32) -> Result<bool, BadBlock> {
        let index = integer(rest, bits)?;
        self.name.clear();
        if index == 0 {
            text(rest, 7, &mut self.name)?;
        } else {
            self.name.extend_from_slice(self.table.get(index)?.0);
        }
        self.value.clear();
        text(rest, 7, &mut self.value)?;
        Ok(index > STATIC.len())
    }
}

/// Encodes the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The smallest and the last table size that the peer set since the last block.
    new_sizes: Option<(usize, usize)>,
}

impl Encoder {
    /// Creates an encoder with an empty table.
    pub fn new() -> Self {
        Self { table: Table::new(), new_sizes: None }
    }

    /// Number of changes of the dynamic table. While it is the same, equal
    /// fields have equal encodings.
    pub fn changes(&self) -> u64 {
        self.table.changes
    }

    /// Applies the table size that the peer allows.
    pub fn resize(&mut self, size: usize) {
        let size = size.min(TABLE_SIZE);
        let smallest = self.new_sizes.map_or(size, |(smallest, _)| smallest.min(size));
        if size != self.table.max_size || smallest != size {
            self.new_sizes = Some((smallest, size));
            self.table.changes += 1;
        }
        // The peer shrinks its table to the smallest size as well, and loses the same entries.
        self.table.resize(smallest);
        self.table.resize(size);
    }

    /// Appends the block of these fields.
    pub fn encode<'a>(&mut self, fields: impl Iterator<Item = &'a HeaderField>, out: &mut Vec<u8>) {
        if let Some((smallest, last)) = self.new_sizes.take() {
            self.table.changes += 1;
            // The peer must learn both sizes (RFC 7541 section 4.2).
            if smallest < last {
                put_integer(out, 0x20, 5, smallest);
            }
            put_integer(out, 0x20, 5, last);
        }
        for field in fields {
            self.put_field(field, out);
        }
    }

    fn put_field(&mut self, field: &HeaderField, out: &mut Vec<u8>) {
        let name = match self.find(field) {
            TableMatch::Field(index) => return put_integer(out, 0x80, 7, index),
            TableMatch::Name(index) => index,
            TableMatch::None => 0,
        };
        // A larger entry would only empty the table (RFC 7541 section 4.4).
        let is_small = field.name.len() + field.value.len() + ENTRY_OVERHEAD <= self.table.max_size;
        let is_indexed = field.indexing == Indexing::Index && is_small;
        match field.indexing {
            _ if is_indexed => put_integer(out, 0x40, 6, name),
            Indexing::Never => put_integer(out, 0x10, 4, name),
            Indexing::Index | Indexing::Without => put_integer(out, 0, 4, name),
        }
        if name == 0 {
            put_text(out, 0, 7, field.name.as_bytes());
        }
        put_text(out, 0, 7, field.value.as_bytes());
        if is_indexed {
            self.table.insert(Entry {
                name: field.name.as_bytes().into(),
                value: field.value.as_bytes().into(),
            });
        }
    }

    fn find(&self, field: &HeaderField) -> TableMatch {
        let statics = STATIC.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let static_name = statics.clone().position(|(name, _)| *name == *field.name.as_bytes());
        let mut dynamic = self.table.entries.iter().map(|entry| (&*entry.name, &*entry.value));
        if field.indexing != Indexing::Never {
            // An empty value in the static table is a placeholder for other values.
            if static_name.is_some()
                && !field.value.is_empty()
                && let Some(index) =
                    statics.clone().position(|(name, value)| is_same(field, name, value))
            {
                return TableMatch::Field(index + 1);
            }
            if let Some(index) =
                dynamic.clone().position(|(name, value)| is_same(field, name, value))
            {
                return TableMatch::Field(STATIC.len() + 1 + index);
            }
        }
        if let Some(index) = static_name {
            return TableMatch::Name(index + 1);
        }
        match dynamic.position(|(name, _)| *name == *field.name.as_bytes()) {
            Some(index) => TableMatch::Name(STATIC.len() + 1 + index),
            None => TableMatch::None,
        }
    }
}

#[inline]
fn is_same(field: &HeaderField, name: &[u8], value: &[u8]) -> bool {
    *name == *field.name.as_bytes() && *value == *field.value.as_bytes()
}

/// The entry of the tables that a field can refer to, with its index.
enum TableMatch {
    /// An entry with the same name and value.
    Field(usize),
    /// An entry with the same name.
    Name(usize),
    None,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Fields = Vec<(String, String)>;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|two| (two[0] << 4 | two[1]) as u8).collect()
    }

    fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, BadBlock> {
        decode_at(decoder, BlockPosition::Head, block)
    }

    fn decode_at(
        decoder: &mut Decoder,
        place: BlockPosition,
        block: &[u8],
    ) -> Result<Fields, BadBlock> {
        let mut fields = Fields::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder.decode(place, block, |name, value| fields.push((text(name), text(value))))?;
        Ok(fields)
    }

    fn fields(list: &[(&str, &str)]) -> Fields {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// RFC 7541 appendix C.4: three requests with Huffman codes.
    #[test]
    fn requests_of_the_standard() {
        let mut decoder = Decoder::new();
        let first =
            decode(&mut decoder, &bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff")).unwrap();
        let base = [
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/"),
            (":authority", "www.example.com"),
        ];
        assert_eq!(first, fields(&base));
        let second = decode(&mut decoder, &bytes("8286 84be 5886 a8eb 1064 9cbf")).unwrap();
        assert_eq!(second, fields(&[&base[..], &[("cache-control", "no-cache")]].concat()));
        let third = decode(
            &mut decoder,
            &bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"),
        );
        let third = third.unwrap();
        assert_eq!(third[4], ("custom-key".into(), "custom-value".into()));
        assert_eq!(decoder.table.size, 164);
    }

    /// RFC 7541 appendix C.6: replies in a table of 256 bytes, which evicts.
    #[test]
    fn replies_of_the_standard() {
        let mut decoder = Decoder::new();
        decoder.table.resize(256);
        let block = "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e \
                     919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3";
        let first = decode(&mut decoder, &bytes(block)).unwrap();
        let date = "Mon, 21 Oct 2013 20:13:21 GMT";
        let expected = [(":status", "302"), ("cache-control", "private"), ("date", date)];
        assert_eq!(first[..3], fields(&expected)[..]);
        assert_eq!(first[3], ("location".into(), "https://www.example.com".into()));
        assert_eq!(decoder.table.size, 222);
        let second = decode(&mut decoder, &bytes("4883 640e ffc1 c0bf")).unwrap();
        assert_eq!((second[0].1.as_str(), second[3].0.as_str()), ("307", "location"));
        assert_eq!(decoder.table.size, 222);
    }

    #[test]
    fn wrong_blocks_are_refused() {
        let refused = |hex: &str| decode(&mut Decoder::new(), &bytes(hex)).unwrap_err();
        assert_eq!(refused("80"), BadBlock::Index);
        assert_eq!(refused("be"), BadBlock::Index);
        assert_eq!(refused("ff"), BadBlock::Short);
        assert_eq!(refused("ff ffff ffff 7f"), BadBlock::Integer);
        assert_eq!(refused("40 0a 61"), BadBlock::Short);
        assert_eq!(refused("40 81 18 00"), BadBlock::Huffman);
        assert_eq!(refused("3f e2 1f"), BadBlock::TableSize);
        assert_eq!(refused("82 20"), BadBlock::TableSize);
    }

    fn field(name: &str, value: &str, indexing: Indexing) -> HeaderField {
        HeaderField { name: name.into(), value: value.into(), indexing }
    }

    #[test]
    fn a_repeated_request_is_encoded_as_indices() {
        let mut encoder = Encoder::new();
        let request = [
            field(":method", "GET", Indexing::Index),
            field(":path", "/", Indexing::Without),
            field(":authority", "www.example.com", Indexing::Index),
            field("authorization", "Basic eA==", Indexing::Never),
        ];
        let block = |encoder: &mut Encoder| {
            let mut out = Vec::new();
            encoder.encode(request.iter(), &mut out);
            out
        };
        let (first, second, third) =
            (block(&mut encoder), block(&mut encoder), block(&mut encoder));
        assert_eq!(first[..3], [0x82, 0x84, 0x41]);
        assert_eq!((&second[..3], second[3] & 0xf0), (&[0x82, 0x84, 0xbe][..], 0x10));
        assert_eq!(second, third);
        encoder.resize(0);
        assert_eq!(block(&mut encoder)[..4], [0x20, 0x82, 0x84, 0x01]);
    }

    prop_compose! {
        fn any_field()(
            name in "[a-d]|cookie|:path|content-length|accept",
            value in "[ -~]{0,40}|/|[x-z]",
            how in 0..3,
        ) -> HeaderField {
            let indexing = [Indexing::Index, Indexing::Without, Indexing::Never][how as usize];
            field(&name, &value, indexing)
        }
    }

    proptest! {
        #[test]
        fn encoded_fields_are_decoded(
            blocks in prop::collection::vec(
                (prop::collection::vec(any_field(), 0..12), prop::option::of(0_usize..600)), 1..20),
        ) {
            let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
            for (block, size) in blocks {
                if let Some(size) = size {
                    encoder.resize(size);
                }
                let mut out = Vec::new();
                encoder.encode(block.iter(), &mut out);
                let expected: Fields = block.iter().map(|f| (f.name.to_string(), f.value.to_string())).collect();
                prop_assert_eq!(decode(&mut decoder, &out), Ok(expected));
                prop_assert_eq!(encoder.table.size, decoder.table.size);
            }
        }

        /// Repeated blocks are compared instead of decoded. Later blocks are decoded
        /// in the same way.
        #[test]
        fn repeated_blocks_need_not_be_decoded(
            blocks in prop::collection::vec((prop::collection::vec(any_field(), 0..5), 1_usize..60), 1..10),
            size in prop::option::of(0_usize..600),
        ) {
            let (mut decoder, mut plain) = (Decoder::new(), Decoder::new());
            for decoder in [&mut decoder, &mut plain] {
                if let Some(size) = size {
                    decoder.table.resize(size);
                }
            }
            for (fields, times) in blocks {
                // A new encoder does not refer to the table, but inserts fields.
                let mut fresh = Vec::new();
                Encoder::new().encode(fields.iter(), &mut fresh);
                for time in 0..times {
                    let place = if time % 3 == 2 { BlockPosition::Trailers } else { BlockPosition::Head };
                    let expected = decode(&mut plain, &fresh);
                    if !decoder.is_repeat(place, &fresh) {
                        prop_assert_eq!(decode_at(&mut decoder, place, &fresh), expected);
                    }
                }
                for index in 62..70 {
                    let block = [0x80 | index];
                    let expected = decode(&mut plain, &block);
                    if !decoder.is_repeat(BlockPosition::Head, &block) {
                        prop_assert_eq!(decode(&mut decoder, &block), expected);
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(blocks: Vec<Vec<u8>>) {
            let mut decoder = Decoder::new();
            for block in blocks {
                let _ = decode(&mut decoder, &block);
                prop_assert!(decoder.table.size <= TABLE_SIZE);
            }
        }
    }
}
