//! Runs a parser with random inputs: it must neither panic, nor hang, nor use much memory.
//!
//! The inputs are arbitrary bytes, and randomly changed seeds of a directory in `dev/fuzz/corpus`.
//! Fuzz targets search the same entry points by coverage; these properties also run where no fuzzer
//! can be built.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestError, TestRunner};
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A parser that needs longer for all inputs hangs. Each input takes less than a millisecond.
const LIMIT: Duration = Duration::from_mins(2);

/// Maximum growth of the process in bytes. Other tests run at the same time.
const MEMORY: u64 = 1 << 30;

/// Bytes and words that parsers often treat specially.
const TOKENS: [&[u8]; 34] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b",",
    b";",
    b":",
    b"=",
    b"-",
    b"#",
    b"$(",
    b"${",
    b"}",
    b"{",
    b"[",
    b"]",
    b"<",
    b">",
    b"&",
    b"*",
    b"\xef\xbb\xbf",
    b"\xff",
    "ä".as_bytes(),
    "€".as_bytes(),
    b"-1",
    b"0",
    b"1e400",
    b"NaN",
    b"18446744073709551616",
    b"999999999999",
];

/// Seeds of a corpus, in the order of their names.
pub fn corpus(name: &str) -> Vec<Vec<u8>> {
    let directory =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("dev/ is the folder above");
    let directory = directory.join("fuzz/corpus").join(name);
    let entries =
        fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a seed").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no seed", directory.display());
    files.iter().map(|file| fs::read(file).expect("a seed can be read")).collect()
}

/// Calls `parse` with every seed, and with `cases` inputs made of seeds and arbitrary bytes. `name`
/// is for messages.
pub fn survives(
    name: &str,
    seeds: Vec<Vec<u8>>,
    cases: u32,
    parse: impl Fn(&[u8]) + Send + 'static,
) {
    let (sender, receiver) = channel();
    let before = peak_memory();
    thread::spawn(move || {
        for seed in &seeds {
            parse(seed);
        }
        let mut runner =
            TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&inputs(seeds), |input| {
            parse(&input);
            Ok(())
        });
        let _ = sender.send(outcome);
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(Ok(())) => {}
        Ok(Err(TestError::Fail(why, input))) => {
            panic!("{name}: {why}\n  input: {:?}", String::from_utf8_lossy(&input))
        }
        Ok(Err(TestError::Abort(why))) => panic!("{name}: {why}"),
        Err(RecvTimeoutError::Timeout) => {
            panic!("{name}: a parser hangs: not done after {LIMIT:?}")
        }
        Err(RecvTimeoutError::Disconnected) => panic!("{name}: a seed fails"),
    }
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < MEMORY, "{name}: memory grew by {} MB", grown >> 20);
}

/// Strategy for arbitrary bytes and changed seeds.
fn inputs(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let others = seeds.clone();
    let changed = (select(seeds), vec(change(others), 1..6)).prop_map(|(seed, changes)| {
        changes.iter().fold(seed, |bytes, change| change.applied(bytes))
    });
    prop_oneof![1 => vec(any::<u8>(), 0..200), 9 => changed]
}

/// A change of some bytes.
#[derive(Debug, Clone)]
enum Change {
    /// Replaces one byte.
    Replace(Index, u8),
    /// Inserts bytes.
    Insert(Index, Vec<u8>),
    /// Removes a range.
    Remove(Index, Index),
    /// Repeats a range.
    Repeat(Index, Index),
    /// Replaces the end by that of another seed.
    Splice(Index, Vec<u8>, Index),
}

fn change(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let token = select(TOKENS.to_vec()).prop_map(<[u8]>::to_vec);
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (at(), token).prop_map(|(at, token)| Change::Insert(at, token)),
        (at(), at()).prop_map(|(a, b)| Change::Remove(a, b)),
        (at(), at()).prop_map(|(a, b)| Change::Repeat(a, b)),
        (at(), select(seeds), at()).prop_map(|(at, seed, from)| Change::Splice(at, seed, from)),
    ]
}

impl Change {
    fn applied(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let length = bytes.len();
        match self {
            Self::Replace(at, byte) => {
                if let Some(old) = bytes.get_mut(index_within(*at, length)) {
                    *old = *byte;
                }
            }
            Self::Insert(at, token) => {
                drop(bytes.splice(
                    index_within(*at, length)..index_within(*at, length),
                    token.iter().copied(),
                ));
            }
            Self::Remove(a, b) => {
                drop(bytes.drain(range(index_within(*a, length), index_within(*b, length))));
            }
            Self::Repeat(a, b) => {
                let range = range(index_within(*a, length), index_within(*b, length));
                let again = bytes[range.clone()].to_vec();
                drop(bytes.splice(range.end..range.end, again));
            }
            Self::Splice(at, seed, from) => {
                bytes.truncate(index_within(*at, length));
                bytes.extend_from_slice(&seed[index_within(*from, seed.len())..]);
            }
        }
        bytes
    }
}

fn index_within(position: Index, length: usize) -> usize {
    position.index(length + 1)
}

fn range(a: usize, b: usize) -> std::ops::Range<usize> {
    a.min(b)..a.max(b)
}

/// Peak memory of this process in bytes; 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
