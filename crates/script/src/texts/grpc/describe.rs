//! Formats services and messages as `.proto` definitions.

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    ServiceDescriptor,
};
use std::fmt::Write;

/// Prefix of well-known types, which are not described.
const WELL_KNOWN: &str = "google.protobuf.";

/// Formats all services with their methods.
pub fn all(pool: &DescriptorPool) -> String {
    let mut services: Vec<_> = pool.services().collect();
    services.sort_by(|one, other| one.full_name().cmp(other.full_name()));
    services.iter().map(service).collect::<Vec<_>>().join("\n")
}

/// Formats a service with its methods, and all messages that these use.
pub fn service_definition(descriptor: &ServiceDescriptor) -> String {
    let mut types = Types::default();
    for method in descriptor.methods() {
        types.add_message(method.input());
        types.add_message(method.output());
    }
    let mut texts = vec![service(descriptor)];
    let mut index = 0;
    while let Some(next) = types.messages.get(index).cloned() {
        texts.push(message(&next, &mut types));
        index += 1;
    }
    texts.extend(types.enums.iter().map(enumeration));
    texts.join("\n")
}

/// Types to format, once each.
#[derive(Default)]
struct Types {
    messages: Vec<MessageDescriptor>,
    enums: Vec<EnumDescriptor>,
}

impl Types {
    fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Message(message) => self.add_message(message),
            Kind::Enum(one) if !self.enums.contains(&one) => self.enums.push(one),
            _ => {}
        }
    }

    fn add_message(&mut self, message: MessageDescriptor) {
        if !message.full_name().starts_with(WELL_KNOWN) && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }
}

fn service(service: &ServiceDescriptor) -> String {
    let mut text = format!("service {} {{\n", service.full_name());
    for method in service.methods() {
        let input =
            format!("{}{}", stream(method.is_client_streaming()), method.input().full_name());
        let output =
            format!("{}{}", stream(method.is_server_streaming()), method.output().full_name());
        let _ = writeln!(text, "  rpc {}({input}) returns ({output});", method.name());
    }
    text + "}\n"
}

fn stream(is_streaming: bool) -> &'static str {
    if is_streaming { "stream " } else { "" }
}

fn message(message: &MessageDescriptor, types: &mut Types) -> String {
    let mut text = format!("message {} {{\n", message.full_name());
    for field in message.fields() {
        let name = field.name();
        let number = field.number();
        // An `optional` field of proto3 is in a synthetic group of its own.
        let one_of = field.containing_oneof().filter(|group| !group.is_synthetic());
        let one_of =
            one_of.map(|group| format!("  // one of {}", group.name())).unwrap_or_default();
        let _ = writeln!(text, "  {} {name} = {number};{one_of}", kind(&field, types));
    }
    text + "}\n"
}

/// Returns the type of a field, with its label.
fn kind(field: &FieldDescriptor, types: &mut Types) -> String {
    // A map is encoded as repeated messages of a key and a value.
    if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
        let key = entry.map_entry_key_field().kind();
        let value = entry.map_entry_value_field().kind();
        types.add(value.clone());
        return format!("map<{}, {}>", name(&key), name(&value));
    }
    types.add(field.kind());
    let label = match field.cardinality() {
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if field.field_descriptor_proto().proto3_optional() => "optional ",
        Cardinality::Optional => "",
    };
    format!("{label}{}", name(&field.kind()))
}

/// Returns the name of a type in `.proto` syntax.
fn name(kind: &Kind) -> String {
    format!("{kind:?}")
}

fn enumeration(one: &EnumDescriptor) -> String {
    let mut text = format!("enum {} {{\n", one.full_name());
    for value in one.values() {
        let _ = writeln!(text, "  {} = {};", value.name(), value.number());
    }
    text + "}\n"
}
