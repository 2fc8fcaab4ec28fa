//! Seals the messages of a fleet, so that the NATS servers that carry and store them can neither read
//! nor change them.
//!
//! A packet has the identity of its sender, its number, and the sealed bytes (AES-256-GCM). The key
//! follows from the key of the fleet, the sender and the subject (HKDF-SHA-256, RFC 5869), and the nonce is the
//! number, so no pair of key and nonce occurs twice. A packet that was changed, repeated, left out, or
//! published on another subject is refused.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand;
use std::{fmt, io};

/// Bytes before the sealed ones: the sender, and the number of the packet.
const HEAD: usize = 24;

/// Secret key of a fleet, which the controller and all agents know.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetKey([u8; 32]);

impl fmt::Debug for FleetKey {
    /// Does not show the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetKey")
    }
}

impl FleetKey {
    /// Creates a random key.
    pub fn random() -> Result<Self, Unspecified> {
        let mut key = [0; 32];
        rand::fill(&mut key)?;
        Ok(Self(key))
    }

    /// Parses a key of 64 hexadecimal digits. None for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        let mut key = [0; 32];
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(key))
    }

    /// The key as 64 hexadecimal digits.
    pub fn text(&self) -> String {
        hexadecimal(&self.0)
    }

    fn of_sender(&self, sender: &Identity, subject: &str) -> Result<LessSafeKey, Unspecified> {
        let key = Salt::new(HKDF_SHA256, b"brunt fleet 1").extract(&self.0);
        let info = [&sender.0[..], subject.as_bytes()];
        let mut bytes = [0; 32];
        key.expand(&info, KeyLength)?.fill(&mut bytes)?;
        Ok(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes)?))
    }
}

struct KeyLength;

impl KeyType for KeyLength {
    fn len(&self) -> usize {
        32
    }
}

/// Identity of a process that sends packets. It is random, so a process that is started again has
/// another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 16]);

impl Identity {
    /// Draws a random identity.
    pub fn random() -> Result<Self, Unspecified> {
        let mut identity = [0; 16];
        rand::fill(&mut identity)?;
        Ok(Self(identity))
    }

    /// The identity as it is part of a subject.
    pub fn text(self) -> String {
        hexadecimal(&self.0)
    }

    /// Identity of the sender of a packet, which may be forged. None if it is no packet.
    pub fn of_sender(packet: &[u8]) -> Option<Self> {
        packet.first_chunk().copied().map(Self)
    }
}

/// The error of a system without random numbers.
pub fn no_random(_: Unspecified) -> io::Error {
    io::Error::other("the system provides no random numbers")
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Seals packets of one sender on one subject.
pub struct Sealer {
    key: LessSafeKey,
    sender: Identity,
    next: u64,
}

impl Sealer {
    /// Creates the sealer of a sender.
    pub fn new(key: &FleetKey, sender: Identity, subject: &str) -> Result<Self, Unspecified> {
        Ok(Self { key: key.of_sender(&sender, subject)?, sender, next: 0 })
    }

    /// Returns the next packet with these bytes.
    ///
    /// # Errors
    ///
    /// The bytes cannot be sealed.
    pub fn seal(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let number = self.next;
        self.next += 1;
        let mut head = Vec::from(self.sender.0);
        head.extend(number.to_be_bytes());
        let mut sealed = bytes.to_vec();
        self.key.seal_in_place_append_tag(nonce(number), Aad::from(&head), &mut sealed)?;
        head.extend(sealed);
        Ok(head)
    }
}

/// A packet that was opened.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    /// The bytes of the next packet.
    Next(Vec<u8>),
    /// The packet is forged or belongs elsewhere, or it is repeated. It is ignored.
    Ignored,
    /// Packets before this one are missing.
    Gap,
}

/// Opens packets of one sender on one subject: that of the first valid packet.
pub struct Opener {
    key: FleetKey,
    subject: String,
    sender: Option<(Identity, LessSafeKey)>,
    next: u64,
}

