//! Native functions for bytes, encodings and hashes.

use crate::values::{Bytes, thrown};
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine, general_purpose};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use rand::RngExt;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512, Sha512_256};

/// Adds the functions for bytes, encodings and hashes.
pub fn install<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
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
        // A limit, because a wrong length must not take all memory.
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
        for part in parts {
            hasher.update(&part.0);
        }
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
        for part in parts {
            mac.update(&part.0);
        }
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
