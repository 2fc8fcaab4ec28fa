//! Texts of scenarios as texts of JMeter's rules.

use super::Writer;
use crate::export::Place;
use brunt_model::scenario::TextRules;
use brunt_script::expression::{self, Stretch};

/// Functions that JMeter has under the same name.
const SAME: [&str; 44] = [
    "BeanShell",
    "changeCase",
    "char",
    "counter",
    "CSVRead",
    "dateTimeConvert",
    "digest",
    "escapeHtml",
    "escapeOroRegexpChars",
    "escapeXml",
    "eval",
    "evalVar",
    "FileToString",
    "groovy",
    "intSum",
    "longSum",
    "isPropDefined",
    "isVarDefined",
    "javaScript",
    "jexl2",
    "jexl3",
    "log",
    "logn",
    "machineIP",
    "machineName",
    "P",
    "property",
    "Random",
    "RandomDate",
    "RandomFromMultipleVars",
    "RandomString",
    "regexFunction",
    "samplerName",
    "setProperty",
    "split",
    "StringFromFile",
    "threadGroupName",
    "threadNum",
    "time",
    "timeShift",
    "unescape",
    "unescapeHtml",
    "urldecode",
    "urlencode",
];

/// A piece of a text of JMeter.
enum Piece {
    Literal(String),
    /// `${…}`.
    Expression(String),
}

impl Writer<'_> {
    /// A text of the scenario as JMeter reads it.
    pub(super) fn text(&mut self, text: &str, place: Place) -> String {
        let pieces = match self.rules {
            TextRules::Jmeter => return text.to_owned(),
            TextRules::Placeholders => self.literal(text, place),
            TextRules::Expressions => self.pieces(&expression::parse(text), place),
        };
        joined(&pieces, false)
    }

    /// The text of an argument.
    fn argument(&mut self, stretches: &[Stretch]) -> String {
        let pieces = self.pieces(stretches, Place::Text);
        joined(&pieces, true)
    }

    fn pieces(&mut self, stretches: &[Stretch], place: Place) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for stretch in stretches {
            match stretch {
                Stretch::Literal(text) => pieces.extend(self.literal(text, place)),
                Stretch::Variable { name, .. } => pieces.push(Piece::Expression(format!("${{{name}}}"))),
                Stretch::Call { name, arguments, written } => {
                    let call = self.call(name, arguments, written);
                    pieces.push(Piece::Expression(call));
                }
            }
        }
        pieces
    }

    /// A literal text with placeholders in it.
    fn literal(&mut self, text: &str, place: Place) -> Vec<Piece> {
        if place != Place::Request {
            return vec![Piece::Literal(text.to_owned())];
        }
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(at) =
            ["{n}", "{uuid}", "{random:", "{csv:", "{var:"].iter().filter_map(|head| rest.find(head)).min()
        {
            let Some(end) = rest[at..].find('}').map(|end| at + end) else { break };
            let (before, inner) = (&rest[..at], &rest[at + 1..end]);
            let behind = &rest[end + 1..];
            if let Some(before) = before.strip_suffix('\\') {
                pieces.push(Piece::Literal(format!("{before}{{{inner}}}")));
                rest = behind;
                continue;
            }
            pieces.push(Piece::Literal(before.to_owned()));
            pieces.push(match inner.split_once(':') {
                None if inner == "n" => Piece::Expression("${__counter(FALSE,)}".into()),
                None => Piece::Expression("${__UUID()}".into()),
                Some(("random", range)) => {
                    let (least, most) = range.split_once("..").unwrap_or((range, range));
                    Piece::Expression(format!("${{__Random({least},{most},)}}"))
                }
                Some(("var", name)) => Piece::Expression(format!("${{{name}}}")),
                Some(_) => {
                    self.notice(format!("{{{inner}}}: JMeter has no such placeholder; add a CSV Data Set Config"));
                    Piece::Literal(format!("{{{inner}}}"))
                }
            });
            rest = behind;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        pieces
    }

    fn call(&mut self, name: &str, arguments: &[Vec<Stretch>], written: &str) -> String {
        let plain = |name: &str, arguments: &[String]| format!("${{__{name}({})}}", arguments.join(","));
        let texts: Vec<String> = arguments.iter().map(|argument| self.argument(argument)).collect();
        match (name, &texts[..]) {
            ("counter", []) => "${__counter(FALSE,)}".into(),
            ("random", _) => plain("Random", &texts),
            ("uuid" | "UUID", _) => "${__UUID()}".into(),
            ("user" | "threadNum", _) => "${__threadNum()}".into(),
            ("iteration" | "iterationNum", _) => groovy_call("vars.getIteration()"),
            ("timestamp", _) | ("time", []) => "${__time(,)}".into(),
            ("jexl", _) => plain("jexl3", &texts),
            ("lowercase" | "toLowerCase", [text, ..]) => format!("${{__changeCase({text},LOWER,)}}"),
            ("uppercase" | "toUpperCase", [text, ..]) => format!("${{__changeCase({text},UPPER,)}}"),
            (name, _) if SAME.contains(&name) => plain(name, &texts),
            ("base64" | "base64Encode", [_, ..]) => {
                groovy_call(&format!("({}).bytes.encodeBase64().toString()", self.groovy(&arguments[0])))
            }
            ("base64Decode", [_, ..]) => {
                groovy_call(&format!("new String(({}).decodeBase64())", self.groovy(&arguments[0])))
            }
            ("uniform", [range, add @ ..]) => {
                groovy_call(&format!("(long) (Math.random() * {range} + {})", add.first().map_or("0", String::as_str)))
            }
            ("gaussian", [deviation, mean @ ..]) => {
                let mean = mean.first().map_or("0", String::as_str);
                groovy_call(&format!("(long) Math.abs(new Random().nextGaussian() * {deviation} + {mean})"))
            }
            ("exponential", [mean, add @ ..]) => {
                let add = add.first().map_or("0", String::as_str);
                groovy_call(&format!("(long) (-Math.log(1 - Math.random()) * {mean} + {add})"))
            }
            ("chooseRandom", [_, _, ..]) => {
                let all: Vec<String> = arguments[..arguments.len() - 1].iter().map(|one| self.groovy(one)).collect();
                groovy_call(&format!("[{}][new Random().nextInt({})]", all.join(", "), all.len()))
            }
            ("formatted", [_, _]) => {
                let number = self.groovy(&arguments[0]);
                let format = self.groovy(&arguments[1]);
                groovy_call(&format!("new java.text.DecimalFormat({format}).format(({number}) as long)"))
            }
            _ => {
                self.notice(format!("{written}: JMeter has no function `{name}`; it stays as it is written"));
                plain(name, &texts)
            }
        }
    }

    /// Stretches as a text of Groovy.
    pub(super) fn groovy(&mut self, stretches: &[Stretch]) -> String {
        let one = |stretch: &Stretch| match stretch {
            Stretch::Literal(text) => quoted(text),
            Stretch::Variable { name, .. } => format!("(vars.get({}) ?: '')", quoted(name)),
            Stretch::Call { .. } => {
                let text = self.argument(std::slice::from_ref(stretch));
                format!("'{text}'")
            }
        };
        let all: Vec<String> = stretches.iter().map(one).collect();
        if all.is_empty() { "''".to_owned() } else { all.join(" + ") }
    }

    /// A text as a text of Groovy.
    pub(super) fn groovy_text(&mut self, text: &str) -> String {
        match self.rules {
            TextRules::Placeholders => quoted(text),
            _ => self.groovy(&expression::parse(text)),
        }
    }
}

