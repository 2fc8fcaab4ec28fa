//! Converts texts of scenarios to JMeter's syntax.

use super::PlanWriter;
use crate::export::Place;
use brunt_model::scenario::TextRules;
use brunt_script::expression::{self, TextPart};
use brunt_script::template;

/// Functions with the same name in JMeter.
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

/// Part of a JMeter text.
enum Piece {
    Literal(String),
    /// `${…}`.
    Expression(String),
}

impl PlanWriter<'_> {
    /// Converts a text of the scenario to JMeter's syntax.
    pub(super) fn text(&mut self, text: &str, place: Place) -> String {
        let pieces = match self.rules {
            TextRules::Jmeter => return text.to_owned(),
            TextRules::Placeholders => self.literal(text, place),
            TextRules::Expressions => self.pieces(&expression::parse(text), place),
        };
        joined(&pieces, false)
    }

    /// Converts an argument of a function.
    fn argument(&mut self, stretches: &[TextPart]) -> String {
        let pieces = self.pieces(stretches, Place::Text);
        joined(&pieces, true)
    }

    fn pieces(&mut self, stretches: &[TextPart], place: Place) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for stretch in stretches {
            match stretch {
                TextPart::Literal(text) => pieces.extend(self.literal(text, place)),
                TextPart::Variable { name, .. } => {
                    pieces.push(Piece::Expression(format!("${{{name}}}")));
                }
                TextPart::Call { name, arguments, written } => {
                    let call = self.call(name, arguments, written);
                    pieces.push(Piece::Expression(call));
                }
            }
        }
        pieces
    }

    /// Converts a literal text and the placeholders in it.
    fn literal(&mut self, text: &str, place: Place) -> Vec<Piece> {
        let parts = template::pieces(text).ok().filter(|_| place == Place::Request);
        let Some(parts) = parts else { return vec![Piece::Literal(text.to_owned())] };
        let pieces = parts.into_iter().map(|part| match part {
            template::Piece::Literal(literal) => Piece::Literal(literal.to_owned()),
            template::Piece::Placeholder(inner) => self.placeholder(inner),
        });
        pieces.collect()
    }

    fn placeholder(&mut self, inner: &str) -> Piece {
        match inner.split_once(':') {
            // With FALSE, JMeter has one counter for all users.
            None if inner == "n" => Piece::Expression("${__counter(FALSE,)}".into()),
            None => Piece::Expression("${__UUID()}".into()),
            Some(("random", range)) => {
                let (least, most) = range.split_once("..").unwrap_or((range, range));
                Piece::Expression(format!("${{__Random({least},{most},)}}"))
            }
            Some(("var", name)) => Piece::Expression(format!("${{{name}}}")),
            Some(_) => {
                self.notice(format!(
                    "{{{inner}}}: JMeter has no such placeholder; add a CSV Data Set Config"
                ));
                Piece::Literal(format!("{{{inner}}}"))
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Vec<TextPart>], call_text: &str) -> String {
        let texts: Vec<String> = arguments.iter().map(|argument| self.argument(argument)).collect();
        match (name, &texts[..]) {
            ("counter", []) => "${__counter(FALSE,)}".into(),
            ("random", _) => function_call("Random", &texts),
            ("uuid" | "UUID", _) => "${__UUID()}".into(),
            ("user" | "threadNum", _) => "${__threadNum()}".into(),
            ("iteration" | "iterationNum", _) => groovy_call("vars.getIteration()"),
            ("timestamp", _) | ("time", []) => "${__time(,)}".into(),
            ("jexl", _) => function_call("jexl3", &texts),
            ("lowercase" | "toLowerCase", [text, ..]) => {
                format!("${{__changeCase({text},LOWER,)}}")
            }
            ("uppercase" | "toUpperCase", [text, ..]) => {
                format!("${{__changeCase({text},UPPER,)}}")
            }
            (name, _) if SAME.contains(&name) => function_call(name, &texts),
            ("base64" | "base64Encode", [_, ..]) => groovy_call(&format!(
                "({}).bytes.encodeBase64().toString()",
                self.groovy(&arguments[0])
            )),
            ("base64Decode", [_, ..]) => {
                groovy_call(&format!("new String(({}).decodeBase64())", self.groovy(&arguments[0])))
            }
            ("uniform", [range, add @ ..]) => groovy_call(&format!(
                "(long) (Math.random() * {range} + {})",
                add.first().map_or("0", String::as_str)
            )),
            ("gaussian", [deviation, mean @ ..]) => {
                let mean = mean.first().map_or("0", String::as_str);
                // JMeter's Gaussian timer takes the absolute value as well.
                groovy_call(&format!(
                    "(long) Math.abs(new Random().nextGaussian() * {deviation} + {mean})"
                ))
            }
            ("exponential", [mean, add @ ..]) => {
                // The argument of the logarithm must not be 0, which `Math.random()` may return.
                let add = add.first().map_or("0", String::as_str);
                groovy_call(&format!("(long) (-Math.log(1 - Math.random()) * {mean} + {add})"))
            }
            ("chooseRandom", [_, _, ..]) => {
                let all: Vec<String> =
                    arguments[..arguments.len() - 1].iter().map(|one| self.groovy(one)).collect();
                groovy_call(&format!("[{}][new Random().nextInt({})]", all.join(", "), all.len()))
            }
            ("formatted", [_, _]) => {
                let number = self.groovy(&arguments[0]);
                let format = self.groovy(&arguments[1]);
                groovy_call(&format!(
                    "new java.text.DecimalFormat({format}).format(({number}) as long)"
                ))
            }
            _ => {
                self.notice(format!(
                    "{call_text}: JMeter has no function `{name}`; it stays as it is written"
                ));
                function_call(name, &texts)
            }
        }
    }

    /// Converts parts of a text to a Groovy expression.
    pub(super) fn groovy(&mut self, stretches: &[TextPart]) -> String {
        let all = stretches.iter().map(|stretch| match stretch {
            TextPart::Literal(text) => quoted(text),
            TextPart::Variable { name, .. } => format!("(vars.get({}) ?: '')", quoted(name)),
            TextPart::Call { .. } => {
                let text = self.argument(std::slice::from_ref(stretch));
                format!("'{text}'")
            }
        });
        let all: Vec<String> = all.collect();
        if all.is_empty() { "''".to_owned() } else { all.join(" + ") }
    }

    /// Converts a text to a Groovy expression.
    pub(super) fn groovy_text(&mut self, text: &str) -> String {
        match self.rules {
            TextRules::Placeholders => quoted(text),
            _ => self.groovy(&expression::parse(text)),
        }
    }
}

/// A call of `__groovy`, with escaped commas and backslashes. Within `${…}` nothing is escaped,
/// because JMeter reads the arguments of an inner function separately. It would read an escaped
/// comma in `${__Random(1,9,)}` as text.
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

/// A Groovy text in single quotes. It has no `${`, which JMeter would evaluate,
/// and no unpaired parenthesis.
pub(super) fn quoted(text: &str) -> String {
    let escaped =
        text.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n").replace('\r', r"\r");
    let quoted = format!("'{escaped}'").replace("${", r"\u0024{");
    if has_paired_parentheses(text) {
        quoted
    } else {
        quoted.replace('(', r"\u0028").replace(')', r"\u0029")
    }
}

fn function_call(name: &str, arguments: &[String]) -> String {
    format!("${{__{name}({})}}", arguments.join(","))
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
    pieces.iter().map(|piece| piece_text(piece, is_argument, has_expressions)).collect()
}

/// Escapes a literal. JMeter reads backslashes as escapes only in arguments and
/// in texts with expressions.
fn piece_text(piece: &Piece, is_argument: bool, has_expressions: bool) -> String {
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
}
