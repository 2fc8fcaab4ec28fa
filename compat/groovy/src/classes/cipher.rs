//! `Cipher` with AES, `IvParameterSpec`.

use super::crypto::Key;
use super::{Class, bytes_within, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};
use std::any::Any;
use std::cell::RefCell;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("javax.crypto.Cipher", cipher).and_constants(constant),
    Class::with_constructor("javax.crypto.spec.IvParameterSpec", make_iv),
];

/// Size of an AES block in bytes.
const BLOCK: usize = 16;

/// `Cipher.ENCRYPT_MODE`
const ENCRYPT: i64 = 1;
/// `Cipher.DECRYPT_MODE`
const DECRYPT: i64 = 2;

/// `IvParameterSpec`
struct Iv(Vec<u8>);

/// Mode of operation of the block cipher.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Ctr,
}

struct Cipher {
    name: String,
    mode: Mode,
    /// PKCS #7, which Java calls `PKCS5Padding`.
    is_padded: bool,
    work: RefCell<Option<CipherState>>,
}

/// State of an initialized cipher.
struct CipherState {
    key: Aes,
    encrypts: bool,
    iv: [u8; BLOCK],
    /// The previous block, or the counter.
    chain: [u8; BLOCK],
    /// Number of consumed bytes of the counter's current block.
    used: usize,
    /// Input that does not fill a block yet.
    pending: Vec<u8>,
}

enum Aes {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

fn constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "ENCRYPT_MODE" => Some(Value::Int(ENCRYPT as i32)),
        "DECRYPT_MODE" => Some(Value::Int(DECRYPT as i32)),
        _ => None,
    }
}

fn make_iv(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let (data, range) = arguments.split_first().unwrap_or((&Value::Null, &[]));
    Ok(Value::native(Iv(bytes_within(vm, data, range)?)))
}

fn cipher(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "getInstance" {
        return Ok(None);
    }
    let transformation = text_at(vm, arguments, 0)?;
    let lower = transformation.to_ascii_lowercase();
    let (mode, is_padded) = match lower.split('/').collect::<Vec<_>>()[..] {
        // Java's provider reads `AES` as ECB with padding.
        ["aes"] | ["aes", "ecb", "pkcs5padding"] => (Mode::Ecb, true),
        ["aes", "ecb", "nopadding"] => (Mode::Ecb, false),
        ["aes", "cbc", "pkcs5padding"] => (Mode::Cbc, true),
        ["aes", "cbc", "nopadding"] => (Mode::Cbc, false),
        ["aes", "ctr", "nopadding"] => (Mode::Ctr, false),
        _ => {
            let reason = format!(
                "{transformation} is not available to scripts here; AES with ECB, CBC or CTR is"
            );
            return Err(throw("java.security.NoSuchAlgorithmException", reason));
        }
    };
    Ok(Some(Value::native(Cipher {
        name: transformation.to_string(),
        mode,
        is_padded,
        work: RefCell::default(),
    })))
}

impl Cipher {
    fn init(&self, vm: &mut Vm, mode: &Value, key: &Value, iv: Option<&Value>) -> Eval<()> {
        const BAD_KEY: &str = "java.security.InvalidKeyException";
        const BAD_IV: &str = "java.security.InvalidAlgorithmParameterException";
        let encrypts = match vm.to_long(mode)? {
            ENCRYPT => true,
            DECRYPT => false,
            _ => {
                return Err(throw(
                    "java.security.InvalidParameterException",
                    "Invalid operation mode",
                ));
            }
        };
        let key = match key.downcast::<Key>() {
            Some(key) => key.bytes.clone(),
            None => {
                return Err(throw(
                    BAD_KEY,
                    "No installed provider supports this key: it is no SecretKeySpec",
                ));
            }
        };
        let key = Aes::new(&key).ok_or_else(|| {
            throw(BAD_KEY, format!("Invalid AES key length: {} bytes", key.len()))
        })?;
        let iv = match iv.and_then(|iv| iv.downcast::<Iv>()) {
            Some(_) if self.mode == Mode::Ecb => {
                return Err(throw(BAD_IV, "ECB mode cannot use IV"));
            }
            Some(Iv(bytes)) => <[u8; BLOCK]>::try_from(&bytes[..])
                .map_err(|_| throw(BAD_IV, "Wrong IV length: must be 16 bytes long"))?,
            None if self.mode == Mode::Ecb => [0; BLOCK],
            None if encrypts => {
                // Java creates a random IV if the script has none.
                let random =
                    [vm.host.random().to_be_bytes(), vm.host.random().to_be_bytes()].concat();
                <[u8; BLOCK]>::try_from(random).unwrap_or_default()
            }
            // Only the sender's IV decrypts the first block, so Java refuses as well.
            None => return Err(throw(BAD_KEY, "Parameters missing")),
        };
        self.work.replace(Some(CipherState {
            key,
            encrypts,
            iv,
            chain: iv,
            used: BLOCK,
            pending: Vec::new(),
        }));
        Ok(())
    }

    /// Processes input. Returns the complete blocks, or all bytes at the end.
    fn process(&self, vm: &mut Vm, data: &[u8], is_last: bool) -> Eval<Value> {
        vm.alloc(data.len() + BLOCK)?;
        vm.tick(data.len() / 8)?;
        let mut work = self.work.borrow_mut();
        let Some(work) = work.as_mut() else {
            return Err(throw("java.lang.IllegalStateException", "Cipher not initialized"));
        };
        work.pending.extend_from_slice(data);
        if !is_last {
            let ready = self.ready(work);
            let mut bytes: Vec<u8> = work.pending.drain(..ready).collect();
            work.transform(self.mode, &mut bytes);
            return Ok(Value::bytes(bytes));
        }
        let mut bytes = std::mem::take(&mut work.pending);
        let finished = self.finish(work, &mut bytes);
        // After `doFinal`, a cipher is ready for another message.
        work.chain = work.iv;
        work.used = BLOCK;
        finished.map(|()| Value::bytes(bytes))
    }