/// A call of `__groovy`, with escaped commas and backslashes. Those within `${…}` stay as they are: JMeter reads the arguments of
/// an inner function separately, and would take an escaped comma in `${__Random(1,9,)}` for text.
pub(super) fn groovy_call(source: &str) -> String {
    let mut escaped = String::with_capacity(source.len());
    let mut depth = 0_u32;
    let mut before = ' ';
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '{' if before == '$' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '\\' if depth == 0 => escaped.push('\\'),
            _ => {}
        }
        escaped.push(letter);
        before = letter;
        if letter == '\\' && depth > 0 {
            escaped.extend(letters.next());
            before = ' ';
        }
    }
    format!("${{__groovy({escaped},)}}")
}

/// A text in single quotes of Groovy. JMeter sees no expression in it, and no parenthesis without its counterpart.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n").replace('\r', r"\r");
    let quoted = format!("'{escaped}'").replace("${", r"\u0024{");
    if has_paired_parentheses(text) { quoted } else { quoted.replace('(', r"\u0028").replace(')', r"\u0029") }
}

fn has_paired_parentheses(text: &str) -> bool {
    let mut open = 0_i64;
    let never_below = text.chars().all(|letter| {
        open += i64::from(letter == '(') - i64::from(letter == ')');
        open >= 0
    });
    never_below && open == 0
}

fn joined(pieces: &[Piece], is_argument: bool) -> String {
    let has_expressions = pieces.iter().any(|piece| matches!(piece, Piece::Expression(_)));
    let one = |piece: &Piece| {
        let text = match piece {
            Piece::Expression(text) => return text.clone(),
            Piece::Literal(text) => text,
        };
        if is_argument {
            text.replace('\\', r"\\").replace('$', r"\$").replace(',', r"\,")
        } else if has_expressions || text.contains("${") {
            text.replace('\\', r"\\").replace("${", r"\${")
        } else {
            text.clone()
        }
    };
    pieces.iter().map(one).collect()
}
