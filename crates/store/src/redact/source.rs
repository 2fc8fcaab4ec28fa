//! Redacts the texts of plan files and shell commands in place: everything else keeps its form.

use super::text::{NamedValues, PAIR, each, is_secret_member, regex};
use super::{Redactor, is_redacted};
use brunt_model::secret::{is_secret_field, is_secret_header};
use regex::Regex;
use std::sync::LazyLock;

/// `name: value` of YAML, to the end of the line or a comment.
static LINE: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"([A-Za-z][\w.\-]*)["']?[ \t]*:[ \t]+"#,
        r#"(?m)^(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s{\[|>&*!"'][^\r\n]*?)[ \t]*(?:[ \t]#[^\r\n]*)?$)"#,
    )
});
/// `{name: value, name: value}` of YAML.
static FLOW: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"([A-Za-z][\w.\-]*)["']?[ \t]*:[ \t]+"#,
        r#"^(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|((?:\$\{[^}\n]*\}|[^,{}\[\]\r\n"'])+))"#,
    )
});
/// `-H 'Name: value'`, as in curl.
static HEADER_OPTION: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r#"(?:-H|--header|--add-header)[ \t=]*["']([A-Za-z][\w.\-]*):[ \t]*"#,
        r#"^(?:"([^"\n]*)"|'([^'\n]*)'|([^\r\n"']+))"#,
    )
});
/// `--name value`, an option of a command.
static OPTION: LazyLock<NamedValues> = LazyLock::new(|| {
    NamedValues::new(
        r"--([A-Za-z][A-Za-z\-]*)[ \t]+",
        r#"^(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'\-][^\s"']*))"#,
    )
});
/// `-u NAME:PASSWORD` and `-E FILE:PASSWORD`, as in curl.
static USER_OPTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?:^|[\s"'])(?:-[uUE][ \t=]*|--(?:user|proxy-user|cert|proxy-cert)[ \t=]+)["']?([^\s"':]+:[^\s"']+)"#,
    )
});

impl Redactor {
    /// Redacts a shell command.
    pub fn shell(&self, command: &str) -> String {
        let text = self.unmistakable_forms(&self.without_known(command));
        let text = PAIR.replace(&text, is_secret_member, |_, value| self.secret(value));
        let text = OPTION.replace(&text, is_secret_member, |_, value| self.secret(value));
        let text = each(&USER_OPTION, &text, |all, user| {
            Some(format!("{}{}", &all[0][..all[0].len() - user.len()], self.user(user)))
        });
        HEADER_OPTION.replace(
            &text,
            |name, _| is_secret_header(name),
            |name, value| self.header(name, value.trim()),
        )
    }

    /// Redacts the text of a plan file.
    pub fn plan_text(&self, source: &str) -> String {
        let text = self.shell(source);
        let text = FLOW.replace(
            &text,
            |name, before| is_flow_key(before) && is_secret_key(name),
            |name, value| self.value_of_key(name, value),
        );
        LINE.replace(
            &text,
            |name, before| is_block_key(before) && is_secret_key(name),
            |name, value| self.value_of_key(name, value),
        )
    }

    fn value_of_key(&self, name: &str, value: &str) -> String {
        match name {
            // The value is the path of an extractor.
            _ if value.starts_with("$.") || value.starts_with("$[") || is_redacted(value) => {
                value.to_owned()
            }
            "basic" => self.user(value),
            _ if is_secret_header(name) => self.header(name, value),
            _ => self.secret(value),
        }
    }
}

/// True if a key after this text is the key of a flow mapping, such as `{name: value}`.
fn is_flow_key(before: &str) -> bool {
    before.trim_end_matches(['"', '\'', ' ', '\t']).ends_with(['{', ','])
}

fn is_secret_key(name: &str) -> bool {
    name == "basic"
        || is_secret_field(name)
        || ((name.starts_with("X-") || name.starts_with("x-")) && is_secret_header(name))
}

/// True if a key after this text is the key of a block: at the beginning of a line or
/// of a list item.
fn is_block_key(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_matches(['"', '\'', ' ', '\t']).trim_start_matches(['-', ' ']).is_empty()
}
