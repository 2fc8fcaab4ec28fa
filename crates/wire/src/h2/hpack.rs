//! Header compression (RFC 7541): blocks of header fields to bytes and back, with both tables.
//!
//! Pure. What a block may say in HTTP/2 is for `session`.

use super::static_table::STATIC;
use crate::multiplexing::field_block::{BadBlock, integer, put_integer, put_text, text};
use crate::request::fields::{Field, Indexing};
use std::collections::VecDeque;

/// What a table entry counts beside its texts.
const ENTRY_OVERHEAD: usize = 32;
/// The size of the dynamic table of either side until settings say otherwise, in bytes. Ours stays there.
pub const TABLE_SIZE: usize = 4096;

/// Fields that blocks may refer to, the newest first.
#[derive(Debug)]
struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    most: usize,
    /// Counts insertions and evictions.
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
        Self { entries: VecDeque::new(), size: 0, most: TABLE_SIZE, changes: 0 }
    }

    fn shrink_to(&mut self, most: usize) {
        while self.size > most {
            let Some(oldest) = self.entries.pop_back() else { return };
            self.size -= oldest.size();
            self.changes += 1;
        }
    }

    fn resize(&mut self, most: usize) {
        self.most = most;
        self.shrink_to(most);
    }

    fn insert(&mut self, entry: Entry) {
        self.changes += 1;
        // One that is larger than the table empties it.
        self.shrink_to(self.most.saturating_sub(entry.size()));
        if entry.size() <= self.most {
            self.size += entry.size();
            self.entries.push_front(entry);
        }
    }

    /// The field of an index of both tables.
    fn get(&self, index: usize) -> Result<(&[u8], &[u8]), BadBlock> {
        if let Some((name, value)) = index.checked_sub(1).and_then(|at| STATIC.get(at)) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let at = index.checked_sub(STATIC.len() + 1).ok_or(BadBlock::Index)?;
        self.entries.get(at).map(|entry| (&*entry.name, &*entry.value)).ok_or(BadBlock::Index)
    }
}

/// Decodes the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    name: Vec<u8>,
    value: Vec<u8>,
    /// By place.
    last: [LastBlock; 2],
    /// Blocks that came again, by their place: their insertions are still to be made.
    repeats: VecDeque<Place>,
}

/// Where a block stands in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the body.
    Head,
    /// Behind it.
    Trailers,
}

/// Insertions of so many blocks may matter: more do not fit into the table.
const MOST_REPEATS: usize = TABLE_SIZE / ENTRY_OVERHEAD;

/// The block that was decoded last in a place. Replies of one server mostly have the same one, but for the second of the
/// day: to compare is cheaper than to decode.
#[derive(Debug, Default)]
struct LastBlock {
    bytes: Vec<u8>,
    /// What it inserts into the table.
    inserted: Vec<Entry>,
    /// It refers to the table, as it was after so many changes.
    refers: Option<u64>,
}

impl Decoder {
    /// With an empty table.
    pub fn new() -> Self {
        Self {
            table: Table::new(),
            name: Vec::new(),
            value: Vec::new(),
            last: Default::default(),
            repeats: VecDeque::new(),
        }
    }

    /// Whether this block has the same fields as the one before; then it need not be decoded.
    pub fn repeats(&mut self, place: Place, block: &[u8]) -> bool {
        let last = &self.last[place as usize];
        let as_it_was = |changes| changes == self.table.changes && last.inserted.is_empty() && self.repeats.is_empty();
        let repeats = !block.is_empty() && *last.bytes == *block && last.refers.is_none_or(as_it_was);
        if repeats && !last.inserted.is_empty() {
            if self.repeats.len() == MOST_REPEATS {
                self.repeats.pop_front();
            }
            self.repeats.push_back(place);
        }
        repeats
    }

    /// Makes the insertions of blocks that were not decoded: of the last ones, which leave something in the table.
    fn catch_up(&mut self) {
        for place in self.repeats.drain(..) {
            self.last[place as usize].inserted.iter().for_each(|entry| self.table.insert(entry.clone()));
        }
    }

