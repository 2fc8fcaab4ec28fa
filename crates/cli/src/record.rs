//! The command `brunt record`: records a browser, or the clients of a proxy, and creates a plan file. `brunt-record` does
//! the work.

mod proxy;

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::{screen, signals};
use anyhow::{Context, anyhow};
use brunt_record::ProxyRecorder;
use brunt_record::{BrowserOptions, PlanOptions, RecordError, Recorder, Recording};
use brunt_record::{browser, plan};
use clap::Args;
use proxy::ProxyAddress;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt record http://127.0.0.1:8080/ -o shop.yaml   until you close the browser
  brunt record http://127.0.0.1:8080/ --twice -o shop.yaml   two recordings
  brunt record http://127.0.0.1:8080/ --har one.har -o shop.yaml
  brunt record http://127.0.0.1:8080/ --again one.har -o shop.yaml --force
  brunt record --proxy -o app.yaml   programs that use the proxy 127.0.0.1:8080
  brunt record https://shop.example/ --proxy 192.0.2.7:8080 -o app.yaml

Of two recordings, values that differ and come from an earlier reply become
extractors. The browser has a temporary profile, which is removed. No
certificate is installed. Without --proxy, no port is opened. Secrets are not
copied to the plan, but a HAR contains all of them. Method: docs/record.md.";

const CA_DIR: &str = "Directory of the proxy's certificate and key [default: brunt-record in $XDG_DATA_HOME or ~/.local/share]";

/// Arguments of `brunt record`.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch")]
pub struct RecordArgs {
    /// First page; with --proxy, the site whose requests are kept [default with --proxy: that of the first page]
    #[arg(required_unless_present = "proxy")]
    url: Option<String>,
    /// Write the plan to FILE [default: standard output]
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    /// Record the same actions a second time, and compare both recordings
    #[arg(long, conflicts_with = "again")]
    twice: bool,
    /// Compare with an earlier recording of the same actions, and make the plan from that one
    #[arg(long, value_name = "FILE.har")]
    again: Option<PathBuf>,
    /// Save the recording as HAR, with all secrets
    #[arg(long, value_name = "FILE.har")]
    har: Option<PathBuf>,
    /// Keep images, scripts, style sheets and fonts
    #[arg(long)]
    keep_static: bool,
    /// Keep requests to this host and its subdomains, in addition to those of the first page's host; repeatable
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Write no think times
    #[arg(long)]
    no_think: bool,
    /// Program of the browser [default: Chromium, Chrome or Edge in PATH]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    /// Open no window; the recording ends when the first page is complete
    #[arg(long)]
    headless: bool,
    /// Record the programs that use a proxy at ADDRESS, until Ctrl-C [default: 127.0.0.1:8080, or a free port]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "default",
        hide_default_value = true,
        conflicts_with_all = ["browser", "headless"]
    )]
    proxy: Option<ProxyAddress>,
    /// Require NAME or NAME:PASSWORD of the proxy's clients; without a password, one is generated
    #[arg(long, value_name = "NAME", requires = "proxy")]
    proxy_user: Option<String>,
    #[arg(long, value_name = "DIR", requires = "proxy", help = CA_DIR)]
    ca_dir: Option<PathBuf>,
    /// Trust the authorities in FILE (PEM) for servers, in place of the system's
    #[arg(long, value_name = "FILE", requires = "proxy")]
    cacert: Option<PathBuf>,
    /// Accept any certificate of servers
    #[arg(short = 'k', long)]
    insecure: bool,
}

/// Records, and writes the plan.
pub fn record(args: &RecordArgs) -> Result<Exit, CommandError> {
    for file in [&args.output, &args.har].into_iter().flatten() {
        if file.exists() && !args.force {
            return Err(usage_error(anyhow!(
                "`{}` already exists; write another name, or --force",
                file.display()
            )));
        }
    }
    if args.proxy.is_none() && !args.headless && !has_display() {
        return Err(usage_error(anyhow!(
            "the browser needs a display, and neither `DISPLAY` nor `WAYLAND_DISPLAY` is set; write --headless to record only the first page"
        )));
    }
    // Not at the end: the recording would be lost.
    for file in [&args.output, &args.har].into_iter().flatten() {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(usage_error(anyhow!(
                "`{}`: the directory does not exist; create it, or write another name",
                file.display()
            )));
        }
    }
    let earlier = args.again.as_deref().map(read).transpose()?;
    let site = site(args)?;
    let stopped = signals::stop_flag().map_err(runtime_error)?;
    let source = match args.proxy {
        Some(address) => RecordingSource::Proxy(proxy::start(args, address)?),
        None => RecordingSource::Browser(browser_options(args).map_err(usage_error)?),
    };
    let recording = source.record_once(args, &stopped)?;
    if let Some(file) = &args.har {
        write(file, recording.har(), args.force)?;
    }
    let (first, second) = match earlier {
        Some(earlier) => (earlier, Some(recording)),
        None if args.twice => {
            screen::print_line(match source {
                RecordingSource::Browser(_) => {
                    "brunt: recorded; now repeat the same actions in the second browser"
                }
                RecordingSource::Proxy(_) => {
                    "brunt: recorded; now repeat the same actions, and press Ctrl-C again"
                }
            });
            stopped.store(false, Ordering::Relaxed);
            let second = source.record_once(args, &stopped).inspect_err(|failure| {
                screen::print_line(&format!(
                    "brunt: the second recording failed, so the plan is that of the first one, without extractors of \
                     values that differ: {:#}",
                    failure.error
                ));
            });
            (recording, second.ok())
        }
        None => (recording, None),
    };
    let conversion = PlanOptions {
        base: None,
        site,
        hosts: args.hosts.clone(),
        keep_static: args.keep_static,
        think: !args.no_think,
    };
    let recorded_plan = match plan::plan(&first, second.as_ref(), &conversion) {
        Ok(recorded_plan) => recorded_plan,
        Err(error) => {
            first.cuts.iter().for_each(|cut| print_left_out(cut));
            rescue(args, &first);
            return Err(usage_error(error));
        }
    };
    for part in &recorded_plan.left_out {
        print_left_out(part);
    }
    if let Some(correlation) = &recorded_plan.correlation {
        for line in correlation.report().lines() {
            screen::print_line(&format!("brunt: {line}"));
        }
    }
    let Some(output) = &args.output else {
        crate::output::print(&recorded_plan.text).map_err(runtime_error)?;
        return Ok(Exit::Measured);
    };
    // Another recording may have made the file meanwhile.
    if let Err(error) = write(output, &recorded_plan.text, args.force) {
        rescue(args, &first);
        return Err(error);
    }
    let name = output.display();
    let next = format!("check it with `brunt plan check {name}`, run it with `brunt run {name}`");
    crate::output::print(format!("{name} is written: {next}\n")).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

