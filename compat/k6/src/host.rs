//! The part of a script's world that is outside of its JavaScript: what the modules in `js/` call.

use crate::archive::{Archive, FileBytes};
use crate::modules::{absolute, thrown};
use crate::registry::{Declaration, MetricKind, Registry, Unit};
use crate::user_side::UserSide;
use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use rand::RngExt;
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Ctx, FromJs, Function, IntoJs, Object, Result, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512, Sha512_256};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Where the modules and files of a script come from.
pub enum Sources {
    /// The file system. What is read is kept for the other users.
    FileSystem(RefCell<Archive>),
    /// What was read before.
    Archive(Arc<Archive>),
}

/// The world of one evaluation of a script.
pub struct Host {
    /// Source of modules and files.
    pub sources: Sources,
    /// Metrics and lines of the console.
    pub registry: Rc<Registry>,
    /// Variables of the environment.
    pub env: Vec<(String, String)>,
    /// True while the script's modules are evaluated.
    pub is_init: Cell<bool>,
    /// The virtual user; None if only the init code, or the code of the summary is evaluated.
    pub user: Option<UserSide>,
    /// Formats the data of a summary: indent, colors.
    pub text_summary: fn(&str, &str, bool) -> std::result::Result<String, String>,
}

impl Host {
    /// Returns the text of a module, by its absolute path.
    pub fn module(&self, name: &str) -> std::result::Result<String, String> {
        match &self.sources {
            Sources::Archive(archive) => archive
                .modules
                .get(name)
                .cloned()
                .ok_or_else(|| format!("`{name}` was not read when the script was checked: import it at the top of a module")),
            Sources::FileSystem(archive) => {
                let ending = std::path::Path::new(name).extension().and_then(|end| end.to_str());
                if ending == Some("ts") {
                    return Err(format!("{name}: TypeScript is not read; write `esbuild {name} --outfile=NAME.js` and run its output"));
                }
                let text = std::fs::read_to_string(name).map_err(|error| {
                    format!("cannot read the module {name}: {error}; write its path with its ending, relative to the module that imports it")
                })?;
                archive.borrow_mut().modules.insert(name.to_owned(), text.clone());
                Ok(text)
            }
        }
    }

    /// Returns the content of a file, by its absolute path.
    fn file(&self, path: &str) -> std::result::Result<Vec<u8>, String> {
        match &self.sources {
            Sources::Archive(archive) => archive
                .files
                .get(path)
                .map(|file| file.0.clone())
                .ok_or_else(|| format!("open(): `{path}` was not read when the script was checked: open the same files in each user")),
            Sources::FileSystem(archive) => {
                let bytes = std::fs::read(path)
                    .map_err(|error| format!("open(): cannot read {path}: {error}"))?;
                archive.borrow_mut().files.insert(path.to_owned(), FileBytes(bytes.clone()));
                Ok(bytes)
            }
        }
    }

    /// Calls a function with the elements of a shared array, if it exists.
    fn shared<T>(&self, name: &str, read: impl FnOnce(&[String]) -> T) -> Option<T> {
        match &self.sources {
            Sources::Archive(archive) => archive.shared.get(name).map(|array| read(array)),
            Sources::FileSystem(archive) => {
                archive.borrow().shared.get(name).map(|array| read(array))
            }
        }
    }

    /// Adds a line of the console.
    pub fn log(&self, level: &str, text: &str) {
        let text = serde_json::Value::from(text);
        self.registry.line(format!("level={level} msg={text}"));
    }
}

/// Adds a native function to an object.
macro_rules! native {
    ($object:ident, $ctx:ident, $name:literal, $function:expr) => {
        $object.set($name, Function::new($ctx.clone(), $function)?)?;
    };
}

/// A number, as JavaScript passes it.
type Number = f64;

/// Makes the object with the native functions, and evaluates the globals.
pub fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let env = Object::new(ctx.clone())?;
    for (name, value) in &host.env {
        env.set(name.as_str(), value.as_str())?;
    }
    native!(natives, ctx, "env", move || env.clone());
    install_init(ctx, host, &natives)?;
    install_bytes(ctx, &natives)?;
    install_summary(ctx, host, &natives)?;
    crate::user_side::install(ctx, host, &natives)?;
    ctx.globals().set("__brunt", natives.clone())?;
    ctx.eval::<(), _>(include_str!("../js/globals.js"))?;
    Ok(natives)
}

