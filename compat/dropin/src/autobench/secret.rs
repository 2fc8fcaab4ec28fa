//! The secret that authenticates orders between brunt's `autobench_admin` and `autobenchd`.
//!
//! The daemon sends a nonce, a random number used once. The admin answers with the HMAC-SHA256 of
//! the nonce and its order. Out of scope: encryption. Orders and results can be read, and results
//! modified, on the network.

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign, verify};
use aws_lc_rs::rand;
use brunt_model::numbers::hexadecimal;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Minimum length of a secret, in bytes.
const MIN_BYTES: usize = 16;

pub struct Secret(Key);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Reads the secret from a file that only its owner can read.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let read =
            fs::metadata(path).and_then(|found| Ok((found.permissions().mode(), fs::read(path)?)));
        let (mode, bytes) = read.map_err(|error| format!("{shown}: {error}"))?;
        if mode & 0o077 != 0 {
            return Err(format!(
                "{shown} can be read by others; make it yours alone: chmod 600 {shown}"
            ));
        }
        // A line break at the end of the file is not part of the secret.
        let bytes = bytes.trim_ascii();
        if bytes.len() < MIN_BYTES {
            return Err(format!(
                "{shown} holds {} bytes; write {MIN_BYTES} or more random bytes",
                bytes.len()
            ));
        }
        Ok(Self(Key::new(HMAC_SHA256, bytes)))
    }

    /// Computes the proof that a holder of the secret sent this order in reply to this nonce.
    pub fn proof(&self, nonce: &str, order: &str) -> String {
        hexadecimal(sign(&self.0, &signed_text(nonce, order)).as_ref())
    }

    /// True if the proof is valid for this nonce and order.
    pub fn is_valid_proof(&self, nonce: &str, order: &str, proof: &str) -> bool {
        let bytes = (0..proof.len() / 2)
            .map(|index| u8::from_str_radix(proof.get(2 * index..2 * index + 2)?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.is_some_and(|bytes| verify(&self.0, &signed_text(nonce, order), &bytes).is_ok())
    }
}

/// Creates a random nonce of 256 bits.
pub fn nonce() -> Result<String, String> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).map_err(|_| "the system provides no random numbers".to_owned())?;
    Ok(hexadecimal(&bytes))
}

fn signed_text(nonce: &str, order: &str) -> Vec<u8> {
    // The nonce is one line, so the first line break ends it.
    format!("{nonce}\n{order}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2: the key `Jefe`, and a text, here split at a line break.
    #[test]
    fn proofs_are_hmac_sha256() {
        let secret = Secret(Key::new(HMAC_SHA256, b"Jefe"));
        let known = hexadecimal(sign(&secret.0, b"what do ya want for nothing?").as_ref());
        assert_eq!(known, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_eq!(
            secret.proof("what do ya", "want"),
            hexadecimal(sign(&secret.0, b"what do ya\nwant").as_ref())
        );
    }

    #[test]
    fn a_proof_is_valid_for_one_nonce_and_one_order() {
        let secret = Secret(Key::new(HMAC_SHA256, b"0123456789abcdef"));
        let (nonce, other) = (nonce().unwrap(), nonce().unwrap());
        let proof = secret.proof(&nonce, "order");
        assert!(secret.is_valid_proof(&nonce, "order", &proof));
        assert!(
            !secret.is_valid_proof(&other, "order", &proof)
                && !secret.is_valid_proof(&nonce, "another", &proof)
        );
        assert!(
            !secret.is_valid_proof(&nonce, "order", "")
                && !secret.is_valid_proof(&nonce, "order", "zz")
        );
    }
}