    /// Hands over the fields of a block, in order: name and value.
    ///
    /// # Errors
    ///
    /// Why the block is none. The connection cannot go on then.
    pub fn decode(&mut self, place: Place, block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), BadBlock> {
        self.catch_up();
        let mut inserted = Vec::new();
        self.last[place as usize] = LastBlock::default();
        let mut rest = block;
        let (mut begun, mut refers, mut resizes) = (false, false, false);
        while let Some(first) = rest.first() {
            match first {
                0x80.. => {
                    let index = integer(&mut rest, 7)?;
                    let (name, value) = self.table.get(index)?;
                    refers |= index > STATIC.len();
                    field(name, value);
                }
                0x40..0x80 => {
                    refers |= self.literal(&mut rest, 6)?;
                    field(&self.name, &self.value);
                    let entry = Entry { name: (&*self.name).into(), value: (&*self.value).into() };
                    inserted.push(entry.clone());
                    self.table.insert(entry);
                }
                0x20..0x40 => {
                    let size = integer(&mut rest, 5)?;
                    if begun || size > TABLE_SIZE {
                        return Err(BadBlock::TableSize);
                    }
                    self.table.resize(size);
                    resizes = true;
                    continue;
                }
                _ => {
                    refers |= self.literal(&mut rest, 4)?;
                    field(&self.name, &self.value);
                }
            }
            begun = true;
        }
        if !resizes {
            let refers = refers.then_some(self.table.changes);
            self.last[place as usize] = LastBlock { bytes: block.to_vec(), inserted, refers };
        }
        Ok(())
    }

    /// Reads name and value of a literal field, whose index has so many bits; whether the name is one of the dynamic table.
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
    /// The smallest and the last size that the peer allowed since the last block.
    resized: Option<(usize, usize)>,
}

impl Encoder {
    /// With an empty table.
    pub fn new() -> Self {
        Self { table: Table::new(), resized: None }
    }

    /// Counts changes of the dynamic table: where none was made, the same fields are the same bytes.
    pub fn changes(&self) -> u64 {
        self.table.changes
    }

    /// The peer allows a table of this size.
    pub fn resize(&mut self, size: usize) {
        let size = size.min(TABLE_SIZE);
        let least = self.resized.map_or(size, |(least, _)| least.min(size));
        if size != self.table.most || least != size {
            self.resized = Some((least, size));
            self.table.changes += 1;
        }
        self.table.resize(least);
        self.table.resize(size);
    }

    /// Appends the block of these fields.
    pub fn encode<'a>(&mut self, fields: impl Iterator<Item = &'a Field>, out: &mut Vec<u8>) {
        if let Some((least, last)) = self.resized.take() {
            self.table.changes += 1;
            if least < last {
                put_integer(out, 0x20, 5, least);
            }
            put_integer(out, 0x20, 5, last);
        }
        for field in fields {
            self.put(field, out);
        }
    }

    fn put(&mut self, field: &Field, out: &mut Vec<u8>) {
        let found = self.find(field);
        let name = match found {
            Found::Whole(index) => return put_integer(out, 0x80, 7, index),
            Found::Name(index) => index,
            Found::Nothing => 0,
        };
        let is_small = field.name.len() + field.value.len() + ENTRY_OVERHEAD <= self.table.most;
        let is_indexed = field.indexing == Indexing::Index && is_small;
        match field.indexing {
            _ if is_indexed => put_integer(out, 0x40, 6, name),
            Indexing::Never => put_integer(out, 0x10, 4, name),
            Indexing::Index | Indexing::Not => put_integer(out, 0, 4, name),
        }
        if name == 0 {
            put_text(out, 0, 7, field.name.as_bytes());
        }
        put_text(out, 0, 7, field.value.as_bytes());
        if is_indexed {
            self.table.insert(Entry { name: field.name.as_bytes().into(), value: field.value.as_bytes().into() });
        }
    }

    fn find(&self, field: &Field) -> Found {
        let whole =
            |(name, value): (&[u8], &[u8])| *name == *field.name.as_bytes() && *value == *field.value.as_bytes();
        let statics = STATIC.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let named = statics.clone().position(|(name, _)| *name == *field.name.as_bytes());
        let mut dynamic = self.table.entries.iter().map(|entry| (&*entry.name, &*entry.value));
        if field.indexing != Indexing::Never {
            // A value that is empty in the table is a place for others.
            let is_there = named.is_some() && !field.value.is_empty();
            if let Some(at) = is_there.then(|| statics.clone().position(whole)).flatten() {
                return Found::Whole(at + 1);
            }
            if let Some(at) = dynamic.clone().position(whole) {
                return Found::Whole(STATIC.len() + 1 + at);
            }
        }
        let mut in_dynamic = || dynamic.position(|(name, _)| *name == *field.name.as_bytes());
        match named.map(|at| at + 1).or_else(|| in_dynamic().map(|at| STATIC.len() + 1 + at)) {
            Some(index) => Found::Name(index),
            None => Found::Nothing,
        }
    }
}

