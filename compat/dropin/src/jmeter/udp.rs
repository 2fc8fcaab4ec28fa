//! Receives messages that end a test: a datagram with the text `Shutdown`
//! or `StopTestNow` from this machine.

use super::settings::JmeterSettings;
use crate::caller::Caller;
use brunt_runner::Interrupt;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::thread;

/// Starts to receive messages and returns the port. None if no port is free,
/// or messages are turned off.
pub fn listen(
    settings: &JmeterSettings,
    interrupt: &Interrupt,
    caller: &Arc<Caller>,
) -> Option<u16> {
    let first = settings.number("jmeterengine.nongui.port", 4445.0) as u16;
    let last = settings.number("jmeterengine.nongui.maxport", 4455.0) as u16;
    // JMeter, too, takes such a port as a switch.
    if first <= 1000 {
        return None;
    }
    let Some(socket) =
        (first..=last).find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok())
    else {
        caller.out("Failed to create UDP port\n");
        return None;
    };
    let port = socket.local_addr().ok()?.port();
    let interrupt = interrupt.clone();
    let caller = Arc::clone(caller);
    let thread = thread::Builder::new().name("brunt-udp".into());
    thread.spawn(move || receive(&socket, &interrupt, &caller)).ok()?;
    Some(port)
}

fn receive(socket: &UdpSocket, interrupt: &Interrupt, caller: &Caller) {
    let mut message = [0; 80];
    while let Ok((length, sender)) = socket.recv_from(&mut message) {
        let command = String::from_utf8_lossy(&message[..length]).trim().to_owned();
        caller.out(&format!("Command: {command} received from /{}\n", sender.ip()));
        match command.as_str() {
            "Shutdown" | "StopTestNow" => interrupt.stop(),
            _ => caller.out(&format!("Command: {command} not recognised \n")),
        }
    }
}
