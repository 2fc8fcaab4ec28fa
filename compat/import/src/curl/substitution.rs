//! Replaces `NAME=$(curl … | jq -r .path)` by its curl command, whose reply sets a variable of the
//! user.

use super::{PREFIX_WORDS, Program, is_setting};
use crate::curl::words::{self, Command, Commands, Expansion, Input};
use brunt_model::extract::{ExtractFrom, Extractor};

/// Replaces such commands. Returns the extractor of each command.
pub(super) fn expand(
    commands: &mut [Command],
    variables: &mut Vec<String>,
    file: &str,
) -> Vec<Option<Extractor>> {
    commands
        .iter_mut()
        .map(|command| {
            let (inner, extractor) = inner_command(command, variables, file)?;
            *command = inner;
            Some(extractor)
        })
        .collect()
}

/// Returns the curl command of a substitution, and the extractor of its value. None for other
/// commands, and for programs that select the value by other rules than brunt has.
fn inner_command(
    command: &Command,
    variables: &mut Vec<String>,
    file: &str,
) -> Option<(Command, Extractor)> {
    let (Expansion::Output, line) = command.expansion? else { return None };
    let mut words = command.words.iter().map(|word| word.text.as_str());
    let setting =
        words.find(|word| !PREFIX_WORDS.contains(word)).filter(|word| is_setting(word))?;
    let name = setting.strip_suffix('=').filter(|_| words.next().is_none())?;
    // Blank lines before the commands keep the numbers of lines.
    let text = "\n".repeat(line.saturating_sub(1)) + &command.substitution;
    let Commands { commands, variables: inner_variables } = words::commands(&text, file).ok()?;
    let mut inner_commands = commands.into_iter();
    let curl = inner_commands.next().filter(|curl| curl.expansion.is_none())?;
    let Program::Curl(_) = Program::of(&curl) else { return None };
    let from = match (inner_commands.next(), inner_commands.next()) {
        (None, _) => whole_body(),
        (Some(filter), None) => selected_by_jq(&filter)?,
        (Some(_), Some(_)) => return None,
    };
    for name in inner_variables {
        if !variables.contains(&name) {
            variables.push(name);
        }
    }
    Some((curl, Extractor::new(name, from)))
}

/// A shell removes line breaks at the end of an output.
fn whole_body() -> ExtractFrom {
    ExtractFrom::Regex { pattern: r"(?s)^(.*?)[\r\n]*$".to_owned(), group: 1, template: None }
}

/// The value that `jq -r .path` selects.
fn selected_by_jq(command: &Command) -> Option<ExtractFrom> {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    let ["jq", options @ .., filter] = &words[..] else { return None };
    // Without -r, jq prints quotes around a text, which a JSON path does not return.
    let is_raw =
        options.iter().any(|option| matches!(*option, "-r" | "--raw-output" | "-re" | "-er"));
    let are_known = options.iter().all(|option| {
        matches!(*option, "-r" | "--raw-output" | "-re" | "-er" | "-e" | "-M" | "-j" | "-c")
    });
    if command.input != Input::Pipe || !are_known || !is_raw {
        return None;
    }
    json_path(filter).map(ExtractFrom::JsonPath)
}

/// Converts a path of jq such as `.data[0]."user-id"` to a `JSONPath`; None for other filters.
fn json_path(filter: &str) -> Option<String> {
    let mut path = "$".to_owned();
    let mut rest = filter.trim().strip_prefix('.')?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            let is_name = index.len() > 1 && index.starts_with('"') && index.ends_with('"');
            let is_index = index.parse::<i32>().is_ok();
            if !is_name && !is_index || index.contains('\\') {
                return None;
            }
            path.extend(["[", index, "]"]);
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        if let Some(after) = rest.strip_prefix('"') {
            let (name, after) = after.split_once('"').filter(|(name, _)| !name.contains('\\'))?;
            path.extend(["[\"", name, "\"]"]);
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        // jq reads `.5` as a number.
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        path.extend([".", name]);
        rest = match after.strip_prefix('.') {
            Some(after) => after,
            None if after.is_empty() || after.starts_with('[') => after,
            None => return None,
        };
    }
    (path.len() > 1).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::json_path;

    #[test]
    fn paths_of_jq_become_json_paths() {
        for (filter, path) in [
            (".token", Some("$.token")),
            (".data.items[0].id", Some("$.data.items[0].id")),
            (".[0].\"a-b\"", Some("$[0][\"a-b\"]")),
            (".a[\"b c\"].d", Some("$.a[\"b c\"].d")),
            (".", None),
            (".a | length", None),
            (".a[]", None),
            (".a-b", None),
            ("keys", None),
        ] {
            assert_eq!(json_path(filter).as_deref(), path, "{filter}");
        }
    }
}
