//! Descriptors of gRPC services, and messages and header fields of calls.
//!
//! Without the feature `grpc`, each call is an error that names the feature.

use crate::System;
use crate::settings::{GrpcSettings, RunSettings};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use brunt_model::request::JsonMessage;
use brunt_script::grpc::{MessageRules, MessageSource, Services};
use std::path::PathBuf;
use std::time::Duration;

/// Returns the descriptors of the service of a method, as a `FileDescriptorSet`. They come from the
/// files in the settings, or from the server by reflection.
///
/// # Errors
///
/// A message: a file cannot be read, or the server provides no descriptors.
#[cfg(feature = "grpc")]
pub fn descriptors(run: &RunSettings, method: &str, system: &System) -> Result<Vec<u8>, String> {
    let service = method.split('/').next().unwrap_or_default();
    files::descriptors(&run.request.grpc, || (system.reflect_descriptors)(run, service))
}

/// Returns the settings of reflection requests to the server of a run. They are separate calls over
/// HTTP/2, with the connection and the header fields of the run, and without its body.
pub fn reflection_settings(run: &RunSettings) -> RunSettings {
    let mut plain = run.clone();
    plain.request.grpc = GrpcSettings::default();
    plain.request.data = None;
    plain.http.versions = vec![HttpVersion::V2];
    if let Some(authority) = plain.http.authority.take() {
        plain.connection.tls.sni.get_or_insert_with(|| server_name(&authority).to_owned());
        plain.request.headers.push(("Host".into(), authority));
    }
    plain
}

/// Returns the server name of an authority for TLS: its host, without the port.
pub fn server_name(authority: &str) -> &str {
    // The last colon of an IPv6 address is within brackets.
    let host = authority.rsplit_once(':').map_or(authority, |(host, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { authority }
    });
    host.trim_matches(['[', ']'])
}

/// Describes the services in the files of the settings, or those of the server, with their methods.
/// For a single service, the messages are included.
///
/// # Errors
///
/// A message: the service is unknown, or there are no descriptors.
pub fn describe(
    run: &RunSettings,
    service: Option<&str>,
    system: &System,
) -> Result<String, String> {
    let set = descriptors(run, service.unwrap_or_default(), system)?;
    Services::decode(&set)?.describe(service)
}

/// Creates the body of a call from a message with placeholders. It is encoded when it is sent;
/// service, method and interval are checked here.
///
/// # Errors
///
/// A message: the service or method is unknown, or the messages cannot be sent at intervals.
pub fn message(services: &Services, message: JsonMessage) -> Result<Body, String> {
    let rules = MessageRules { stream: message.stream, is_compressed: message.compressed };
    // The message is encoded during the run, but the method can be checked now.
    services.body(&message.method, MessageSource::Json(b""), rules)?;
    Ok(Body::Message(message))
}

/// Merges two sets of descriptors; each may be empty.
///
/// # Errors
///
/// A message: they contradict each other.
pub fn joined(one: Vec<u8>, other: Vec<u8>) -> Result<Vec<u8>, String> {
    match (one.is_empty(), other.is_empty()) {
        (_, true) => Ok(one),
        (true, _) => Ok(other),
        // Most plans call one service, so decoding both sets would be in vain.
        _ if one == other => Ok(one),
        _ => Services::merged(&one, &other),
    }
}

/// Header field with the compression of the messages of a call.
const ENCODING: &str = "grpc-encoding";
/// Header field with the compressions that a reply may use.
const ACCEPT_ENCODING: &str = "grpc-accept-encoding";

/// True if the header fields of a call request compressed messages.
///
/// # Errors
///
/// A message: they name another algorithm than gzip.
pub fn is_compressed(headers: &[(String, String)]) -> Result<bool, String> {
    let encoding = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(ENCODING));
    match encoding.map(|(_, value)| value.trim()) {
        None | Some("identity") => Ok(false),
        Some("gzip") => Ok(true),
        Some(other) => Err(format!(
            "`{ENCODING}: {other}`: brunt compresses messages with gzip; write `{ENCODING}: gzip`"
        )),
    }
}

/// Requests compressed messages in both directions, instead of a compressed body.
pub fn compress(headers: &mut Vec<(String, String)>) {
    // gRPC compresses single messages and negotiates this by separate header fields.
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("accept-encoding"));
    for name in [ENCODING, ACCEPT_ENCODING] {
        if !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)) {
            headers.push((name.into(), "gzip".into()));
        }
    }
}

