//! Writes a container image of brunt, without a container engine.
//!
//! The image has the program, the libraries that it loads, the certificates of authorities, and nothing else.
//! The file is an OCI image layout in a tar archive, which `ctr images import`, `docker load`, `podman load`,
//! `skopeo copy` and `crane push` read. The same inputs give the same bytes, so the digest names them.

use crate::seal::hexadecimal;
use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Path of the program in the image.
const PROGRAM: &str = "brunt";

/// User of the program, who is not root.
const USER: &str = "65532:65532";

/// Certificates of authorities, where they exist.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A program of an image, for one architecture.
pub struct ImageProgram {
    bytes: Vec<u8>,
    /// Architecture as images name it.
    architecture: &'static str,
    /// Files that it loads: their paths in the image and here.
    libraries: Vec<(PathBuf, PathBuf)>,
}

/// Why a program cannot be part of an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file cannot be read, or the image cannot be written.
    #[error("{0}: {1}")]
    File(String, #[source] io::Error),
    /// The file is no program for Linux on a known architecture.
    #[error("{0}: it is no program for Linux on x86_64 or aarch64")]
    Program(String),
    /// The libraries of the program are unknown.
    #[error(
        "{0}: it loads libraries of another machine; build it for the target *-unknown-linux-musl, so that it needs none"
    )]
    Libraries(String),
}

impl ImageProgram {
    /// The running program with the libraries that it has loaded.
    pub fn own() -> Result<Self, ImageError> {
        let path = Path::new("/proc/self/exe");
        let bytes = read(path)?;
        let architecture = architecture(&bytes).ok_or_else(|| wrong_program(path))?;
        let mut libraries = Vec::new();
        if let Some(loader) = interpreter(&bytes) {
            libraries.push((relative(Path::new(&loader)), PathBuf::from(loader)));
            let maps = fs::read_to_string("/proc/self/maps")
                .map_err(|error| ImageError::File("/proc/self/maps".into(), error))?;
            libraries
                .extend(loaded_libraries(&maps).into_iter().map(|path| (relative(&path), path)));
        }
        Ok(Self { bytes, architecture, libraries })
    }

    /// A program of a file, which needs no libraries.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no such program, or needs libraries.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let bytes = read(path)?;
        let architecture = architecture(&bytes).ok_or_else(|| wrong_program(path))?;
        if interpreter(&bytes).is_some() {
            return Err(ImageError::Libraries(path.display().to_string()));
        }
        Ok(Self { bytes, architecture, libraries: Vec::new() })
    }

    fn layer(&self) -> Result<Vec<u8>, ImageError> {
        let mut layer = Layer::default();
        for (inside, path) in &self.libraries {
            layer.add(inside, &read(path)?, 0o755)?;
        }
        if let Ok(certificates) = fs::read(CERTIFICATES) {
            layer.add(&relative(Path::new(CERTIFICATES)), &certificates, 0o644)?;
        }
        layer.add(Path::new("etc/passwd"), b"brunt:x:65532:65532::/tmp:/sbin/nologin\n", 0o644)?;
        layer.add(Path::new(PROGRAM), &self.bytes, 0o755)?;
        layer.finish()
    }

    /// Directories of the libraries, for a loader that does not search them by itself.
    fn library_path(&self) -> String {
        let folders: BTreeSet<String> = self
            .libraries
            .iter()
            .filter_map(|(path, _)| Some(format!("/{}", path.parent()?.display())))
            .collect();
        folders.into_iter().collect::<Vec<_>>().join(":")
    }
}

