//! Time zones by their names, from the files of the machine (RFC 9636): `Europe/Berlin`.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

const FOLDER: &str = "/usr/share/zoneinfo";
/// Longer files are no zones.
const LONGEST: usize = 1 << 16;

/// Behind the last change of a file a rule may hold. Files that end before this time rely on it, and are not read.
const RULES_BEGIN: i64 = 2_000_000_000;

/// When the offset from UTC changes, and to how many seconds, in order.
struct Zone {
    /// Before the first change.
    first: i32,
    changes: Vec<(i64, i32)>,
}

type Known = Mutex<HashMap<String, Option<Arc<Zone>>>>;

/// Seconds east of UTC of a zone at a time in seconds since 1970. None: the zone is not known here.
pub fn offset(name: &str, seconds: i64) -> Option<i32> {
    static KNOWN: LazyLock<Known> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let zone = known.entry(name.to_owned()).or_insert_with(|| read(name).map(Arc::new)).clone()?;
    drop(known);
    let behind = zone.changes.partition_point(|(at, _)| *at <= seconds);
    Some(behind.checked_sub(1).map_or(zone.first, |last| zone.changes[last].1))
}

fn read(name: &str) -> Option<Zone> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '+' | '/');
    if name.is_empty() || name.starts_with('/') || !name.chars().all(is_plain) {
        return None;
    }
    parse(&fs::read(format!("{FOLDER}/{name}")).ok().filter(|bytes| bytes.len() <= LONGEST)?)
}

/// The second block of a file, whose times have 64 bits.
fn parse(bytes: &[u8]) -> Option<Zone> {
    let counts = |bytes: &[u8]| -> Option<[usize; 6]> {
        let head = bytes.get(..44).filter(|head| head.starts_with(b"TZif"))?;
        let mut counts = [0; 6];
        for (count, four) in counts.iter_mut().zip(head[20..].chunks_exact(4)) {
            *count = u32::from_be_bytes(four.try_into().ok()?) as usize;
        }
        Some(counts)
    };
    let [utc, standard, leaps, times, types, names] = counts(bytes)?;
    let skipped = 44 + times * 5 + types * 6 + names + leaps * 8 + standard + utc;
    let block = bytes.get(skipped..)?;
    let [_, _, _, times, types, _] = counts(block)?;
    let rest = block.get(44..)?;
    let (at, rest) = rest.split_at_checked(times * 8)?;
    let (kinds, rest) = rest.split_at_checked(times)?;
    let rows: Vec<i32> = rest
        .get(..types * 6)?
        .chunks_exact(6)
        .map(|row| i32::from_be_bytes([row[0], row[1], row[2], row[3]]))
        .collect();
    let mut changes = Vec::with_capacity(times);
    for (eight, kind) in at.chunks_exact(8).zip(kinds) {
        changes.push((i64::from_be_bytes(eight.try_into().ok()?), *rows.get(usize::from(*kind))?));
    }
    let has_rule = bytes.rsplit(|byte| *byte == b'\n').nth(1).is_some_and(|rule| rule.contains(&b','));
    let last = changes.last().map_or(i64::MIN, |(at, _)| *at);
    (!has_rule || last > RULES_BEGIN).then_some(Zone { first: *rows.first()?, changes })
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
    fn changes_hold_from_their_time_on() {
        let zone = parse(&zone()).unwrap();
        assert_eq!((zone.first, &zone.changes[..]), (0, &[(100, 3600), (200, 7200)][..]));
    }

    #[test]
    fn broken_files_and_names_outside_the_folder_are_no_zones() {
        let whole = zone();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_none(), "{end}");
        }
        for name in ["", "/etc/passwd", "../passwd", "No/Such"] {
            assert_eq!(offset(name, 0), None, "{name}");
        }
    }

    #[test]
    fn known_zones_have_their_offsets_where_the_machine_has_them() {
        // Winter, summer.
        if let Some(winter) = offset("Europe/Berlin", 1_577_869_200) {
            assert_eq!((winter, offset("Europe/Berlin", 1_590_000_000)), (3600, Some(7200)));
        }
    }
}
