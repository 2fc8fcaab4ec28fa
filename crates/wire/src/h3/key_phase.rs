//! Delays the first key update of a QUIC connection until the limit of its cipher.
//!
//! `quinn-proto` updates its keys after 10 to 1,000 packets, to find peers that cannot do so. Some
//! cannot: quiche stops to acknowledge packets after an update with AES-256. A load generator must
//! not depend on that, and no option of the library prevents it. So this module lets the library
//! perform its first update without an effect, before the first request: the next keys are the
//! same as the first ones, and the bit of the key phase (RFC 9001 section 6) is inverted in all
//! packets from then on. The library's next update is due at the limit of the cipher (section 6.6).

use bytes::BytesMut;
use quinn_proto::crypto::{CryptoError, HeaderKey, KeyPair, PacketKey};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Key Phase, in the first byte of a short header.
const PHASE_BIT: u8 = 0x04;
/// Set in the first byte of a long header.
const LONG_HEADER: u8 = 0x80;
/// Maximum length of a short header: the first byte, a connection ID, a packet number.
const MAX_SHORT_HEADER: usize = 1 + 20 + 4;

/// True if the bit of the key phase is the inverse of the QUIC library's.
#[derive(Debug, Default)]
pub struct KeyPhase(AtomicBool);

impl KeyPhase {
    /// Inverts the bit from now on.
    pub fn invert(&self) {
        self.0.store(true, Relaxed);
    }

    fn mask(&self) -> u8 {
        if self.0.load(Relaxed) { PHASE_BIT } else { 0 }
    }

    /// Wraps the header key of the peer.
    pub fn header_key(self: &Arc<Self>, inner: Box<dyn HeaderKey>) -> Box<dyn HeaderKey> {
        Box::new(PhasedHeaderKey { inner, phase: Arc::clone(self) })
    }

    /// Wraps the packet keys of both endpoints.
    pub fn packet_keys(self: &Arc<Self>, keys: KeyPair<Box<dyn PacketKey>>) -> PhasedKeys {
        let KeyPair { local, remote } = keys;
        PhasedKeys {
            local: PhasedKey { inner: local.into(), phase: Arc::clone(self) },
            remote: PhasedKey { inner: remote.into(), phase: Arc::clone(self) },
        }
    }
}

/// Packet keys of both endpoints. The first ones after the handshake are used twice.
pub struct PhasedKeys {
    local: PhasedKey,
    remote: PhasedKey,
}

impl PhasedKeys {
    /// Returns the keys for the QUIC library.
    pub fn boxed(&self) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: Box::new(self.local.clone()), remote: Box::new(self.remote.clone()) }
    }
}

/// Removes the protection of headers, and inverts the key phase.
struct PhasedHeaderKey {
    inner: Box<dyn HeaderKey>,
    phase: Arc<KeyPhase>,
}

impl HeaderKey for PhasedHeaderKey {
    fn decrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        self.inner.decrypt(pn_offset, packet);
        if packet[0] & LONG_HEADER == 0 {
            packet[0] ^= self.phase.mask();
        }
    }

    fn encrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        self.inner.encrypt(pn_offset, packet);
    }

    fn sample_size(&self) -> usize {
        self.inner.sample_size()
    }
}

/// Protects packets with the key phase that the peer knows.
#[derive(Clone)]
struct PhasedKey {
    inner: Arc<dyn PacketKey>,
    phase: Arc<KeyPhase>,
}

impl PacketKey for PhasedKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        // The header is protected after this, so the peer gets the inverted bit.
        buf[0] ^= self.phase.mask();
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let mut original = [0; MAX_SHORT_HEADER];
        let original = original.get_mut(..header.len()).ok_or(CryptoError)?;
        original.copy_from_slice(header);
        original[0] ^= self.phase.mask();
        self.inner.decrypt(packet, original, payload)
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}

#[cfg(test)]
mod tests;
