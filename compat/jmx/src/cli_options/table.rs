//! The table of JMeter's options.

use super::{CliOptions, PropertyArgument, RemoteServers};

/// True need of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    None,
    Needed,
}

/// Effect of an option. The error of a setter names the expected form.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// The option is one of several that choose the mode.
    Mode,
    Flag(fn(&mut CliOptions) -> &mut bool),
    Text(fn(&mut CliOptions) -> &mut Option<String>),
    Other(fn(&mut CliOptions, &str) -> Result<(), &'static str>),
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct OptionRow {
    pub(super) short: char,
    pub(super) long: &'static str,
    pub(super) value: Value,
    pub(super) repeats: bool,
    /// Example value for messages.
    pub(super) example: &'static str,
    pub(super) meaning: Meaning,
}

const fn flag(short: char, long: &'static str, meaning: Meaning) -> OptionRow {
    OptionRow { short, long, value: Value::None, repeats: false, example: "", meaning }
}

const fn text(
    short: char,
    long: &'static str,
    example: &'static str,
    field: fn(&mut CliOptions) -> &mut Option<String>,
) -> OptionRow {
    OptionRow {
        short,
        long,
        value: Value::Needed,
        repeats: false,
        example,
        meaning: Meaning::Text(field),
    }
}

const fn other(
    short: char,
    long: &'static str,
    example: &'static str,
    repeats: bool,
    set: fn(&mut CliOptions, &str) -> Result<(), &'static str>,
) -> OptionRow {
    OptionRow { short, long, value: Value::Needed, repeats, example, meaning: Meaning::Other(set) }
}

/// All options of JMeter's command line.
pub(super) const OPTIONS: [OptionRow; 30] = [
    flag('?', "?", Meaning::Mode),
    flag('h', "help", Meaning::Mode),
    flag('v', "version", Meaning::Mode),
    flag('n', "nongui", Meaning::Mode),
    flag('s', "server", Meaning::Mode),
    flag('f', "forceDeleteResultFile", Meaning::Flag(|options| &mut options.force_delete)),
    flag('e', "reportatendofloadtests", Meaning::Flag(|options| &mut options.report_at_end)),
    flag('X', "remoteexit", Meaning::Flag(|options| &mut options.exit_remote)),
    OptionRow {
        meaning: Meaning::Other(|options, _| {
            options.remote = RemoteServers::Configured;
            Ok(())
        }),
        ..flag('r', "runremote", Meaning::Mode)
    },
    other('R', "remotestart", "host1,host2", false, hosts),
    text('t', "testfile", "plan.jmx", |options| &mut options.plan),
    text('l', "logfile", "results.jtl", |options| &mut options.result_file),
    text('g', "reportonly", "results.jtl", |options| &mut options.result_file),
    text('o', "reportoutputfolder", "report", |options| &mut options.report_folder),
    text('j', "jmeterlogfile", "jmeter.log", |options| &mut options.log_file),
    text('i', "jmeterlogconf", "log4j2.xml", |options| &mut options.log_config),
    text('p', "propfile", "jmeter.properties", |options| &mut options.property_file),
    text('d', "homedir", "/opt/jmeter", |options| &mut options.home),
    text('E', "proxyScheme", "http", |options| &mut options.proxy.scheme),
    text('H', "proxyHost", "proxy.example.com", |options| &mut options.proxy.host),
    text('N', "nonProxyHosts", "localhost|*.example.com", |options| &mut options.proxy.except),
    text('u', "username", "name", |options| &mut options.proxy.user),
    text('a', "password", "password", |options| &mut options.proxy.password),
    other('P', "proxyPort", "3128", false, |options, value| {
        let port = value.parse().ok().filter(|&port| port > 0);
        options.proxy.port = Some(port.ok_or("expected a port from 1 to 65535")?);
        Ok(())
    }),
    other('q', "addprop", "more.properties", true, |options, value| {
        options.properties.push(PropertyArgument::File(value.to_owned()));
        Ok(())
    }),
    other('S', "systemPropertyFile", "system.properties", true, |options, value| {
        options.properties.push(PropertyArgument::SystemFile(value.to_owned()));
        Ok(())
    }),
    other('J', "jmeterproperty", "users=10", true, |options, value| {
        let (name, value) = pair(value)?;
        options.properties.push(PropertyArgument::Jmeter(name, value));
        Ok(())
    }),
    other('D', "systemproperty", "name=value", true, |options, value| {
        let (name, value) = pair(value)?;
        options.properties.push(PropertyArgument::System(name, value));
        Ok(())
    }),
    other('G', "globalproperty", "users=10", true, |options, value| {
        options.properties.push(match pair(value)? {
            // JMeter takes `-G name` without `=` as the name of a file.
            (file, empty) if empty.is_empty() && !value.contains('=') => {
                PropertyArgument::GlobalFile(file)
            }
            (name, value) => PropertyArgument::Global(name, value),
        });
        Ok(())
    }),
    other('L', "loglevel", "DEBUG", true, |options, value| {
        let (category, level) = match value.split_once('=') {
            Some((category, level)) => (Some(category.to_owned()), level),
            None => (None, value),
        };
        if level.is_empty() || category.as_deref() == Some("") {
            return Err("expected `level` or `category=level`");
        }
        options.log_levels.push((category, level.to_owned()));
        Ok(())
    }),
];

/// Sets the remote servers from a comma-separated list.
fn hosts(options: &mut CliOptions, value: &str) -> Result<(), &'static str> {
    let hosts: Vec<String> = value.split(',').map(|host| host.trim().to_owned()).collect();
    if hosts.iter().any(String::is_empty) {
        return Err("expected hosts, separated by commas");
    }
    options.remote = RemoteServers::Hosts(hosts);
    Ok(())
}

/// `name=value`, or `name` with an empty value.
fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        Err("expected `name=value`")
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}
