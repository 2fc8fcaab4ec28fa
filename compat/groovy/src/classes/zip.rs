//! Checksums and compression: `CRC32`, `Adler32`, `GZIPOutputStream`, `GZIPInputStream`.

use super::{Class, bytes_of, bytes_within, io};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use std::any::Any;
use std::cell::RefCell;
use std::io::{Read, Write};

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.util.zip.CRC32", make_sum),
    Class::with_constructor("java.util.zip.Adler32", make_sum),
    Class::with_constructor("java.util.zip.GZIPOutputStream", make_output),
    Class::with_constructor("java.util.zip.GZIPInputStream", make_input),
];

/// Number of bytes to decompress at a time.
const PIECE: usize = 1 << 16;

/// State of an incremental checksum.
enum Sum {
    Crc(RefCell<Crc>),
    /// Both sums of RFC 1950.
    Adler(RefCell<(u32, u32)>),
}

fn make_sum(_vm: &mut Vm, class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(if class.ends_with("CRC32") {
        Sum::Crc(RefCell::default())
    } else {
        // RFC 1950, section 2.2: the first sum begins at 1.
        Sum::Adler(RefCell::new((1, 0)))
    }))
}

impl Sum {
    fn update(&self, bytes: &[u8]) {
        match self {
            Self::Crc(crc) => crc.borrow_mut().update(bytes),
            Self::Adler(sums) => {
                const MODULUS: u32 = 65_521;
                let (mut low, mut high) = *sums.borrow();
                for byte in bytes {
                    low = (low + u32::from(*byte)) % MODULUS;
                    high = (high + low) % MODULUS;
                }
                sums.replace((low, high));
            }
        }
    }

    fn value(&self) -> u32 {
        match self {
            Self::Crc(crc) => crc.borrow().sum(),
            Self::Adler(sums) => sums.borrow().1 << 16 | sums.borrow().0,
        }
    }
}

impl Native for Sum {
    fn class_name(&self) -> &'static str {
        if matches!(self, Self::Crc(_)) { "java.util.zip.CRC32" } else { "java.util.zip.Adler32" }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("update", [Value::Int(byte)]) => {
                self.update(&[*byte as u8]);
                Value::Null
            }
            ("update", [data, range @ ..]) => {
                let data = bytes_within(vm, data, range)?;
                vm.tick(data.len() / 64)?;
                self.update(&data);
                Value::Null
            }
            ("getValue", []) => Value::Long(i64::from(self.value())),
            ("reset", []) => {
                match self {
                    Self::Crc(crc) => _ = crc.take(),
                    Self::Adler(sums) => _ = sums.replace((1, 0)),
                }
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `GZIPOutputStream`
struct Output {
    target: Value,
    /// Encoder; None after the end of the stream.
    encoder: RefCell<Option<GzEncoder<Vec<u8>>>>,
}

fn make_output(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let target = arguments.first().cloned().unwrap_or_default();
    if target.is_null() {
        return Err(throw(
            "java.lang.NullPointerException",
            "a stream is expected, and the argument is null",
        ));
    }
    let encoder = RefCell::new(Some(GzEncoder::new(Vec::new(), Compression::default())));
    Ok(Value::native(Output { target, encoder }))
}

fn io_error(error: &std::io::Error) -> Box<crate::error::Fault> {
    throw("java.io.IOException", error.to_string())
}

impl Output {
    fn write(&self, vm: &mut Vm, bytes: &[u8]) -> Eval<()> {
        vm.alloc(bytes.len())?;
        vm.tick(bytes.len() / 16)?;
        match self.encoder.borrow_mut().as_mut() {
            Some(encoder) => encoder.write_all(bytes).map_err(|error| io_error(&error)),
            None => Err(throw("java.io.IOException", "write beyond end of stream")),
        }
    }

    fn finish(&self, vm: &mut Vm) -> Eval<()> {
        let Some(encoder) = self.encoder.take() else { return Ok(()) };
        let packed = encoder.finish().map_err(|error| io_error(&error))?;
        vm.call_method(&self.target, "write", &[Value::bytes(packed)]).map(|_| ())
    }
}

impl Native for Output {
    fn class_name(&self) -> &'static str {
        "java.util.zip.GZIPOutputStream"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("write", [Value::Int(byte)]) => self.write(vm, &[*byte as u8])?,
            ("write" | "leftShift" | "append", [data, range @ ..]) => {
                let data = bytes_within(vm, data, range)?;
                self.write(vm, &data)?;
            }
            ("withStream", [closure]) => {
                let stream = Self {
                    target: self.target.clone(),
                    encoder: RefCell::new(self.encoder.take()),
                };
                let stream = Value::native(stream);
                let result = vm.call_closure(closure, std::slice::from_ref(&stream))?;
                vm.call_method(&stream, "close", &[])?;
                return Ok(Some(result));
            }
            ("flush", []) => {}
            ("finish", []) => self.finish(vm)?,
            ("close", []) => {
                self.finish(vm)?;
                vm.call_method(&self.target, "close", &[])?;
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(std::mem::take(&mut self.target));
    }
}

/// Creates a reader of the decompressed bytes.
fn make_input(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let from = arguments.first().cloned().unwrap_or_default();
    let packed = match io::content(vm, &from)? {
        Some(packed) => packed,
        None => bytes_of(vm, &from)?,
    };
    if packed.len() < 2 {
        return Err(throw("java.io.EOFException", ""));
    }
    if !packed.starts_with(&[0x1F, 0x8B]) {
        return Err(throw("java.util.zip.ZipException", "Not in GZIP format"));
    }
    // RFC 1952, section 2.2: a file may have several members. Java reads all of them.
    let mut decoder = MultiGzDecoder::new(&packed[..]);
    let mut bytes = Vec::new();
    loop {
        // A few compressed bytes may expand to very many, so the budget is charged for each piece.
        vm.alloc(PIECE)?;
        vm.tick(PIECE / 64)?;
        let mut piece = (&mut decoder).take(PIECE as u64);
        let read = piece.read_to_end(&mut bytes);
        if read.map_err(|error| throw("java.util.zip.ZipException", error.to_string()))? == 0 {
            return Ok(io::reader(bytes));
        }
    }
}
