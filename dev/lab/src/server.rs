//! Runs the server: one thread, one event loop.
//!
//! It owns the sockets and the order of events. [`crate::planner`] plans the replies, and `serve`
//! handles the events of a connection. Each turn of the loop waits, reads, admits requests in their
//! order of arrival, and sends the replies that are due. The thread sleeps only in that wait, so a
//! stall holds replies only: requests are still received.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::agenda::{Agenda, Task};
use crate::args::{LabOptions, Listen};
use crate::clock::{TickClock, cpu_time};
use crate::conn::{Conn, ConnAction, WireProtocol};
use crate::freeze::Freezes;
use crate::h2;
use crate::outbox::CompletedReply;
use crate::planner::Planner;
use crate::reply::ReplyCache;
use crate::report::LabReport;
use crate::request::{RequestParser, RequestedReply};
use crate::socket;
use crate::tls::TlsKeys;

/// Event tokens that are not connections.
const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const STOP: u64 = u64::MAX - 2;
#[cfg(feature = "http3")]
const UDP: u64 = u64::MAX - 3;

/// Maximum number of events, accepts and releases in one turn, so that each gets its share.
const MAX_EVENTS: usize = 128;
const MAX_ACCEPTS: usize = 128;
const MAX_RELEASES: usize = 128;

/// Time before a due instant at which `--precise` begins to spin, in nanoseconds.
const SPIN: u64 = 50_000;

/// Maximum number of ports tried for HTTP/3 if any port will do.
#[cfg(feature = "http3")]
// Other processes take ports as well, so each try may fail.
const FREE_PORTS: u32 = 16;

/// Maximum number of bytes in one read.
const READ: usize = 64 * 1024;

/// A request that was read and not yet admitted.
#[derive(Debug)]
pub(crate) struct IncomingRequest {
    pub(crate) at: u64,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    /// Stream of the request; before HTTP/2, 0.
    pub(crate) stream: u32,
    pub(crate) request: RequestedReply,
}

/// The server: one event loop in one thread.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "two are options decided once, two are states of different things"
)]
pub struct LabServer {
    pub(crate) options: LabOptions,
    pub(crate) clock: TickClock,
    pub(crate) agenda: Agenda,
    pub(crate) planner: Planner,
    pub(crate) freezes: Freezes,
    pub(crate) replies: ReplyCache,
    pub(crate) h2_replies: h2::reply::Http2Replies<http::Response<()>>,
    #[cfg(feature = "http3")]
    pub(crate) http3: Option<Box<crate::h3::Http3>>,
    #[cfg(feature = "http3")]
    pub(crate) h3_replies: h2::reply::Http2Replies<std::rc::Rc<[u8]>>,
    pub(crate) incoming: Vec<IncomingRequest>,
    pub(crate) completed: Vec<CompletedReply>,
    /// Tick at which the loop last woke.
    pub(crate) wake_tick: u64,
    /// True if replies have due times.
    pub(crate) is_timed: bool,
    /// Maximum number of requests on a connection, which is then closed.
    pub(crate) max_requests: u64,
    /// True if arrivals need their exact instant.
    pub(crate) needs_stamps: bool,
    pub(crate) buffer: Vec<u8>,
    pub(crate) plain: Vec<u8>,
    pub(crate) control: Vec<u8>,
    epoll: OwnedFd,
    listener: OwnedFd,
    bound_address: Listen,
    tls: Option<TlsKeys>,
    stop: UnixStream,
    conns: Vec<Option<Box<Conn>>>,
    free: Vec<u32>,
    generations: u32,
    is_accepting: bool,
    is_stopped: bool,
}

