//! What settings need of the system that carries them out. It is handed in, so that the same input makes the same plan.

use crate::RunSettings;
use brunt_model::plan::HttpVersion;
use std::io;
use std::path::PathBuf;

/// What is told where nobody may ask the server.
const NEEDS_DESCRIPTORS: &str =
    "--grpc needs descriptors of the service here: add --proto FILE or --descriptor-set FILE";

/// The system that carries a plan out.
#[derive(Debug, Clone, Copy)]
pub struct System {
    /// Files that this process may have open, once the limit is raised as far as it goes.
    pub descriptors: u64,
    /// Cores of this machine.
    pub cores: u32,
    /// Local ports that lead from one address to another; None where the system does not show it.
    pub ports: Option<u64>,
    /// The seed where none was given.
    pub seed: u64,
    /// A variable of the environment.
    pub environment: fn(&str) -> Option<String>,
    /// All of standard input, for a body that comes from there.
    pub stdin: fn() -> io::Result<Vec<u8>>,
    /// The program that carries it out: what `${env:BRUNT}` stands for in commands of a plan file.
    pub program: fn() -> io::Result<PathBuf>,
    /// The descriptors of a service of gRPC, a `FileDescriptorSet`, that the server of these settings tells by reflection, or
    /// without a name those of all its services; an error in words.
    pub reflected: fn(&RunSettings, &str) -> Result<Vec<u8>, String>,
    /// The best version of HTTP that the server of these settings offers; an error in words.
    pub offered: fn(&RunSettings) -> Result<HttpVersion, String>,
    /// Is told the words of a plan file as options, before a message may repeat them: some are secret.
    pub heard: fn(&[String]),
    /// Receives the text of a plan file before it is read, for the same reason.
    pub plan_text: fn(&str),
    /// Receives the tree of a plan file before it is resolved, for the same reason.
    pub plan_tree: fn(&serde_json::Value),
}

impl System {
    /// A system without environment or input, for tests and for forms.
    pub const fn bare(descriptors: u64, cores: u32, ports: Option<u64>, seed: u64) -> Self {
        Self {
            descriptors,
            cores,
            ports,
            seed,
            environment: |_| None,
            stdin: || Ok(Vec::new()),
            program: || Err(io::Error::from(io::ErrorKind::Unsupported)),
            reflected: |_, _| Err(NEEDS_DESCRIPTORS.to_owned()),
            offered: |_| Err("nobody may ask the server here".to_owned()),
            heard: |_| (),
            plan_text: |_| (),
            plan_tree: |_| (),
        }
    }

    /// Worker threads of a plan that says no number of them: half of the cores, since a server on this machine needs the others.
    pub fn half_of_cores(&self) -> u32 {
        (self.cores / 2).max(1)
    }
}
