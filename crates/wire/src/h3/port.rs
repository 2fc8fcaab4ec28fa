//! A UDP socket of an endpoint: one local port.

use crate::sys;
use quinn_proto::{EcnCodepoint, Transmit};
use quinn_udp::{UdpSockRef, UdpSocketState};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::io::unix::AsyncFd;

/// Default size of the socket buffers, in bytes. The kernel may provide less.
const SOCKET_BUFFER: usize = 4 << 20;

/// A UDP socket bound to a local port.
pub struct Port {
    /// Number of migrations of the connections that use it.
    pub number: usize,
    pub socket: AsyncFd<Socket>,
    pub state: UdpSocketState,
}

/// The parameters of a UDP socket.
pub struct Binding {
    /// A peer, which determines the address family.
    pub to: SocketAddr,
    /// The local address; None: any.
    pub source: Option<IpAddr>,
    /// Size of the socket buffers, in bytes; None: the default.
    pub buffer: Option<usize>,
}

impl Port {
    /// Opens a socket with another local port.
    ///
    /// # Errors
    ///
    /// If the system provides no socket.
    pub fn bind(Binding { to, source, buffer }: &Binding, number: usize) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(*to), Type::DGRAM, None)?;
        socket.set_nonblocking(true)?;
        // Errors are ignored: smaller buffers lose packets only if many arrive at once.
        let _ = socket.set_recv_buffer_size(buffer.unwrap_or(SOCKET_BUFFER));
        let _ = socket.set_send_buffer_size(buffer.unwrap_or(SOCKET_BUFFER));
        // Errors are ignored: without reports, a server that does not listen
        // causes a connect timeout.
        let _ = sys::report_refusals(&socket, to.is_ipv6());
        let any = if to.is_ipv4() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        } else {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        };
        socket.bind(&SockAddr::from(SocketAddr::new(source.unwrap_or(any), 0)))?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Self { number, socket: sys::watch(socket)?, state })
    }

    /// Sends a message of one or several packets.
    ///
    /// # Errors
    ///
    /// If the socket accepts no more, or if the system does not send the message.
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