impl LabServer {
    /// Listens, and prepares everything to run.
    ///
    /// # Errors
    ///
    /// If it cannot listen, or the system provides no event loop.
    pub fn bind(options: LabOptions, stop: UnixStream) -> io::Result<Self> {
        options.check().map_err(io::Error::other)?;
        let needs_stamps = options.is_recorded();
        let (listener, bound_address) =
            socket::listen(&options.listen, options.backlog, needs_stamps)?;
        let tls = options.tls.then(|| TlsKeys::self_signed(options.http2.versions)).transpose()?;
        let mut server = Self {
            clock: TickClock::start(),
            agenda: Agenda::new()?,
            planner: Planner::new(&options).map_err(io::Error::other)?,
            freezes: Freezes::default(),
            replies: ReplyCache::new(
                options.status,
                &options.headers,
                options.body,
                options.chunked,
            ),
            h2_replies: h2::reply::Http2Replies::of(&options, h2::reply::response),
            #[cfg(feature = "http3")]
            http3: None,
            #[cfg(feature = "http3")]
            h3_replies: crate::h3::replies(&options),
            incoming: Vec::new(),
            completed: Vec::new(),
            wake_tick: 0,
            is_timed: options.is_timed(),
            max_requests: options.keepalive_requests.unwrap_or(u64::MAX),
            needs_stamps,
            buffer: vec![0; READ],
            plain: Vec::new(),
            control: socket::control_buffer(),
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            listener,
            bound_address,
            tls,
            stop,
            conns: Vec::new(),
            free: Vec::new(),
            generations: 0,
            is_accepting: true,
            is_stopped: false,
            options,
        };
        #[cfg(feature = "http3")]
        server.listen_udp()?;
        server.register_sources()?;
        Ok(server)
    }

