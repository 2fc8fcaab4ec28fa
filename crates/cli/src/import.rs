//! The command `brunt import FORMAT FILE`: converts recordings and descriptions of requests to plan
//! files. `brunt-import` reads them.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use anyhow::{Context, Result, anyhow};
use brunt_import::detect::{DetectedFormat, detect};
use brunt_import::jmx::JmxOptions;
use brunt_import::{EnvironmentFile, ImportFormat, ImportOptions};
use clap::{Args, Subcommand};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt import shop.har -o plan.yaml                the format by its content
  brunt import har shop.har -o plan.yaml --think    a recording, with its pauses
  brunt import openapi api.yaml --only GET          operations that only read
  brunt import postman shop.json -o plan.yaml       a collection of Postman
  brunt import curl commands.txt -o plan.yaml       as a browser copies them
  brunt import urls urls.txt -o plan.yaml           a list as siege reads it
  brunt import jmx shop.jmx -o plan.yaml            a plan of JMeter
  pbpaste | brunt import curl - | less              from standard input

Then: brunt plan check plan.yaml, and brunt run plan.yaml. Secrets are not
copied: the plan names the environment variables that hold them.";

/// The formats, with the names of their commands.
const FORMATS: [(&str, DetectedFormat); 6] = [
    ("har", DetectedFormat::Other(ImportFormat::Har)),
    ("openapi", DetectedFormat::Other(ImportFormat::Openapi)),
    ("postman", DetectedFormat::Other(ImportFormat::Postman)),
    ("curl", DetectedFormat::Other(ImportFormat::Curl)),
    ("urls", DetectedFormat::Other(ImportFormat::Urls)),
    ("jmx", DetectedFormat::Jmx),
];

/// Maximum size of the input, in bytes.
const MAX_INPUT_BYTES: u64 = 512 << 20;

/// Arguments of `brunt import`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ImportArgs {
    /// The format of the input.
    #[command(subcommand)]
    format: Option<ImportCommand>,
    /// The input, whose format is recognized by its content.
    #[command(flatten)]
    file: Option<FileArgs>,
}

#[derive(Debug, Clone, Subcommand)]
enum ImportCommand {
    /// Reads a recording of a browser (HAR)
    Har {
        #[command(flatten)]
        file: FileArgs,
        /// Write the recorded pauses between pages as think times
        #[arg(long)]
        think: bool,
        /// Keep images, scripts, style sheets and fonts
        #[arg(long)]
        resources: bool,
        /// Keep requests to this host and its subdomains, beside those to the first page's host; repeatable
        #[arg(long = "host", value_name = "NAME")]
        hosts: Vec<String>,
    },
    #[command(
        about = "Reads a description of an interface: OpenAPI 3.0 or 3.1, Swagger 2.0; JSON or YAML"
    )]
    Openapi {
        #[command(flatten)]
        file: FileArgs,
        /// Only operations with this tag; repeatable
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// Only operations with this method or beginning of the path, such as GET or GET,/users; repeatable
        #[arg(long, value_name = "METHOD,PATH", value_parser = only)]
        only: Vec<(String, String)>,
    },
    /// Reads a collection of Postman, 2.0 or 2.1
    Postman {
        #[command(flatten)]
        file: FileArgs,
        /// Environment that Postman has exported; its values have priority over those of the collection
        #[arg(long, value_name = "FILE")]
        environment: Option<PathBuf>,
    },
    /// Reads command lines of curl
    Curl(FileArgs),
    /// Reads a list of URLs, as siege's urls.txt
    Urls(FileArgs),
    /// Reads a plan of JMeter; what a plan file cannot say is listed on standard error
    Jmx {
        #[command(flatten)]
        file: FileArgs,
        /// Value of a JMeter property, which the plan reads by ${__P(NAME)}; repeatable
        #[arg(short = 'J', value_name = "NAME=VALUE")]
        properties: Vec<String>,
        /// Further directory whose files the plan may name; repeatable
        #[arg(long, value_name = "DIR")]
        allow_dir: Vec<PathBuf>,
    },
}

/// The input and the output.
#[derive(Debug, Clone, Args)]
struct FileArgs {
    /// The input; - is standard input
    file: PathBuf,
    /// Write the plan to FILE [default: standard output]
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
    #[arg(long, value_name = "URL", value_parser = server)]
    #[arg(help = "Server in place of the one in the input, such as http://127.0.0.1:8080")]
    base: Option<String>,
}

