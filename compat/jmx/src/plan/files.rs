//! Finds and reads the files that a plan names. They must be in the plan's directory or in an
//! allowed directory.

use brunt_script::{is_below, writable_path};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Characters before and after the name of a file that a request contains instead of its content.
pub const UPLOAD: [char; 2] = ['\u{f8f5}', '\u{f8f6}'];

/// Directories that may contain the files of a plan.
#[derive(Debug, Clone)]
pub struct PlanFolder {
    /// Directory of the plan, in which files are searched.
    directory: PathBuf,
    /// Name of the plan's file; empty if unknown.
    file: String,
    /// Other directories, with their subdirectories, in which a found file may be. They are not
    /// searched.
    allowed: Vec<PathBuf>,
    /// True to send the names of uploads instead of their content.
    names_uploads: bool,
    /// Prefix of brunt's options in the user's command.
    option_prefix: &'static str,
}

impl PlanFolder {
    /// Creates the folder of a plan in this directory (empty: the working directory). Files may
    /// also be in the directories `allowed`.
    pub fn new(directory: &Path, allowed: &[PathBuf]) -> Self {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let file = String::new();
        Self {
            directory: directory.to_owned(),
            file,
            allowed: allowed.to_vec(),
            names_uploads: false,
            option_prefix: "--",
        }
    }

    /// Makes requests contain the names of files between [`UPLOAD`] instead of their content.
    #[must_use]
    pub fn with_upload_names(self) -> Self {
        Self { names_uploads: true, ..self }
    }

    /// Makes messages name options as in a drop-in, where brunt's options have a prefix:
    /// `--brunt-lenient`.
    #[must_use]
    pub fn for_drop_in(self) -> Self {
        Self { option_prefix: "--brunt-", ..self }
    }

    /// Command-line form of an option of brunt.
    pub fn option(&self, name: &str) -> String {
        format!("{}{name}", self.option_prefix)
    }

    /// Bytes that a request sends for a file of the plan: its content, or its name between
    /// [`UPLOAD`].
    pub fn upload(&self, file: &str) -> io::Result<Vec<u8>> {
        if !self.names_uploads {
            return self.read(file);
        }
        let [begin, end] = UPLOAD;
        Ok(format!("{begin}{}{end}", self.find(file)?.display()).into_bytes())
    }

    /// Absolute path of a missing upload, for JMeter's error message. None if the file exists or is
    /// not accessible, and if requests contain names of files.
    pub fn missing_upload(&self, file: &str) -> Option<PathBuf> {
        let is_missing = self.find(file).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        (is_missing && !self.names_uploads).then(|| {
            std::path::absolute(self.directory.join(file)).unwrap_or_else(|_| PathBuf::from(file))
        })
    }

    /// Creates the folder of the plan in this file. Files may also be in the directories `allowed`.
    pub fn for_plan(plan: &Path, allowed: &[PathBuf]) -> Self {
        let file =
            plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { file, ..Self::new(plan.parent().unwrap_or(Path::new("")), allowed) }
    }

    /// Name of the plan's file without its directory.
    pub fn plan_file(&self) -> &str {
        &self.file
    }

    /// All directories, the plan's first.
    pub fn roots(&self) -> Vec<String> {
        self.directories().map(|root| root.to_string_lossy().into_owned()).collect()
    }

    fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.directory).chain(&self.allowed)
    }

    /// Finds a file in the plan's directory that replaces a path of another machine, by the longest
    /// suffix of the path. For `C:\tests\data\users.csv`: `tests/data/users.csv`, else
    /// `data/users.csv`, else `users.csv`. None if the path exists or no file matches.
    pub fn replacement(&self, file: &str) -> Option<PathBuf> {
        if self.directory.join(file).exists() || Path::new(file).exists() {
            return None;
        }
        self.by_suffix(file).find(|path| path.is_file())
    }

    /// Paths below the plan's directory with a suffix of the given path, longest suffix first. They
    /// may not exist.
    fn by_suffix(&self, path: &str) -> impl Iterator<Item = PathBuf> {
        let path = path.replace('\\', "/");
        let parts: Vec<String> =
            path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        let directory = self.directory.clone();
        let suffixes = (0..parts.len()).map(move |from| parts[from..].to_vec());
        suffixes
            // A suffix with `..` could leave the plan's directory.
            .filter(|suffix| !suffix.iter().any(|part| part == ".."))
            .map(move |suffix| directory.join(suffix.join("/")))
    }

    /// Finds a folder of the plan: like [`find`](Self::find), but a path that does not exist is
    /// replaced by a folder below the plan's directory with a suffix of the path. A path that exists
    /// may be a file.
    ///
    /// # Errors
    ///
    /// Fails like [`find`](Self::find) if no such folder exists.
    pub fn find_folder(&self, folder: &str) -> io::Result<PathBuf> {
        let exists = self.directory.join(folder).exists() || Path::new(folder).exists();
        let replacement =
            if exists { None } else { self.by_suffix(folder).find(|path| path.is_dir()) };
        match replacement {
            Some(path) => self.permitted(path),
            None => self.find(folder),
        }
    }

    /// Finds a file: in the plan's directory, else in the working
    /// directory, else its [replacement](Self::replacement).
    ///
    /// # Errors
    ///
    /// Fails if there is none, or it is outside the plan's directory and the allowed ones. Symbolic
    /// links are resolved for this check, but not in the returned path.
    pub fn find(&self, file: &str) -> io::Result<PathBuf> {
        let in_folder = self.directory.join(file);
        let path = if in_folder.exists() {
            in_folder
        } else {
            self.replacement(file).unwrap_or_else(|| PathBuf::from(file))
        };
        self.permitted(path)
    }

    /// Returns the path if the plan may read it.
    ///
    /// # Errors
    ///
    /// Fails if the path does not exist, or if it is outside the plan's directory and the allowed
    /// ones.
    pub fn permitted(&self, path: PathBuf) -> io::Result<PathBuf> {
        // Neither `..` nor a symbolic link may lead out of the allowed directories.
        let whole = path.canonicalize()?;
        if is_below(&whole, self.directories()) {
            return Ok(path);
        }
        let directory = if whole.is_dir() { &whole } else { whole.parent().unwrap_or(&whole) };
        let option = self.option("allow-dir");
        let directory = directory.display();
        let message =
            format!("it lies outside the plan's directory; allow it by {option} {directory}");
        Err(io::Error::new(ErrorKind::PermissionDenied, message))
    }

    /// Path of a listener's output file. As in JMeter, relative names start at the working
    /// directory. The file must be in the plan's directory or in an allowed one.
    ///
    /// # Errors
    ///
    /// Fails if the path is elsewhere or a link, or its directory cannot be read.
    pub fn writable(&self, file: &str) -> io::Result<PathBuf> {
        let path = Path::new(file);
        writable_path(path, self.directories()).map_err(|error| {
            if error.kind() != ErrorKind::PermissionDenied {
                return error;
            }
            let parent = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            let option = self.option("allow-dir");
            let parent = parent.display();
            let message =
                format!("it lies outside the plan's directory; allow it by {option} {parent}");
            io::Error::new(ErrorKind::PermissionDenied, message)
        })
    }

    /// Reads a file of the plan.
    ///
    /// # Errors
    ///
    /// Fails like [`find`](Self::find), or if the file cannot be read.
    pub fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        brunt_files::read(&self.find(file)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_other_machines_are_searched_below_the_plan() {
        let folder = PlanFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")), &[]);
        let below = |path: &str| Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        for (written, found) in [
            (r"C:\work\jmx\src\plan.rs", below("src/plan.rs")),
            (r"src\plan.rs", below("src/plan.rs")),
            ("/home/ann/Cargo.toml", below("Cargo.toml")),
            ("../../none/Cargo.toml", below("Cargo.toml")),
            ("src/plan.rs", None),
            ("/etc/hostname", None),
            ("/home/ann/none.csv", None),
            ("/home/ann/src", None),
            ("..", None),
        ] {
            assert_eq!(folder.replacement(written), found, "{written}");
        }
        assert!(folder.find("/home/ann/Cargo.toml").is_ok());
    }

    #[test]
    fn only_files_below_the_plan_are_found() {
        let folder = PlanFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")), &[]);
        assert!(folder.find("src/plan.rs").is_ok());
        let told = folder.find("/etc/hostname").unwrap_err().to_string();
        assert!(told.contains("--allow-dir /etc"), "{told}");
        assert_eq!(folder.find("no-such-file").unwrap_err().kind(), ErrorKind::NotFound);
        let message = folder.for_drop_in().find("/etc/hostname").unwrap_err().to_string();
        assert!(message.contains("by --brunt-allow-dir /etc"), "{message}");
        let wider = PlanFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")), &["/etc".into()]);
        assert!(wider.read("/etc/hostname").is_ok());
    }

    #[test]
    fn links_outside_the_folder_of_the_plan_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let plan = scratch.path().join("plan");
        let outside = scratch.path().join("outside");
        std::fs::create_dir_all(plan.join("inside")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, plan.join("link")).unwrap();
        let folder = PlanFolder::new(&plan, &[]);
        for (name, is_allowed) in [
            ("inside", true),
            (r"C:\plans\inside", true),
            ("link", false),
            (r"C:\plans\link", false),
            ("/nowhere/link", false),
            ("../outside", false),
        ] {
            assert_eq!(folder.find_folder(name).is_ok(), is_allowed, "{name}");
        }
        let refusal = folder.find_folder("link").unwrap_err().to_string();
        assert!(refusal.ends_with(&format!("--allow-dir {}", outside.display())), "{refusal}");
    }

    #[test]
    fn only_files_below_the_plan_are_written() {
        let scratch = tempfile::tempdir().unwrap();
        let (plan, other) = (scratch.path().join("plan"), scratch.path().join("other"));
        std::fs::create_dir_all(&plan).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        std::os::unix::fs::symlink(&other, plan.join("link")).unwrap();
        std::os::unix::fs::symlink(other.join("file"), plan.join("file-link")).unwrap();
        let folder = PlanFolder::new(&plan, &[]);
        let wider = PlanFolder::new(&plan, std::slice::from_ref(&other));
        for (name, is_allowed) in [
            ("plan/a.jtl", [true, true]),
            ("plan/new/deeper/a.jtl", [true, true]),
            ("other/a.jtl", [false, true]),
            ("plan/link/a.jtl", [false, true]),
            ("plan/file-link", [false, false]),
            ("plan/../a.jtl", [false, false]),
            ("plan/../other/a.jtl", [false, true]),
            ("plan/none/../../a.jtl", [false, false]),
        ] {
            let path = scratch.path().join(name).display().to_string();
            assert_eq!(
                [folder.writable(&path).is_ok(), wider.writable(&path).is_ok()],
                is_allowed,
                "{name}"
            );
        }
        let refusal = folder.writable("/nowhere/a.jtl").unwrap_err().to_string();
        assert!(refusal.contains("--allow-dir /nowhere"), "{refusal}");
    }
}
