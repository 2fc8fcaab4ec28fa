//! HPACK (RFC 7541): a decoder with the dynamic table, and an encoder that never uses it.

use std::collections::VecDeque;

use super::huffman;

/// The table that both sides know (appendix A), from index 1 on.
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// What an entry takes of the table besides its bytes (section 4.1).
const OVERHEAD: usize = 32;

/// The longest string that is decoded, in bytes.
const LONGEST_STRING: usize = 64 * 1024;

/// Name and value of a field, one after the other.
#[derive(Debug)]
struct Entry {
    bytes: Box<[u8]>,
    name: usize,
}

/// The decoder of one connection.
#[derive(Debug)]
pub struct Decoder {
    entries: VecDeque<Entry>,
    /// The size of the entries as section 4.1 counts.
    size: usize,
    /// The size that the encoder chose.
    limit: usize,
    /// The largest size that it may choose.
    most: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// A decoder whose peer may use a table of `most` bytes. It begins with the usual 4096.
    pub fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), size: 0, limit: 4096, most, name: Vec::new(), value: Vec::new() }
    }

    /// Lets the peer use a table of `most` bytes from now on.
    pub fn permit(&mut self, most: usize) {
        self.most = most;
    }

    /// Decodes a whole header block; `take` gets name and value of each field.
    ///
    /// # Errors
    ///
    /// Which rule the block breaks; the connection cannot go on then.
    pub fn decode(&mut self, mut block: &[u8], mut take: impl FnMut(&[u8], &[u8])) -> Result<(), &'static str> {
        self.resize(&mut block)?;
        while let Some(&first) = block.first() {
            match first {
                0x80.. => {
                    let (name, value) = self.field(number(&mut block, 7)?)?;
                    take(name, value);
                }
                0x40.. => {
                    self.literal(&mut block, 6)?;
                    take(&self.name, &self.value);
                    self.insert();
                }
                0x20.. => return Err("a table size update after a field"),
                _ => {
                    self.literal(&mut block, 4)?;
                    take(&self.name, &self.value);
                }
            }
        }
        Ok(())
    }

    /// Takes the size updates with which a block may begin, and must if the table is larger than permitted.
    fn resize(&mut self, block: &mut &[u8]) -> Result<(), &'static str> {
        while block.first().is_some_and(|first| first & 0xe0 == 0x20) {
            let size = number(block, 5)?;
            if size > self.most {
                return Err("a table size update beyond SETTINGS_HEADER_TABLE_SIZE");
            }
            self.limit = size;
            self.evict(0);
        }
        if self.limit > self.most {
            Err("no table size update after a smaller SETTINGS_HEADER_TABLE_SIZE")
        } else {
            Ok(())
        }
    }

    fn field(&self, index: usize) -> Result<(&[u8], &[u8]), &'static str> {
        let Some(place) = index.checked_sub(1) else { return Err("index 0 of the header table") };
        if let Some((name, value)) = STATIC.get(place) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entries.get(place - STATIC.len()).ok_or("an index beyond the header table")?;
        Ok(entry.bytes.split_at(entry.name))
    }

    /// Reads a literal field into `name` and `value`.
    fn literal(&mut self, block: &mut &[u8], prefix: u32) -> Result<(), &'static str> {
        let index = number(block, prefix)?;
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        if index == 0 {
            string(block, &mut name)?;
        } else {
            name.extend_from_slice(self.field(index)?.0);
        }
        self.name = name;
        self.value.clear();
        string(block, &mut self.value)
    }

    /// Enters the last literal; one that is larger than the table empties it.
    fn insert(&mut self) {
        let size = self.name.len() + self.value.len() + OVERHEAD;
        self.evict(size);
        if size <= self.limit {
            let bytes = [&self.name[..], &self.value[..]].concat().into();
            self.entries.push_front(Entry { bytes, name: self.name.len() });
            self.size += size;
        }
    }

    fn evict(&mut self, room: usize) {
        while self.size + room > self.limit
            && let Some(last) = self.entries.pop_back()
        {
            self.size -= last.bytes.len() + OVERHEAD;
        }
    }
}

/// Reads a number whose first byte has `prefix` bits of it (section 5.1).
fn number(block: &mut &[u8], prefix: u32) -> Result<usize, &'static str> {
    let most = (1usize << prefix) - 1;
    let (&first, rest) = block.split_first().ok_or("a header block that ends within a field")?;
    *block = rest;
    let mut value = usize::from(first) & most;
    if value < most {
        return Ok(value);
    }
    for shift in [0, 7, 14, 21] {
        let (&byte, rest) = block.split_first().ok_or("a header block that ends within a number")?;
        *block = rest;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number in the header block that is too large")
}

fn string(block: &mut &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let coded = block.first().is_some_and(|first| first & 0x80 != 0);
    let length = number(block, 7)?;
    let (bytes, rest) = block.split_at_checked(length).ok_or("a header block that ends within a string")?;
    *block = rest;
    if length > LONGEST_STRING {
        return Err("a string in the header block that is too long");
    }
    if coded {
        return huffman::decode(bytes, out);
    }
    out.extend_from_slice(bytes);
    Ok(())
}

