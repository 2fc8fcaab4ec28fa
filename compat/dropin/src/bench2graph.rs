//! Implements `bench2graph`: draws a chart of autobench's table.
//!
//! The arguments are the original ones: a table, a new output file, and column numbers
//! (default: all columns). The file's extension selects the format: PNG or SVG, otherwise
//! PostScript. Out of scope: gnuplot, and reading results for analysis (`brunt analyse`). The
//! chart shows the table's numbers unchanged.

mod chart;
mod sheet;

use super::getopt::Argument;
use super::getopt::long::{LongItem, LongOptions, OptionRow};
use crate::caller::Caller;
use brunt_report::figure::Chart;
use brunt_report::picture::{PNG, Picture, SVG};
use brunt_report::postscript;
use sheet::BenchTable;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Exit code for invalid usage, or a chart that cannot be written.
const USAGE: u8 = 1;
/// Exit code for a file that is not a table.
const NO_TABLE: u8 = 2;
/// Exit code if the chart's file already exists.
const IS_THERE: u8 = 3;

/// Image formats by file extension. Any other extension means PostScript.
static PICTURES: [&Picture; 2] = [&PNG, &SVG];

/// Command-line arguments of bench2graph.
#[derive(Debug, Default)]
struct Args {
    title: Option<String>,
    is_interactive: bool,
    other_tables: Vec<PathBuf>,
    others: Vec<String>,
}

type OptionEffect = fn(&mut Args, &str);

const fn row(
    long: &'static str,
    argument: Argument,
    effect: OptionEffect,
) -> OptionRow<OptionEffect> {
    OptionRow { short: None, long, argument, effect }
}

/// brunt's options; the original had none.
const ROWS: &[OptionRow<OptionEffect>] = &[
    row("title", Argument::Required, |args, title| args.title = Some(title.to_owned())),
    row("ask", Argument::None, |args, _| args.is_interactive = true),
    row("with", Argument::Required, |args, file| args.other_tables.push(PathBuf::from(file))),
];

const HELP: &str = "  TABLE         table that autobench wrote
  CHART         output file: .png, .svg, or PostScript for any other name
  COLUMN...     columns to draw, numbered from 2; default: all
  --title TEXT  title of the chart; default: the table's name
  --ask         ask for the title interactively
  --with FILE   add the columns of another table
";

/// Runs a bench2graph command line and returns the exit code.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    draw(words, caller).map_or_else(
        |(code, why)| {
            caller.err_line(&format!("{program_name}: {why}"));
            code
        },
        |()| 0,
    )
}

fn draw(words: &[String], caller: &Caller) -> Result<(), (u8, String)> {
    let args = read(words).map_err(|why| {
        (USAGE, format!("{why}\nusage: bench2graph TABLE CHART [COLUMN...]\n{HELP}"))
    })?;
    let [table, chart, columns @ ..] = &args.others[..] else {
        return Err((USAGE, format!("usage: bench2graph TABLE CHART [COLUMN...]\n{HELP}")));
    };
    let chart = Path::new(chart);
    let tables = [PathBuf::from(table)].into_iter().chain(args.other_tables.iter().cloned());
    let sheets = tables.map(|path| BenchTable::load(&path)).collect::<Result<Vec<_>, _>>();
    let sheets = sheets.map_err(|why| (NO_TABLE, format!("Incorrect file format: {why}")))?;
    // A broken link counts, too.
    if chart.symlink_metadata().is_ok() {
        return Err((
            IS_THERE,
            format!("{} exists; move it away, or name another", chart.display()),
        ));
    }
    let title =
        title(&args, Path::new(table), caller).map_err(|error| (USAGE, error.to_string()))?;
    let figure = chart::figure(&sheets, columns, &title).map_err(|why| (USAGE, why))?;
    write(chart, &figure).map_err(|error| (USAGE, format!("{}: {error}", chart.display())))
}

fn read(words: &[String]) -> Result<Args, String> {
    let mut args = Args::default();
    let mut long = LongOptions::new(words, ROWS);
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => (row.effect)(&mut args, value.unwrap_or_default()),
            LongItem::BruntOption(word) => {
                return Err(format!("unknown option --brunt-{word}; a chart needs none"));
            }
            LongItem::OptionError(wrong) => return Err(wrong.to_string()),
        }
    }
    args.others = long.others().iter().map(|word| (*word).to_owned()).collect();
    Ok(args)
}

/// Title of the chart: from `--title`, from the terminal (`--ask`), or the table's name.
fn title(args: &Args, table: &Path, caller: &Caller) -> io::Result<String> {
    if let Some(title) = &args.title {
        return Ok(title.clone());
    }
    if args.is_interactive {
        caller.out("Enter the title : ");
        let line = (caller.line)()?;
        return Ok(line.trim_end().to_owned());
    }
    Ok(table.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

fn write(path: &Path, figure: &Chart) -> io::Result<()> {
    let extension = path
        .extension()
        .map(|word| word.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let chart = match PICTURES.iter().find(|picture| picture.ending == extension) {
        Some(picture) => (picture.chart)(figure)?,
        None => postscript::of_figure(figure).map(String::into_bytes),
    };
    let bytes = chart.ok_or_else(|| io::Error::other("no data to draw; choose other columns"))?;
    // `create_new` fails if another process created the file in the meantime.
    let mut file = File::create_new(path)?;
    file.write_all(&bytes).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}