/// What the tables have of a field.
enum Found {
    Whole(usize),
    Name(usize),
    Nothing,
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
        decode_at(decoder, Place::Head, block)
    }

    fn decode_at(decoder: &mut Decoder, place: Place, block: &[u8]) -> Result<Fields, BadBlock> {
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
        let first = decode(&mut decoder, &bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff")).unwrap();
        let base = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
        assert_eq!(first, fields(&base));
        let second = decode(&mut decoder, &bytes("8286 84be 5886 a8eb 1064 9cbf")).unwrap();
        assert_eq!(second, fields(&[&base[..], &[("cache-control", "no-cache")]].concat()));
        let third = decode(&mut decoder, &bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"));
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

    fn field(name: &str, value: &str, indexing: Indexing) -> Field {
        Field { name: name.into(), value: value.into(), indexing }
    }

    #[test]
    fn a_repeated_request_is_all_indices() {
        let mut encoder = Encoder::new();
        let request = [
            field(":method", "GET", Indexing::Index),
            field(":path", "/", Indexing::Not),
            field(":authority", "www.example.com", Indexing::Index),
            field("authorization", "Basic eA==", Indexing::Never),
        ];
        let block = |encoder: &mut Encoder| {
            let mut out = Vec::new();
            encoder.encode(request.iter(), &mut out);
            out
        };
        let (first, second, third) = (block(&mut encoder), block(&mut encoder), block(&mut encoder));
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
        ) -> Field {
            let indexing = [Indexing::Index, Indexing::Not, Indexing::Never][how as usize];
            field(&name, &value, indexing)
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
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
                let wanted: Fields = block.iter().map(|f| (f.name.to_string(), f.value.to_string())).collect();
                prop_assert_eq!(decode(&mut decoder, &out), Ok(wanted));
                prop_assert_eq!(encoder.table.size, decoder.table.size);
            }
        }

        /// Blocks that repeat are compared in place of decoded, and later ones mean the same.
        #[test]
        fn what_repeats_need_not_be_decoded(
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
                // Another encoder's block does not refer to the table, but inserts.
                let mut fresh = Vec::new();
                Encoder::new().encode(fields.iter(), &mut fresh);
                for time in 0..times {
                    let place = if time % 3 == 2 { Place::Trailers } else { Place::Head };
                    let wanted = decode(&mut plain, &fresh);
                    if !decoder.repeats(place, &fresh) {
                        prop_assert_eq!(decode_at(&mut decoder, place, &fresh), wanted);
                    }
                }
                for index in 62..70 {
                    let block = [0x80 | index];
                    let wanted = decode(&mut plain, &block);
                    if !decoder.repeats(Place::Head, &block) {
                        prop_assert_eq!(decode(&mut decoder, &block), wanted);
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
