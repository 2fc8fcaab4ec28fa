//! What a controller keeps on its disk during a run, so that another process can take its place.
//!
//! | file in the folder of a fleet | content |
//! |---|---|
//! | `fleet.json` | [`FleetRecord`] |
//! | `packets` | the packets of the agents, sealed as they arrived |
//!
//! The folder has no key and no secret in clear. It is removed with the fleet.

use crate::seal::{FleetKey, Identity, Opened, Opener, Sealer};
use brunt_model::sync::IgnorePoison;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Bytes before a packet in the file: its number in the stream, and its length.
const HEAD: usize = 12;

/// A fleet and its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRecord {
    /// Name of the fleet.
    pub name: String,
    /// Number of the controller that leads.
    pub generation: u64,
    /// Identities and names of the agents, in their order.
    pub agents: Vec<(String, String)>,
    /// The last run.
    pub run: Option<RunRecord>,
}

/// A run of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Id of the run in the store.
    pub id: String,
    /// Its number among the runs of the fleet.
    pub number: u64,
    /// Sealed secrets, which are redacted in results. Hexadecimal digits.
    pub secrets: String,
}

impl FleetRecord {
    /// Reads the record in a folder.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it is damaged.
    pub fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(folder.join("fleet.json"))?)?)
    }

    /// Finds the folder of the fleet that carries out a run; `folders` has a folder for each fleet.
    pub fn find(folders: &Path, run: &str) -> Option<(PathBuf, Self)> {
        let entries = fs::read_dir(folders).ok()?.flatten();
        let mut records =
            entries.filter_map(|entry| Some((entry.path(), Self::read(&entry.path()).ok()?)));
        records.find(|(_, fleet)| fleet.run.as_ref().is_some_and(|record| record.id == run))
    }

    /// Writes the record into a folder, in place of an earlier one.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let incomplete = folder.join("fleet.json.new");
        let mut file = private().write(true).create(true).truncate(true).open(&incomplete)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        // Without it, a power failure after the rename may leave an empty file.
        file.sync_data()?;
        fs::rename(incomplete, folder.join("fleet.json"))
    }
}

/// Removes the folders of dead controllers that wrote nothing for this time.
pub fn remove_old(folders: &Path, age: Duration) {
    for folder in fs::read_dir(folders).into_iter().flatten().flatten() {
        let Ok(file) = File::open(folder.path().join("packets")) else { continue };
        let written = file.metadata().and_then(|metadata| metadata.modified());
        let is_old = written.is_ok_and(|at| at.elapsed().is_ok_and(|time| time > age));
        // A controller that is alive has locked the file, even if it wrote nothing for hours.
        if is_old && file.try_lock_shared().is_ok() {
            _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// The record of a fleet in progress, and its folder.
pub struct Handover {
    folder: PathBuf,
    record: Mutex<FleetRecord>,
}

impl Handover {
    /// Writes the record of a fleet into its folder.
    pub fn begin(folder: PathBuf, record: FleetRecord) -> io::Result<Self> {
        record.write(&folder)?;
        Ok(Self { folder, record: Mutex::new(record) })
    }

    /// Records the run that begins.
    pub fn set_run(&self, run: RunRecord) -> io::Result<()> {
        let mut record = self.record();
        record.run = Some(run);
        record.write(&self.folder)
    }

    /// The last run.
    pub fn run(&self) -> Option<RunRecord> {
        self.record().run.clone()
    }

    /// Removes the folder, because nobody need take the place of this controller.
    pub fn end(&self) {
        _ = fs::remove_dir_all(&self.folder);
    }

    fn record(&self) -> MutexGuard<'_, FleetRecord> {
        self.record.lock().ignore_poison()
    }
}

/// Seals the secrets of a run for [`RunRecord`]. None if the system provides no random numbers.
pub fn seal_secrets(key: &FleetKey, secrets: &[String]) -> Option<String> {
    let sender = Identity::random().ok()?;
    let bytes = serde_json::to_vec(secrets).ok()?;
    let packet = Sealer::new(key, sender, "secrets").ok()?.seal(&bytes).ok()?;
    Some(crate::seal::hexadecimal(&packet))
}

/// Opens the secrets of a run. None if the key is another one.
pub fn open_secrets(key: &FleetKey, sealed: &str) -> Option<Vec<String>> {
    let digits = sealed.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).ok());
    let packet: Option<Vec<u8>> = digits.map(|two| u8::from_str_radix(two?, 16).ok()).collect();
    match Opener::new(key.clone(), "secrets".into()).open(&packet?) {
        Opened::Next(bytes) => serde_json::from_slice(&bytes).ok(),
        Opened::Ignored | Opened::Gap => None,
    }
}

/// A packet in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct StoredPacket {
    /// Number in the stream.
    pub number: u64,
    /// The sealed bytes.
    pub packet: Vec<u8>,
}

/// The file of packets. It is locked while a controller writes it.
pub struct PacketFile {
    file: File,
    last: u64,
    /// True after an error: the file has a gap, so nothing more is written.
    is_broken: bool,
}

