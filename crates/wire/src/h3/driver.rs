//! Drives one UDP socket with its QUIC endpoint, in one task that reads and writes for
//! all connections on it.
//!
//! Packets that arrived together are read with one call, and the packets of a connection leave with
//! one call (GRO and GSO, if the kernel supports them). Requests that begin in the same turn of the
//! thread share packets, also with acknowledgments of earlier packets.

use super::connection::WatchedClient;
use super::port::{Binding, Port};
use super::session::{Http3Session, Http3SessionEnd};
use super::versions;
use crate::turn::Turn;
use crate::{Timer, error, sys, tls};
use brunt_model::{Failure, Flow, Tick};
use bytes::BytesMut;
use quinn_proto::{
    ConnectionEvent, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    Transmit,
};
use quinn_udp::{RecvMeta, UdpSockRef};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

/// Messages per read. Each contains one or several packets.
const BATCH: usize = 8;
/// Buffer size for a message, in bytes.
const MESSAGE: usize = 64 * 1024;
/// Maximum number of packets in a message that is written.
const MAX_PACKETS: usize = 32;

/// The connections that have something to send, and the waker of the driver.
#[derive(Default)]
pub struct DriverQueue {
    ready: RefCell<Vec<usize>>,
    driver: RefCell<Option<Waker>>,
    is_driver_woken: Cell<bool>,
}

impl DriverQueue {
    /// Adds a connection to the queue, and wakes the driver.
    pub fn wake(&self, carrier: &Carrier) {
        self.push(carrier);
        if !self.is_driver_woken.replace(true)
            && let Some(driver) = &*self.driver.borrow()
        {
            driver.wake_by_ref();
        }
    }

    fn push(&self, carrier: &Carrier) {
        if !carrier.is_ready.replace(true) {
            self.ready.borrow_mut().push(carrier.handle.0);
        }
    }

    fn set_driver(&self, waker: &Waker) {
        self.is_driver_woken.set(false);
        let mut driver = self.driver.borrow_mut();
        if !driver.as_ref().is_some_and(|driver| driver.will_wake(waker)) {
            *driver = Some(waker.clone());
        }
    }
}

/// State shared by the driver and the streams of a connection.
pub struct Carrier {
    pub session: RefCell<Http3Session>,
    /// True if no streams exist and none will begin.
    pub is_closing: Cell<bool>,
    handle: ConnectionHandle,
    /// True if it is in the driver's queue.
    is_ready: Cell<bool>,
    /// Its local port, and the previous one, on which packets may still arrive.
    ports: RefCell<(Rc<Port>, Option<Rc<Port>>)>,
    /// When its entry in the driver's timers is due.
    timer: Cell<Option<Instant>>,
}

/// The sockets of one local address and their connections: one socket, and further ones for
/// connections that migrate. Dropping it closes the connections and notifies their peers.
pub struct UdpEndpoint<T: Timer + 'static>(Rc<Core<T>>);

impl<T: Timer + 'static> Drop for UdpEndpoint<T> {
    fn drop(&mut self) {
        let now = self.0.time.now();
        let carriers: Vec<Rc<Carrier>> =
            self.0.carriers.borrow().iter().flatten().cloned().collect();
        for carrier in carriers {
            carrier.is_closing.set(true);
            let _ = self.0.transmit(&carrier, now);
        }
    }
}

/// A message that its socket could not accept.
struct Unsent {
    port: Rc<Port>,
    transmit: Transmit,
    contents: Vec<u8>,
}

struct Core<T> {
    time: T,
    /// The instant of tick zero.
    base: Instant,
    /// The parameters of all sockets.
    binding: Binding,
    /// The socket of new connections, and those of migrated connections. A connection that
    /// migrated n times uses port number n.
    ports: RefCell<Vec<Rc<Port>>>,
    endpoint: RefCell<Endpoint>,
    /// Connections by their handle.
    carriers: RefCell<Vec<Option<Rc<Carrier>>>>,
    queue: Rc<DriverQueue>,
    timers: RefCell<BinaryHeap<Reverse<(Instant, usize)>>>,
    unsent: RefCell<Option<Unsent>>,
    out: RefCell<Vec<u8>>,
    /// Set if a packet that was sent earlier was refused on its way.
    refusal: RefCell<Option<io::Error>>,
    /// Counts of closed connections.
    closed_counts: RefCell<Flow>,
}