/// Deadline of calls: the time limit, if the user set one.
pub fn deadline(run: &RunSettings) -> Option<Duration> {
    run.sources.is_given("timeout").then_some(run.connection.timeout)
}

/// Adds the header fields of a call, and its deadline if there is one.
pub fn add_headers(headers: &mut Vec<(String, String)>, deadline: Option<Duration>) {
    // `TE: trailers` shows servers whether proxies on the way pass the trailers with the status.
    headers.extend(
        [("Content-Type", "application/grpc"), ("TE", "trailers")]
            .map(|(n, v)| (n.into(), v.into())),
    );
    let has_deadline = headers.iter().any(|header| header.0.eq_ignore_ascii_case("grpc-timeout"));
    if let Some(deadline) = deadline.filter(|_| !has_deadline) {
        headers.push(("grpc-timeout".into(), timeout_text(deadline)));
    }
}

/// Formats a deadline: at most 8 digits and a unit, in whole milliseconds or seconds. It is rounded
/// up, so that the server does not end a call before its deadline.
fn timeout_text(deadline: Duration) -> String {
    const MAX: u128 = 99_999_999;
    let millis = deadline.as_nanos().div_ceil(1_000_000);
    if millis <= MAX { format!("{millis}m") } else { format!("{}S", (millis / 1_000).min(MAX)) }
}

/// Compiles `.proto` files to descriptors. Files import others by their path below
/// one of the folders.
///
/// # Errors
///
/// A message: a file cannot be read or compiled.
#[cfg(feature = "grpc")]
pub fn compile(files: &[PathBuf], folders: &[PathBuf]) -> Result<Vec<u8>, String> {
    files::compile_files(files, folders)
}

/// Returns an error: this build has no gRPC.
///
/// # Errors
///
/// Always fails: this build has no gRPC.
#[cfg(not(feature = "grpc"))]
pub fn compile(_: &[PathBuf], _: &[PathBuf]) -> Result<Vec<u8>, String> {
    Err("this brunt was built without gRPC; build it with the feature `grpc`".to_owned())
}

/// Returns an error: this build has no gRPC.
///
/// # Errors
///
/// Always fails: this build has no gRPC.
#[cfg(not(feature = "grpc"))]
pub fn descriptors(_: &RunSettings, _: &str, _: &System) -> Result<Vec<u8>, String> {
    Err("--grpc: this brunt was built without gRPC; build it with the feature `grpc`".to_owned())
}

#[cfg(feature = "grpc")]
mod files {
    use crate::settings::GrpcSettings;
    use brunt_script::grpc::Services;
    use prost_reflect::prost::Message;
    use std::path::{Path, PathBuf};