/// Writes an image with programs for one or more architectures. Returns its digest.
///
/// # Errors
///
/// A file cannot be read, or `out` cannot be written.
pub fn write(
    out: impl Write,
    programs: &[ImageProgram],
    reference: &str,
) -> Result<String, ImageError> {
    let mut archive = Layer(Builder::new(Vec::new()), BTreeSet::new());
    let mut manifests = Vec::new();
    let mut docker = Vec::new();
    for program in programs {
        let layer = program.layer()?;
        let layer_digest = sha256(&layer);
        let library_path = program.library_path();
        let environment: Vec<String> = if library_path.is_empty() {
            Vec::new()
        } else {
            vec![format!("LD_LIBRARY_PATH={library_path}")]
        };
        let config = json!({
            "architecture": program.architecture,
            "os": "linux",
            "config": { "Entrypoint": [format!("/{PROGRAM}")], "User": USER, "Env": environment, "WorkingDir": "/" },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_digest}")] },
        });
        let config = config.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
            "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &layer)],
        });
        let manifest = manifest.to_string().into_bytes();
        let mut entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest);
        entry["platform"] = json!({ "architecture": program.architecture, "os": "linux" });
        manifests.push(entry);
        docker.push(json!({
            "Config": blob_path(&config),
            "RepoTags": [reference],
            "Layers": [blob_path(&layer)],
        }));
        for blob in [&layer, &config, &manifest] {
            archive.add(Path::new(&blob_path(blob)), blob, 0o644)?;
        }
    }
    // One architecture needs no list of them.
    let mut root = if let [only] = &manifests[..] {
        only.clone()
    } else {
        let list = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": manifests,
        });
        let list = list.to_string().into_bytes();
        archive.add(Path::new(&blob_path(&list)), &list, 0o644)?;
        descriptor("application/vnd.oci.image.index.v1+json", &list)
    };
    let digest = root["digest"].as_str().unwrap_or_default().to_owned();
    root["annotations"] = json!({
        "io.containerd.image.name": reference,
        "org.opencontainers.image.ref.name": reference,
    });
    let index = json!({ "schemaVersion": 2, "manifests": [root] });
    archive.add(Path::new("oci-layout"), br#"{"imageLayoutVersion":"1.0.0"}"#, 0o644)?;
    archive.add(Path::new("index.json"), index.to_string().as_bytes(), 0o644)?;
    // `docker load` of old versions reads this file, and takes the first architecture.
    docker.truncate(1);
    archive.add(Path::new("manifest.json"), Value::from(docker).to_string().as_bytes(), 0o644)?;
    let mut out = out;
    let bytes = archive.finish()?;
    out.write_all(&bytes)
        .and_then(|()| out.flush())
        .map_err(|error| ImageError::File("the image".into(), error))?;
    Ok(digest)
}

/// A tar archive whose bytes follow from its files.
struct Layer(Builder<Vec<u8>>, BTreeSet<PathBuf>);

impl Default for Layer {
    fn default() -> Self {
        Self(Builder::new(Vec::new()), BTreeSet::new())
    }
}

impl Layer {
    /// Adds a file and its directories. A file that exists is not added again.
    fn add(&mut self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), ImageError> {
        let failed = |error| ImageError::File(path.display().to_string(), error);
        let mut folders: Vec<&Path> =
            path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
        folders.reverse();
        for folder in folders {
            if self.1.insert(folder.to_owned()) {
                self.append(folder, EntryType::Directory, &[], 0o755).map_err(failed)?;
            }
        }
        if self.1.insert(path.to_owned()) {
            self.append(path, EntryType::Regular, bytes, mode).map_err(failed)?;
        }
        Ok(())
    }

