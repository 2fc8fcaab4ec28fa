//! The server: one thread, one event loop.
//!
//! Owns the sockets and the order of things; what is decided about requests is [`crate::desk`]'s, what a connection
//! does with its events is in `serve`. Each turn of the loop waits, reads what has come, takes requests in in
//! their order of arrival, and lets go what is due. As nothing here ever sleeps but in that wait, a stall is a hold of
//! replies only: requests are received while it lasts.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::agenda::{Agenda, Duty};
use crate::args::{Listen, Options};
use crate::clock::{Clock, cpu_time};
use crate::conn::{Conn, Speaks, Verdict};
use crate::desk::Desk;
use crate::freeze::Freezes;
use crate::h2;
use crate::outbox::Settled;
use crate::reply::Replies;
use crate::report::Report;
use crate::request::{Parser, Request};
use crate::socket;
use crate::tls::Tls;

/// Events of what is no connection.
const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const STOP: u64 = u64::MAX - 2;
#[cfg(feature = "http3")]
const UDP: u64 = u64::MAX - 3;

/// The most events, accepts and releases of one turn, so that none starves the others.
const MOST_EVENTS: usize = 128;
const MOST_ACCEPTS: usize = 128;
const MOST_RELEASES: usize = 128;

/// How long before a due instant `--precise` begins to spin, in nanoseconds.
const SPIN: u64 = 50_000;

/// The most ports that are tried for HTTP/3, where any will do.
#[cfg(feature = "http3")]
const FREE_PORTS: u32 = 16;

/// The most bytes of one read.
const READ: usize = 64 * 1024;

/// A request that was read and not yet taken in.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) at: u64,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    /// Its stream; before HTTP/2, 0.
    pub(crate) stream: u32,
    pub(crate) request: Request,
}

/// See the module.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "two are options decided once, two are states of different things")]
pub struct Server {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) agenda: Agenda,
    pub(crate) desk: Desk,
    pub(crate) freezes: Freezes,
    pub(crate) replies: Replies,
    pub(crate) h2_replies: h2::reply::Replies<http::Response<()>>,
    #[cfg(feature = "http3")]
    pub(crate) http3: Option<Box<crate::h3::Http3>>,
    #[cfg(feature = "http3")]
    pub(crate) h3_replies: h2::reply::Replies<std::rc::Rc<[u8]>>,
    pub(crate) arrived: Vec<Arrived>,
    pub(crate) settled: Vec<Settled>,
    /// The tick when the loop last woke.
    pub(crate) woke: u64,
    /// Whether replies have due times.
    pub(crate) timed: bool,
    /// Requests after which a connection is closed.
    pub(crate) most_requests: u64,
    /// Whether arrivals need their exact instant.
    pub(crate) stamped: bool,
    pub(crate) buffer: Vec<u8>,
    pub(crate) plain: Vec<u8>,
    pub(crate) control: Vec<u8>,
    epoll: OwnedFd,
    listener: OwnedFd,
    bound: Listen,
    tls: Option<Tls>,
    stop: UnixStream,
    conns: Vec<Option<Box<Conn>>>,
    free: Vec<u32>,
    generations: u32,
    accepting: bool,
    stopped: bool,
}

impl Server {
    /// Listens, and has everything ready to run.
    ///
    /// # Errors
    ///
    /// If it cannot listen, or the system grants no event loop.
    pub fn bind(options: Options, stop: UnixStream) -> io::Result<Self> {
        options.check().map_err(io::Error::other)?;
        let stamped = options.is_recorded();
        let (listener, bound) = socket::listen(&options.listen, options.backlog, stamped)?;
        let tls = options.tls.then(|| Tls::self_signed(options.http2.versions)).transpose()?;
        let mut server = Self {
            clock: Clock::start(),
            agenda: Agenda::new()?,
            desk: Desk::new(&options).map_err(io::Error::other)?,
            freezes: Freezes::default(),
            replies: Replies::new(options.status, &options.headers, options.body, options.chunked),
            h2_replies: h2::reply::Replies::of(&options, h2::reply::response),
            #[cfg(feature = "http3")]
            http3: None,
            #[cfg(feature = "http3")]
            h3_replies: crate::h3::replies(&options),
            arrived: Vec::new(),
            settled: Vec::new(),
            woke: 0,
            timed: options.is_timed(),
            most_requests: options.keepalive_requests.unwrap_or(u64::MAX),
            stamped,
            buffer: vec![0; READ],
            plain: Vec::new(),
            control: socket::control_buffer(),
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            listener,
            bound,
            tls,
            stop,
            conns: Vec::new(),
            free: Vec::new(),
            generations: 0,
            accepting: true,
            stopped: false,
            options,
        };
        #[cfg(feature = "http3")]
        server.listen_udp()?;
        server.watch()?;
        Ok(server)
    }

