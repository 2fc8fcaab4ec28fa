//! The files that a plan names: below its directory, or below one that is allowed.

use brunt_script::{is_below, writable_path};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// They stand around the name of a file in place of its content.
pub const UPLOAD: [char; 2] = ['\u{f8f5}', '\u{f8f6}'];

/// Where the files of a plan are looked for.
#[derive(Debug, Clone)]
pub struct PlanFolder {
    /// The directory of the plan.
    directory: PathBuf,
    /// The name of the plan's file; empty where it is not known.
    file: String,
    /// Further directories, with all below them.
    allowed: Vec<PathBuf>,
    /// Uploads are named rather than read.
    names_uploads: bool,
    /// The beginning of brunt's own options in the command that the user typed.
    option_prefix: &'static str,
}

impl PlanFolder {
    /// Of a plan in this directory, which may also read files below the others.
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

    /// The same, where requests send the names of files between [`UPLOAD`] rather than their content.
    #[must_use]
    pub fn naming_uploads(self) -> Self {
        Self { names_uploads: true, ..self }
    }

    /// The same, where messages name options as drop-ins have them: `--brunt-lenient`.
    #[must_use]
    pub fn of_drop_in(self) -> Self {
        Self { option_prefix: "--brunt-", ..self }
    }

    /// How the user types this option of brunt.
    pub fn option(&self, name: &str) -> String {
        format!("{}{name}", self.option_prefix)
    }

    /// What a request sends of a file of the plan.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn upload(&self, file: &str) -> io::Result<Vec<u8>> {
        if !self.names_uploads {
            return self.read(file);
        }
        let [begin, end] = UPLOAD;
        Ok(format!("{begin}{}{end}", self.find(file)?.display()).into_bytes())
    }

    /// Where an upload would be that is not there, as JMeter writes its path; None: it is there, may not be read, or is named alone.
    pub fn missing_upload(&self, file: &str) -> Option<PathBuf> {
        let is_missing = self.find(file).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let written = || std::path::absolute(self.directory.join(file)).unwrap_or_else(|_| PathBuf::from(file));
        (is_missing && !self.names_uploads).then(written)
    }

    /// Of this plan, which may also read files below the directories.
    pub fn of_plan(plan: &Path, allowed: &[PathBuf]) -> Self {
        let file = plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { file, ..Self::new(plan.parent().unwrap_or(Path::new("")), allowed) }
    }

    /// The name of the plan's file, without its directory.
    pub fn plan_file(&self) -> &str {
        &self.file
    }

    /// All directories, that of the plan first.
    pub fn roots(&self) -> Vec<String> {
        self.all().map(|root| root.to_string_lossy().into_owned()).collect()
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.directory).chain(&self.allowed)
    }

    /// The file below the plan's directory that has the end of a path which leads nowhere here, such as `C:\\tests\\data\\users.csv` or
    /// `/home/ann/users.csv`: `data/users.csv`, else `users.csv`. None: the path leads somewhere, or there is no such file.
    pub fn instead_of(&self, file: &str) -> Option<PathBuf> {
        if self.directory.join(file).exists() || Path::new(file).exists() {
            return None;
        }
        self.by_end(file).find(|path| path.is_file())
    }

    /// Paths below the plan's directory that end as this one, the longest first.
    fn by_end(&self, path: &str) -> impl Iterator<Item = PathBuf> {
        let written = path.replace('\\', "/");
        let parts: Vec<String> =
            written.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        let directory = self.directory.clone();
        let ends = (0..parts.len()).map(move |from| parts[from..].to_vec());
        ends.filter(|end| !end.iter().any(|part| part == "..")).map(move |end| directory.join(end.join("/")))
    }

    /// A folder of the plan, looked for as files are.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn find_folder(&self, folder: &str) -> io::Result<PathBuf> {
        let is_there = self.directory.join(folder).exists() || Path::new(folder).exists();
        let instead = if is_there { None } else { self.by_end(folder).find(|path| path.is_dir()) };
        match instead {
            Some(path) => Ok(path),
            None => self.find(folder),
        }
    }

    /// A file of the plan: beside the plan, else from the working directory, else the one [instead of it](Self::instead_of).
    ///
    /// # Errors
    ///
    /// There is none, or it lies elsewhere.
    pub fn find(&self, file: &str) -> io::Result<PathBuf> {
        let beside = self.directory.join(file);
        let written = || self.instead_of(file).unwrap_or_else(|| PathBuf::from(file));
        let found = if beside.exists() { beside } else { written() };
        let whole = found.canonicalize()?;
        if is_below(&whole, self.all()) {
            return Ok(found);
        }
        let parent = whole.parent().unwrap_or(&whole).display();
        let option = self.option("allow-dir");
        let wrong = format!("it lies outside the plan's directory; allow it by {option} {parent}");
        Err(io::Error::new(ErrorKind::PermissionDenied, wrong))
    }

    /// Where a file of a listener may be written: below the plan's directory, or below one that is allowed. Relative names start at
    /// the working directory, as in JMeter.
    ///
    /// # Errors
    ///
    /// It lies elsewhere, is a link, or its directory cannot be read.
    pub fn writable(&self, file: &str) -> io::Result<PathBuf> {
        let path = Path::new(file);
        writable_path(path, self.all()).map_err(|error| {
            if error.kind() != ErrorKind::PermissionDenied {
                return error;
            }
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let (option, parent) = (self.option("allow-dir"), parent.display());
            let wrong = format!("it lies outside the plan's directory; allow it by {option} {parent}");
            io::Error::new(ErrorKind::PermissionDenied, wrong)
        })
    }

    /// The content of a file of the plan.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find), or it cannot be read.
    pub fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.find(file)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_paths_of_another_machine_the_end_is_looked_for_below_the_plan() {
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
            assert_eq!(folder.instead_of(written), found, "{written}");
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
        let message = folder.of_drop_in().find("/etc/hostname").unwrap_err().to_string();
        assert!(message.contains("by --brunt-allow-dir /etc"), "{message}");
        let wider = PlanFolder::new(Path::new(env!("CARGO_MANIFEST_DIR")), &["/etc".into()]);
        assert!(wider.read("/etc/hostname").is_ok());
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
            assert_eq!([folder.writable(&path).is_ok(), wider.writable(&path).is_ok()], is_allowed, "{name}");
        }
        let refusal = folder.writable("/nowhere/a.jtl").unwrap_err().to_string();
        assert!(refusal.contains("--allow-dir /nowhere"), "{refusal}");
    }
}
