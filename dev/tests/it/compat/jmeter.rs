//! Runs plans of JMeter with Apache JMeter 5.6.3 and with `brunt jmeter`: the samples in their
//! result files are equal.
//!
//! The plans are `dev/tests/data/jmeter/*.jmx`. `BRUNT_JMETER` names the folder of the real JMeter
//! (tools/jmeter.sh).

mod controllers;
mod result_file;
mod shop;

use crate::world::skip::{program, skip};
use crate::world::{Lab, ScriptedServer, command, lab, port};
use controllers::Kinds;
use result_file::{TestSamples, median};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;

/// Variables of the plans with columns in the result files.
const VARIABLES: &str = "t,n_1,n_3,n_matchNr,all_ALL,p,miss,random,obj,nil,bool,empty,rx,rx_g0,many_matchNr,many_3,none,head,\
                         kept,b,bs_matchNr,c,ca_2,x,xs_3,made,names,word";

/// Columns with times, or with the number of threads that happened to be active.
const NOT_COMPARED: [&str; 7] =
    ["timeStamp", "elapsed", "Latency", "IdleTime", "Connect", "grpThreads", "allThreads"];

/// Number of runs of each that are compared.
const RUNS: u32 = 5;

/// Plans whose elapsed times are compared in addition to `elapsed`, and the factor by which their
/// loops are repeated for that.
const REPEATED: [&str; 9] = [
    "assertions",
    "bodies",
    "data",
    "elements",
    "extractors",
    "loops",
    "redirects",
    "samplers",
    "sessions",
];
const TIMES: u32 = 20;

/// Minimum number of samples of a label whose median is compared.
const LEAST: usize = 15;

/// The real JMeter, and the servers of its plans.
struct JmeterSetup {
    home: PathBuf,
    lab: Lab,
    shop: ScriptedServer,
    /// A port without a listener.
    closed: u16,
    dir: TempDir,
}

impl JmeterSetup {
    /// Skips the test and returns None if JMeter is not installed.
    fn new(test: &str) -> Option<Self> {
        let home = env::var_os("BRUNT_JMETER").map(PathBuf::from).filter(|home| home.is_dir());
        let (Some(home), Some(_)) = (home, program("java")) else {
            skip(
                test,
                "no Apache JMeter here (BRUNT_JMETER, tools/jmeter.sh; it needs java and mvn)",
            );
            return None;
        };
        let dir = TempDir::new().expect("a directory");
        Some(Self { home, lab: lab(""), shop: shop::shop(), closed: port::free(), dir })
    }

    /// Runs the real JMeter, and returns its result file.
    fn real(&self, folder: &Path, plan: &str, turn: u32) -> Result<TestSamples, String> {
        let mut java = Command::new("java");
        java.args([
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.awt.headless=true",
            "-Duser.language=en",
            "-jar",
        ]);
        java.arg(self.home.join("bin/ApacheJMeter.jar")).arg("-d").arg(&self.home);
        self.run(java, folder, plan, &format!("real-{turn}"))
    }

    /// Runs the drop-in, and returns its result file.
    fn ours(&self, folder: &Path, plan: &str, turn: u32) -> Result<TestSamples, String> {
        self.run(command("jmeter"), folder, plan, &format!("ours-{turn}"))
    }

    fn run(
        &self,
        mut program: Command,
        folder: &Path,
        plan: &str,
        run_name: &str,
    ) -> Result<TestSamples, String> {
        let file = |ending: &str| self.dir.path().join(format!("{plan}-{run_name}.{ending}"));
        program
            .arg("-n")
            .arg("-t")
            .arg(format!("{plan}.jmx"))
            .arg("-l")
            .arg(file("jtl"))
            .arg("-j")
            .arg(file("log"));
        for (name, port) in
            [("lab", self.lab.port()), ("shop", self.shop.address.port()), ("closed", self.closed)]
        {
            program.arg(format!("-J{name}={port}"));
        }
        program.args(
            ["sample_count", "encoding"]
                .map(|column| format!("-Jjmeter.save.saveservice.{column}=true")),
        );
        program.arg(format!("-Jsample_variables={VARIABLES}"));
        let output = program
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .expect("a program that starts");
        let texts = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let read = Some(())
            .filter(|()| output.status.success())
            .and_then(|()| TestSamples::read(&file("jtl")));
        read.ok_or_else(|| format!("{plan} {run_name}: no samples\n{texts}"))
    }
}

fn plans() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/jmeter")
}