fn install_init<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "log", move |level: String, text: String| of.log(&level, &text));
    let of = Rc::clone(host);
    native!(natives, ctx, "requireInit", move |ctx: Ctx<'js>, name: String| {
        let wrong = format!("{name} is permitted only in init code: at the top of a module");
        if of.is_init.get() { Ok(()) } else { Err(thrown(&ctx, &wrong)) }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "requireIteration", move |ctx: Ctx<'js>, name: String| {
        let wrong = format!(
            "{name} is not permitted in init code; call it in the default function, setup or teardown"
        );
        if of.is_init.get() { Err(thrown(&ctx, &wrong)) } else { Ok(()) }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "open", move |ctx: Ctx<'js>, path: String, is_binary: bool| {
        if !of.is_init.get() {
            return Err(thrown(
                &ctx,
                "open() is permitted only in init code: at the top of a module",
            ));
        }
        let base = calling_module(&ctx);
        let bytes = of.file(&absolute(&base, &path)).map_err(|why| thrown(&ctx, &why))?;
        if is_binary {
            return ArrayBuffer::new(ctx.clone(), bytes)?.into_js(&ctx);
        }
        String::from_utf8_lossy(&bytes).into_owned().into_js(&ctx)
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "declareMetric",
        move |ctx: Ctx<'js>, kind: String, name: String, is_time: bool| {
            if !of.is_init.get() {
                let wrong = format!(
                    "the metric `{name}` must be created in init code: at the top of a module"
                );
                return Err(thrown(&ctx, &wrong));
            }
            let kind = MetricKind::from_word(&kind).unwrap_or(MetricKind::Counter);
            let unit = if is_time { Unit::Time } else { Unit::Number };
            of.registry.declare(Declaration { name, kind, unit }).map_err(|why| thrown(&ctx, &why))
        }
    );
    let of = Rc::clone(host);
    native!(natives, ctx, "sharedLength", move |name: String| of
        .shared(&name, |array| array.len() as Number)
        .unwrap_or(-1.0));
    let of = Rc::clone(host);
    native!(natives, ctx, "sharedAt", move |name: String, index: usize| of
        .shared(&name, |array| array.get(index).cloned())
        .flatten());
    let of = Rc::clone(host);
    native!(natives, ctx, "share", move |name: String, elements: Vec<String>| {
        if let Sources::FileSystem(archive) = &of.sources {
            archive.borrow_mut().shared.insert(name, elements);
        }
    });
    native!(natives, ctx, "duration", move |ctx: Ctx<'js>, text: String| {
        let time = crate::duration::parse(&text).map_err(|why| thrown(&ctx, &why))?;
        Ok::<_, rquickjs::Error>(time.as_secs_f64() * 1e3)
    });
    Ok(())
}

/// Returns the name of the module that called a native function, through the modules in `js/`.
fn calling_module(ctx: &Ctx<'_>) -> String {
    let names = (1..8).filter_map(|level| ctx.script_or_module_name(level));
    names
        .filter_map(|name| name.to_string().ok())
        .find(|name| name.starts_with('/'))
        .unwrap_or_else(|| "/".into())
}

/// The bytes of a text, an `ArrayBuffer` or a typed array.
pub struct Bytes(pub Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        if let Some(text) = value.as_string() {
            return Ok(Self(text.to_string()?.into_bytes()));
        }
        let is_buffer = value
            .as_object()
            .is_some_and(|object| object.is_array_buffer() || object.is_typed_array::<u8>());
        if is_buffer {
            let natives: Object<'js> = ctx.globals().get("__brunt")?;
            let characters: Function<'js> = natives.get("characters")?;
            let text: String = characters.call((value,))?;
            return Ok(Self(text.chars().map(|c| c as u8).collect()));
        }
        Err(thrown(ctx, "a text or an ArrayBuffer is needed"))
    }
}

