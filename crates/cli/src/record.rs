//! The command `brunt record URL`: records a browser, and creates a plan file. `brunt-record` does the work.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::{screen, signals};
use anyhow::{Context, anyhow};
use brunt_record::{BrowserOptions, PlanOptions, RecordError, Recorder, Recording};
use brunt_record::{browser, plan};
use clap::Args;
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

Of two recordings, values that differ and come from an earlier reply become
extractors. The browser has a temporary profile, which is removed. No
certificate is installed, no proxy is used, no port is opened. Secrets are not
copied to the plan, but a HAR contains all of them. Method: docs/record.md.";

/// Arguments of `brunt record`.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch")]
pub struct RecordArgs {
    /// First page
    url: String,
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
    /// Accept any certificate
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
    if !args.headless && !has_display() {
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
    let options = browser_options(args).map_err(|error| usage_error(error.into()))?;
    let stopped = signals::stop_flag().map_err(runtime_error)?;
    let recording = record_once(args, &options, &stopped)?;
    if let Some(file) = &args.har {
        write(file, recording.har())?;
    }
    let (first, second) = match earlier {
        Some(earlier) => (earlier, Some(recording)),
        None if args.twice => {
            screen::print_line(
                "brunt: recorded; now repeat the same actions in the second browser",
            );
            stopped.store(false, Ordering::Relaxed);
            let second = record_once(args, &options, &stopped).inspect_err(|failure| {
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
        hosts: args.hosts.clone(),
        keep_static: args.keep_static,
        think: !args.no_think,
    };
    let recorded_plan = plan::plan(&first, second.as_ref(), &conversion)
        .map_err(|error| usage_error(error.into()))?;
    for part in &recorded_plan.left_out {
        screen::print_line(&format!("brunt: left out: {part}"));
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
    write(output, &recorded_plan.text)?;
    let name = output.display();
    let next = format!("check it with `brunt plan check {name}`, run it with `brunt run {name}`");
    crate::output::print(format!("{name} is written: {next}\n")).map_err(runtime_error)?;
    Ok(Exit::Measured)
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

/// Records until the user closes the browser or sends a signal.
fn record_once(
    args: &RecordArgs,
    options: &BrowserOptions,
    stopped: &AtomicBool,
) -> Result<Recording, CommandError> {
    let mut recorder = Recorder::start(options).map_err(runtime_error)?;
    recorder.navigate(&args.url).map_err(runtime_error)?;
    if args.headless {
        recorder.wait_until_idle().map_err(runtime_error)?;
    } else {
        screen::print_line("brunt: recording; close the browser or press Ctrl-C to end it");
        recorder.record(&|| stopped.load(Ordering::Relaxed)).map_err(runtime_error)?;
    }
    Ok(recorder.finish(&args.url))
}

fn read(file: &Path) -> Result<Recording, CommandError> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file)
        .with_context(|| format!("cannot read {name}"))
        .map_err(usage_error)?;
    Recording::from_har(&name, &text).map_err(|error| usage_error(error.into()))
}

fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    // A HAR contains secrets, so only its owner may read it.
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file);
    opened
        .and_then(|mut file| {
            // The mode above does not apply to a file that exists.
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(text.as_bytes())
        })
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(usage_error)
}