    #[cfg(feature = "http3")]
    fn listen_udp(&mut self) -> io::Result<()> {
        // With a requested port, another one would be no substitute.
        let any_port = matches!(&self.options.listen, Listen::Tcp(address) if address.port() == 0);
        for remaining in (0..FREE_PORTS).rev() {
            let (Listen::Tcp(address), Some(tls), true) =
                (&self.bound_address, &self.tls, self.options.http3.http3)
            else {
                return Ok(());
            };
            match crate::h3::Http3::bind(&self.options, *address, tls, self.needs_stamps) {
                // A port that is free for TCP may be in use for UDP.
                Err(error)
                    if any_port && remaining > 0 && error.kind() == io::ErrorKind::AddrInUse =>
                {
                    (self.listener, self.bound_address) = socket::listen(
                        &self.options.listen,
                        self.options.backlog,
                        self.needs_stamps,
                    )?;
                }
                http3 => {
                    let http3 = http3?;
                    epoll::add(
                        &self.epoll,
                        &http3.socket,
                        EventData::new_u64(UDP),
                        EventFlags::IN,
                    )?;
                    self.http3 = Some(Box::new(http3));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the address for clients, as a URL or `unix:PATH`.
    pub fn address(&self) -> String {
        match (&self.bound_address, &self.tls) {
            (Listen::Unix(_), _) => self.bound_address.to_string(),
            (Listen::Tcp(address), None) => format!("http://{address}"),
            (Listen::Tcp(address), Some(_)) => format!("https://{address}"),
        }
    }

    /// Returns the certificate, if TLS is used.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.certificate_pem.as_str())
    }

    /// Serves until the stop socket becomes readable or the maximum runtime is over.
    pub fn run(mut self) -> io::Result<LabReport> {
        let mut events = Vec::with_capacity(MAX_EVENTS);
        while !self.is_stopped {
            self.wait(&mut events)?;
            self.wake_tick = self.clock.now();
            for event in events.drain(..) {
                self.dispatch(event);
            }
            // Requests are admitted after all reads of the turn, so that they can be sorted by
            // their arrival over all connections.
            self.admit_batch();
            self.release_due();
        }
        if let Listen::Unix(path) = &self.bound_address {
            // The file may already be removed, which is fine.
            let _ = std::fs::remove_file(path);
        }
        self.planner.freezes = self.freezes.in_ticks(&self.clock);
        Ok(self.report())
    }

    /// Returns the current report.
    pub fn report(&self) -> LabReport {
        LabReport::of(&self.options, &self.address(), &self.planner, self.clock.now(), cpu_time())
    }

    fn register_sources(&mut self) -> io::Result<()> {
        // A signal must not block in the handler if the socket is full.
        self.stop.set_nonblocking(true)?;
        epoll::add(&self.epoll, &self.listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&self.epoll, &self.stop, EventData::new_u64(STOP), EventFlags::IN)?;
        // Edge-triggered, so that the timer need not be read.
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&self.epoll, self.agenda.timer(), EventData::new_u64(TIMER), edge)?;
        if let Some(end) = self.options.max_runtime {
            self.agenda.add(end, 0, 0, Task::End);
        }
        Ok(())
    }

    /// Waits for events. Does not wait if a task is due, or due so soon that the
    /// loop spins until then.
    fn wait(&mut self, events: &mut Vec<Event>) -> io::Result<()> {
        let ahead = if self.options.precise { SPIN } else { 0 };
        let soon = self.clock.now() + ahead;
        let has_work =
            self.agenda.next_at().is_some_and(|at| at <= soon) || !self.incoming.is_empty();
        if !has_work {
            self.agenda.arm(&self.clock, ahead)?;
        }
        // A timeout of zero only collects events.
        let timeout = has_work.then_some(&Timespec { tv_sec: 0, tv_nsec: 0 });
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout) {
            // A signal only wakes the loop, which then checks its tasks.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event.data.u64() {
            LISTENER => self.accept(),
            TIMER => {}
            STOP => self.is_stopped = true,
            #[cfg(feature = "http3")]
            UDP => self.on_udp(),
            token => {
                let flags = event.flags;
                self.with_conn(token as u32, (token >> 32) as u32, |server, conn| {
                    server.on_event(conn, flags)
                });
            }
        }
    }

    /// Admits the requests that were read in one turn, in their order of arrival.
    pub(crate) fn admit_batch(&mut self) {
        if self.incoming.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.incoming);
        batch.sort_by_key(|incoming| incoming.at);
        for incoming in batch.drain(..) {
            if self.is_excluded(&incoming) {
                self.planner.ledger.http2.after_goaway += 1;
                continue;
            }
            let plan = self.planner.admit(incoming.at, incoming.request);
            let stream = incoming.stream;
            #[cfg(feature = "http3")]
            if incoming.generation & crate::h3::IS_QUIC != 0 {
                self.place_h3(incoming.slot, incoming.generation, plan, stream);
                continue;
            }
            self.with_conn(incoming.slot, incoming.generation, |server, conn| {
                server.place(conn, plan, stream)
            });
        }
        self.incoming = batch;
    }

    fn is_excluded(&self, incoming: &IncomingRequest) -> bool {
        let conn = self.conns.get(incoming.slot as usize).and_then(Option::as_ref);
        conn.is_some_and(|conn| {
            conn.generation == incoming.generation && conn.excludes(incoming.stream)
        })
    }

    fn release_due(&mut self) {
        for _ in 0..MAX_RELEASES {
            let Some(next) = self.agenda.next_at() else { return };
            // Tasks became due while earlier ones were handled.
            if next > self.wake_tick {
                self.wake_tick = self.clock.now();
            }
            let Some(due) = self.agenda.take(self.wake_tick) else { return };
            if due.task == Task::End {
                self.is_stopped = true;
                return;
            }
            #[cfg(feature = "http3")]
            if due.generation & crate::h3::IS_QUIC != 0 {
                self.on_task_h3(due);
                continue;
            }
            self.with_conn(due.slot, due.generation, |server, conn| server.on_task(conn, due.task));
        }
    }

