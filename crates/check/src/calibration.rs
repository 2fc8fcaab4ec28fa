//! Measures the load that one core of this machine carries.
//!
//! The generator loads a server in the same process for a short time, with the smallest reply. The
//! CPU time of its worker thread per request gives the rate of a fully used core. Other processes
//! that use the machine meanwhile change it little, because only CPU time is counted.

use brunt_engine::{RunControl, RunEpoch};
use brunt_generator::{Generator, exchange};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::reading_names::{GENERATOR, worker_cpu};
use brunt_model::scenario::{ListOrder, Scenario};
use brunt_model::{
    Body, Environment, Event, Load, LoadShape, Plan, Population, Request, Run, Stop, ThinkTime,
};
use brunt_script::Languages;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Duration of the load.
const DURATION: Duration = Duration::from_secs(1);

/// Number of connections.
const CONNECTIONS: usize = 8;

/// Time after which a connection without a request ends.
const IDLE: Duration = Duration::from_secs(5);

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Returns the requests per second of CPU time of a worker. None if it cannot be measured.
pub fn requests_per_core_second() -> Option<f64> {
    let server = start_server()?;
    let plan = plan(server);
    let generator = Generator::new(&plan, RunEpoch::now(), Languages::CORE).ok()?;
    let mut run = Run::default();
    let environment = Environment::default();
    let control = RunControl::default();
    generator.run(&plan, environment, &control, &mut |event: &Event| run.fold(event)).ok()?;
    let cpu_seconds = run.history.get(GENERATOR)?.values(&worker_cpu(0)).last()?.1;
    let completed = run.total.completed;
    (cpu_seconds > 0.0 && completed > 0).then(|| completed as f64 / cpu_seconds)
}

/// Starts a server for the connections of one load.
fn start_server() -> Option<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let address = listener.local_addr().ok()?;
    thread::Builder::new()
        .name("brunt-reply".into())
        .spawn(move || {
            for stream in listener.incoming().take(CONNECTIONS).flatten() {
                thread::spawn(move || reply_to_all(stream));
            }
        })
        .ok()?;
    Some(address)
}

/// Replies to requests without a body until the connection ends.
fn reply_to_all(mut stream: TcpStream) {
    _ = stream.set_nodelay(true);
    _ = stream.set_read_timeout(Some(IDLE));
    let mut buffer = [0; 4096];
    // The client waits for each reply, so a read ends with the end of a request.
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        if buffer[..count].ends_with(b"\r\n\r\n") && stream.write_all(REPLY).is_err() {
            return;
        }
    }
}

fn plan(server: SocketAddr) -> Plan {
    let request = Request {
        base: None,
        label: "calibration".into(),
        method: "GET".into(),
        url: format!("http://{server}/"),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        verbatim: None,
        reply_policy: 0,
    };
    let stop = Stop {
        warmup: Duration::ZERO,
        warmup_until_steady: false,
        duration: Some(DURATION),
        requests: None,
        iterations_per_user: None,
        grace: DURATION,
    };
    let load =
        Load::Closed { users: LoadShape::constant(CONNECTIONS as f64), think: ThinkTime::NONE };
    let scenario = Scenario::list(vec![request], ListOrder::Sequence);
    Plan {
        populations: Population::only(load, scenario, stop),
        connection: ConnectionSettings::plain(IDLE, IDLE),
        record: RecordSettings {
            interval: Duration::from_millis(100),
            labels: 1,
            samples: false,
            records: None,
        },
        ..exchange::plan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_carries_a_load() {
        let rate = requests_per_core_second().unwrap();
        assert!((100.0..10_000_000.0).contains(&rate), "{rate}");
    }
}