    #[cfg(feature = "http3")]
    fn listen_udp(&mut self) -> io::Result<()> {
        let any_port = matches!(&self.options.listen, Listen::Tcp(address) if address.port() == 0);
        for left in (0..FREE_PORTS).rev() {
            let (Listen::Tcp(address), Some(tls), true) = (&self.bound, &self.tls, self.options.http3.http3) else {
                return Ok(());
            };
            match crate::h3::Http3::bind(&self.options, *address, tls, self.stamped) {
                // A port that is free for TCP may be taken for UDP.
                Err(error) if any_port && left > 0 && error.kind() == io::ErrorKind::AddrInUse => {
                    (self.listener, self.bound) =
                        socket::listen(&self.options.listen, self.options.backlog, self.stamped)?;
                }
                http3 => {
                    let http3 = http3?;
                    epoll::add(&self.epoll, &http3.socket, EventData::new_u64(UDP), EventFlags::IN)?;
                    self.http3 = Some(Box::new(http3));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Where clients find it, as a URL or `unix:PATH`.
    pub fn address(&self) -> String {
        match (&self.bound, &self.tls) {
            (Listen::Unix(_), _) => self.bound.to_string(),
            (Listen::Tcp(address), None) => format!("http://{address}"),
            (Listen::Tcp(address), Some(_)) => format!("https://{address}"),
        }
    }

    /// The certificate, if TLS is spoken.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.certificate_pem.as_str())
    }

    /// Serves until something comes on the stop socket or the longest runtime is over.
    ///
    /// # Errors
    ///
    /// If the event loop fails.
    pub fn run(mut self) -> io::Result<Report> {
        let mut events = Vec::with_capacity(MOST_EVENTS);
        while !self.stopped {
            self.wait(&mut events)?;
            self.woke = self.clock.now();
            for event in events.drain(..) {
                self.dispatch(event);
            }
            self.admit_batch();
            self.release_due();
        }
        if let Listen::Unix(path) = &self.bound {
            // Somebody may have removed it, which is what is wanted.
            let _ = std::fs::remove_file(path);
        }
        self.desk.freezes = self.freezes.in_ticks(&self.clock);
        Ok(self.report())
    }

    /// What can be told now.
    pub fn report(&self) -> Report {
        Report::of(&self.options, &self.address(), &self.desk, self.clock.now(), cpu_time())
    }

    fn watch(&mut self) -> io::Result<()> {
        self.stop.set_nonblocking(true)?;
        epoll::add(&self.epoll, &self.listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&self.epoll, &self.stop, EventData::new_u64(STOP), EventFlags::IN)?;
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&self.epoll, self.agenda.timer(), EventData::new_u64(TIMER), edge)?;
        if let Some(end) = self.options.max_runtime {
            self.agenda.add(end, 0, 0, Duty::End);
        }
        Ok(())
    }

    /// Waits for events, but not if a duty is due already or so soon that its instant is awaited by spinning.
    fn wait(&mut self, events: &mut Vec<Event>) -> io::Result<()> {
        let ahead = if self.options.precise { SPIN } else { 0 };
        let soon = self.clock.now() + ahead;
        let at_once = self.agenda.next_at().is_some_and(|at| at <= soon) || !self.arrived.is_empty();
        if !at_once {
            self.agenda.arm(&self.clock, ahead)?;
        }
        let timeout = at_once.then_some(&Timespec { tv_sec: 0, tv_nsec: 0 });
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event.data.u64() {
            LISTENER => self.accept(),
            TIMER => {}
            STOP => self.stopped = true,
            #[cfg(feature = "http3")]
            UDP => self.on_udp(),
            token => {
                let flags = event.flags;
                self.with_conn(token as u32, (token >> 32) as u32, |server, conn| server.on_event(conn, flags));
            }
        }
    }

    /// In a timed run everything that was read in one turn is taken in in its order of arrival.
    pub(crate) fn admit_batch(&mut self) {
        if self.arrived.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.arrived);
        batch.sort_by_key(|arrived| arrived.at);
        for arrived in batch.drain(..) {
            if self.is_excluded(&arrived) {
                self.desk.ledger.http2.after_goaway += 1;
                continue;
            }
            let plan = self.desk.admit(arrived.at, arrived.request);
            let stream = arrived.stream;
            #[cfg(feature = "http3")]
            if arrived.generation & crate::h3::IS_QUIC != 0 {
                self.place_h3(arrived.slot, arrived.generation, plan, stream);
                continue;
            }
            self.with_conn(arrived.slot, arrived.generation, |server, conn| server.place(conn, plan, stream));
        }
        self.arrived = batch;
    }

    fn is_excluded(&self, arrived: &Arrived) -> bool {
        let conn = self.conns.get(arrived.slot as usize).and_then(Option::as_ref);
        conn.is_some_and(|conn| conn.generation == arrived.generation && conn.excludes(arrived.stream))
    }

    fn release_due(&mut self) {
        for _ in 0..MOST_RELEASES {
            let Some(next) = self.agenda.next_at() else { return };
            if next > self.woke {
                self.woke = self.clock.now();
            }
            let Some(due) = self.agenda.take(self.woke) else { return };
            if due.duty == Duty::End {
                self.stopped = true;
                return;
            }
            #[cfg(feature = "http3")]
            if due.generation & crate::h3::IS_QUIC != 0 {
                self.on_duty_h3(due);
                continue;
            }
            self.with_conn(due.slot, due.generation, |server, conn| server.on_duty(conn, due.duty));
        }
    }

    /// Lets `act` work on a connection, and then closes it or watches what it wants. A connection that is gone, as its
    /// generation tells, is passed over.
    fn with_conn(&mut self, slot: u32, generation: u32, act: impl FnOnce(&mut Self, &mut Conn) -> Verdict) {
        let Some(place) = self.conns.get_mut(slot as usize) else { return };
        let Some(mut conn) = place.take_if(|conn| conn.generation == generation) else { return };
        let verdict = act(self, &mut conn);
        if verdict == Verdict::Keep && self.rewatch(&mut conn).is_ok() {
            self.conns[slot as usize] = Some(conn);
        } else {
            self.forget(conn);
        }
    }

    fn rewatch(&self, conn: &mut Conn) -> io::Result<()> {
        let wanted = conn.wanted();
        if wanted == conn.interest {
            return Ok(());
        }
        conn.interest = wanted;
        epoll::modify(&self.epoll, &conn.socket, EventData::new_u64(token(conn)), wanted)?;
        Ok(())
    }

    fn forget(&mut self, conn: Box<Conn>) {
        self.free.push(conn.slot);
        self.desk.ledger.closed += 1;
        drop(conn);
        if !self.accepting {
            // If this fails, the next close tries again.
            self.accepting =
                epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), EventFlags::IN).is_ok();
        }
    }

    fn accept(&mut self) {
        for _ in 0..MOST_ACCEPTS {
            match socket::accept(&self.listener, matches!(self.bound, Listen::Tcp(_))) {
                Ok(socket) => self.welcome(socket),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_client_gone(&error) => {}
                Err(_) => return self.pause_accepting(),
            }
        }
    }

    /// Out of descriptors: until a connection closes, others must wait in the accept queue.
    fn pause_accepting(&mut self) {
        self.desk.ledger.accept_errors += 1;
        let paused = epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), EventFlags::empty());
        self.accepting = paused.is_err();
    }

    fn welcome(&mut self, socket: OwnedFd) {
        let Ok(session) = self.tls.as_ref().map(Tls::session).transpose() else { return };
        let speaks = Speaks::new(self.options.http2.versions);
        let mut conn = Box::new(Conn::new(socket, speaks, Parser::new(self.options.echo), session));
        self.generations = self.generations.wrapping_add(1) & (u32::MAX >> 1);
        conn.generation = self.generations;
        conn.slot = self.free.pop().unwrap_or_else(|| {
            self.conns.push(None);
            self.conns.len() as u32 - 1
        });
        conn.last_active = self.woke;
        self.desk.ledger.connected();
        if epoll::add(&self.epoll, &conn.socket, EventData::new_u64(token(&conn)), EventFlags::IN).is_err() {
            return self.forget(conn);
        }
        if let Some(timeout) = self.options.idle_timeout {
            self.agenda.add(self.woke + timeout, conn.slot, conn.generation, Duty::Idle);
        }
        let slot = conn.slot as usize;
        self.conns[slot] = Some(conn);
    }
}

/// Generations stay below 2^31, so no token equals one of the fixed ones.
fn token(conn: &Conn) -> u64 {
    u64::from(conn.generation) << 32 | u64::from(conn.slot)
}

fn is_client_gone(error: &io::Error) -> bool {
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