    /// Calls `act` with a connection, and then closes it or updates its watched events. Skips a
    /// connection that no longer exists, as its generation shows.
    fn with_conn(
        &mut self,
        slot: u32,
        generation: u32,
        act: impl FnOnce(&mut Self, &mut Conn) -> ConnAction,
    ) {
        let Some(place) = self.conns.get_mut(slot as usize) else { return };
        // The connection leaves the table, so that `act` can change both it and the server.
        let Some(mut conn) = place.take_if(|conn| conn.generation == generation) else { return };
        let action = act(self, &mut conn);
        if action == ConnAction::Keep && self.update_interest(&mut conn).is_ok() {
            self.conns[slot as usize] = Some(conn);
        } else {
            self.remove(conn);
        }
    }

    fn update_interest(&self, conn: &mut Conn) -> io::Result<()> {
        let flags = conn.interest_flags();
        // Changing the events costs a system call.
        if flags == conn.interest {
            return Ok(());
        }
        conn.interest = flags;
        epoll::modify(&self.epoll, &conn.socket, EventData::new_u64(token(conn)), flags)?;
        Ok(())
    }

    fn remove(&mut self, conn: Box<Conn>) {
        self.free.push(conn.slot);
        self.planner.ledger.closed += 1;
        drop(conn);
        if !self.is_accepting {
            // A descriptor is free again. If this fails, the next close retries.
            self.is_accepting = epoll::modify(
                &self.epoll,
                &self.listener,
                EventData::new_u64(LISTENER),
                EventFlags::IN,
            )
            .is_ok();
        }
    }

    fn accept(&mut self) {
        for _ in 0..MAX_ACCEPTS {
            match socket::accept(&self.listener, matches!(self.bound_address, Listen::Tcp(_))) {
                Ok(socket) => self.register_connection(socket),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_client_gone(&error) => {}
                Err(_) => return self.pause_accepting(),
            }
        }
    }

    /// Stops accepting when descriptors run out. Until a connection closes, clients wait
    /// in the accept queue.
    fn pause_accepting(&mut self) {
        self.planner.ledger.accept_errors += 1;
        let result = epoll::modify(
            &self.epoll,
            &self.listener,
            EventData::new_u64(LISTENER),
            EventFlags::empty(),
        );
        self.is_accepting = result.is_err();
    }

    fn register_connection(&mut self, socket: OwnedFd) {
        let Ok(session) = self.tls.as_ref().map(TlsKeys::session).transpose() else { return };
        let protocol = WireProtocol::new(self.options.http2.versions);
        let mut conn =
            Box::new(Conn::new(socket, protocol, RequestParser::new(self.options.echo), session));
        // The highest bit marks QUIC connections.
        self.generations = self.generations.wrapping_add(1) & (u32::MAX >> 1);
        conn.generation = self.generations;
        // A slot is used again, so that the table stays as long as the peak of connections.
        conn.slot = self.free.pop().unwrap_or_else(|| {
            self.conns.push(None);
            self.conns.len() as u32 - 1
        });
        conn.last_active = self.wake_tick;
        self.planner.ledger.record_connection();
        if epoll::add(&self.epoll, &conn.socket, EventData::new_u64(token(&conn)), EventFlags::IN)
            .is_err()
        {
            return self.remove(conn);
        }
        if let Some(timeout) = self.options.idle_timeout {
            self.agenda.add(self.wake_tick + timeout, conn.slot, conn.generation, Task::Idle);
        }
        let slot = conn.slot as usize;
        self.conns[slot] = Some(conn);
    }
}

/// Returns the event token of a connection. Generations stay below 2^31, so that no token
/// equals a fixed one.
fn token(conn: &Conn) -> u64 {
    u64::from(conn.generation) << 32 | u64::from(conn.slot)
}

fn is_client_gone(error: &io::Error) -> bool {
    // accept(2): a client may leave while its connection waits in the queue.
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod h2_tests;
#[cfg(test)]
mod h2_websocket_tests;
#[cfg(all(test, feature = "http3"))]
mod h3_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod websocket_tests;
