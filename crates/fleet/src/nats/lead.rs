//! The controller that an agent obeys.
//!
//! A controller greets each agent with its first packet. If it dies, another process takes its place with a greeting
//! of a later generation. From then on the agent ignores the first one, even if it is still alive.

use crate::seal::{FleetKey, Opened, Opener};
use std::time::Duration;

/// Greeting of a controller that takes the lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    /// Number of the controller in the order in which they took the lead. An agent obeys the latest.
    pub generation: u64,
    /// The agent considers the controller lost after this time without a packet, in whole seconds.
    pub silence: Duration,
}

impl Greeting {
    /// The greeting as the bytes of a packet.
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.generation.to_be_bytes());
        bytes[8..].copy_from_slice(&self.silence.as_secs().to_be_bytes());
        bytes
    }

    /// Reads a greeting. None if the bytes are something else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (generation, silence) = bytes.split_first_chunk()?;
        let silence = u64::from_be_bytes(silence.try_into().ok()?);
        Some(Self {
            generation: u64::from_be_bytes(*generation),
            silence: Duration::from_secs(silence),
        })
    }
}

/// What a controller sent to an agent.
#[derive(Debug, PartialEq, Eq)]
pub enum FromController {
    /// A controller takes the lead.
    Greeting(Greeting),
    /// The next bytes of the controller in the lead.
    Bytes(Vec<u8>),
    /// Packets of the controller in the lead are missing.
    Gap,
}

/// The controller in the lead.
pub struct Lead {
    key: FleetKey,
    subject: String,
    /// None before the first greeting.
    opener: Option<Opener>,
    generation: u64,
}

impl Lead {
    /// An agent without a controller.
    pub fn new(key: FleetKey, subject: String) -> Self {
        Self { key, subject, opener: None, generation: 0 }
    }

    /// Checks a packet. None if it is ignored: it is forged or repeated, or its sender does not lead.
    pub fn open(&mut self, packet: &[u8]) -> Option<FromController> {
        match self.opener.as_mut().map(|opener| opener.open(packet)) {
            Some(Opened::Next(bytes)) => return Some(FromController::Bytes(bytes)),
            Some(Opened::Gap) => return Some(FromController::Gap),
            Some(Opened::Ignored) | None => {}
        }
        let mut opener = Opener::new(self.key.clone(), self.subject.clone());
        let Opened::Next(bytes) = opener.open(packet) else { return None };
        let greeting = Greeting::parse(&bytes).filter(|one| one.generation > self.generation)?;
        self.generation = greeting.generation;
        self.opener = Some(opener);
        Some(FromController::Greeting(greeting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{Identity, Sealer};

    const SUBJECT: &str = "brunt.a.to.1";

    fn greeting(generation: u64) -> Greeting {
        Greeting { generation, silence: Duration::from_mins(5) }
    }

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        assert_eq!(Greeting::parse(&greeting(3).bytes()), Some(greeting(3)));
        assert_eq!(Greeting::parse(&greeting(3).bytes()[1..]), None);
    }

    #[test]
    fn an_agent_obeys_the_controller_of_the_latest_generation() {
        let key = FleetKey::random().unwrap();
        let sealer = || Sealer::new(&key, Identity::random().unwrap(), SUBJECT).unwrap();
        let (mut first, mut second, mut late) = (sealer(), sealer(), sealer());
        let mut lead = Lead::new(key.clone(), SUBJECT.into());
        let bytes = |text: &str| Some(FromController::Bytes(text.into()));
        assert_eq!(lead.open(&sealer().seal(b"go").unwrap()), None, "no greeting");
        let hello = first.seal(&greeting(1).bytes()).unwrap();
        assert_eq!(lead.open(&hello), Some(FromController::Greeting(greeting(1))));
        assert_eq!(lead.open(&hello), None, "repeated");
        assert_eq!(lead.open(&first.seal(b"go").unwrap()), bytes("go"));
        let next = second.seal(&greeting(2).bytes()).unwrap();
        assert_eq!(lead.open(&next), Some(FromController::Greeting(greeting(2))));
        assert_eq!(lead.open(&first.seal(b"stop").unwrap()), None, "the first one no longer leads");
        assert_eq!(lead.open(&second.seal(b"stop").unwrap()), bytes("stop"));
        assert_eq!(lead.open(&late.seal(&greeting(2).bytes()).unwrap()), None, "as late as it");
    }
}
