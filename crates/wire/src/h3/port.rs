//! A UDP socket of an endpoint: one local port.

use crate::sys;
use quinn_proto::{EcnCodepoint, Transmit};
use quinn_udp::{UdpSockRef, UdpSocketState};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::io::unix::AsyncFd;

/// Bytes that the kernel is asked to keep for each direction, where nobody says otherwise. It may grant less.
const SOCKET_BUFFER: usize = 4 << 20;

/// A local port.
pub struct Port {
    /// How many times a connection migrated that uses it.
    pub number: usize,
    pub socket: AsyncFd<Socket>,
    pub state: UdpSocketState,
}

/// A peer of the family of addresses, the local address where one is named, and bytes that the kernel is asked to keep.
pub struct Binding {
    pub to: SocketAddr,
    pub source: Option<IpAddr>,
    pub buffer: Option<usize>,
}

impl Port {
    /// Another port.
    ///
    /// # Errors
    ///
    /// The system grants none.
    pub fn bind(Binding { to, source, buffer }: &Binding, number: usize) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(*to), Type::DGRAM, None)?;
        socket.set_nonblocking(true)?;
        // Smaller ones lose packets only where many come at once.
        let _ = socket.set_recv_buffer_size(buffer.unwrap_or(SOCKET_BUFFER));
        let _ = socket.set_send_buffer_size(buffer.unwrap_or(SOCKET_BUFFER));
        // Where it cannot be had, a server that does not listen is a connect timeout.
        let _ = sys::tell_refusals(&socket, to.is_ipv6());
        let any = if to.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        socket.bind(&SockAddr::from(SocketAddr::new(source.unwrap_or(any), 0)))?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Self { number, socket: sys::watch(socket)?, state })
    }

    /// Sends a message of one or several packets.
    ///
    /// # Errors
    ///
    /// The socket has no room, or the system does not send it.
    pub fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let message = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn.map(|ecn| match ecn {
                EcnCodepoint::Ect0 => quinn_udp::EcnCodepoint::Ect0,
                EcnCodepoint::Ect1 => quinn_udp::EcnCodepoint::Ect1,
                EcnCodepoint::Ce => quinn_udp::EcnCodepoint::Ce,
            }),
            contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        self.state.try_send(UdpSockRef::from(self.socket.get_ref()), &message)
    }
}
