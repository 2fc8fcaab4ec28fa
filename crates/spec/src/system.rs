//! Facts about the system that runs a plan. Callers pass them, so that the same input results
//! in the same plan.

use crate::RunSettings;
use brunt_model::plan::HttpVersion;
use brunt_script::Languages;
use std::io;
use std::path::PathBuf;

/// Message if the server cannot be asked for descriptors.
const NEEDS_DESCRIPTORS: &str =
    "--grpc needs descriptors of the service here: add --proto FILE or --descriptor-set FILE";

/// Message if the server cannot be asked for its versions of HTTP.
const NEEDS_VERSIONS: &str = "the server cannot be asked here";

/// Messages of a [bare](System::bare) system about values that it cannot check without the server.
pub const NEEDS_SERVER: [&str; 2] = [NEEDS_DESCRIPTORS, NEEDS_VERSIONS];

/// The system that runs a plan.
#[derive(Debug, Clone, Copy)]
pub struct System {
    /// Maximum number of open files of this process, after the soft limit was raised
    /// to the hard one.
    pub descriptors: u64,
    /// Number of cores of this machine.
    pub cores: u32,
    /// Number of local ports for connections from one address to another; None if the system
    /// does not show it.
    pub ports: Option<u64>,
    /// Languages of scripts that this program has.
    pub languages: Languages,
    /// Seed of a plan without one.
    pub seed: u64,
    /// Reads a variable of the environment.
    pub environment: fn(&str) -> Option<String>,
    /// Reads all of standard input, for a body.
    pub stdin: fn() -> io::Result<Vec<u8>>,
    /// Path of the program, the value of `${env:BRUNT}` in commands of a plan file.
    pub program: fn() -> io::Result<PathBuf>,
    /// Requests the descriptors of a gRPC service from the server of these settings, by reflection.
    /// Returns a `FileDescriptorSet`. An empty name means all services. The error is a message.
    pub reflect_descriptors: fn(&RunSettings, &str) -> Result<Vec<u8>, String>,
    /// Connects to the server of these settings to find its best version of HTTP. The
    /// error is a message.
    pub best_http_version: fn(&RunSettings) -> Result<HttpVersion, String>,
    /// Receives the values of a plan file as options, before a message may repeat
    /// them: some are secret.
    pub on_options: fn(&[String]),
    /// Receives the text of a plan file before it is read, for the same reason.
    pub plan_text: fn(&str),
    /// Receives the tree of a plan file before it is resolved, for the same reason.
    pub plan_tree: fn(&serde_json::Value),
}

impl System {
    /// Creates a system without environment, input and further languages of scripts, for tests and forms.
    pub const fn bare(descriptors: u64, cores: u32, ports: Option<u64>, seed: u64) -> Self {
        Self {
            descriptors,
            cores,
            ports,
            languages: Languages::CORE,
            seed,
            environment: |_| None,
            stdin: || Ok(Vec::new()),
            program: || Err(io::Error::from(io::ErrorKind::Unsupported)),
            reflect_descriptors: |_, _| Err(NEEDS_DESCRIPTORS.to_owned()),
            best_http_version: |_| Err(NEEDS_VERSIONS.to_owned()),
            on_options: |_| (),
            plan_text: |_| (),
            plan_tree: |_| (),
        }
    }

    /// Number of worker threads of a plan without one: half of the cores, since a server on this
    /// machine needs the others.
    pub fn half_of_cores(&self) -> u32 {
        (self.cores / 2).max(1)
    }
}
