//! Reads siege's file of directives, one `name = value` per line.

use super::options::SiegeExit;
use super::settings::SiegeSettings;
use crate::caller::Caller;
use brunt_spec::settings::EnvironmentVariable;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// Settings without a file. siege writes them to a new home directory.
const TEMPLATE: &str = "\
verbose = true\ncolor = on\nshow-logfile = true\nparser = true\nprotocol = HTTP/1.1\nchunked = true\nconcurrent = 25\n\
accept-encoding = gzip, deflate\nnofollow = ad.doubleclick.net\nnofollow = pagead2.googlesyndication.com\n\
nofollow = ads.pubsqrd.com\nnofollow = ib.adnxs.com\n";

/// Reads the settings from the named file, or from the first file that exists.
pub fn read(path: Option<&str>, caller: &Caller) -> Result<SiegeSettings, SiegeExit> {
    let mut settings = SiegeSettings::default();
    let path = path.map(PathBuf::from).or_else(|| caller.variable("SIEGERC").map(PathBuf::from));
    let default_paths = [user_file(caller), PathBuf::from("/etc/siege/siegerc")];
    let path = path.or_else(|| default_paths.iter().find(|path| path.is_file()).cloned());
    let text = match &path {
        None => TEMPLATE.to_owned(),
        Some(path) => fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(|_| {
                let stars = "*".repeat(50);
                let why = format!(
                    "siege: could not open {}\nrun 'siege.config' to generate a new config file",
                    path.display()
                );
                SiegeExit::Message(format!("{stars}\n{why}\n{stars}\n"), 1)
            })?,
    };
    settings.rc = path.unwrap_or_else(|| default_paths[0].clone());
    for line in text.lines() {
        apply_line(&mut settings, line, caller.environment);
    }
    Ok(settings)
}

/// Path of the user's own file.
pub fn user_file(caller: &Caller) -> PathBuf {
    caller.home.clone().unwrap_or_default().join(".siege/siege.conf")
}

fn apply_line(settings: &mut SiegeSettings, line: &str, environment: EnvironmentVariable) {
    let line = line.split('#').next().unwrap_or_default().trim();
    // siege accepts both separators.
    let Some(separator) = line.find(['=', ':']) else { return };
    let name = line[..separator].trim();
    let value = line[separator + 1..].trim();
    if name.is_empty() || value.is_empty() {
        return;
    }
    let value = expand(value, &settings.variables, environment);
    settings.set(name, &value);
}

/// Expands `$(NAME)` and `${NAME}` by variables of the file or the
/// environment; unknown names become empty.
pub fn expand(
    text: &str,
    variables: &HashMap<String, String>,
    environment: EnvironmentVariable,
) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        let tail = &rest[dollar + 1..];
        let closing = match tail.chars().next() {
            Some('(') => Some(')'),
            Some('{') => Some('}'),
            _ => None,
        };
        let name = closing.and_then(|end| tail[1..].split_once(end));
        if let Some((name, after)) = name {
            let value = variables.get(name).cloned().or_else(|| environment(name));
            out.push_str(&value.unwrap_or_default());
            rest = after;
        } else {
            out.push('$');
            rest = tail;
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::siege::settings::Reps;

    #[test]
    fn lines_are_directives_or_variables() {
        let mut settings = SiegeSettings::default();
        for line in [
            "# verbose = true",
            "concurrent = 7 # users",
            "protocol: HTTP/1.1",
            "HOST = example.org",
            "url = http://$(HOST)/${NOTHING_OF_THIS_NAME}x",
            "reps = once",
            "time = 2H",
            "connection=keep-alive",
            "delay =",
            "nonsense",
        ] {
            apply_line(&mut settings, line, |_| None);
        }
        assert_eq!((settings.verbose, settings.concurrent, settings.http10), (false, 7, false));
        assert_eq!(
            (settings.url.as_deref(), settings.reps),
            (Some("http://example.org/x"), Some(Reps::Once))
        );
        assert_eq!((settings.time.map(|t| t.as_secs()), settings.keep_alive), (Some(7200), true));
    }

    #[test]
    fn text_that_is_not_a_variable_is_unchanged() {
        let variables = HashMap::from([("A".to_owned(), "1".to_owned())]);
        assert_eq!(expand("$(A)${A}$A $(A $", &variables, |_| None), "11$A $(A $");
    }

    #[test]
    fn any_line_is_accepted() {
        let seeds = brunt_tests::inputs::corpus("siege-rc");
        brunt_tests::inputs::survives("siege-rc", seeds, 2000, |bytes| {
            let mut settings = SiegeSettings::default();
            String::from_utf8_lossy(bytes)
                .lines()
                .for_each(|line| apply_line(&mut settings, line, |_| None));
        });
    }
}
