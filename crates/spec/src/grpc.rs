//! Calls of gRPC: what a service is, and messages from JSON.
//!
//! Without the feature `grpc` there are none, and a call gets an error that says so.

use crate::System;
use crate::settings::RunSettings;

/// The messages that a method is called with, framed (a byte, a length of four bytes, the message), out of JSON: one
/// object, or, where the client may send several, a list of them. Nothing is an empty message.
///
/// # Errors
///
/// In words: no such service or method, a file that cannot be read, or JSON that is no such message.
#[cfg(feature = "grpc")]
pub fn message(run: &RunSettings, method: &str, json: &[u8], system: &System) -> Result<Vec<u8>, String> {
    let service = method.split('/').next().unwrap_or_default();
    let pool = descriptors::pool(&run.request.grpc, || (system.reflected)(run, service))?;
    descriptors::message(&pool, method, json)
}

/// See the module.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "grpc"))]
pub fn message(_: &RunSettings, _: &str, _: &[u8], _: &System) -> Result<Vec<u8>, String> {
    Err("--grpc: this brunt was built without gRPC; build it with the feature `grpc`".to_owned())
}

#[cfg(feature = "grpc")]
mod descriptors {
    use crate::settings::GrpcSettings;
    use prost_reflect::prost::Message;
    use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
    use serde_json::Value;
    use std::path::{Path, PathBuf};

    /// The descriptors that the settings name, or else those that are `told`.
    pub fn pool(
        settings: &GrpcSettings,
        told: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<DescriptorPool, String> {
        if let Some(path) = &settings.descriptor_set {
            let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            return decoded(&bytes).map_err(|error| format!("{}: {error}", path.display()));
        }
        if !settings.protos.is_empty() {
            return compiled(&settings.protos, &settings.proto_paths);
        }
        decoded(&told()?)
    }

    fn decoded(bytes: &[u8]) -> Result<DescriptorPool, String> {
        DescriptorPool::decode(bytes).map_err(|error| format!("this is no set of descriptors: {error}"))
    }

    /// Files import others by their path below one of the folders.
    fn compiled(protos: &[PathBuf], paths: &[PathBuf]) -> Result<DescriptorPool, String> {
        let own =
            protos.iter().map(|file| file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")));
        let mut folders: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        folders.extend(own);
        let set = protox::compile(protos, folders).map_err(|error| format!("{error:?}"))?;
        DescriptorPool::from_file_descriptor_set(set).map_err(|error| error.to_string())
    }

    fn find(pool: &DescriptorPool, name: &str) -> Result<MethodDescriptor, String> {
        let (service, method) = name.split_once('/').unwrap_or((name, ""));
        let Some(found) = pool.get_service_by_name(service) else {
            let known: Vec<String> = pool.services().map(|service| service.full_name().to_owned()).collect();
            return Err(format!("there is no service {service}; write one of {}", known.join(", ")));
        };
        found.methods().find(|one| one.name() == method).ok_or_else(|| {
            let known: Vec<String> = found.methods().map(|one| one.name().to_owned()).collect();
            format!("{service} has no method {method}; write one of {}", known.join(", "))
        })
    }

    /// See [`super::message`].
    pub fn message(pool: &DescriptorPool, name: &str, json: &[u8]) -> Result<Vec<u8>, String> {
        let method = find(pool, name)?;
        let wrong = |error: serde_json::Error| format!("--json is no {}: {error}", method.input().full_name());
        let value: Value = if json.is_empty() {
            Value::Object(serde_json::Map::default())
        } else {
            serde_json::from_slice(json).map_err(wrong)?
        };
        let messages = match value {
            Value::Array(several) if method.is_client_streaming() => several,
            one => vec![one],
        };
        let mut framed = Vec::new();
        for value in messages {
            let message = DynamicMessage::deserialize(method.input(), value).map_err(wrong)?;
            framed.push(0);
            framed.extend_from_slice(&(message.encoded_len() as u32).to_be_bytes());
            framed.extend_from_slice(&message.encode_to_vec());
        }
        Ok(framed)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const PROTO: &str = "syntax = \"proto3\"; package shop; message Item { string name = 1; int64 id = 2; } \
                             service Shop { rpc Buy(Item) returns (Item); rpc Fill(stream Item) returns (Item); }";

        fn none() -> Result<Vec<u8>, String> {
            Err("none".into())
        }

        fn shop() -> (tempfile::TempDir, GrpcSettings) {
            let dir = tempfile::TempDir::new().unwrap();
            let file = dir.path().join("shop.proto");
            std::fs::write(&file, PROTO).unwrap();
            (dir, GrpcSettings { protos: vec![file], ..GrpcSettings::default() })
        }

        #[test]
        fn messages_are_encoded_and_framed() {
            let (_dir, shop) = shop();
            let pool = pool(&shop, none).unwrap();
            let of = |method: &str, json: &str| message(&pool, method, json.as_bytes());
            assert_eq!(of("shop.Shop/Buy", "").unwrap(), [0; 5]);
            let one = [&b"\0\0\0\0\x06\x0a\x02ab\x10\x07"[..]].concat();
            assert_eq!(of("shop.Shop/Buy", r#"{"name": "ab", "id": 7}"#).unwrap(), one);
            assert_eq!(
                of("shop.Shop/Fill", r#"[{"name": "ab", "id": "7"}, {}]"#).unwrap(),
                [&one[..], &[0; 5]].concat()
            );
        }

        #[test]
        fn what_is_wrong_is_told_with_what_there_is() {
            let (dir, shop) = shop();
            let pool = pool(&shop, none).unwrap();
            let of = |method: &str, json: &str| message(&pool, method, json.as_bytes()).unwrap_err();
            assert!(of("shop.Nope/Buy", "").contains("no service shop.Nope; write one of shop.Shop"));
            assert!(of("shop.Shop/Sell", "").contains("no method Sell; write one of Buy, Fill"));
            assert!(of("shop.Shop/Buy", r#"{"nme": 1}"#).contains("--json is no shop.Item"));
            assert!(of("shop.Shop/Buy", "[]").contains("--json is no shop.Item"));
            assert!(of("shop.Shop/Buy", "{").contains("--json is no shop.Item"));
            let bad = dir.path().join("bad.proto");
            std::fs::write(&bad, "nonsense").unwrap();
            let settings = |protos, descriptor_set| GrpcSettings { protos, descriptor_set, ..GrpcSettings::default() };
            assert!(super::pool(&settings(vec![bad.clone()], None), none).unwrap_err().contains("bad.proto"));
            assert!(super::pool(&settings(vec![dir.path().join("none")], None), none).unwrap_err().contains("none"));
            assert!(super::pool(&settings(vec![], Some(bad)), none).unwrap_err().contains("no set of descriptors"));
            assert!(super::pool(&GrpcSettings::default(), none).unwrap_err().contains("none"));
        }
    }
}
