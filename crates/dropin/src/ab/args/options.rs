//! The table of ab's options.

use super::{Args, Refusal};
use crate::getopt::{Takes, atoi};

/// What an option does.
#[derive(Clone, Copy)]
pub enum OptionEffect {
    /// It is set.
    Set(fn(&mut Args, &str)),
    /// What may make no sense.
    Try(fn(&mut Args, &str) -> Result<(), Refusal>),
}

/// One row an option, in the order of the alphabet: its letter, whether it takes a value, what it does.
pub const OPTIONS: &[(char, Takes, OptionEffect)] = &[
    ('A', Takes::Value, OptionEffect::Try(|args, value| args.credential("Authorization", "Authentication", value))),
    ('B', Takes::Value, OptionEffect::Set(|args, value| args.source = Some(value.to_owned()))),
    ('C', Takes::Value, OptionEffect::Set(|args, value| args.cookies.push(value.to_owned()))),
    ('E', Takes::Value, OptionEffect::Set(|args, value| args.certificate = Some(value.into()))),
    ('H', Takes::Value, OptionEffect::Set(|args, value| args.headers.push(value.to_owned()))),
    ('I', Takes::Nothing, OptionEffect::Set(|args, _| args.no_sni = true)),
    ('P', Takes::Value, OptionEffect::Try(|args, value| args.credential("Proxy-Authorization", "Proxy", value))),
    ('S', Takes::Nothing, OptionEffect::Set(|args, _| args.no_confidence = true)),
    ('T', Takes::Value, OptionEffect::Set(|args, value| value.clone_into(&mut args.content_type))),
    ('V', Takes::Nothing, OptionEffect::Try(|_, _| Err(Refusal::Version))),
    ('X', Takes::Value, OptionEffect::Set(Args::through)),
    ('Z', Takes::Value, OptionEffect::Set(|args, value| args.ciphers = Some(value.to_owned()))),
    (
        'b',
        Takes::Value,
        OptionEffect::Set(|args, value| args.buffer = u32::try_from(atoi(value)).ok().filter(|b| *b > 0)),
    ),
    ('c', Takes::Value, OptionEffect::Set(|args, value| args.connections = atoi(value))),
    ('d', Takes::Nothing, OptionEffect::Set(|args, _| args.no_percentiles = true)),
    ('e', Takes::Value, OptionEffect::Set(|args, value| args.csv = Some(value.into()))),
    ('f', Takes::Value, OptionEffect::Set(|args, value| args.protocol = Some(value.to_owned()))),
    ('g', Takes::Value, OptionEffect::Set(|args, value| args.gnuplot = Some(value.into()))),
    ('h', Takes::Nothing, OptionEffect::Try(|_, _| Err(Refusal::Usage(String::new())))),
    ('i', Takes::Nothing, OptionEffect::Try(|args, _| args.first_method("HEAD"))),
    ('k', Takes::Nothing, OptionEffect::Set(|args, _| args.keep_alive = true)),
    ('l', Takes::Nothing, OptionEffect::Set(|args, _| args.any_length = true)),
    ('m', Takes::Value, OptionEffect::Set(|args, value| args.method = Some(value.to_owned()))),
    ('n', Takes::Value, OptionEffect::Try(Args::this_many)),
    ('p', Takes::Value, OptionEffect::Try(|args, value| args.send("POST", value))),
    ('q', Takes::Nothing, OptionEffect::Set(|args, _| args.quiet = true)),
    ('r', Takes::Nothing, OptionEffect::Set(|args, _| args.survive = true)),
    ('s', Takes::Value, OptionEffect::Set(|args, value| args.timeout = atoi(value))),
    ('t', Takes::Value, OptionEffect::Set(Args::until)),
    ('u', Takes::Value, OptionEffect::Try(|args, value| args.send("PUT", value))),
    ('v', Takes::Value, OptionEffect::Set(|args, value| args.verbosity = atoi(value))),
    ('w', Takes::Nothing, OptionEffect::Set(|args, _| _ = args.html.get_or_insert_default())),
    (
        'x',
        Takes::Value,
        OptionEffect::Set(|args, value| value.clone_into(&mut args.html.get_or_insert_default().table)),
    ),
    ('y', Takes::Value, OptionEffect::Set(|args, value| value.clone_into(&mut args.html.get_or_insert_default().row))),
    ('z', Takes::Value, OptionEffect::Set(|args, value| value.clone_into(&mut args.html.get_or_insert_default().cell))),
];
