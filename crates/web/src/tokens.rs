//! Tokens of a team: a file with a line for each. It has no secrets, only their SHA-256.
//!
//! `read ann sha256:…` admits a person or program named `ann`. The file is read again when it changes, so a token
//! ends as soon as its line is removed.

use crate::token::Token;
use crate::visitor::Permission;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::error::Unspecified;
use brunt_files::open_regular;
use brunt_model::numbers::hexadecimal;
use brunt_model::sync::IgnorePoison;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Maximum size of a file of tokens.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum length of a name.
const MAX_NAME: usize = 64;

/// Beginning of a secret, by which programs that search for leaked secrets find it.
const SECRET_PREFIX: &str = "brunt_";

/// Beginning of the hash of a secret.
const HASH_PREFIX: &str = "sha256:";

/// A token that was just drawn. Its secret is not stored anywhere.
pub struct NewToken {
    /// The secret, for its holder.
    pub secret: String,
    /// The line for the file of tokens.
    pub line: String,
}

impl NewToken {
    /// Draws a token for a person or a program.
    ///
    /// # Errors
    ///
    /// The name has other characters, or the system provides no random numbers.
    pub fn draw(name: &str, permission: Permission) -> Result<Self, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name(name.to_owned()));
        }
        let secret = format!("{SECRET_PREFIX}{}", Token::random()?.text());
        let line = format!("{permission} {name} {HASH_PREFIX}{}", hash(&secret));
        Ok(Self { secret, line })
    }
}

/// Reason why a token cannot be drawn, or a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name has other characters.
    #[error(
        "`{0}`: the name of a token has 1 to 64 letters, digits and - _ . @; write one such as ann"
    )]
    Name(String),
    /// The system provides no random numbers.
    #[error("the system provides no random numbers for a token")]
    NoRandomNumbers(#[from] Unspecified),
    /// The file cannot be read.
    #[error(
        "--tokens {path}: {source}; write the path of a file with lines of `brunt studio token`"
    )]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Other users may read or write the file.
    #[error("--tokens {path}: other users may read or write the file; run: chmod 600 {path}")]
    NotPrivate {
        /// Path of the file.
        path: PathBuf,
    },
    /// A line is malformed.
    #[error(
        "--tokens {path}: line {line}: {problem}; write a line of `brunt studio token NAME read`"
    )]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line.
        line: usize,
        /// Description of the problem.
        problem: &'static str,
    },
}

impl TokenError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::File { path, source }
    }
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Name of the holder.
    pub name: String,
    /// What the holder may do.
    pub permission: Permission,
    /// SHA-256 of the secret, in hexadecimal digits.
    hash: String,
}

impl TokenRow {
    fn has(&self, hash: &str) -> bool {
        // Takes the same time for every hash.
        verify_slices_are_equal(self.hash.as_bytes(), hash.as_bytes()).is_ok()
    }
}

/// Facts by which a changed file is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    bytes: u64,
    mode: u32,
    modified: [i64; 2],
    changed: [i64; 2],
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            bytes: metadata.len(),
            mode: metadata.mode(),
            modified: [metadata.mtime(), metadata.mtime_nsec()],
            // A program can set the time of modification back, but not this one (inode(7)).
            changed: [metadata.ctime(), metadata.ctime_nsec()],
        }
    }
}

/// Content of the file when it was last read.
struct LoadedTokens {
    stamp: Option<FileStamp>,
    rows: Vec<TokenRow>,
    is_usable: bool,
}

/// The file of tokens.
pub struct TokenFile {
    path: PathBuf,
    loaded: Mutex<LoadedTokens>,
    /// Shows the operator why a changed file cannot be used.
    warn: fn(&str),
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// It cannot be read, other users may read it, or a line is malformed.
    pub fn open(path: PathBuf, warn: fn(&str)) -> Result<Self, TokenError> {
        let (stamp, rows) = read(&path)?;
        let loaded = LoadedTokens { stamp: Some(stamp), rows, is_usable: true };
        Ok(Self { path, loaded: Mutex::new(loaded), warn })
    }

    /// Returns the line of a secret; None if there is none.
    ///
    /// # Errors
    ///
    /// The file has changed, and cannot be used any more.
    pub fn find(&self, secret: &str) -> Result<Option<TokenRow>, UnusableTokens> {
        let mut loaded = self.loaded.lock().ignore_poison();
        let stamp = std::fs::metadata(&self.path).ok().map(|metadata| FileStamp::of(&metadata));
        // A look at the file costs microseconds, and a token must end at once.
        if stamp.is_none() || stamp != loaded.stamp {
            *loaded = self.load_again(&loaded, stamp);
        }
        if !loaded.is_usable {
            return Err(UnusableTokens);
        }
        // A fast hash is enough: a drawn secret has 256 random bits, so guesses do not find it.
        let hash = hash(secret);
        Ok(loaded.rows.iter().find(|row| row.has(&hash)).cloned())
    }