fn print_left_out(part: &str) {
    screen::print_line(&format!("brunt: left out: {part}"));
}

/// True if the environment names a display. Other systems than Linux need no name.
fn has_display() -> bool {
    cfg!(not(target_os = "linux"))
        || ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| std::env::var_os(name).is_some())
}

fn browser_options(args: &RecordArgs) -> Result<BrowserOptions, RecordError> {
    let program = match &args.browser {
        Some(program) => program.clone(),
        None => browser::find(&std::env::var_os("PATH").unwrap_or_default())?,
    };
    let mut options = BrowserOptions::new(program);
    options.is_headless = args.headless;
    options.accepts_any_certificate = args.insecure;
    // The browser has another home directory, so X11 would not find its key.
    if std::env::var_os("XAUTHORITY").is_none() {
        options.x_authority = std::env::var_os("HOME")
            .map(|home| Path::new(&home).join(".Xauthority"))
            .filter(|file| file.exists());
    }
    Ok(options)
}

/// Host of the URL, with a proxy: its clients may send their first request to another one.
fn site(args: &RecordArgs) -> Result<Option<String>, CommandError> {
    let Some(url) = args.url.as_deref().filter(|_| args.proxy.is_some()) else { return Ok(None) };
    brunt_record::plan::host_of(url).map(Some).ok_or_else(|| {
        usage_error(anyhow!(
            "`{url}` is no URL with a host; write one such as https://shop.example/"
        ))
    })
}

/// A source of recordings.
enum RecordingSource {
    Browser(BrowserOptions),
    Proxy(ProxyRecorder),
}

impl RecordingSource {
    /// Records until the user closes the browser or sends a signal.
    fn record_once(
        &self,
        args: &RecordArgs,
        stopped: &AtomicBool,
    ) -> Result<Recording, CommandError> {
        match self {
            Self::Browser(options) => record_browser(args, options, stopped),
            Self::Proxy(proxy) => proxy::record_once(args, proxy, stopped),
        }
    }
}

fn record_browser(
    args: &RecordArgs,
    options: &BrowserOptions,
    stopped: &AtomicBool,
) -> Result<Recording, CommandError> {
    let url = args.url.as_deref().unwrap_or_default();
    let mut recorder = Recorder::start(options).map_err(runtime_error)?;
    recorder.navigate(url).map_err(runtime_error)?;
    if args.headless {
        recorder.wait_until_idle().map_err(runtime_error)?;
    } else {
        screen::print_line("brunt: recording; close the browser or press Ctrl-C to end it");
        recorder.record(&|| stopped.load(Ordering::Relaxed)).map_err(runtime_error)?;
    }
    Ok(recorder.finish(url))
}

fn read(file: &Path) -> Result<Recording, CommandError> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file)
        .with_context(|| format!("cannot read {name}"))
        .map_err(usage_error)?;
    Recording::from_har(&name, &text).map_err(usage_error)
}

/// Keeps the requests of a recording without a plan, unless `--har` has them.
fn rescue(args: &RecordArgs, recording: &Recording) {
    if args.har.is_some() {
        return;
    }
    let kept = tempfile::Builder::new().prefix("brunt-recording-").suffix(".har").tempfile();
    let kept = kept.and_then(|mut file| {
        file.write_all(recording.har().as_bytes())?;
        file.keep().map_err(|error| error.error)
    });
    match kept {
        Ok((_, path)) => screen::print_line(&format!(
            "brunt: the recording is kept: {0}; make a plan of a part of it with `brunt import har {0}`",
            path.display()
        )),
        Err(error) => screen::print_line(&format!("brunt: the recording is lost: {error}")),
    }
}

fn write(file: &Path, text: &str, overwrites: bool) -> Result<(), CommandError> {
    let mut options = OpenOptions::new();
    if overwrites {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    // A HAR contains secrets, so only its owner may read it.
    let opened = options.write(true).mode(0o600).open(file);
    opened
        .and_then(|mut file| {
            // The mode above does not apply to a file that exists.
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(text.as_bytes())
        })
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(usage_error)
}
