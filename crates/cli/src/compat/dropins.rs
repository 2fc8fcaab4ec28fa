//! Connects drop-ins with this process: streams, environment, signals, the store and reports.

use crate::args::options::environment;
use crate::args::store::StoreArgs;
use crate::output::Outputs;
use crate::process::{command_line, system};
use crate::{causes, redact, signals};
use brunt_dropin::{Caller, Reports, StorePlace, ToolError};
use brunt_model::{Judgement, Run};
use brunt_spec::words::values::Output;
use brunt_store::Store;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// Runs the command line of another tool; None if it is one of brunt itself.
pub fn run_drop_in(words: &[String]) -> Option<ExitCode> {
    let (tool, program_name, words) = brunt_dropin::find_tool(words)?;
    Some(ExitCode::from((tool.run)(program_name, words, &Arc::new(caller()))))
}

fn caller() -> Caller {
    Caller {
        stdout: Mutex::new(Box::new(io::stdout())),
        stderr: Mutex::new(Box::new(io::stderr())),
        line: || {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        },
        environment,
        all_variables: || std::env::vars().collect(),
        system,
        home: std::env::home_dir(),
        command: command_line(),
        program: std::env::current_exe,
        interrupt: signals::listen,
        stop_flag: signals::stop_flag,
        redactor: redact::current,
        store,
        reports,
        start_agents: |settings| {
            crate::fleet::start_agents(settings, &[], None, &mut |_| {})
                .map_err(|error| tool_error(&error))
        },
        agents: Mutex::default(),
    }
}

fn store(place: &StorePlace) -> Result<Store, ToolError> {
    let directory = match place {
        StorePlace::Default => None,
        StorePlace::Directory(directory) => Some(directory.clone()),
    };
    let store = StoreArgs { store: directory, no_store: false }
        .open()
        .map_err(|error| tool_error(&error))?;
    store.ok_or_else(|| ToolError::new("there is no store"))
}

fn reports(outputs: &[Output]) -> Result<Box<dyn Reports>, ToolError> {
    Ok(Box::new(Outputs::open(outputs, true).map_err(|error| tool_error(&error))?))
}

impl Reports for Outputs {
    fn write(self: Box<Self>, run: &Run, judgement: &Judgement) -> Result<(), ToolError> {
        Outputs::write(*self, run, judgement).map_err(|error| tool_error(&error))
    }
}

fn tool_error(error: &anyhow::Error) -> ToolError {
    ToolError::new(causes::line(error))
}
