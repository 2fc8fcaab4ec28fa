//! Makes one request without a load, such as a question to a server before a run.

use brunt_engine::clock::{RunEpoch, WorkerClock};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::sample::ConnectTimes;
use brunt_model::{Failure, Plan, ReplyPolicy};
use brunt_wire::http::{Common, Http};
use brunt_wire::request::RequestDraft;
use brunt_wire::{Reply, Stamps, Transport as _};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for name resolution, connect and TLS handshake.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for sending, and for the reply.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(3);

/// Reason why a request has no reply, or a message was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeError {
    /// The other system is unreachable, or cannot accept it now.
    Absent(String),
    /// The other system rejects it, and would reject it again.
    Refused(String),
}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        Self::Absent(error.to_string())
    }
}

/// A plan without a load, for its connection settings.
pub fn plan() -> Plan {
    Plan {
        populations: Vec::new(),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings {
            requests_per_connection: Some(1),
            ..ConnectionSettings::plain(REPLY_TIMEOUT, CONNECT_TIMEOUT)
        },
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: REPLY_TIMEOUT,
            labels: 1,
            samples: false,
            records: None,
        },
        seed: 0,
        threads: 1,
        processes: 1,
        allowed_targets: Vec::new(),
        fleet: None,
        precise: false,
        stages: Vec::new(),
    }
}

/// Sends a request and receives its reply, each step within its time limit.
pub async fn exchange(
    common: &Arc<Common>,
    draft: &RequestDraft<'_>,
) -> Result<Reply, ExchangeError> {
    let time = WorkerClock::new(RunEpoch::now());
    let _runtime_hooks = time.install()?;
    let http = Http::new(Arc::clone(common), 0, time.clone());
    let request =
        http.prepare(draft).map_err(|_| ExchangeError::Refused("its URL is not valid".into()))?;
    let mut steps = ConnectTimes::default();
    let connection = time.within(CONNECT_TIMEOUT, http.open(&request, 0, &mut steps)).await;
    let connection = connection.ok_or_else(|| timed_out("no connection", CONNECT_TIMEOUT))?;
    let mut lane = connection.map_err(|failure| exchange_error(&http, failure))?;
    let mut stamps = Stamps::default();
    let reply = time.within(REPLY_TIMEOUT, http.inspect(&mut lane, &request, &mut stamps)).await;
    let reply = reply.ok_or_else(|| timed_out("no reply", REPLY_TIMEOUT))?;
    reply.map_err(|failure| exchange_error(&http, failure))
}

fn exchange_error(http: &Http<WorkerClock>, failure: Failure) -> ExchangeError {
    let note = http.take_note().filter(|note| !note.is_empty());
    let name = &*failure.row().name;
    ExchangeError::Absent(match http.take_refusal() {
        // The note would name options for the server under load.
        Some(refusal) if refusal.cause.is_distrust() => {
            format!(
                "{name}: {}; name its authority by SSL_CERT_FILE=FILE, or add it to the system's",
                refusal.what
            )
        }
        _ => note.map_or_else(|| name.to_owned(), String::from),
    })
}

fn timed_out(wrong: &str, limit: Duration) -> ExchangeError {
    ExchangeError::Absent(format!("{wrong} within {} s", limit.as_secs()))
}
