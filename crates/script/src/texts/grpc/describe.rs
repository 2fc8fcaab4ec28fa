//! Services and messages as a `.proto` file defines them, for a reader.

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, ServiceDescriptor,
};
use std::fmt::Write;

/// Messages of these packages are known to every reader.
const KNOWN: &str = "google.protobuf.";

/// All services with their methods.
pub fn all(pool: &DescriptorPool) -> String {
    let mut services: Vec<_> = pool.services().collect();
    services.sort_by(|one, other| one.full_name().cmp(other.full_name()));
    services.iter().map(service).collect::<Vec<_>>().join("\n")
}

/// A service with its methods, and the messages that these take and return, with all that are in them.
pub fn one(wanted: &ServiceDescriptor) -> String {
    let mut types = Types::default();
    for method in wanted.methods() {
        types.add_message(method.input());
        types.add_message(method.output());
    }
    let mut texts = vec![service(wanted)];
    let mut at = 0;
    while let Some(next) = types.messages.get(at).cloned() {
        texts.push(message(&next, &mut types));
        at += 1;
    }
    texts.extend(types.enums.iter().map(enumeration));
    texts.join("\n")
}

/// What is to be shown, once each.
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
        if !message.full_name().starts_with(KNOWN) && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }
}

fn service(service: &ServiceDescriptor) -> String {
    let mut text = format!("service {} {{\n", service.full_name());
    for method in service.methods() {
        let stream = |streams| if streams { "stream " } else { "" };
        let (takes, returns) = (stream(method.is_client_streaming()), stream(method.is_server_streaming()));
        let (input, output) = (method.input(), method.output());
        let (input, output) = (input.full_name(), output.full_name());
        let _ = writeln!(text, "  rpc {}({takes}{input}) returns ({returns}{output});", method.name());
    }
    text + "}\n"
}

fn message(message: &MessageDescriptor, types: &mut Types) -> String {
    let mut text = format!("message {} {{\n", message.full_name());
    for field in message.fields() {
        let (name, number) = (field.name(), field.number());
        let one_of = field.containing_oneof().filter(|group| !group.is_synthetic());
        let one_of = one_of.map(|group| format!("  // one of {}", group.name())).unwrap_or_default();
        let _ = writeln!(text, "  {} {name} = {number};{one_of}", kind(&field, types));
    }
    text + "}\n"
}

/// The type of a field, with what stands before it.
fn kind(field: &FieldDescriptor, types: &mut Types) -> String {
    if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
        let (key, value) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
        types.add(value.clone());
        return format!("map<{}, {}>", name(&key), name(&value));
    }
    types.add(field.kind());
    let before = match field.cardinality() {
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if field.field_descriptor_proto().proto3_optional() => "optional ",
        Cardinality::Optional => "",
    };
    format!("{before}{}", name(&field.kind()))
}

/// As a `.proto` file writes it.
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
