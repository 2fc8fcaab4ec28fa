//! The table of ab's options.

use super::{AbArgs, AbExit};
use crate::getopt::{Argument, atoi};

/// Effect of an option.
#[derive(Clone, Copy)]
pub enum AbOption {
    Set(fn(&mut AbArgs, &str)),
    /// Sets a value, or refuses it.
    Try(fn(&mut AbArgs, &str) -> Result<(), AbExit>),
}

/// One row for each option, in alphabetical order: its letter, whether it
/// takes a value, its effect.
pub const OPTIONS: &[(char, Argument, AbOption)] = &[
    (
        'A',
        Argument::Required,
        AbOption::Try(|args, value| args.add_credentials("Authorization", "Authentication", value)),
    ),
    ('B', Argument::Required, AbOption::Set(|args, value| args.source = Some(value.to_owned()))),
    ('C', Argument::Required, AbOption::Set(|args, value| args.cookies.push(value.to_owned()))),
    ('E', Argument::Required, AbOption::Set(|args, value| args.certificate = Some(value.into()))),
    ('H', Argument::Required, AbOption::Set(|args, value| args.headers.push(value.to_owned()))),
    ('I', Argument::None, AbOption::Set(|args, _| args.no_sni = true)),
    (
        'P',
        Argument::Required,
        AbOption::Try(|args, value| args.add_credentials("Proxy-Authorization", "Proxy", value)),
    ),
    ('S', Argument::None, AbOption::Set(|args, _| args.no_confidence = true)),
    (
        'T',
        Argument::Required,
        AbOption::Set(|args, value| value.clone_into(&mut args.content_type)),
    ),
    ('V', Argument::None, AbOption::Try(|_, _| Err(AbExit::Version))),
    ('X', Argument::Required, AbOption::Set(AbArgs::set_proxy)),
    ('Z', Argument::Required, AbOption::Set(|args, value| args.ciphers = Some(value.to_owned()))),
    (
        'b',
        Argument::Required,
        AbOption::Set(|args, value| {
            args.buffer = u32::try_from(atoi(value)).ok().filter(|b| *b > 0);
        }),
    ),
    ('c', Argument::Required, AbOption::Set(|args, value| args.connections = atoi(value))),
    ('d', Argument::None, AbOption::Set(|args, _| args.no_percentiles = true)),
    ('e', Argument::Required, AbOption::Set(|args, value| args.csv = Some(value.into()))),
    ('f', Argument::Required, AbOption::Set(|args, value| args.protocol = Some(value.to_owned()))),
    ('g', Argument::Required, AbOption::Set(|args, value| args.gnuplot = Some(value.into()))),
    ('h', Argument::None, AbOption::Try(|_, _| Err(AbExit::Usage(String::new())))),
    ('i', Argument::None, AbOption::Try(|args, _| args.set_method("HEAD"))),
    ('k', Argument::None, AbOption::Set(|args, _| args.keep_alive = true)),
    ('l', Argument::None, AbOption::Set(|args, _| args.any_length = true)),
    ('m', Argument::Required, AbOption::Set(|args, value| args.method = Some(value.to_owned()))),
    ('n', Argument::Required, AbOption::Try(AbArgs::set_requests)),
    ('p', Argument::Required, AbOption::Try(|args, value| args.set_body("POST", value))),
    ('q', Argument::None, AbOption::Set(|args, _| args.quiet = true)),
    ('r', Argument::None, AbOption::Set(|args, _| args.survive = true)),
    ('s', Argument::Required, AbOption::Set(|args, value| args.timeout = atoi(value))),
    ('t', Argument::Required, AbOption::Set(AbArgs::set_time_limit)),
    ('u', Argument::Required, AbOption::Try(|args, value| args.set_body("PUT", value))),
    ('v', Argument::Required, AbOption::Set(|args, value| args.verbosity = atoi(value))),
    ('w', Argument::None, AbOption::Set(|args, _| _ = args.html.get_or_insert_default())),
    (
        'x',
        Argument::Required,
        AbOption::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().table);
        }),
    ),
    (
        'y',
        Argument::Required,
        AbOption::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().row);
        }),
    ),
    (
        'z',
        Argument::Required,
        AbOption::Set(|args, value| {
            value.clone_into(&mut args.html.get_or_insert_default().cell);
        }),
    ),
];
