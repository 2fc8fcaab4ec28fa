//! Names of the readings that rules look at.

/// Whose readings they are.
pub const GENERATOR: &str = "generator";
pub const LISTEN_OVERFLOWS: &str = "tcp.listen_overflows_total";
pub const LISTEN_DROPS: &str = "tcp.listen_drops_total";
pub const RETRANSMITTED: &str = "tcp.retransmitted_total";
pub const CPU_IDLE_SECONDS: &str = "host.cpu_idle_seconds";

/// Bytes that came in by an interface.
pub fn nic_received(interface: &str) -> String {
    format!("nic.{interface}.received_bytes_total")
}

/// Bytes that went out by an interface.
pub fn nic_sent(interface: &str) -> String {
    format!("nic.{interface}.sent_bytes_total")
}

/// The speed of an interface.
pub fn nic_speed(interface: &str) -> String {
    format!("nic.{interface}.bits_per_second")
}