fn names() -> Vec<String> {
    let entries = plans().read_dir().expect("plans");
    let names = entries.filter_map(|entry| {
        Some(entry.ok()?.file_name().to_str()?.strip_suffix(".jmx")?.to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn samples_equal_those_of_jmeter() {
    let Some(world) = JmeterSetup::new("compat::jmeter::samples_equal_those_of_jmeter") else {
        return;
    };
    let mut wrong = Vec::new();
    let folder = plans();
    let all = names();
    assert!(all.len() > 10, "{all:?}");
    for plan in all {
        let both = thread::scope(|scope| {
            let real = scope.spawn(|| world.real(&folder, &plan, 1));
            let ours = world.ours(&folder, &plan, 1);
            (real.join().expect("JMeter"), ours)
        });
        let (real, ours) = match both {
            (Ok(real), Ok(ours)) => (real, ours),
            (real, ours) => {
                wrong.extend([real.err(), ours.err()].into_iter().flatten());
                continue;
            }
        };
        if real.columns != ours.columns {
            wrong.push(format!(
                "{plan}: columns\n  real {:?}\n  ours {:?}",
                real.columns, ours.columns
            ));
        }
        wrong.extend(
            real.differences(&ours, &NOT_COMPARED).into_iter().map(|one| format!("{plan}: {one}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares three plans of 40 thread groups; many more in a proof.
#[test]
fn controllers_behave_as_in_jmeter() {
    let Some(world) = JmeterSetup::new("compat::jmeter::controllers_behave_as_in_jmeter") else {
        return;
    };
    let seeds: u8 = if env::var_os("BRUNT_PROVE").is_some() { 30 } else { 1 };
    let folder = TempDir::new().expect("a directory");
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (kinds, seed) in [Kinds::All, Kinds::Failing, Kinds::Actions]
        .into_iter()
        .flat_map(|kinds| (0..seeds).map(move |seed| (kinds, seed)))
    {
        let name = format!("{kinds:?}-{seed}");
        fs::write(folder.path().join(format!("{name}.jmx")), controllers::plan(kinds, seed, 40))
            .expect("a plan");
        let real = world.real(folder.path(), &name, 1);
        let ours = world.ours(folder.path(), &name, 1);
        let real = real.expect("samples of JMeter");
        let ours = ours.expect("samples");
        let log = fs::read_to_string(world.dir.path().join(format!("{name}-real-1.log")))
            .expect("JMeter's log");
        let real = controllers::by_group(&real);
        let ours = controllers::by_group(&ours);
        let groups: BTreeSet<&String> = real.keys().chain(ours.keys()).collect();
        for group in groups {
            // If an Interleave Controller has no samples left, the thread of JMeter dies of an
            // exception.
            let has_died = log.contains(&format!("Uncaught exception in thread Thread[g{group} "));
            let [real, ours] =
                [&real, &ours].map(|groups| groups.get(group).cloned().unwrap_or_default());
            compared += u32::from(!has_died);
            if real != ours && !has_died {
                wrong.push(format!(
                    "{name}, group {group}\n  real {}\n  ours {}",
                    real.join(", "),
                    ours.join(", ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    // Some groups have no sample at all.
    assert!(compared > u32::from(seeds) * 80, "{compared}");
}

/// A plan with nested functions becomes a plan file, and that becomes a plan of JMeter again.
#[test]
fn exported_plans_open_in_jmeter() {
    let Some(world) = JmeterSetup::new("compat::jmeter::exported_plans_open_in_jmeter") else {
        return;
    };
    let plan = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="" testclass="TestPlan" testname="p"/><hashTree>
        <ThreadGroup guiclass="" testclass="ThreadGroup" testname="g"><stringProp name="ThreadGroup.num_threads">1</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp
        name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp>
        </elementProp></ThreadGroup><hashTree><RandomVariableConfig guiclass="" testclass="RandomVariableConfig" testname="r">
        <stringProp name="minimumValue">12345</stringProp><stringProp name="maximumValue">12345</stringProp>
        <stringProp name="outputFormat">'U,s'#,##0</stringProp><stringProp name="variableName">v</stringProp>
        </RandomVariableConfig><hashTree/>
        <HTTPSamplerProxy guiclass="" testclass="HTTPSamplerProxy" testname="${{v}}"><stringProp
        name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{}</stringProp>
        <stringProp name="HTTPSampler.path">/</stringProp></HTTPSamplerProxy><hashTree/>
        </hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        world.lab.port()
    );
    let folder = TempDir::new().expect("a directory");
    fs::write(folder.path().join("plan.jmx"), plan).expect("a plan");
    for line in ["import jmx plan.jmx -o plan.yaml", "export jmx plan.yaml -o again.jmx"] {
        let output = command(line).current_dir(folder.path()).output().expect("brunt");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for plan in ["plan", "again"] {
        let real = world.real(folder.path(), plan, 1).expect("samples of JMeter");
        let label = real.column("label");
        let labels: Vec<&str> = real.samples.iter().map(|sample| &*sample[label]).collect();
        assert_eq!(labels, ["U,s12,345"], "{plan}");
    }
}

/// Labels of a plan whose elapsed times are neither within 1 ms of those of JMeter nor within the
/// spread of its runs. Writes a row of the table for each label.
fn missed_labels(
    world: &JmeterSetup,
    folder: &Path,
    plan: &str,
    table: &mut String,
) -> Vec<String> {
    let real = medians_of_runs((0..RUNS).map(|turn| world.real(folder, plan, turn)).collect());
    let ours = medians_of_runs((0..RUNS).map(|turn| world.ours(folder, plan, turn)).collect());
    let mut missed = Vec::new();
    for label in real[0].keys() {
        let of = |runs: &[BTreeMap<String, f64>]| {
            runs.iter().filter_map(|run| run.get(label).copied()).collect::<Vec<_>>()
        };
        if of(&ours).is_empty() {
            missed.push(format!("{plan}: {label}"));
            continue;
        }
        let brunt_median = median(of(&ours));
        let all = of(&real);
        let (least, most) = all
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), one| (least.min(*one), most.max(*one)));
        let jmeter_median = median(all);
        let is_met =
            (brunt_median - jmeter_median).abs() <= 1.0 || (least..=most).contains(&brunt_median);
        let result = if is_met { "met" } else { "missed" };
        writeln!(
            table,
            "| {plan} | {label} | {jmeter_median} | {least} to {most} | {brunt_median} | {result} |"
        )
        .expect("memory");
        if !is_met {
            missed.push(format!("{plan}: {label}"));
        }
    }
    missed
}

fn medians_of_runs(files: Vec<Result<TestSamples, String>>) -> Vec<BTreeMap<String, f64>> {
    files.into_iter().map(|file| file.expect("a result file").medians(LEAST)).collect()
}

/// Copies the plans to another folder, with [`TIMES`] times as many loops of each thread group.
fn copy_with_more_loops() -> TempDir {
    let folder = TempDir::new().expect("a directory");
    copy(&plans(), folder.path());
    for plan in REPEATED {
        let path = folder.path().join(format!("{plan}.jmx"));
        let text = fs::read_to_string(&path).expect("a plan");
        let lines = text.lines().map(|line| {
            if line.contains("main_controller") { multiply_loops(line) } else { line.into() }
        });
        fs::write(path, lines.collect::<Vec<_>>().join("\n")).expect("a plan");
    }
    folder
}

/// Multiplies the number of loops in a line.
fn multiply_loops(line: &str) -> String {
    let number =
        line.split_once("LoopController.loops\">").and_then(|(_, rest)| rest.split_once('<'));
    let Some((number, loops)) =
        number.and_then(|(text, _)| Some((text, text.parse::<u32>().ok()?)))
    else {
        return line.into();
    };
    line.replace(&format!("loops\">{number}<"), &format!("loops\">{}<", loops * TIMES))
}

/// Copies a directory recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in from.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path())
    {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            _ = fs::copy(&entry, &target).expect("a copy");
        }
    }
}

/// A proof (tools/prove/jmeter.sh). It measures times, so it is skipped in daily tests.
#[test]
fn elapsed_times_match_those_of_jmeter() {
    let Some(evidence) = env::var_os("BRUNT_JMETER_EVIDENCE") else { return };
    let Some(world) = JmeterSetup::new("compat::jmeter::elapsed_times_match_those_of_jmeter")
    else {
        return;
    };
    let mut table = format!(
        "# Elapsed times beside Apache JMeter 5.6.3\n\nMedians of labels with at least {LEAST} samples a run, {RUNS} runs, ms. The \
         difference is at most 1 ms, or within the spread of JMeter's own runs.\n\n| plan | label | JMeter | its runs | brunt | \
         result |\n|---|---|---|---|---|---|\n",
    );
    let folder = copy_with_more_loops();
    let mut missed = missed_labels(&world, &plans(), "elapsed", &mut table);
    for plan in REPEATED {
        missed.extend(missed_labels(&world, folder.path(), plan, &mut table));
    }
    fs::write(evidence, table).expect("the evidence");
    assert!(missed.is_empty(), "{missed:?}");
}
