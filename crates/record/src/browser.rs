//! Finds a browser, starts it with a temporary profile, and ends it.
//!
//! The browser uses the profile as its home directory too: it writes to no other directory, and does not read or
//! change the user's certificates. It opens no port, because the DevTools protocol uses two pipes.

use crate::devtools::DevTools;
use crate::error::RecordError;
use rustix::process::{Pid, Signal, getuid, kill_process_group, test_kill_process_group};
use serde_json::json;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Programs to search for, in this order.
const PROGRAMS: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
];

/// Installed programs outside of PATH, on macOS.
const APPLICATIONS: [&str; 3] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/// Switches of the browser: no first-run pages, no requests by itself, no dialogs of the system.
const SWITCHES: [&str; 18] = [
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--disable-infobars",
    "--disable-dev-shm-usage",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,OptimizationHints,MediaRouter,InterestFeedContentSuggestions,AutofillServerCommunication",
];

/// Time for the browser to close its files, in steps.
const EXIT_STEP: Duration = Duration::from_millis(50);
const EXIT_STEPS: u32 = 60;

/// File of the profile with the standard error of the browser.
const ERRORS: &str = "errors.txt";

/// Options of the browser.
#[derive(Debug, Clone)]
pub struct BrowserOptions {
    /// Program to start.
    pub program: PathBuf,
    /// File with the key of the X11 display, if the environment does not name it.
    pub x_authority: Option<PathBuf>,
    /// True if no window is opened.
    pub is_headless: bool,
    /// True if invalid certificates are accepted.
    pub accepts_any_certificate: bool,
}

impl BrowserOptions {
    /// Options for a program with a window.
    pub fn new(program: PathBuf) -> Self {
        Self { program, x_authority: None, is_headless: false, accepts_any_certificate: false }
    }
}

/// Finds a browser in the directories of a PATH variable.
///
/// # Errors
///
/// [`RecordError::NoBrowser`] if there is none.
pub fn find(path: &OsStr) -> Result<PathBuf, RecordError> {
    let directories: Vec<PathBuf> = std::env::split_paths(path).collect();
    let in_path =
        PROGRAMS.iter().flat_map(|name| directories.iter().map(move |dir| dir.join(name)));
    let all = in_path.chain(APPLICATIONS.iter().map(PathBuf::from));
    all.into_iter()
        .find(|program| is_executable(program))
        .ok_or_else(|| RecordError::NoBrowser { names: PROGRAMS.join(", ") })
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A running browser. It is ended when this value is dropped.
pub struct Browser {
    child: Child,
    /// Connection to the browser.
    pub devtools: DevTools,
    // `close` removes it; the directory of a browser that was not closed is removed with this field.
    profile: TempDir,
}

impl Browser {
    /// Starts a browser with a temporary profile.
    ///
    /// # Errors
    ///
    /// The profile cannot be created, or the program cannot be started.
    pub fn start(options: &BrowserOptions) -> Result<Self, RecordError> {
        if !is_executable(&options.program) {
            let program = options.program.display().to_string();
            let reason = "no such program".to_owned();
            return Err(RecordError::Start { program, reason });
        }
        let profile = tempfile::Builder::new().prefix("brunt-record-").tempdir()?;
        // A shell gives the pipes of standard input and output the numbers 3 and 4, without unsafe code.
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2", "sh"])
            .arg(&options.program)
            .args(SWITCHES)
            .arg(format!("--user-data-dir={}", profile.path().display()));
        if options.is_headless {
            command.args(["--headless=new", "--disable-gpu", "--hide-scrollbars", "--mute-audio"]);
        }
        if options.accepts_any_certificate {
            command.arg("--ignore-certificate-errors");
        }
        // The sandbox of Chromium does not run as root.
        if getuid().is_root() {
            command.arg("--no-sandbox");
        }
        let directory = profile.path();
        command
            .arg("about:blank")
            // Chromium creates a certificate database in `.pki` of the home directory.
            .env("HOME", directory)
            .env("XDG_CONFIG_HOME", directory.join("config"))
            .env("XDG_CACHE_HOME", directory.join("cache"))
            .env("XDG_DATA_HOME", directory.join("data"))
            .env("BREAKPAD_DUMP_LOCATION", directory)
            // Sockets and crash reports of a killed browser would remain in /tmp.
            .env("TMPDIR", directory)
            .envs(options.x_authority.iter().map(|file| ("XAUTHORITY", file)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A file: the warnings matter only if the browser does not start.
            .stderr(File::create(directory.join(ERRORS))?)
            // Ctrl-C ends the recording, not the browser: the bodies of replies are read after it.
            .process_group(0);
        let mut child = command.spawn().map_err(|error| RecordError::Start {
            program: options.program.display().to_string(),
            reason: error.to_string(),
        })?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = pipes else {
            return Err(RecordError::Ended(": it has no pipes".to_owned()));
        };
        Ok(Self { child, devtools: DevTools::new(output, input)?, profile })
    }

    /// Directory of the temporary profile.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// True if the process has ended.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Closes the browser, and ends its processes if they do not end by themselves.
    pub fn close(&mut self) {
        let closed = self.devtools.send("", "Browser.close", &json!({}));
        for _ in 0..EXIT_STEPS {
            if self.has_ended() || closed.is_err() {
                break;
            }
            thread::sleep(EXIT_STEP);
        }
        // Processes of the browser that outlive the first one would write to the profile.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
            for _ in 0..EXIT_STEPS {
                if test_kill_process_group(group).is_err() {
                    break;
                }
                thread::sleep(EXIT_STEP);
            }
        }
        // A process outside of the group, such as that of crash reports, may add a file meanwhile.
        for _ in 0..EXIT_STEPS {
            if fs::remove_dir_all(self.profile.path()).is_ok() || !self.profile.path().exists() {
                break;
            }
            thread::sleep(EXIT_STEP);
        }
    }

    /// The last line that the browser has written to standard error; empty if there is none.
    pub fn last_error(&self) -> String {
        let text = fs::read(self.profile.path().join(ERRORS)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().trim().chars().take(300).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_found_by_name_in_this_order() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(OsStr::new("")).is_err() || cfg!(target_os = "macos"));
        for name in ["google-chrome", "chromium"] {
            let program = folder.path().join(name);
            fs::write(&program, "").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(find(folder.path().as_os_str()).unwrap(), program);
        }
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = Browser::start(&BrowserOptions::new("/nonexistent".into())).err().unwrap();
        assert!(error.to_string().contains("cannot start the browser `/nonexistent`"), "{error}");
    }

    #[test]
    fn the_error_of_a_browser_that_ends_is_readable() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("browser");
        fs::write(&program, "#!/bin/sh\necho no display >&2\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut browser = Browser::start(&BrowserOptions::new(program)).unwrap();
        let error = browser.devtools.call("", "Browser.getVersion", &json!({})).unwrap_err();
        assert!(error.to_string().starts_with("the browser ended"), "{error}");
        assert_eq!(browser.last_error(), "no display");
        browser.close();
        assert!(!browser.profile().exists());
    }
}