impl<T: Timer + 'static> UdpEndpoint<T> {
    /// Opens a socket for peers of the address family of `binding.to`.
    ///
    /// # Errors
    ///
    /// If the system provides no socket.
    pub fn new(time: T, base: Instant, binding: Binding) -> io::Result<Self> {
        let port = Port::bind(&binding, 0)?;
        let may_fragment = port.state.may_fragment();
        let endpoint =
            Endpoint::new(Arc::new(EndpointConfig::default()), None, !may_fragment, None);
        let core = Rc::new(Core {
            time,
            base,
            binding,
            ports: RefCell::new(vec![Rc::new(port)]),
            endpoint: RefCell::new(endpoint),
            carriers: RefCell::default(),
            queue: Rc::default(),
            timers: RefCell::default(),
            unsent: RefCell::default(),
            out: RefCell::default(),
            refusal: RefCell::default(),
            closed_counts: RefCell::default(),
        });
        let mut driver = Driver {
            core: Rc::clone(&core),
            turn: Turn::default(),
            sleep: None,
            messages: vec![0; BATCH * MESSAGE],
        };
        tokio::task::spawn_local(std::future::poll_fn(move |cx| driver.poll(cx)));
        Ok(Self(core))
    }

    /// Adds the counts of its connections since the last call.
    pub fn take_counts(&self, all: &mut Flow) {
        let core = &self.0;
        all.merge(&core.closed_counts.take());
        for carrier in core.carriers.borrow().iter().flatten() {
            carrier.session.borrow_mut().take_counts(all);
        }
    }

    /// Starts a handshake.
    ///
    /// # Errors
    ///
    /// The reason in words, if no handshake can be started.
    pub fn connect(
        &self,
        client: &WatchedClient,
        to: SocketAddr,
        name: &str,
    ) -> Result<(Rc<Carrier>, Rc<DriverQueue>), String> {
        let core = &self.0;
        let now = core.time.now();
        let connected =
            core.endpoint.borrow_mut().connect(core.instant(now), client.config.clone(), to, name);
        let (handle, quic) = connected.map_err(|error| error.to_string())?;
        let watch = client.crypto.take_newest().unwrap_or_default();
        let carrier = Rc::new(Carrier {
            session: RefCell::new(Http3Session::new(quic, watch, now)),
            is_closing: Cell::new(false),
            handle,
            is_ready: Cell::new(false),
            ports: RefCell::new((core.first_port(), None)),
            timer: Cell::new(None),
        });
        let mut carriers = core.carriers.borrow_mut();
        if carriers.len() <= handle.0 {
            carriers.resize(handle.0 + 1, None);
        }
        carriers[handle.0] = Some(Rc::clone(&carrier));
        core.queue.wake(&carrier);
        Ok((carrier, Rc::clone(&core.queue)))
    }
}

impl<T: Timer> Core<T> {
    fn instant(&self, tick: Tick) -> Instant {
        self.base + Duration::from_nanos(tick.0)
    }

    /// Returns the port of new connections.
    fn first_port(&self) -> Rc<Port> {
        Rc::clone(&self.ports.borrow()[0])
    }

    /// Moves a connection to a port that it never used before. A server need not validate a
    /// port that it has seen (RFC 9000 section 9.3), so no packet would arrive there. Ports
    /// without connections are closed.
    fn migrate(&self, carrier: &Carrier) -> Result<(), Failure> {
        let mut ports = self.ports.borrow_mut();
        let mut used = carrier.ports.borrow_mut();
        let number = used.0.number + 1;
        let next = if let Some(port) = ports.iter().find(|port| port.number == number) {
            Rc::clone(port)
        } else {
            let port = Rc::new(
                Port::bind(&self.binding, number)
                    .map_err(|error| error::connect_failure(&error))?,
            );
            ports.push(Rc::clone(&port));
            port
        };
        used.1 = Some(std::mem::replace(&mut used.0, next));
        // New connections start on the first port. Another one is closed when
        // no connection uses it.
        ports.retain(|port| port.number == 0 || Rc::strong_count(port) > 1);
        Ok(())
    }

    fn carrier(&self, handle: usize) -> Option<Rc<Carrier>> {
        self.carriers.borrow().get(handle)?.clone()
    }