impl Opener {
    /// Creates the opener of a subject.
    pub fn new(key: FleetKey, subject: String) -> Self {
        Self { key, subject, sender: None, next: 0 }
    }

    /// Checks a packet, and returns its bytes if it is the next one.
    pub fn open(&mut self, packet: &[u8]) -> Opened {
        self.try_open(packet).unwrap_or(Opened::Ignored)
    }

    fn try_open(&mut self, packet: &[u8]) -> Option<Opened> {
        let (head, sealed) = packet.split_at_checked(HEAD)?;
        let (sender, number) = head.split_at_checked(16)?;
        let sender = Identity(sender.try_into().ok()?);
        let number = u64::from_be_bytes(number.try_into().ok()?);
        let derived = match &self.sender {
            Some((known, _)) if *known != sender => return None,
            Some(_) => None,
            None => Some(self.key.of_sender(&sender, &self.subject).ok()?),
        };
        let key = derived.as_ref().or(self.sender.as_ref().map(|(_, key)| key))?;
        let mut bytes = sealed.to_vec();
        let length = key.open_in_place(nonce(number), Aad::from(head), &mut bytes).ok()?.len();
        bytes.truncate(length);
        if let Some(key) = derived {
            self.sender = Some((sender, key));
        }
        if number < self.next {
            return None;
        }
        if number > self.next {
            return Some(Opened::Gap);
        }
        self.next += 1;
        Some(Opened::Next(bytes))
    }
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: &str = "brunt.a.to.1";

    fn sealer(key: &FleetKey, subject: &str) -> Sealer {
        Sealer::new(key, Identity::random().unwrap(), subject).unwrap()
    }

    #[test]
    fn packets_are_opened_in_order() {
        let key = FleetKey::random().unwrap();
        let mut sealer = sealer(&key, SUBJECT);
        let mut opener = Opener::new(key, SUBJECT.into());
        let packets: Vec<_> = (0..4).map(|n| sealer.seal(&[n; 3]).unwrap()).collect();
        assert!(!packets[1].windows(3).any(|bytes| bytes == [1; 3]));
        assert_eq!(opener.open(&packets[0]), Opened::Next(vec![0; 3]));
        assert_eq!(opener.open(&packets[0]), Opened::Ignored, "repeated");
        assert_eq!(opener.open(&packets[1]), Opened::Next(vec![1; 3]));
        assert_eq!(opener.open(&packets[3]), Opened::Gap);
    }

    #[test]
    fn forged_packets_are_ignored() {
        let key = FleetKey::random().unwrap();
        let packet = sealer(&key, SUBJECT).seal(b"go").unwrap();
        let opener = || Opener::new(key.clone(), SUBJECT.into());
        for at in 0..packet.len() {
            let mut changed = packet.clone();
            changed[at] ^= 1;
            assert_eq!(opener().open(&changed), Opened::Ignored, "byte {at}");
            assert_eq!(opener().open(&packet[..at]), Opened::Ignored, "length {at}");
        }
        let other_key = FleetKey::random().unwrap();
        assert_eq!(
            opener().open(&sealer(&other_key, SUBJECT).seal(b"go").unwrap()),
            Opened::Ignored
        );
        let other_subject = sealer(&key, "brunt.a.to.2").seal(b"go").unwrap();
        assert_eq!(opener().open(&other_subject), Opened::Ignored);
        let mut bound = opener();
        assert_eq!(bound.open(&packet), Opened::Next(b"go".to_vec()));
        let second_sender = sealer(&key, SUBJECT).seal(b"go").unwrap();
        assert_eq!(bound.open(&second_sender), Opened::Ignored);
    }

    #[test]
    fn a_key_is_read_as_it_was_written_and_not_shown() {
        let key = FleetKey::random().unwrap();
        assert_eq!(FleetKey::parse(&format!("{}\n", key.text())), Some(key.clone()));
        assert_eq!(format!("{key:?}"), "FleetKey");
        for wrong in ["", "ab", &"g".repeat(64), &"ä".repeat(32)] {
            assert_eq!(FleetKey::parse(wrong), None, "{wrong}");
        }
    }
}