    fn finish(&self, work: &mut CipherState, bytes: &mut Vec<u8>) -> Eval<()> {
        const BAD_SIZE: &str = "javax.crypto.IllegalBlockSizeException";
        if self.is_padded && work.encrypts {
            // A complete last block gets a whole block of padding, or its last byte could be read
            // as such.
            let padding = BLOCK - bytes.len() % BLOCK;
            bytes.resize(bytes.len() + padding, padding as u8);
        }
        if self.mode != Mode::Ctr && !bytes.len().is_multiple_of(BLOCK) {
            let padded = "Input length must be multiple of 16 when decrypting with padded cipher";
            let plain = "Input length not multiple of 16 bytes";
            return Err(throw(BAD_SIZE, if self.is_padded { padded } else { plain }));
        }
        work.transform(self.mode, bytes);
        if self.is_padded && !work.encrypts && !bytes.is_empty() {
            let padding = usize::from(bytes.last().copied().unwrap_or_default());
            let begin = bytes.len().saturating_sub(padding);
            let is_padding = (1..=BLOCK).contains(&padding)
                && bytes[begin..].iter().all(|byte| usize::from(*byte) == padding);
            if !is_padding {
                let reason = "Given final block not properly padded. Such issues can arise if a bad key is used during decryption.";
                return Err(throw("javax.crypto.BadPaddingException", reason));
            }
            bytes.truncate(begin);
        }
        Ok(())
    }

    /// Number of pending bytes that can be processed before more input arrives.
    fn ready(&self, work: &CipherState) -> usize {
        let length = work.pending.len();
        match self.mode {
            Mode::Ctr => length,
            // The last block may be padding.
            _ if self.is_padded && !work.encrypts => length.saturating_sub(1) / BLOCK * BLOCK,
            _ => length / BLOCK * BLOCK,
        }
    }
}

impl CipherState {
    /// Encrypts or decrypts complete blocks, or any number of bytes in counter mode.
    fn transform(&mut self, mode: Mode, bytes: &mut [u8]) {
        if mode == Mode::Ctr {
            return self.apply_counter(bytes);
        }
        for block in bytes.chunks_exact_mut(BLOCK) {
            let input = <[u8; BLOCK]>::try_from(&*block).unwrap_or_default();
            if self.encrypts {
                let block_input = if mode == Mode::Cbc { xor(input, self.chain) } else { input };
                let output = self.key.encrypt(block_input);
                self.chain = output;
                block.copy_from_slice(&output);
            } else {
                let output = self.key.decrypt(input);
                let output = if mode == Mode::Cbc { xor(output, self.chain) } else { output };
                self.chain = input;
                block.copy_from_slice(&output);
            }
        }
    }

    fn apply_counter(&mut self, bytes: &mut [u8]) {
        // The counter is already one ahead of the current block.
        let mut stream =
            self.key.encrypt(u128::from_be_bytes(self.chain).wrapping_sub(1).to_be_bytes());
        for byte in bytes {
            if self.used == BLOCK {
                stream = self.key.encrypt(self.chain);
                self.chain = u128::from_be_bytes(self.chain).wrapping_add(1).to_be_bytes();
                self.used = 0;
            }
            *byte ^= stream[self.used];
            self.used += 1;
        }
    }
}

fn xor(one: [u8; BLOCK], other: [u8; BLOCK]) -> [u8; BLOCK] {
    std::array::from_fn(|position| one[position] ^ other[position])
}

impl Aes {
    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128::new_from_slice(key).ok().map(Self::Short),
            24 => Aes192::new_from_slice(key).ok().map(Self::Middle),
            32 => Aes256::new_from_slice(key).ok().map(Self::Long),
            _ => None,
        }
    }

    fn encrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = Block::from(block);
        match self {
            Self::Short(key) => key.encrypt_block(&mut block),
            Self::Middle(key) => key.encrypt_block(&mut block),
            Self::Long(key) => key.encrypt_block(&mut block),
        }
        block.into()
    }

    fn decrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = Block::from(block);
        match self {
            Self::Short(key) => key.decrypt_block(&mut block),
            Self::Middle(key) => key.decrypt_block(&mut block),
            Self::Long(key) => key.decrypt_block(&mut block),
        }
        block.into()
    }
}

impl Native for Iv {
    fn class_name(&self) -> &'static str {
        "javax.crypto.spec.IvParameterSpec"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok((name == "getIV").then(|| Value::bytes(self.0.clone())))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Cipher {
    fn class_name(&self) -> &'static str {
        "javax.crypto.Cipher"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("init", [mode, key, rest @ ..]) => {
                self.init(vm, mode, key, rest.first())?;
                Value::Null
            }
            ("update" | "doFinal", [data, range @ ..]) => {
                let data = bytes_within(vm, data, range)?;
                self.process(vm, &data, name == "doFinal")?
            }
            ("doFinal", []) => self.process(vm, &[], true)?,
            ("getAlgorithm", []) => Value::str(&self.name),
            ("getBlockSize", []) => Value::count(BLOCK),
            ("getIV", []) => match &*self.work.borrow() {
                Some(work) if self.mode != Mode::Ecb => Value::bytes(work.iv.to_vec()),
                _ => Value::Null,
            },
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
