//! The table of ab's options.

use super::{Args, Refusal};
use crate::getopt::{Argument, atoi};

/// Effect of an option.
#[derive(Clone, Copy)]
pub enum OptionEffect {
    Set(fn(&mut Args, &str)),
    /// Sets a value, or refuses it.
    Try(fn(&mut Args, &str) -> Result<(), Refusal>),
}

/// One row for each option, in alphabetical order: its letter, whether it
/// takes a value, its effect.
pub const OPTIONS: &[(char, Argument, OptionEffect)] = &[
    (
        'A',
        Argument::Required,
        OptionEffect::Try(|args, value| {
            args.add_credentials("Authorization", "Authentication", value)
        }),
    ),
    (
        'B',
        Argument::Required,
        OptionEffect::Set(|args, value| args.source = Some(value.to_owned())),
    ),
    ('C', Argument::Required, OptionEffect::Set(|args, value| args.cookies.push(value.to_owned()))),
    (
        'E',
        Argument::Required,
        OptionEffect::Set(|args, value| args.certificate = Some(value.into())),
    ),
    ('H', Argument::Required, OptionEffect::Set(|args, value| args.headers.push(value.to_owned()))),
    ('I', Argument::None, OptionEffect::Set(|args, _| args.no_sni = true)),
    (
        'P',
        Argument::Required,
        OptionEffect::Try(|args, value| {
            args.add_credentials("Proxy-Authorization", "Proxy", value)
        }),
    ),
    ('S', Argument::None, OptionEffect::Set(|args, _| args.no_confidence = true)),
    (
        'T',
        Argument::Required,
        OptionEffect::Set(|args, value| value.clone_into(&mut args.content_type)),
    ),
    ('V', Argument::None, OptionEffect::Try(|_, _| Err(Refusal::Version))),
    ('X', Argument::Required, OptionEffect::Set(Args::set_proxy)),
    (
        'Z',
        Argument::Required,
        OptionEffect::Set(|args, value| args.ciphers = Some(value.to_owned())),
    ),
    (
        'b',
        Argument::Required,
        OptionEffect::Set(|args, value| {
            args.buffer = u32::try_from(atoi(value)).ok().filter(|b| *b > 0);
        }),
    ),
    ('c', Argument::Required, OptionEffect::Set(|args, value| args.connections = atoi(value))),
    ('d', Argument::None, OptionEffect::Set(|args, _| args.no_percentiles = true)),
    ('e', Argument::Required, OptionEffect::Set(|args, value| args.csv = Some(value.into()))),
    (
        'f',
        Argument::Required,
        OptionEffect::Set(|args, value| args.protocol = Some(value.to_owned())),
    ),
    ('g', Argument::Required, OptionEffect::Set(|args, value| args.gnuplot = Some(value.into()))),
    ('h', Argument::None, OptionEffect::Try(|_, _| Err(Refusal::Usage(String::new())))),
    ('i', Argument::None, OptionEffect::Try(|args, _| args.set_method("HEAD"))),
    ('k', Argument::None, OptionEffect::Set(|args, _| args.keep_alive = true)),
    ('l', Argument::None, OptionEffect::Set(|args, _| args.any_length = true)),
    (
        'm',
        Argument::Required,
        OptionEffect::Set(|args, value| args.method = Some(value.to_owned())),
    ),
    ('n', Argument::Required, OptionEffect::Try(Args::set_requests)),
    ('p', Argument::Required, OptionEffect::Try(|args, value| args.set_body("POST", value))),
    ('q', Argument::None, OptionEffect::Set(|args, _| args.quiet = true)),
    ('r', Argument::None, OptionEffect::Set(|args, _| args.survive = true)),
    ('s', Argument::Required, OptionEffect::Set(|args, value| args.timeout = atoi(value))),
    ('t', Argument::Required, OptionEffect::Set(Args::set_time_limit)),
    ('u', Argument::Required, OptionEffect::Try(|args, value| args.set_body("PUT", value))),
    ('v', Argument::Required, OptionEffect::Set(|args, value| args.verbosity = atoi(value))),
    ('w', Argument::None, OptionEffect::Set(|args, _| _ = args.html.get_or_insert_default())),
    (
        'x',
        Argument::Required,
        OptionEffect::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().table);
        }),
    ),
    (
        'y',
        Argument::Required,
        OptionEffect::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().row);
        }),
    ),
    (
        'z',
        Argument::Required,
        OptionEffect::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().cell);
        }),
    ),
];