    fn load_again(&self, earlier: &LoadedTokens, stamp: Option<FileStamp>) -> LoadedTokens {
        match read(&self.path) {
            Ok((stamp, rows)) => LoadedTokens { stamp: Some(stamp), rows, is_usable: true },
            Err(error) => {
                // Each request looks at the file, and one message is enough.
                if earlier.is_usable || earlier.stamp != stamp {
                    (self.warn)(&format!("warning: no token is valid now: {error}"));
                }
                LoadedTokens { stamp, rows: Vec::new(), is_usable: false }
            }
        }
    }
}

/// The file of tokens cannot be used, so that no token is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusableTokens;

fn read(path: &Path) -> Result<(FileStamp, Vec<TokenRow>), TokenError> {
    let file = open_regular(path).map_err(TokenError::file(path))?;
    let metadata = file.metadata().map_err(TokenError::file(path))?;
    // A user that can write the file can admit anyone.
    if metadata.mode() & 0o077 != 0 {
        return Err(TokenError::NotPrivate { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(TokenError::file(path))?;
    Ok((FileStamp::of(&metadata), parse(path, &text)?))
}

fn parse(path: &Path, text: &str) -> Result<Vec<TokenRow>, TokenError> {
    let mut rows: Vec<TokenRow> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let row = row(line).and_then(|row| {
            // A lease has only the name of its holder, so two tokens must not share one.
            let is_new = rows.iter().all(|other| other.name != row.name);
            if is_new { Ok(row) } else { Err("another line has the same name") }
        });
        rows.push(row.map_err(|problem| TokenError::Line {
            path: path.to_owned(),
            line: index + 1,
            problem,
        })?);
    }
    Ok(rows)
}

fn row(line: &str) -> Result<TokenRow, &'static str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [permission, name, hash] = words[..] else { return Err("a line has three words") };
    let permission = Permission::from_word(permission).ok_or("the first word is read or run")?;
    if !is_name(name) {
        return Err("the name has other characters than letters, digits and - _ . @");
    }
    let hash = hash.strip_prefix(HASH_PREFIX).ok_or("the third word begins with sha256:")?;
    let is_hash = hash.len() == 64
        && hash.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit));
    if !is_hash {
        return Err("the hash has 64 hexadecimal digits in lower case");
    }
    Ok(TokenRow { name: name.to_owned(), permission, hash: hash.to_owned() })
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte))
}

fn hash(secret: &str) -> String {
    hexadecimal(digest(&SHA256, secret.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn write(path: &Path, text: &str) {
        let new = path.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, Permissions::from_mode(0o600)).unwrap();
        fs::rename(&new, path).unwrap();
    }

    #[test]
    fn a_token_is_valid_while_its_line_is_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens");
        let ann = NewToken::draw("ann", Permission::Read).unwrap();
        let ci = NewToken::draw("ci", Permission::Run).unwrap();
        assert!(!ann.line.contains(&ann.secret[6..]), "the file has no secret");
        write(&path, &format!("# people\n{}\n\n{}\n", ann.line, ci.line));
        let file = TokenFile::open(path.clone(), |_| ()).unwrap();
        let name = |secret: &str| file.find(secret).unwrap().map(|row| (row.name, row.permission));
        assert_eq!(name(&ann.secret), Some(("ann".to_owned(), Permission::Read)));
        assert_eq!(name(&ci.secret), Some(("ci".to_owned(), Permission::Run)));
        for wrong in ["", "brunt_", &ann.secret[1..], &ann.line] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        write(&path, &ci.line);
        assert_eq!(name(&ann.secret), None, "revoked");
        assert!(name(&ci.secret).is_some());
    }

    #[test]
    fn an_unusable_file_makes_every_token_invalid() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens");
        let ann = NewToken::draw("ann", Permission::Run).unwrap();
        write(&path, &ann.line);
        let file = TokenFile::open(path.clone(), |_| ()).unwrap();
        write(&path, "run ann");
        assert_eq!(file.find(&ann.secret), Err(UnusableTokens));
        fs::remove_file(&path).unwrap();
        assert_eq!(file.find(&ann.secret), Err(UnusableTokens));
        write(&path, &ann.line);
        assert!(file.find(&ann.secret).unwrap().is_some());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert_eq!(file.find(&ann.secret), Err(UnusableTokens));
        let error = TokenFile::open(path.clone(), |_| ()).err().unwrap().to_string();
        assert!(error.ends_with(&format!("run: chmod 600 {}", path.display())), "{error}");
    }

    #[test]
    fn malformed_lines_are_named() {
        let hash = "a".repeat(64);
        for (text, problem) in [
            ("ann", "line 1: a line has three words"),
            (&*format!("\nadmin ann sha256:{hash}"), "line 2: the first word is read or run"),
            (&*format!("read <b> sha256:{hash}"), "the name has other characters"),
            (&*format!("read ann {hash}"), "the third word begins with sha256:"),
            ("read ann sha256:abc", "the hash has 64 hexadecimal digits"),
            (
                &*format!("read ann sha256:{hash}\nrun ann sha256:{hash}"),
                "line 2: another line has the same name",
            ),
        ] {
            let error = parse(Path::new("tokens"), text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert!(NewToken::draw("a b", Permission::Read).is_err());
    }
}
