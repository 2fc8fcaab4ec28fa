//! Reads time zones by name (`Europe/Berlin`) from the files of the machine (RFC 9636).

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, LazyLock, Mutex};

use brunt_model::sync::IgnorePoison;

const FOLDER: &str = "/usr/share/zoneinfo";
/// Maximum size of a zone file; longer files are no zones.
const MAX_FILE_BYTES: usize = 1 << 16;

/// Seconds since 1970. After the last change of a file, a rule may apply, which is not parsed. A
/// file with a rule is used only if its changes reach beyond this time.
const MIN_LAST_CHANGE: i64 = 2_000_000_000;

/// Offsets of a zone.
struct Zone {
    /// Offset before the first change, in seconds east of UTC.
    first: i32,
    /// Time of each change in seconds since 1970, and the offset after it, in order.
    changes: Vec<(i64, i32)>,
}

type ZoneCache = Mutex<HashMap<String, Option<Arc<Zone>>>>;

/// Returns the offset of a zone at a time in seconds since 1970, in seconds east of UTC. None:
/// the zone is unknown.
pub fn offset(name: &str, seconds: i64) -> Option<i32> {
    static CACHE: LazyLock<ZoneCache> = LazyLock::new(Mutex::default);
    let mut cache = CACHE.lock().ignore_poison();
    let zone = cache.entry(name.to_owned()).or_insert_with(|| read(name).map(Arc::new)).clone()?;
    drop(cache);
    let count = zone.changes.partition_point(|(time, _)| *time <= seconds);
    Some(count.checked_sub(1).map_or(zone.first, |last| zone.changes[last].1))
}

fn read(name: &str) -> Option<Zone> {
    if name.is_empty() || name.starts_with('/') || !name.chars().all(is_name_character) {
        return None;
    }
    parse(&fs::read(format!("{FOLDER}/{name}")).ok().filter(|bytes| bytes.len() <= MAX_FILE_BYTES)?)
}

/// True for the characters of zone names. A dot is none, so that a name cannot leave the folder.
fn is_name_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '+' | '/')
}

/// Parses the second block of a file, which has 64-bit times.
fn parse(bytes: &[u8]) -> Option<Zone> {
    // The order of the counts in a header (RFC 9636, 3.1).
    let [utc, standard, leaps, times, types, names] = block_counts(bytes)?;
    // The first block has 32-bit times.
    let skipped = 44 + times * 5 + types * 6 + names + leaps * 8 + standard + utc;
    let block = bytes.get(skipped..)?;
    let [_, _, _, times, types, _] = block_counts(block)?;
    let rest = block.get(44..)?;
    let (times_of_changes, rest) = rest.split_at_checked(times * 8)?;
    let (kinds, rest) = rest.split_at_checked(times)?;
    let rows: Vec<i32> = rest
        .get(..types * 6)?
        .chunks_exact(6)
        .map(|row| i32::from_be_bytes([row[0], row[1], row[2], row[3]]))
        .collect();
    let mut changes = Vec::with_capacity(times);
    for (eight, kind) in times_of_changes.chunks_exact(8).zip(kinds) {
        changes.push((i64::from_be_bytes(eight.try_into().ok()?), *rows.get(usize::from(*kind))?));
    }
    // The footer has a rule for later times; a comma in it means daylight saving time.
    let has_rule =
        bytes.rsplit(|byte| *byte == b'\n').nth(1).is_some_and(|rule| rule.contains(&b','));
    let last = changes.last().map_or(i64::MIN, |(time, _)| *time);
    (!has_rule || last > MIN_LAST_CHANGE).then_some(Zone { first: *rows.first()?, changes })
}

/// Returns the six counts in the header of a block.
fn block_counts(bytes: &[u8]) -> Option<[usize; 6]> {
    let head = bytes.get(..44).filter(|head| head.starts_with(b"TZif"))?;
    let mut counts = [0; 6];
    for (count, four) in counts.iter_mut().zip(head[20..].chunks_exact(4)) {
        *count = u32::from_be_bytes(four.try_into().ok()?) as usize;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone of two changes: to one hour east at 100 s, to two hours at 200 s.
    fn zone() -> Vec<u8> {
        let head = |times: u32, types: u32| {
            let mut head = b"TZif2".to_vec();
            head.resize(20, 0);
            for count in [0_u32, 0, 0, times, types, 0] {
                head.extend(count.to_be_bytes());
            }
            head
        };
        let mut bytes = head(0, 1);
        bytes.extend([0; 6]);
        bytes.extend(head(2, 3));
        for at in [100_i64, 200] {
            bytes.extend(at.to_be_bytes());
        }
        bytes.extend([1, 2]);
        for offset in [0_i32, 3600, 7200] {
            bytes.extend(offset.to_be_bytes());
            bytes.extend([0, 0]);
        }
        bytes
    }

    #[test]
    fn changes_are_read_with_their_times() {
        let zone = parse(&zone()).unwrap();
        assert_eq!((zone.first, &zone.changes[..]), (0, &[(100, 3600), (200, 7200)][..]));
    }

    #[test]
    fn malformed_files_and_names_outside_the_folder_are_refused() {
        let whole = zone();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_none(), "{end}");
        }
        for name in ["", "/etc/passwd", "../passwd", "No/Such"] {
            assert_eq!(offset(name, 0), None, "{name}");
        }
    }

    #[test]
    fn known_zones_have_their_offsets_if_installed() {
        // Winter, summer.
        if let Some(winter) = offset("Europe/Berlin", 1_577_869_200) {
            assert_eq!((winter, offset("Europe/Berlin", 1_590_000_000)), (3600, Some(7200)));
        }
    }
}