impl ImportCommand {
    fn file(&self) -> &FileArgs {
        match self {
            Self::Har { file, .. }
            | Self::Openapi { file, .. }
            | Self::Postman { file, .. }
            | Self::Curl(file)
            | Self::Urls(file)
            | Self::Jmx { file, .. } => file,
        }
    }
}

impl FileArgs {
    /// True if the input is standard input.
    fn is_input(&self) -> bool {
        self.file == Path::new("-")
    }

    /// Name of the input, for errors and the plan's first comment.
    fn name(&self) -> String {
        if self.is_input() { "standard input".to_owned() } else { self.file.display().to_string() }
    }
}

fn server(word: &str) -> Result<String, String> {
    brunt_spec::words::target::parse(word)
        .map(|target| target.url)
        .map_err(|error| error.to_string())
}

/// Parses `GET`, `/users`, or `GET,/users`.
fn only(word: &str) -> Result<(String, String), String> {
    const METHODS: [&str; 7] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
    let (method, path) = match word.split_once(',') {
        Some((method, path)) => (method, path),
        None if word.starts_with('/') => ("", word),
        None => (word, ""),
    };
    let method = method.trim().to_ascii_uppercase();
    if !method.is_empty() && !METHODS.contains(&method.as_str()) {
        return Err(format!("`{method}` is no method; write one such as GET, or GET,/users"));
    }
    Ok((method, path.trim().to_owned()))
}

/// Reads the input and writes the plan.
pub fn import(args: &ImportArgs) -> Result<Exit, CommandError> {
    match (&args.format, &args.file) {
        (Some(format), _) => import_as(format, bytes_of(format.file())?),
        (None, Some(file)) => {
            let bytes = bytes_of(file)?;
            import_as(&recognized(file, &bytes)?, bytes)
        }
        (None, None) => {
            Err(usage_error(anyhow!("write the input, such as `brunt import shop.har`")))
        }
    }
}

/// The command for an input by its content.
fn recognized(file: &FileArgs, bytes: &[u8]) -> Result<ImportCommand, CommandError> {
    let Some(format) = detect(&String::from_utf8_lossy(bytes)) else {
        let names = FORMATS.map(|(name, _)| name).join(", ");
        return Err(usage_error(anyhow!(
            "the format of {} is unknown; write one of {names} before it",
            file.name()
        )));
    };
    let file = file.clone();
    Ok(match format {
        DetectedFormat::Jmx => {
            ImportCommand::Jmx { file, properties: Vec::new(), allow_dir: Vec::new() }
        }
        DetectedFormat::Other(ImportFormat::Har) => {
            ImportCommand::Har { file, think: false, resources: false, hosts: Vec::new() }
        }
        DetectedFormat::Other(ImportFormat::Openapi) => {
            ImportCommand::Openapi { file, tags: Vec::new(), only: Vec::new() }
        }
        DetectedFormat::Other(ImportFormat::Postman) => {
            ImportCommand::Postman { file, environment: None }
        }
        DetectedFormat::Other(ImportFormat::Curl) => ImportCommand::Curl(file),
        DetectedFormat::Other(ImportFormat::Urls) => ImportCommand::Urls(file),
    })
}

/// The format of a file by its content; None if it is unknown, or a list of URLs, or cannot be read.
pub fn format_of_file(file: &Path) -> Option<&'static str> {
    let text = read_text(file).ok()?;
    let format =
        detect(&text).filter(|format| *format != DetectedFormat::Other(ImportFormat::Urls))?;
    FORMATS.iter().find(|(_, known)| *known == format).map(|(name, _)| *name)
}

/// Reads an input with this content, and writes the plan.
fn import_as(command: &ImportCommand, bytes: Vec<u8>) -> Result<Exit, CommandError> {
    let (format, file, options) = match command {
        ImportCommand::Jmx { file, properties, allow_dir } => {
            return jmx(file, &bytes, properties, allow_dir);
        }
        ImportCommand::Har { file, think, resources, hosts } => {
            let options = ImportOptions {
                think: *think,
                resources: *resources,
                hosts: hosts.clone(),
                ..ImportOptions::default()
            };
            (ImportFormat::Har, file, options)
        }
        ImportCommand::Openapi { file, tags, only } => (
            ImportFormat::Openapi,
            file,
            ImportOptions { tags: tags.clone(), only: only.clone(), ..ImportOptions::default() },
        ),
        ImportCommand::Postman { file, environment } => {
            let environment = environment.as_deref().map(environment_file).transpose();
            let environment = environment.map_err(usage_error)?;
            (ImportFormat::Postman, file, ImportOptions { environment, ..ImportOptions::default() })
        }
        ImportCommand::Curl(file) => (ImportFormat::Curl, file, ImportOptions::default()),
        ImportCommand::Urls(file) => (ImportFormat::Urls, file, ImportOptions::default()),
    };
    let is_input = file.is_input();
    let name = file.name();
    let folder = folder(file.output.as_deref()).map_err(runtime_error)?;
    let read_file = (!is_input).then_some(read_text as fn(&Path) -> io::Result<String>);
    let options =
        ImportOptions { file: name.clone(), base: file.base.clone(), folder, read_file, ..options };
    let text = String::from_utf8(bytes).map_err(|error| {
        // The line of the first invalid byte.
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        usage_error(anyhow!("{name}:{line}: not UTF-8; write the file in UTF-8"))
    })?;
    let plan = brunt_import::import(format, &text, &options).map_err(usage_error)?;
    write(file, &plan)
}

