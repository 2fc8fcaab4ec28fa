//! Facts about the data files of a plan: size and hash, so that runs with other data can be recognized.

use aws_lc_rs::digest::{Context, SHA256};
use brunt_model::numbers::hexadecimal;
use brunt_model::{DataFileFacts, Plan};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

/// Size of the pieces in which a file is read.
const PIECE: usize = 1 << 16;

/// Returns the facts of all data files, except those that cannot be read and names with placeholders. The run
/// itself reports a file that it cannot read.
pub fn facts(plan: &Plan) -> Vec<DataFileFacts> {
    let files = plan.populations.iter().flat_map(|population| &population.scenario.data);
    let names: BTreeSet<&str> = files.map(|data| data.file.as_str()).collect();
    names.into_iter().filter_map(|name| facts_of(name).ok().flatten()).collect()
}

fn facts_of(name: &str) -> io::Result<Option<DataFileFacts>> {
    // Reading a pipe would take its content from the run.
    if !std::fs::metadata(name)?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(name)?;
    let (mut context, mut bytes, mut piece) = (Context::new(&SHA256), 0, vec![0; PIECE]);
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            break;
        }
        context.update(&piece[..count]);
        bytes += count as u64;
    }
    let sha256 = hexadecimal(context.finish().as_ref());
    Ok(Some(DataFileFacts { file: name.to_owned(), bytes, sha256 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_size_and_hash_and_a_pipe_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("users.csv");
        std::fs::write(&file, "abc").unwrap();
        let name = file.to_str().unwrap();
        let facts = facts_of(name).unwrap().unwrap();
        assert_eq!((facts.file.as_str(), facts.bytes), (name, 3));
        // The first example of FIPS 180.
        assert_eq!(
            facts.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(facts_of("/dev/null").unwrap(), None);
        assert!(facts_of("absent-${file}.csv").is_err());
    }
}