impl PacketFile {
    /// Creates the folder of a fleet, and an empty file in it.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be created.
    pub fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join("packets");
        let file = private().read(true).append(true).create_new(true).open(path)?;
        lock(&file)?;
        Ok(Self { file, last: 0, is_broken: false })
    }

    /// Opens the file of a controller that has died, and returns a reader of its packets.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or its controller lives.
    pub fn open(folder: &Path) -> io::Result<(Self, StoredPackets)> {
        let path = folder.join("packets");
        let file = private().read(true).append(true).open(&path)?;
        lock(&file)?;
        // An incomplete packet at the end was not acknowledged, so the stream still has it.
        let mut packets = StoredPackets::open(&path)?;
        let last = packets.by_ref().last().map_or(0, |packet| packet.number);
        file.set_len(packets.complete)?;
        Ok((Self { file, last, is_broken: false }, StoredPackets::open(&path)?))
    }

    /// Adds a packet.
    pub fn add(&mut self, number: u64, packet: &[u8]) {
        if self.is_broken {
            return;
        }
        let mut bytes = Vec::with_capacity(HEAD + packet.len());
        bytes.extend(number.to_be_bytes());
        bytes.extend((packet.len() as u32).to_be_bytes());
        bytes.extend_from_slice(packet);
        match self.file.write_all(&bytes) {
            Ok(()) => self.last = number,
            Err(_) => self.is_broken = true,
        }
    }

    /// Number of the last packet in the file.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// A second handle of the file, to wait until it is on the disk.
    ///
    /// # Errors
    ///
    /// The system has no more files.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Reads the packets of a file, up to the first incomplete one.
pub struct StoredPackets {
    file: BufReader<File>,
    /// Length of the complete packets so far, in bytes.
    complete: u64,
}

impl StoredPackets {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::new(File::open(path)?), complete: 0 })
    }
}

impl Iterator for StoredPackets {
    type Item = StoredPacket;

    fn next(&mut self) -> Option<StoredPacket> {
        let mut number = [0; 8];
        let mut length = [0; 4];
        self.file.read_exact(&mut number).ok()?;
        self.file.read_exact(&mut length).ok()?;
        let length = u32::from_be_bytes(length);
        let mut packet = Vec::new();
        // A damaged length must not allocate memory for nothing.
        self.file.by_ref().take(length.into()).read_to_end(&mut packet).ok()?;
        if packet.len() < length as usize {
            return None;
        }
        self.complete += (HEAD + packet.len()) as u64;
        Some(StoredPacket { number: u64::from_be_bytes(number), packet })
    }
}

/// Options for files that only their owner can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::ResourceBusy.into(),
        TryLockError::Error(error) => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("brunt-kept-{name}-{}", std::process::id()));
        _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn packets_are_read_as_they_were_written_without_an_incomplete_one() {
        let folder = folder("packets").join("lab");
        let mut file = PacketFile::create(&folder).unwrap();
        file.add(7, b"first");
        file.add(9, b"");
        assert!(PacketFile::open(&folder).is_err(), "its controller lives");
        drop(file);
        let path = folder.join("packets");
        let whole = fs::read(&path).unwrap();
        for torn in [0, 5, HEAD, HEAD + 2] {
            let mut bytes = whole.clone();
            bytes.extend(&whole[..torn]);
            fs::write(&path, &bytes).unwrap();
            let (mut file, packets) = PacketFile::open(&folder).unwrap();
            let packets: Vec<(u64, Vec<u8>)> =
                packets.map(|packet| (packet.number, packet.packet)).collect();
            assert_eq!(packets, [(7, b"first".to_vec()), (9, Vec::new())], "{torn}");
            assert_eq!(file.last(), 9);
            file.add(10, b"next");
            drop(file);
            let (_, packets) = PacketFile::open(&folder).unwrap();
            assert_eq!(packets.last().unwrap().packet, b"next");
        }
        let folders = folder.parent().unwrap();
        remove_old(folders, Duration::from_hours(1));
        assert!(folder.exists(), "it may still be attached to");
        let file = PacketFile::open(&folder).unwrap();
        remove_old(folders, Duration::ZERO);
        assert!(folder.exists(), "its controller lives");
        drop(file);
        remove_old(folders, Duration::ZERO);
        assert!(!folder.exists());
        fs::remove_dir_all(folders).unwrap();
    }

    #[test]
    fn a_run_is_found_and_its_secrets_need_the_key() {
        let key = FleetKey::random().unwrap();
        let secrets = vec!["hunter2".to_owned(), "ä\"".to_owned()];
        let sealed = seal_secrets(&key, &secrets).unwrap();
        assert_eq!(open_secrets(&key, &sealed), Some(secrets));
        assert_eq!(open_secrets(&FleetKey::random().unwrap(), &sealed), None);
        assert_eq!(open_secrets(&key, "zz"), None);
        let folders = folder("run");
        let folder = folders.join("lab");
        fs::create_dir_all(&folder).unwrap();
        let run = RunRecord { id: "k7m2xqd".into(), number: 3, secrets: sealed };
        let agents = vec![("00ff".into(), "0".into())];
        let fleet = FleetRecord { name: "lab".into(), generation: 1, agents, run: Some(run) };
        fleet.write(&folder).unwrap();
        assert_eq!(FleetRecord::find(&folders, "k7m2xqd"), Some((folder, fleet)));
        assert_eq!(FleetRecord::find(&folders, "other"), None);
        fs::remove_dir_all(folders).unwrap();
    }
}