/// Appends a number after the bits `pattern` of its first byte.
pub fn put_number(out: &mut Vec<u8>, pattern: u8, prefix: u32, value: usize) {
    let most = (1usize << prefix) - 1;
    if value < most {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | most as u8);
    let mut left = value - most;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

/// Appends a string as it is.
pub fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, 0, 7, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a field: by its index if the static table has it, else as a literal that is not entered in the table.
pub fn put_field(out: &mut Vec<u8>, name: &str, value: &str) {
    if let Some(place) = STATIC.iter().position(|field| *field == (name, value)) {
        return put_number(out, 0x80, 7, place + 1);
    }
    if let Some(place) = STATIC.iter().position(|field| field.0 == name) {
        put_number(out, 0, 4, place + 1);
    } else {
        out.push(0);
        put_string(out, name.as_bytes());
    }
    put_string(out, value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn decode(decoder: &mut Decoder, hex: &str) -> Result<String, &'static str> {
        let mut text = Vec::new();
        let block = bytes(hex);
        decoder.decode(&block, |name, value| text.push([name, b"=", value, b";"].concat()))?;
        Ok(String::from_utf8(text.concat()).unwrap())
    }

    #[test]
    fn numbers_of_appendix_c_1() {
        for (prefix, value, hex) in [(5, 10, "0a"), (5, 1337, "1f9a0a"), (8, 42, "2a")] {
            let mut out = Vec::new();
            put_number(&mut out, 0, prefix, value);
            assert_eq!(out, bytes(hex));
            assert_eq!(number(&mut &out[..], prefix), Ok(value));
        }
    }

    #[test]
    fn single_fields_of_appendix_c_2() {
        for (hex, text, size) in [
            ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key=custom-header;", 55),
            ("040c2f73616d706c652f70617468", ":path=/sample/path;", 0),
            ("100870617373776f726406736563726574", "password=secret;", 0),
            ("82", ":method=GET;", 0),
        ] {
            let mut decoder = Decoder::new(4096);
            assert_eq!(decode(&mut decoder, hex).as_deref(), Ok(text));
            assert_eq!(decoder.size, size);
        }
    }

    const REQUESTS: [&str; 3] = [
        ":method=GET;:scheme=http;:path=/;:authority=www.example.com;",
        ":method=GET;:scheme=http;:path=/;:authority=www.example.com;cache-control=no-cache;",
        ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;custom-key=custom-value;",
    ];

    #[test]
    fn requests_of_appendices_c_3_and_c_4() {
        for blocks in [
            [
                "828684410f7777772e6578616d706c652e636f6d",
                "828684be58086e6f2d6361636865",
                "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
            ],
            [
                "828684418cf1e3c2e5f23a6ba0ab90f4ff",
                "828684be5886a8eb10649cbf",
                "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
            ],
        ] {
            let mut decoder = Decoder::new(4096);
            for ((block, text), size) in blocks.iter().zip(REQUESTS).zip([57, 110, 164]) {
                assert_eq!(decode(&mut decoder, block).as_deref(), Ok(text));
                assert_eq!(decoder.size, size);
            }
        }
    }

    #[test]
    fn responses_of_appendices_c_5_and_c_6_with_eviction() {
        let date = |second| format!("date=Mon, 21 Oct 2013 20:13:{second} GMT;");
        let location = "location=https://www.example.com;";
        let texts = [
            format!(":status=302;cache-control=private;{}{location}", date(21)),
            format!(":status=307;cache-control=private;{}{location}", date(21)),
            format!(
                ":status=200;cache-control=private;{}{location}content-encoding=gzip;\
                 set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1;",
                date(22)
            ),
        ];
        for blocks in [
            [
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a\
                 2f2f7777772e6578616d706c652e636f6d",
                "4803333037c1c0bf",
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b\
                 425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
            ],
            [
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
                "4883640effc1c0bf",
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af2708\
                 7f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ],
        ] {
            let mut decoder = Decoder::new(256);
            for ((block, text), size) in blocks.iter().zip(&texts).zip([222, 222, 215]) {
                let update = if decoder.limit == 4096 { "3fe101" } else { "" };
                assert_eq!(decode(&mut decoder, &format!("{update}{block}")).as_deref(), Ok(text.as_str()));
                assert_eq!(decoder.size, size);
            }
        }
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        for (hex, told) in [
            ("80", "index 0"),
            ("be", "beyond the header table"),
            ("3fe21f", "beyond SETTINGS_HEADER_TABLE_SIZE"),
            ("8220", "after a field"),
            ("41", "ends within"),
            ("410561", "ends within a string"),
            ("ffffffffffff", "too large"),
            ("418100", "padding"),
        ] {
            let refusal = decode(&mut Decoder::new(4096), hex).unwrap_err();
            assert!(refusal.contains(told), "{hex}: {refusal}");
        }
        assert!(decode(&mut Decoder::new(100), "82").unwrap_err().contains("no table size update"));
        assert_eq!(decode(&mut Decoder::new(100), "3f4582").as_deref(), Ok(":method=GET;"));
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut decoder = Decoder::new(4096);
        decode(&mut decoder, "400a637573746f6d2d6b65790d637573746f6d2d686561646572").unwrap();
        decode(&mut decoder, "3f17").unwrap();
        assert_eq!((decoder.limit, decoder.size), (54, 0));
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let mut out = Vec::new();
        let long = "x".repeat(300);
        let fields = [(":status", "200"), (":status", "503"), ("content-length", "10"), ("x-a", ""), ("x-b", &long)];
        for (name, value) in fields {
            put_field(&mut out, name, value);
        }
        let mut decoded = Vec::new();
        Decoder::new(4096)
            .decode(&out, |name, value| {
                decoded.push((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(value).into_owned()));
            })
            .unwrap();
        assert_eq!(decoded, fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(&out[..6], [0x88, 0x08, 0x03, b'5', b'0', b'3']);
    }
}