    /// Returns the descriptors of the files in the settings, or else those of `reflect`.
    pub fn descriptors(
        settings: &GrpcSettings,
        reflect: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<Vec<u8>, String> {
        if let Some(path) = &settings.descriptor_set {
            let bytes = brunt_files::read(path).map_err(|error| in_file(path, &error))?;
            Services::decode(&bytes).map_err(|error| in_file(path, &error))?;
            return Ok(bytes);
        }
        if !settings.protos.is_empty() {
            return compile_files(&settings.protos, &settings.proto_paths);
        }
        reflect()
    }

    fn in_file(path: &Path, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", path.display())
    }

    /// Compiles files. They import others by their path below one of the folders, or below the
    /// folders of the files.
    pub fn compile_files(protos: &[PathBuf], paths: &[PathBuf]) -> Result<Vec<u8>, String> {
        let mut folders: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let parents = protos.iter().map(|file| file.parent().filter(|p| !p.as_os_str().is_empty()));
        // protoc's rule: a file belongs to a folder of imports, so its own folder is one of them.
        folders.extend(parents.map(|parent| parent.unwrap_or(Path::new("."))));
        if let Some(missing) = protos.iter().find(|file| !exists(file, &folders)) {
            return Err(format!("{}: there is no such file", missing.display()));
        }
        // protox does not support editions, and its error contains no remedy.
        if let Some(file) = protos.iter().find(|file| is_of_edition(file)) {
            let name = file.display();
            return Err(format!(
                "{name}: the file is of a Protobuf edition, and brunt compiles proto2 and proto3; compile it with \
                 `protoc --include_imports --descriptor_set_out=service.set {name}` and write --descriptor-set service.set"
            ));
        }
        let set = protox::compile(protos, folders).map_err(|error| format!("{error:?}"))?;
        Ok(set.encode_to_vec())
    }

    fn exists(file: &Path, folders: &[&Path]) -> bool {
        file.is_file() || folders.iter().any(|folder| folder.join(file).is_file())
    }

    /// True if the first statement of a file is `edition = …`.
    fn is_of_edition(file: &Path) -> bool {
        // The compiler reports a file that cannot be read.
        let text = brunt_files::read_text(file).unwrap_or_default();
        let mut rest = text.trim_start();
        loop {
            let comment_end = match rest.get(..2) {
                Some("//") => rest.find('\n').map(|position| position + 1),
                Some("/*") => rest.find("*/").map(|position| position + 2),
                _ => {
                    return rest
                        .strip_prefix("edition")
                        .is_some_and(|rest| rest.trim_start().starts_with('='));
                }
            };
            rest = comment_end.map_or("", |end| rest[end..].trim_start());
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use brunt_model::Body;
        use brunt_script::grpc::{MessageRules, MessageSource};
        use std::time::Duration;

        #[test]
        fn the_server_name_of_an_authority_is_its_host() {
            for (authority, name) in [
                ("shop.example", "shop.example"),
                ("shop.example:443", "shop.example"),
                ("[::1]:50051", "::1"),
                ("[::1]", "::1"),
            ] {
                assert_eq!(crate::grpc::server_name(authority), name);
            }
        }

        #[test]
        fn deadlines_are_rounded_up() {
            for (nanos, text) in [
                (300_000_000, "300m"),
                (1_500_000, "2m"),
                (1, "1m"),
                (100_000_000_000_000, "100000S"),
                (u64::MAX, "99999999S"),
            ] {
                assert_eq!(crate::grpc::timeout_text(Duration::from_nanos(nanos)), text);
            }
        }

        #[test]
        fn files_of_editions_are_refused_with_advice() {
            let dir = tempfile::TempDir::new().unwrap();
            let file = dir.path().join("a.proto");
            std::fs::write(
                &file,
                "// a\n/* b */ edition = \"2023\"; package a; message M { int32 a = 1; }",
            )
            .unwrap();
            let refused = compile_files(&[file], &[]).unwrap_err();
            assert!(refused.contains("--descriptor-set service.set"), "{refused}");
        }

        const PROTO: &str = "syntax = \"proto3\"; package shop; message Item { string name = 1; } \
                             service Shop { rpc Buy(Item) returns (Item); }";

        fn none() -> Result<Vec<u8>, String> {
            Err("none".into())
        }

        #[test]
        fn files_of_both_kinds_describe_a_service() {
            let dir = tempfile::TempDir::new().unwrap();
            let (proto, set) = (dir.path().join("shop.proto"), dir.path().join("shop.set"));
            std::fs::write(&proto, PROTO).unwrap();
            let compiled = GrpcSettings { protos: vec![proto], ..GrpcSettings::default() };
            let bytes = descriptors(&compiled, none).unwrap();
            let body = Services::decode(&bytes).unwrap().body(
                "shop.Shop/Buy",
                MessageSource::Json(br#"{"name": "a"}"#),
                MessageRules::default(),
            );
            assert_eq!(body, Ok(Body::from_bytes(b"\0\0\0\0\x03\x0a\x01a".to_vec())));
            std::fs::write(&set, &bytes).unwrap();
            let named = GrpcSettings { descriptor_set: Some(set), ..GrpcSettings::default() };
            assert_eq!(descriptors(&named, none), Ok(bytes.clone()));
            assert_eq!(descriptors(&GrpcSettings::default(), || Ok(bytes.clone())), Ok(bytes));
        }

        #[test]
        fn a_file_that_describes_nothing_is_named() {
            let dir = tempfile::TempDir::new().unwrap();
            let bad = dir.path().join("bad.proto");
            std::fs::write(&bad, "nonsense").unwrap();
            let settings = |protos, descriptor_set| GrpcSettings {
                protos,
                descriptor_set,
                ..GrpcSettings::default()
            };
            let of = |settings: GrpcSettings| descriptors(&settings, none).unwrap_err();
            assert!(of(settings(vec![bad.clone()], None)).contains("bad.proto"));
            assert!(of(settings(vec![dir.path().join("none")], None)).contains("none"));
            assert!(of(settings(vec![], Some(bad))).contains("no set of descriptors"));
            assert_eq!(of(GrpcSettings::default()), "none");
        }
    }
}
