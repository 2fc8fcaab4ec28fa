//! Reads regular files, pipes and devices, each within a limit on time and memory.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Error, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Maximum size of a file, in bytes.
pub const MAX_BYTES: u64 = 512 << 20;

/// Maximum number of bytes of a pipe or device, which may be endless.
const MAX_STREAM_BYTES: u64 = 64 << 20;

/// Maximum wait for the next bytes of a pipe or device.
const MAX_WAIT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Size of the pieces in which a pipe is read.
const PIECE: usize = 64 << 10;

/// Reads a file, a pipe or a device.
///
/// # Errors
///
/// It cannot be read, is larger than [`MAX_BYTES`], or is a pipe without data for 10 s or with more than 64 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // The open of a pipe would wait for its writer (fifo(7)).
    let file = open_without_wait(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(Error::from(ErrorKind::IsADirectory));
    }
    if kind.is_file() { read_up_to(file, MAX_BYTES) } else { read_stream(file) }
}

/// Reads a text from a file, a pipe or a device.
///
/// # Errors
///
/// Those of [`read`], or it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

/// Reads a regular file of at most this size.
///
/// # Errors
///
/// It cannot be read, is larger, or is no regular file.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_up_to(open_regular(path)?, max_bytes)
}

/// Opens a regular file.
///
/// # Errors
///
/// It cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_wait(path)?;
    // Of the open file: a check by path could be of another file than the one that is read.
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(Error::from(ErrorKind::IsADirectory));
    }
    if kind.is_file() { Ok(file) } else { Err(Error::other("this is no regular file")) }
}

fn open_without_wait(path: &Path) -> io::Result<File> {
    // A terminal that is opened must not become that of this process.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn read_up_to(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    // It may grow meanwhile.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large(max_bytes)) } else { Ok(bytes) }
}

fn read_stream(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        // A read of a pipe that had no writer yet returns 0 bytes, as at its end.
        if poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&MAX_WAIT))? == 0 {
            let text = "it is a pipe or device without data for 10 s";
            return Err(Error::new(ErrorKind::TimedOut, text));
        }
        match file.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        if bytes.len() as u64 > MAX_STREAM_BYTES {
            return Err(too_large(MAX_STREAM_BYTES));
        }
    }
}

fn too_large(max_bytes: u64) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("it has more than {} MiB", max_bytes >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::thread;

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn a_file_and_a_pipe_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        assert_eq!(read(&file).unwrap(), b"text");
        assert_eq!(read_regular(&file, 4).unwrap(), b"text");
        assert_eq!(read_regular(&file, 3).unwrap_err().to_string(), "it has more than 0 MiB");
        let fifo = folder.path().join("fifo");
        pipe(&fifo);
        let long = "x".repeat(3 * PIECE + 1);
        thread::scope(|scope| {
            scope.spawn(|| fs::write(&fifo, &long).unwrap());
            assert_eq!(read_text(&fifo).unwrap(), long);
        });
        assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
    }

    #[test]
    fn endless_and_huge_inputs_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        pipe(&fifo);
        assert_eq!(read(&fifo).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let sparse = folder.path().join("sparse");
        File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(read(&sparse).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        for path in [&*fifo, Path::new("/dev/zero"), folder.path()] {
            assert!(open_regular(path).is_err(), "{}", path.display());
        }
    }
}