    /// Sends the pending packets of a connection. Pending: the socket accepts no more.
    fn transmit(&self, carrier: &Rc<Carrier>, now: Tick) -> Poll<()> {
        carrier.is_ready.set(false);
        let instant = self.instant(now);
        let session = &mut *carrier.session.borrow_mut();
        if carrier.is_closing.get() && !session.quic.is_closed() {
            session.close(instant);
        }
        if session.needs_port() {
            session.set_port(now, self.migrate(carrier));
        }
        let port = Rc::clone(&carrier.ports.borrow().0);
        loop {
            session.take_events(now, instant);
            if self.poll_transmit(session, &port, instant).is_pending() {
                self.queue.push(carrier);
                return Poll::Pending;
            }
            // An event of the endpoint, such as a new connection ID, may permit further packets.
            if !self.exchange_events(carrier.handle, session) {
                break;
            }
        }
        if session.has_written() {
            session.record_written(self.time.now());
        }
        if session.quic.is_drained() {
            session.take_counts(&mut self.closed_counts.borrow_mut());
            if let Some(slot) = self.carriers.borrow_mut().get_mut(carrier.handle.0) {
                *slot = None;
            }
        } else if let Some(due) = session.next_timeout(self.base)
            && carrier.timer.get().is_none_or(|timer| due < timer)
        {
            carrier.timer.set(Some(due));
            self.timers.borrow_mut().push(Reverse((due, carrier.handle.0)));
        }
        Poll::Ready(())
    }

    /// Exchanges events between a connection and the endpoint. Returns true if there were any.
    fn exchange_events(&self, handle: ConnectionHandle, session: &mut Http3Session) -> bool {
        let mut has_events = false;
        while let Some(event) = session.quic.poll_endpoint_events() {
            has_events = true;
            if let Some(event) = self.endpoint.borrow_mut().handle_event(handle, event) {
                session.quic.handle_event(event);
            }
        }
        has_events
    }

