//! Opens pages of the studio in the user's browser.

use crate::causes;
use crate::live::print_line;
use brunt_runner::line_socket::ask;
use brunt_store::{Store, write_private};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Order for a link to the studio of a store. The number of a process may follow.
pub const LINK: &str = "link";

/// Time without a visible page after which a studio ends that `--studio` has started.
const IDLE: &str = "1h";

/// Pause between looks for a studio that was started, and their maximum number.
const PAUSE: Duration = Duration::from_millis(50);
const LOOKS: u32 = 100;

/// Opens the page of this process's run in the browser, in a studio that already runs or in a new one. The run
/// continues without it if that fails.
pub fn show_this_process(store: &Store) {
    match link_to_this_process(store) {
        Ok(link) => {
            print_line(&format!("studio: {link}"));
            open(store.directory(), &link);
        }
        Err(error) => {
            print_line(&format!("warning: --studio: no studio: {}", causes::line(&error.into())));
        }
    }
}

fn link_to_this_process(store: &Store) -> io::Result<String> {
    let socket = store.studio_socket();
    let order = format!("{LINK} {}", std::process::id());
    if let Ok(reply) = ask(&socket, &order) {
        return link_of(reply);
    }
    Command::new(std::env::current_exe()?)
        .args(["studio", "--no-open", "--listen", "127.0.0.1:0", "--end-idle", IDLE, "--store"])
        .arg(store.directory())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C ends the run, and its page stays.
        .process_group(0)
        .spawn()?;
    // It listens only after it has opened the store.
    for _ in 0..LOOKS {
        thread::sleep(PAUSE);
        if let Ok(reply) = ask(&socket, &order) {
            return link_of(reply);
        }
    }
    ask(&socket, &order).and_then(link_of)
}

/// Returns the link of a reply, which may be the reason why there is none.
fn link_of(reply: String) -> io::Result<String> {
    if reply.starts_with("http") { Ok(reply) } else { Err(io::Error::other(reply)) }
}

/// Opens the link in the user's browser, if there is one.
///
/// Arguments of a process are visible to all users of the machine. So the browser gets a file that leads to the link.
pub fn open(directory: &Path, link: &str) {
    let file = directory.join("studio.html");
    let opened = write_private(&file, leading_to(link).as_bytes()).and_then(|()| {
        Command::new("xdg-open")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    });
    if let Err(error) = opened {
        print_line(&format!("open the link in a browser: {}", causes::line(&error.into())));
    }
}

fn leading_to(link: &str) -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>brunt studio</title><a href=\"{link}\">brunt studio</a>\n"
    )
}
