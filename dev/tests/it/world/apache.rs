//! Starts Apache httpd with its own configuration and directory.

use super::port;
use super::server::ServerProcess;
use super::skip::{program, skip};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const MODULES: &str = "/usr/lib/apache2/modules";

/// A listening Apache.
pub struct Apache {
    _server: ServerProcess,
    port: u16,
    dir: TempDir,
}

/// Starts an Apache with this MPM (`event`, `prefork`). Skips the test and returns None if Apache
/// is not installed.
pub fn apache(test: &str, mpm: &str) -> Option<Apache> {
    let found =
        program("apache2").filter(|_| Path::new(&format!("{MODULES}/mod_mpm_{mpm}.so")).exists());
    let Some(apache) = found else {
        skip(test, "no apache2 here");
        return None;
    };
    Some((0..5).find_map(|_| try_start(&apache, mpm)).expect("an Apache that starts"))
}

fn try_start(apache: &str, mpm: &str) -> Option<Apache> {
    let dir = TempDir::new().expect("a directory");
    let port = port::free();
    fs::create_dir(dir.path().join("www")).expect("a directory");
    fs::write(dir.path().join("www/index.html"), "0123456789").expect("a page");
    fs::write(dir.path().join("conf"), config(dir.path(), port, mpm)).expect("a configuration");
    let mut command = Command::new(apache);
    command.arg("-f").arg(dir.path().join("conf")).arg("-DFOREGROUND").arg("-d").arg(dir.path());
    let mut server = ServerProcess::start(command.stdin(Stdio::null()).stderr(Stdio::null()));
    for _ in 0..1000 {
        if port::has_listener(port) {
            return Some(Apache { _server: server, port, dir });
        }
        if server.exit_status().is_some() {
            break;
        }
        super::wait_a_moment();
    }
    eprintln!("apache2: {}", fs::read_to_string(dir.path().join("error")).unwrap_or_default());
    None
}

fn config(dir: &Path, port: u16, mpm: &str) -> String {
    let modules = ["mpm_MPM", "authz_core", "dir", "mime"]
        .map(|name| format!("LoadModule {name}_module {MODULES}/mod_{name}.so\n"))
        .concat();
    // Apache requires a user if it is started as root.
    format!(
        "{modules}Listen 127.0.0.1:{port}\nServerName localhost\nPidFile DIR/pid\nErrorLog DIR/error\n\
         DefaultRuntimeDir DIR\nMutex file:DIR\nTypesConfig /etc/mime.types\nDocumentRoot DIR/www\nUser www-data\n\
         Group www-data\nKeepAlive On\nMaxKeepAliveRequests 50\nLogFormat \"%k %r\" it\nTransferLog DIR/access\n\
         DirectoryIndex index.html\n<Directory DIR/www>\nRequire all granted\n</Directory>\n"
    )
    .replace("MPM", mpm)
    .replace("DIR", &dir.display().to_string())
}

impl Apache {
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Number of requests in its log. Apache logs after it has sent the reply, so the newest may be
    /// missing.
    pub fn logged(&self) -> u64 {
        let text = fs::read_to_string(self.dir.path().join("access")).unwrap_or_default();
        text.lines().filter(|line| line.contains("GET /")).count() as u64
    }
}