    fn append(&mut self, path: &Path, kind: EntryType, bytes: &[u8], mode: u32) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(bytes.len() as u64);
        header.set_mtime(0);
        self.0.append_data(&mut header, path, bytes)
    }

    fn finish(self) -> Result<Vec<u8>, ImageError> {
        self.0.into_inner().map_err(|error| ImageError::File("the archive".into(), error))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ImageError> {
    fs::read(path).map_err(|error| ImageError::File(path.display().to_string(), error))
}

fn wrong_program(path: &Path) -> ImageError {
    ImageError::Program(path.display().to_string())
}

/// The path below the root of the image.
fn relative(path: &Path) -> PathBuf {
    path.strip_prefix("/").unwrap_or(path).to_owned()
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(digest(&SHA256, bytes).as_ref())
}

fn blob_path(blob: &[u8]) -> String {
    format!("blobs/sha256/{}", sha256(blob))
}

fn descriptor(media_type: &str, blob: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{}", sha256(blob)), "size": blob.len() })
}

/// Architecture of an ELF file, as images name it.
fn architecture(program: &[u8]) -> Option<&'static str> {
    if !program.starts_with(b"\x7fELF") {
        return None;
    }
    // `e_machine`: 62 and 183 (elf.h).
    match program.get(18..20)? {
        [62, 0] => Some("amd64"),
        [183, 0] => Some("arm64"),
        _ => None,
    }
}

/// The loader that a 64-bit ELF file names (`PT_INTERP`); None if it needs none.
fn interpreter(program: &[u8]) -> Option<String> {
    // Offsets of `e_phoff`, `e_phentsize`, `e_phnum`, and of `p_type`, `p_offset`, `p_filesz` (elf.h).
    let headers = number(program, 32, 8)?;
    let size = number(program, 54, 2)?;
    let count = number(program, 56, 2)?;
    let header =
        (0..count).map(|n| headers + n * size).find(|at| number(program, *at, 4) == Some(3))?;
    let begin = number(program, header + 8, 8)?;
    let length = number(program, header + 32, 8)?;
    let path = program.get(begin..begin.checked_add(length)?)?;
    Some(String::from_utf8_lossy(path).trim_end_matches('\0').to_owned())
}

/// A little-endian number of this many bytes at a place of a program.
fn number(program: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = program.get(at..at.checked_add(length)?)?;
    let mut all = [0; 8];
    all[..length].copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(all)).ok()
}

/// Libraries in a memory map (proc(5)).
fn loaded_libraries(maps: &str) -> Vec<PathBuf> {
    let paths: BTreeSet<&str> = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .filter(|path| path.starts_with('/') && path.contains(".so"))
        .collect();
    paths.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::Read;

    fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(archive).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(entry.path().unwrap().display().to_string(), bytes);
        }
        files
    }

    #[test]
    fn an_image_of_this_program_is_complete_and_reproducible() {
        let image = || {
            let mut image = Vec::new();
            let programs = [ImageProgram::own().unwrap()];
            let digest = write(&mut image, &programs, "example.org/brunt:1").unwrap();
            (image, digest)
        };
        let (image, digest) = image();
        let files = files(&image);
        for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("blobs/sha256/")) {
            if !bytes.is_empty() {
                assert_eq!(*path, blob_path(bytes));
            }
        }
        let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
        assert_eq!(index["manifests"][0]["digest"], digest);
        let manifest = &files[&format!("blobs/sha256/{}", &digest["sha256:".len()..])];
        let manifest: Value = serde_json::from_slice(manifest).unwrap();
        let layer = manifest["layers"][0]["digest"].as_str().unwrap();
        let layer = self::files(&files[&format!("blobs/sha256/{}", &layer["sha256:".len()..])]);
        assert!(layer.contains_key("brunt") && layer.contains_key("etc/passwd"));
        assert!(layer.keys().any(|path| path.contains("libc.so")), "{:?}", layer.keys());
        let mut second = Vec::new();
        let programs = [ImageProgram::own().unwrap()];
        assert_eq!(write(&mut second, &programs, "example.org/brunt:1").unwrap(), digest);
        assert_eq!(second, image);
    }

    #[test]
    fn a_program_with_libraries_of_another_machine_is_refused() {
        let own = std::env::current_exe().unwrap();
        let error = ImageProgram::read(&own).err().unwrap().to_string();
        assert!(error.contains("-unknown-linux-musl"), "{error}");
        let error = ImageProgram::read(Path::new("/etc/passwd")).err().unwrap().to_string();
        assert!(error.contains("no program for Linux"), "{error}");
    }
}