    fn poll_transmit(
        &self,
        session: &mut Http3Session,
        port: &Rc<Port>,
        instant: Instant,
    ) -> Poll<()> {
        let mut out = self.out.borrow_mut();
        // With GSO, the kernel splits one send call into several packets.
        let max_packets = port.state.max_gso_segments().min(MAX_PACKETS);
        loop {
            if self.unsent.borrow().is_some() {
                return Poll::Pending;
            }
            out.clear();
            let Some(transmit) = session.quic.poll_transmit(instant, max_packets, &mut out) else {
                return Poll::Ready(());
            };
            match port.send(&transmit, &out[..transmit.size]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let contents = std::mem::take(&mut *out);
                    *self.unsent.borrow_mut() =
                        Some(Unsent { port: Rc::clone(port), transmit, contents });
                    return Poll::Pending;
                }
                // The error belongs to an earlier packet. This one was not sent,
                // and counts as lost.
                Err(error) if is_refusal(&error) => *self.refusal.borrow_mut() = Some(error),
                // A packet without a route counts as lost. But if that happens during the
                // handshake, no connection is possible.
                Err(error) if !session.is_connected && !is_too_long(&error) => {
                    let failure = error::connect_failure(&error);
                    session.finish(Http3SessionEnd {
                        failure,
                        cause: None,
                        why: error.to_string(),
                    });
                }
                _ => {}
            }
        }
    }

    /// Processes a message of one or several packets.
    fn receive(&self, port: &Port, meta: &RecvMeta, message: &[u8], now: Tick) {
        let instant = self.instant(now);
        let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
        let mut packets = BytesMut::from(message);
        while !packets.is_empty() {
            // With GRO, the kernel joins packets of equal length into one message.
            let packet = packets.split_to(meta.stride.clamp(1, packets.len()));
            let versions = versions::versions_in(&packet);
            let mut answer = Vec::new();
            let event = self.endpoint.borrow_mut().handle(
                instant,
                meta.addr,
                meta.dst_ip,
                ecn,
                packet,
                &mut answer,
            );
            match event {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    self.on_packet(handle, event, port.number, versions, now);
                }
                // If the answer is lost, the peer repeats its packet.
                Some(DatagramEvent::Response(transmit)) => {
                    let _ = port.send(&transmit, &answer[..transmit.size]);
                }
                // A client accepts no connections.
                Some(DatagramEvent::NewConnection(incoming)) => {
                    self.endpoint.borrow_mut().ignore(incoming);
                }
                None => {}
            }
        }
    }

    /// Passes a packet to its connection. `versions` are those of a Version Negotiation packet.
    fn on_packet(
        &self,
        handle: ConnectionHandle,
        event: ConnectionEvent,
        port: usize,
        versions: Option<Vec<u32>>,
        now: Tick,
    ) {
        let Some(carrier) = self.carrier(handle.0) else { return };
        let session = &mut *carrier.session.borrow_mut();
        if session.first_packet == Tick::ZERO {
            session.first_packet = now;
        }
        if session.is_connected {
            session.quic.handle_event(event);
            session.record_packet(now);
            if port == carrier.ports.borrow().0.number {
                session.record_packet_on_port(now);
            }
        } else {
            session.offered_versions = versions.unwrap_or_default();
            // The verifier of certificates cannot see its connection: it leaves its verdict in a
            // thread-local place. Remove an older one first.
            tls::take_verdict();
            session.quic.handle_event(event);
            session.verdict = session.verdict.take().or_else(tls::take_verdict);
            session.record_handshake_packet(now);
        }
        self.queue.push(&carrier);
    }

    /// Fails handshakes with servers that do not listen. Established connections ignore such
    /// messages, because anyone can forge them.
    fn take_refusals(&self, error: &io::Error) {
        let ports = self.ports.borrow();
        while let Some(to) = ports.iter().find_map(|port| sys::take_refusal(port.socket.get_ref()))
        {
            for carrier in self.carriers.borrow().iter().flatten() {
                let mut session = carrier.session.borrow_mut();
                if session.first_packet == Tick::ZERO && session.quic.remote_address() == to {
                    let failure = error::connect_failure(error);
                    session.finish(Http3SessionEnd {
                        failure,
                        cause: None,
                        why: error.to_string(),
                    });
                    self.queue.push(carrier);
                }
            }
        }
    }

    /// Passes pending events to the queued connections, which wake waiting tasks.
    fn take_events(&self, now: Tick) {
        let instant = self.instant(now);
        for handle in self.queue.ready.borrow().iter() {
            if let Some(carrier) = self.carrier(*handle) {
                carrier.session.borrow_mut().take_events(now, instant);
            }
        }
    }

    /// Fires the timers that are due at `now`.
    fn fire_timers(&self, now: Tick) {
        let instant = self.instant(now);
        loop {
            let mut timers = self.timers.borrow_mut();
            let Some(Reverse((due, handle))) =
                timers.peek().copied().filter(|Reverse((due, _))| *due <= instant)
            else {
                return;
            };
            timers.pop();
            // A timer that was replaced by an earlier one remains in the heap.
            let Some(carrier) =
                self.carrier(handle).filter(|carrier| carrier.timer.get() == Some(due))
            else {
                continue;
            };
            carrier.timer.set(None);
            let session = &mut *carrier.session.borrow_mut();
            match session.next_timeout(self.base) {
                Some(due) if due <= instant => {
                    session.on_timeout(now, instant);
                    self.queue.push(&carrier);
                }
                // The timer was postponed meanwhile.
                Some(due) => {
                    carrier.timer.set(Some(due));
                    timers.push(Reverse((due, handle)));
                }
                None => {}
            }
        }
    }
}

/// True if an error belongs to a packet that was sent earlier (ICMP), not to this one.
fn is_refusal(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::CONNREFUSED | Errno::HOSTUNREACH))
}

fn is_too_long(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::MSGSIZE)
}

type Sleep = Pin<Box<dyn Future<Output = ()>>>;

/// Reads and writes for the connections of a socket, until the endpoint is dropped
/// and all are closed.
struct Driver<T> {
    core: Rc<Core<T>>,
    turn: Turn,
    sleep: Option<(Instant, Sleep)>,
    messages: Vec<u8>,
}

