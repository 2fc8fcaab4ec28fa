//! Passes events of single connections and replies to callers that show them: the first TLS
//! handshake, and heads of replies.
//!
//! It is between the engine and the real transport, only in a run of one process, and only if there
//! is a witness. It is not on the measuring path of any other run.

use brunt_engine::{RunControl, RunEnvironment, RunEpoch, Sink, UserSetup, Users, WorkerClock};
use brunt_generator::{Generator, GeneratorError};
use brunt_model::sample::ConnectTimes;
use brunt_model::{Environment, Failure, Flow, Plan, Text};
use brunt_runner::error::RunError;
use brunt_runner::{PlanExecutor, RealWorld};
use brunt_wire::events::EventTimes;
use brunt_wire::http::Http;
use brunt_wire::request::{BadRequest, RequestParts, Tags};
use brunt_wire::tls::Handshake;
use brunt_wire::{IdleEnd, Prepared, Reply, ReplyDetails, Stamps, Transport};
use std::rc::Rc;
use std::sync::Arc;

/// Receives events of connections and replies.
pub trait Witness: Sync + Send {
    /// A TLS connection was opened.
    fn on_handshake(&self, handshake: &Handshake);

    /// True if the witness needs heads. Each head is then parsed completely, which is slower.
    fn needs_heads(&self) -> bool;

    /// A request is about to be sent.
    fn on_request(&self, request: &Prepared) {
        let _ = request;
    }

    /// A complete reply to this request was received.
    fn on_reply(&self, request: &Prepared, details: &ReplyDetails);
}

/// The real world, with an optional witness.
pub struct WitnessedEngine<'a> {
    /// The real world, with its sockets and clock.
    pub real: &'a RealWorld,
    /// Receiver of events; ignored in a run of several processes.
    pub witness: Option<Arc<dyn Witness>>,
}

impl PlanExecutor for WitnessedEngine<'_> {
    fn began(&self) -> RunEpoch {
        self.real.began()
    }

    fn run(
        &self,
        plan: &Plan,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        match &self.witness {
            // Connections of other processes are out of reach.
            Some(witness) if plan.processes == 1 && plan.fleet.is_none() => {
                let generator = self.real.generator().clone();
                let world = WitnessedGenerator { generator, witness: Arc::clone(witness) };
                let result = brunt_engine::run(plan, environment, &world, control, sink);
                Ok(result.map_err(GeneratorError::from)?)
            }
            _ => self.real.run(plan, environment, control, sink),
        }
    }
}

/// The generator of this process, with a witness.
#[derive(Clone)]
struct WitnessedGenerator {
    generator: Generator,
    witness: Arc<dyn Witness>,
}

impl RunEnvironment for WitnessedGenerator {
    type Transport = WitnessedTransport;

    fn epoch(&self) -> RunEpoch {
        self.generator.epoch()
    }

    fn transport(
        &self,
        worker: usize,
        population: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<WitnessedTransport> {
        Rc::new(WitnessedTransport {
            transport: self.generator.transport(worker, population, time),
            witness: Arc::clone(&self.witness),
        })
    }

    fn users(&self, transport: &Rc<WitnessedTransport>, of: UserSetup<'_>) -> Box<dyn Users> {
        self.generator.users_of(transport, of)
    }

    fn labels(&self) -> Vec<String> {
        self.generator.labels()
    }

    fn remarks(&self) -> Vec<Text> {
        self.generator.remarks()
    }

    fn describe_step(&self, population: usize, position: u32) -> String {
        self.generator.describe_step(population, position)
    }
}

/// The real transport with a witness.
struct WitnessedTransport {
    transport: Rc<Http<WorkerClock>>,
    witness: Arc<dyn Witness>,
}

impl Transport for WitnessedTransport {
    type Lane = <Http<WorkerClock> as Transport>::Lane;

    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest> {
        self.transport.prepare_parts(parts, tags)
    }

    async fn open(
        &self,
        request: &Prepared,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<Self::Lane, Failure> {
        let conn = self.transport.open(request, client, steps).await?;
        if let Some(handshake) = conn.handshake() {
            self.witness.on_handshake(&handshake);
        }
        Ok(conn)
    }

    async fn exchange(
        &self,
        conn: &mut Self::Lane,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        if !self.witness.needs_heads() {
            return self.transport.exchange(conn, request, stamps).await;
        }
        // `send_ahead` has reported a request already that was sent before its turn.
        if !conn.owes_replies() {
            self.witness.on_request(request);
        }
        let reply = self.transport.inspect(conn, request, stamps).await?;
        if let Some(details) = &reply.details {
            self.witness.on_reply(request, details);
        }
        Ok(reply)
    }

    fn note_reply(&self, reply: &Reply) {
        self.transport.note_reply(reply);
    }

    async fn send_ahead(&self, conn: &mut Self::Lane, requests: &[Rc<Prepared>]) {
        if self.witness.needs_heads() {
            for request in requests {
                self.witness.on_request(request);
            }
        }
        self.transport.send_ahead(conn, requests).await;
    }

    async fn closed(&self, conn: &mut Self::Lane) -> IdleEnd {
        self.transport.closed(conn).await
    }

    fn take_events(&self, population: usize) -> Vec<(u32, EventTimes)> {
        self.transport.take_events(population)
    }

    fn take_counts(&self) -> Flow {
        self.transport.take_counts()
    }

    fn take_note(&self) -> Option<Text> {
        self.transport.take_note()
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        self.transport.take_target()
    }
}