fn environment_file(path: &Path) -> Result<EnvironmentFile> {
    let file = path.display().to_string();
    let text = read_text(path).with_context(|| format!("cannot read {file}"))?;
    Ok(EnvironmentFile { file, text })
}

/// Reads the input, after a check of the output.
fn bytes_of(file: &FileArgs) -> Result<Vec<u8>, CommandError> {
    // Before reading: standard input may be a terminal on which the user types.
    if let Some(output) = file.output.as_deref().filter(|output| output.exists() && !file.force) {
        return Err(usage_error(anyhow!(
            "`{}` already exists; write another name, or --force",
            output.display()
        )));
    }
    let bytes = input(&file.file, file.is_input());
    bytes.with_context(|| format!("cannot read {}", file.name())).map_err(usage_error)
}

fn jmx(
    file: &FileArgs,
    bytes: &[u8],
    properties: &[String],
    allow_dir: &[PathBuf],
) -> Result<Exit, CommandError> {
    let is_input = file.is_input();
    let directory = parent_folder(Some(&file.file).filter(|_| !is_input).map(PathBuf::as_path));
    // In the same folder, relative names of files stay valid.
    let is_same = absolute(&directory) == absolute(&parent_folder(file.output.as_deref()));
    let properties = properties.iter().map(|word| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        (name.to_owned(), value.to_owned())
    });
    let options = JmxOptions {
        file: file.name(),
        files: if is_same { PathBuf::new() } else { absolute(&directory) },
        directory,
        allowed: allow_dir.to_vec(),
        properties: properties.collect(),
        base: file.base.clone(),
    };
    let import = brunt_import::jmx::read(bytes, &options).map_err(usage_error)?;
    for notice in &import.notices {
        eprintln!("brunt: {notice}");
    }
    write(file, &import.plan)
}

/// The folder of a file; `.` without a path.
fn parent_folder(path: Option<&Path>) -> PathBuf {
    // The parent of a bare file name is empty.
    let folder = path.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn write(file: &FileArgs, plan: &str) -> Result<Exit, CommandError> {
    let Some(output) = &file.output else {
        crate::output::print(plan).map_err(runtime_error)?;
        return Ok(Exit::Measured);
    };
    let name = output.display();
    fs::write(output, plan).with_context(|| format!("cannot write {name}")).map_err(usage_error)?;
    let next = format!("check it with `brunt plan check {name}`, run it with `brunt run {name}`");
    crate::output::print(format!("{name} is written: {next}\n")).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

/// The current folder, from which the plan can find files of the input; empty if the
/// plan is written to it.
fn folder(output: Option<&Path>) -> io::Result<String> {
    let is_other_folder = output
        .and_then(Path::parent)
        .is_some_and(|parent| !parent.as_os_str().is_empty() && parent != Path::new("."));
    Ok(if is_other_folder { std::env::current_dir()?.display().to_string() } else { String::new() })
}

/// Reads a file that the input refers to. Something that is no file, such as a pipe, may not end.
fn read_text(file: &Path) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other(format!("{} is no file", file.display())));
    }
    let text = input(file, false)?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn input(file: &Path, is_input: bool) -> io::Result<Vec<u8>> {
    // One byte more than the limit shows that the input exceeds it.
    let mut text = Vec::new();
    if is_input {
        io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut text)?;
    } else {
        fs::File::open(file)?.take(MAX_INPUT_BYTES + 1).read_to_end(&mut text)?;
    }
    if text.len() as u64 > MAX_INPUT_BYTES {
        return Err(io::Error::other(format!(
            "more than {} MB; import a part of it",
            MAX_INPUT_BYTES >> 20
        )));
    }
    Ok(text)
}