fn install_bytes<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    native!(natives, ctx, "bytes", move |ctx: Ctx<'js>, bytes: Bytes| ArrayBuffer::new(
        ctx, bytes.0
    ));
    native!(natives, ctx, "utf8", move |bytes: Bytes| String::from_utf8_lossy(&bytes.0)
        .into_owned());
    native!(natives, ctx, "concat", move |ctx: Ctx<'js>, pieces: Vec<Bytes>| {
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.0).collect();
        ArrayBuffer::new(ctx, bytes)
    });
    native!(natives, ctx, "randomBytes", move |ctx: Ctx<'js>, count: usize| {
        let mut bytes = vec![0_u8; count.min(1 << 24)];
        rand::rng().fill(&mut bytes[..]);
        ArrayBuffer::new(ctx, bytes)
    });
    native!(natives, ctx, "base64Encode", move |ctx: Ctx<'js>, bytes: Bytes, encoding: String| {
        Ok::<_, rquickjs::Error>(base64_engine(&ctx, &encoding)?.encode(bytes.0))
    });
    native!(natives, ctx, "base64Decode", move |ctx: Ctx<'js>, text: String, encoding: String| {
        let bytes = base64_engine(&ctx, &encoding)?.decode(text);
        let bytes =
            bytes.map_err(|error| thrown(&ctx, &format!("b64decode(): no base64: {error}")))?;
        ArrayBuffer::new(ctx, bytes)
    });
    native!(natives, ctx, "hash", move |ctx: Ctx<'js>, algorithm: String, parts: Vec<Bytes>| {
        let sum = digest(&algorithm, &parts).map_err(|why| thrown(&ctx, &why))?;
        ArrayBuffer::new(ctx, sum)
    });
    native!(natives, ctx, "hmac", move |ctx: Ctx<'js>,
                                        algorithm: String,
                                        key: Bytes,
                                        parts: Vec<Bytes>| {
        let sum = signature(&algorithm, &key.0, &parts).map_err(|why| thrown(&ctx, &why))?;
        ArrayBuffer::new(ctx, sum)
    });
    Ok(())
}

fn base64_engine(ctx: &Ctx<'_>, encoding: &str) -> Result<GeneralPurpose> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    match encoding {
        "std" => Ok(general_purpose::STANDARD),
        "rawstd" => Ok(GeneralPurpose::new(&alphabet::STANDARD, config.with_encode_padding(false))),
        "url" => Ok(GeneralPurpose::new(&alphabet::URL_SAFE, config)),
        "rawurl" => Ok(GeneralPurpose::new(&alphabet::URL_SAFE, config.with_encode_padding(false))),
        _ => Err(thrown(
            ctx,
            &format!(
                "the base64 encoding `{encoding}` is unknown; write std, rawstd, url or rawurl"
            ),
        )),
    }
}

fn digest(algorithm: &str, parts: &[Bytes]) -> std::result::Result<Vec<u8>, String> {
    fn of<D: Digest>(parts: &[Bytes]) -> Vec<u8> {
        let mut hasher = D::new();
        parts.iter().for_each(|part| hasher.update(&part.0));
        hasher.finalize().to_vec()
    }
    Ok(match algorithm {
        "md5" => of::<Md5>(parts),
        "sha1" => of::<Sha1>(parts),
        "sha256" => of::<Sha256>(parts),
        "sha384" => of::<Sha384>(parts),
        "sha512" => of::<Sha512>(parts),
        "sha512_256" => of::<Sha512_256>(parts),
        _ => return Err(unknown_algorithm(algorithm)),
    })
}

fn signature(algorithm: &str, key: &[u8], parts: &[Bytes]) -> std::result::Result<Vec<u8>, String> {
    fn of<M: Mac + KeyInit>(key: &[u8], parts: &[Bytes]) -> std::result::Result<Vec<u8>, String> {
        let mut mac =
            <M as KeyInit>::new_from_slice(key).map_err(|error| format!("hmac(): {error}"))?;
        parts.iter().for_each(|part| mac.update(&part.0));
        Ok(mac.finalize().into_bytes().to_vec())
    }
    match algorithm {
        "md5" => of::<Hmac<Md5>>(key, parts),
        "sha1" => of::<Hmac<Sha1>>(key, parts),
        "sha256" => of::<Hmac<Sha256>>(key, parts),
        "sha384" => of::<Hmac<Sha384>>(key, parts),
        "sha512" => of::<Hmac<Sha512>>(key, parts),
        "sha512_256" => of::<Hmac<Sha512_256>>(key, parts),
        _ => Err(unknown_algorithm(algorithm)),
    }
}

fn unknown_algorithm(algorithm: &str) -> String {
    format!(
        "the hash function `{algorithm}` is not supported; use md5, sha1, sha256, sha384, sha512 or sha512_256"
    )
}

fn install_summary<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "textSummary",
        move |ctx: Ctx<'js>, data: String, indent: String, colors: bool| {
            (of.text_summary)(&data, &indent, colors).map_err(|why| thrown(&ctx, &why))
        }
    );
    native!(
        natives,
        ctx,
        "humanize",
        move |value: Number, kind: String, contains: String, _unit: Opt<String>| {
            crate::numbers::metric_value(value, &kind, &contains)
        }
    );
    Ok(())
}

/// A number of milliseconds as a duration; nothing if it is no positive number.
pub fn milliseconds(value: Number) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
}