impl<T: Timer + 'static> Driver<T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let core = Rc::clone(&self.core);
        core.queue.set_driver(cx.waker());
        self.write(cx);
        // Only this driver and the line above hold the core: no caller can open
        // a connection any more.
        if Rc::strong_count(&self.core) == 2 && core.carriers.borrow().iter().all(Option::is_none) {
            return Poll::Ready(());
        }
        loop {
            ready!(self.turn.poll_continue(&core.time, cx));
            let has_read = self.read_all(cx);
            let has_fired = self.poll_timers(cx);
            if has_read || has_fired {
                continue;
            }
            self.turn.wait();
            // Woken tasks run first, so that their requests share packets with the acknowledgments.
            if !core.queue.ready.borrow().is_empty() && core.unsent.borrow().is_none() {
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
    }

    /// Writes for all queued connections, as far as the sockets accept it.
    fn write(&mut self, cx: &mut Context<'_>) {
        let core = &self.core;
        while let Some(Unsent { port, transmit, contents }) = core.unsent.take() {
            let is_blocked = matches!(port.send(&transmit, &contents), Err(e) if e.kind() == io::ErrorKind::WouldBlock);
            if is_blocked {
                let room = port.socket.poll_write_ready(cx).map_ok(|mut ready| ready.clear_ready());
                *core.unsent.borrow_mut() =
                    Some(Unsent { port: Rc::clone(&port), transmit, contents });
                if !matches!(room, Poll::Ready(Ok(()))) {
                    return;
                }
            }
        }
        if core.queue.ready.borrow().is_empty() {
            return;
        }
        let now = core.time.now();
        let ready = std::mem::take(&mut *core.queue.ready.borrow_mut());
        let mut waiting = ready.iter();
        for handle in waiting.by_ref() {
            let Some(carrier) = core.carrier(*handle) else { continue };
            if core.transmit(&carrier, now).is_pending() {
                break;
            }
        }
        core.queue.ready.borrow_mut().extend(waiting);
        if let Some(error) = core.refusal.take() {
            core.take_refusals(&error);
            cx.waker().wake_by_ref();
        }
        let blocked_port = core.unsent.borrow().as_ref().map(|unsent| Rc::clone(&unsent.port));
        // Registers the waker for writability. If the socket is writable by now, the driver
        // runs again at once.
        if let Some(Poll::Ready(Ok(mut ready))) =
            blocked_port.as_ref().map(|port| port.socket.poll_write_ready(cx))
        {
            ready.clear_ready();
            cx.waker().wake_by_ref();
        }
    }

    /// Reads once from each socket. Returns true if anything was read.
    fn read_all(&mut self, cx: &mut Context<'_>) -> bool {
        let mut index = 0;
        let mut has_read = false;
        loop {
            let port = self.core.ports.borrow().get(index).cloned();
            let Some(port) = port else { return has_read };
            has_read |= self.read(&port, cx);
            index += 1;
        }
    }

    /// Reads once from a socket. Returns true if anything was read.
    fn read(&mut self, port: &Port, cx: &mut Context<'_>) -> bool {
        let core = &self.core;
        let Poll::Ready(Ok(mut ready)) = port.socket.poll_read_ready(cx) else { return false };
        let mut metas = [RecvMeta::default(); BATCH];
        let mut pieces = self.messages.chunks_mut(MESSAGE);
        let mut buffers: [IoSliceMut<'_>; BATCH] =
            std::array::from_fn(|_| IoSliceMut::new(pieces.next().unwrap_or_default()));
        let read =
            port.state.recv(UdpSockRef::from(port.socket.get_ref()), &mut buffers, &mut metas);
        match read {
            Ok(count) => {
                let now = core.time.now();
                for (meta, buffer) in metas.iter().zip(&buffers).take(count) {
                    core.receive(port, meta, &buffer[..meta.len], now);
                }
                core.take_events(now);
                self.turn.worked(&core.time, now);
                if count < BATCH {
                    // Nothing remains in the socket: further packets cause a new event.
                    ready.clear_ready();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
            // The error belongs to a packet that did not arrive at its destination.
            Err(error) => {
                core.take_refusals(&error);
                self.turn.worked(&core.time, core.time.now());
            }
        }
        true
    }

    /// Waits for the earliest timer. Returns true if one was due.
    fn poll_timers(&mut self, cx: &mut Context<'_>) -> bool {
        let earliest = self.core.timers.borrow().peek().map(|Reverse((due, _))| *due);
        let Some(due) = earliest else { return false };
        if self.sleep.as_ref().is_none_or(|(until, _)| due < *until) {
            let time = self.core.time.clone();
            // QUIC counts in `Instant`, the caller in `Tick`; both start at `base`.
            let until = Tick(due.saturating_duration_since(self.core.base).as_nanos() as u64);
            self.sleep = Some((due, Box::pin(async move { time.sleep_until(until).await })));
        }
        let is_over =
            self.sleep.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(cx).is_ready());
        if is_over {
            self.sleep = None;
            let now = self.core.time.now();
            self.core.fire_timers(now);
            self.core.take_events(now);
            self.turn.worked(&self.core.time, now);
        }
        is_over
    }
}
