//! The secret that `autobench_admin` and `autobenchd` share, where both are brunt: whoever knows it may have a machine
//! send load.
//!
//! The daemon gives a number that it never gave before; the admin answers with HMAC-SHA256 of that number and its order
//! under the secret. Out of scope: encryption. Orders and results can be read on the way, and results be changed.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign, verify};
use aws_lc_rs::rand;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A secret must be as long, in bytes.
const LEAST_BYTES: usize = 16;

/// The secret.
pub struct Secret(Key);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Reads it from a file that its owner alone can read.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let read = fs::metadata(path).and_then(|found| Ok((found.permissions().mode(), fs::read(path)?)));
        let (mode, bytes) = read.map_err(|error| format!("{shown}: {error}"))?;
        if mode & 0o077 != 0 {
            return Err(format!("{shown} can be read by others; make it yours alone: chmod 600 {shown}"));
        }
        let bytes = bytes.trim_ascii();
        if bytes.len() < LEAST_BYTES {
            return Err(format!("{shown} holds {} bytes; write {LEAST_BYTES} or more random bytes", bytes.len()));
        }
        Ok(Self(Key::new(HMAC_SHA256, bytes)))
    }

    /// What proves that somebody who knows the secret gave this order to whoever gave this number.
    pub fn proof(&self, nonce: &str, order: &str) -> String {
        hex(sign(&self.0, &together(nonce, order)).as_ref())
    }

    /// Whether it does.
    pub fn is_proved(&self, nonce: &str, order: &str, proof: &str) -> bool {
        let bytes = (0..proof.len() / 2).map(|at| u8::from_str_radix(proof.get(2 * at..2 * at + 2)?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.is_some_and(|bytes| verify(&self.0, &together(nonce, order), &bytes).is_ok())
    }
}

/// A number that nobody has seen before.
pub fn nonce() -> Result<String, String> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).map_err(|_| "the system provides no random numbers".to_owned())?;
    Ok(hex(&bytes))
}

fn together(nonce: &str, order: &str) -> Vec<u8> {
    format!("{nonce}\n{order}").into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2: the key `Jefe`, and a text that is divided at a line break here.
    #[test]
    fn proofs_are_hmac_sha256() {
        let secret = Secret(Key::new(HMAC_SHA256, b"Jefe"));
        let known = hex(sign(&secret.0, b"what do ya want for nothing?").as_ref());
        assert_eq!(known, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_eq!(secret.proof("what do ya", "want"), hex(sign(&secret.0, b"what do ya\nwant").as_ref()));
    }

    #[test]
    fn a_proof_is_good_for_one_number_and_one_order() {
        let secret = Secret(Key::new(HMAC_SHA256, b"0123456789abcdef"));
        let (nonce, other) = (nonce().unwrap(), nonce().unwrap());
        let proof = secret.proof(&nonce, "order");
        assert!(secret.is_proved(&nonce, "order", &proof));
        assert!(!secret.is_proved(&other, "order", &proof) && !secret.is_proved(&nonce, "another", &proof));
        assert!(!secret.is_proved(&nonce, "order", "") && !secret.is_proved(&nonce, "order", "zz"));
    }
}
