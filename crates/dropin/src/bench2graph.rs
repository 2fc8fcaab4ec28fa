//! bench2graph: a chart of autobench's table.
//!
//! Its words are the old ones: a table, a file that is not there yet, and columns by number, all of them where none is named.
//! The file's ending says what it is: PNG, SVG, and else PostScript. Out of scope: gnuplot, and a reader of results
//! for an analysis (`brunt analyse`): what is drawn is what stands there.

mod chart;
mod sheet;

use super::getopt::Takes;
use super::getopt::long::{Long, Read, Row};
use crate::caller::Caller;
use brunt_report::figure::Figure;
use brunt_report::picture::{PNG, Picture, SVG};
use brunt_report::postscript;
use sheet::Sheet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bad usage, and a chart that cannot be written.
const USAGE: u8 = 1;
/// The table is none.
const NO_TABLE: u8 = 2;
/// The chart's file is there already.
const IS_THERE: u8 = 3;

/// Pictures, by the endings of their names. Any other ending is that of PostScript.
static PICTURES: [&Picture; 2] = [&PNG, &SVG];

/// The arguments of bench2graph.
#[derive(Debug, Default)]
struct Args {
    title: Option<String>,
    asks: bool,
    more: Vec<PathBuf>,
    others: Vec<String>,
}

type OptionEffect = fn(&mut Args, &str);

const fn row(long: &'static str, takes: Takes, does: OptionEffect) -> Row<OptionEffect> {
    Row { short: None, long, takes, does }
}

/// Options of ours: the old one had none.
const ROWS: &[Row<OptionEffect>] = &[
    row("title", Takes::Value, |args, title| args.title = Some(title.to_owned())),
    row("ask", Takes::Nothing, |args, _| args.asks = true),
    row("with", Takes::Value, |args, file| args.more.push(PathBuf::from(file))),
];

const HELP: &str = "  TABLE         table that autobench wrote
  CHART         output file: .png, .svg, or PostScript for any other name
  COLUMN...     columns to draw, numbered from 2; default: all
  --title TEXT  title of the chart; default: the table's name
  --ask         ask for the title interactively
  --with FILE   add the columns of another table
";

/// Carries out a command line of bench2graph's; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    draw(words, caller).map_or_else(
        |(code, why)| {
            caller.err_line(&format!("{called}: {why}"));
            code
        },
        |()| 0,
    )
}

fn draw(words: &[String], caller: &Caller) -> Result<(), (u8, String)> {
    let args =
        read(words).map_err(|why| (USAGE, format!("{why}\nusage: bench2graph TABLE CHART [COLUMN...]\n{HELP}")))?;
    let [table, chart, columns @ ..] = &args.others[..] else {
        return Err((USAGE, format!("usage: bench2graph TABLE CHART [COLUMN...]\n{HELP}")));
    };
    let chart = Path::new(chart);
    let tables = [PathBuf::from(table)].into_iter().chain(args.more.iter().cloned());
    let sheets = tables.map(|path| Sheet::load(&path)).collect::<Result<Vec<_>, _>>();
    let sheets = sheets.map_err(|why| (NO_TABLE, format!("Incorrect file format: {why}")))?;
    if chart.symlink_metadata().is_ok() {
        return Err((IS_THERE, format!("{} is there already; move it away, or name another", chart.display())));
    }
    let title = title(&args, Path::new(table), caller).map_err(|error| (USAGE, error.to_string()))?;
    let figure = chart::figure(&sheets, columns, &title).map_err(|why| (USAGE, why))?;
    write(chart, &figure).map_err(|error| (USAGE, format!("{}: {error}", chart.display())))
}

fn read(words: &[String]) -> Result<Args, String> {
    let mut args = Args::default();
    let mut long = Long::new(words, ROWS);
    while let Some(read) = long.next() {
        match read {
            Read::Option(row, value) => (row.does)(&mut args, value.unwrap_or_default()),
            Read::Ours(word) => return Err(format!("unknown option --brunt-{word}; a chart needs none")),
            Read::OptionError(wrong) => return Err(wrong.to_string()),
        }
    }
    args.others = long.others().iter().map(|word| (*word).to_owned()).collect();
    Ok(args)
}

/// Said, asked for, or the table's name.
fn title(args: &Args, table: &Path, caller: &Caller) -> io::Result<String> {
    if let Some(title) = &args.title {
        return Ok(title.clone());
    }
    if args.asks {
        caller.out("Enter the title : ");
        let line = (caller.line)()?;
        return Ok(line.trim_end().to_owned());
    }
    Ok(table.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

fn write(path: &Path, figure: &Figure) -> io::Result<()> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let chart = match PICTURES.iter().find(|picture| picture.ending == ending) {
        Some(picture) => (picture.chart)(figure)?,
        None => postscript::of_figure(figure).map(String::into_bytes),
    };
    let bytes = chart.ok_or_else(|| io::Error::other("no data to draw; choose other columns"))?;
    // Nobody else may have made it in between.
    let mut file = File::create_new(path)?;
    file.write_all(&bytes).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}
