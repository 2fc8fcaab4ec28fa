//! Compiles texts with placeholders, in URLs, header values and bodies.
//!
//! | placeholder | becomes |
//! |---|---|
//! | `{n}` | the number of the request in the run, from 0 |
//! | `{uuid}` | a random UUID (version 4), drawn from the run's seed |
//! | `{random:1..100}` | a whole number from 1 to 100, both included, drawn from the run's seed |
//! | `{var:NAME}` | the value of a variable of the user, which a step or an extractor sets |
//! | `{csv:FILE:column}` | the cell of row `n` of a CSV file, see [`feed`](crate::texts::feed) |
//!
//! Nothing else is a placeholder: any other brace is literal, so that JSON needs no escapes. A
//! backslash directly before a placeholder makes it literal (`\{n}` becomes `{n}`); elsewhere a
//! backslash is literal. A malformed placeholder such as `{random:9..1}` is an error, and so is a
//! mistyped one such as `{uuidd}` or `{N}`.
//!
//! If a scenario's texts may contain expressions, `${…}` is one, see `expression`.
//!
//! Within one request, every `{n}` is the same number, and all cells of one file are in the same
//! row. Every `{uuid}` and `{random:…}` is drawn separately.

use crate::texts::context::UserContext;
use crate::texts::encoding::{FORM, push_uuid};
use crate::texts::expression::{self, TextPart};
use crate::texts::feed::{Column, Feeds};
use crate::texts::functions::{self, Call, Function};
use crate::texts::limits::{MAX_TEXT, TextLimit};
use crate::{ScriptError, WordError};
use brunt_model::secret::is_secret_field;
use brunt_model::{Body, BodyFragment};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rand::{Rng, RngExt};
use std::fmt::Write;

pub use crate::texts::encoding::form_encoded;

/// A compiled text with placeholders.
#[derive(Debug, Clone)]
pub struct Template {
    parts: Vec<Part>,
    place: TextPosition,
}

/// The place of a text, which decides how values in it are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPosition {
    /// A URL, or a body that is a form. Characters that are invalid in a URL are percent-encoded
    /// (spaces, `"<>^|`, letters beyond ASCII, …). Characters with a meaning there (`/?&=+%`) are
    /// not, so that a cell may contain a whole path.
    Url,
    /// A header value. A cell with a control character is an error.
    Header,
    /// Any other text. Values are inserted unchanged.
    Text,
}

impl TextPosition {
    /// Returns the place of a body, by the Content-Type in `headers`.
    pub fn of_body(headers: &[(String, String)]) -> Self {
        let is_form = headers.iter().any(|header| {
            header.0.eq_ignore_ascii_case("content-type")
                && header.1.to_ascii_lowercase().starts_with(FORM)
        });
        if is_form { Self::Url } else { Self::Text }
    }
}

/// The values for placeholders.
pub struct RenderContext<'a, R: Rng + ?Sized> {
    /// Number of the request in the run, from 0.
    pub n: u64,
    /// Source of random values.
    pub rng: &'a mut R,
    /// The files that the template was compiled with.
    pub feeds: &'a Feeds,
    /// The user with the variables, which also calls functions. None: there is no user.
    pub user: Option<&'a UserContext>,
}

/// Initial capacity of a text for each placeholder, in bytes.
const VALUE_CAPACITY: usize = 24;

/// Characters that are invalid in a URL. `#` is one of them, because a fragment is never sent.
pub const NOT_IN_URLS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

#[derive(Debug, Clone)]
enum Part {
    Literal(String),
    N,
    Uuid,
    Random(i64, i64),
    Cell(Column),
    Variable {
        number: usize,
        /// Text in its place while it has no value.
        otherwise: String,
    },
    Call {
        function: &'static Function,
        arguments: Vec<Template>,
        /// Place of the call in the scenario's texts.
        site: String,
    },
}

impl Part {
    /// True if its value is a secret, by the name of its variable or column.
    fn is_secret(&self, feeds: &Feeds) -> bool {
        match self {
            Self::Literal(_) | Self::N | Self::Uuid | Self::Random(..) => false,
            Self::Cell(column) => feeds.column_name(*column).is_some_and(is_secret_field),
            Self::Variable { number, .. } => {
                feeds.names.all().get(*number).is_some_and(|name| is_secret_field(name))
            }
            Self::Call { arguments, .. } => arguments.iter().any(|argument| {
                let constant = argument.as_constant();
                constant.is_some_and(is_secret_field)
                    || argument.parts.iter().any(|part| part.is_secret(feeds))
            }),
        }
    }
}

impl Template {
    /// Compiles the placeholders of a text, and reads the files that they name.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if a placeholder is malformed, or its file cannot be read.
    pub fn compile(
        text: &str,
        place: TextPosition,
        feeds: &mut Feeds,
    ) -> Result<Self, ScriptError> {
        let has_placeholders = feeds.dialect.has_placeholders();
        if feeds.dialect.has_expressions() && (!has_placeholders || text.contains("${")) {
            return Self::compile_stretches(text, place, feeds, has_placeholders);
        }
        let mut parts = Vec::new();
        for piece in pieces(text)? {
            let part = match piece {
                Piece::Literal(text) => Part::Literal(text.to_owned()),
                Piece::Placeholder(inner) => placeholder(inner, feeds)?,
            };
            // The file is read now, so a bad cell is an error before the load.
            if let (Part::Cell(column), TextPosition::Header) = (&part, place)
                && let Some(bad) = feeds.control_character(*column)
            {
                return Err(bad.into());
            }
            append(&mut parts, part);
        }
        Ok(Self { parts, place })
    }

    /// Compiles only the expressions `${…}` of a text.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if an expression contains an unknown name.
    pub fn compile_expressions(
        text: &str,
        place: TextPosition,
        feeds: &mut Feeds,
    ) -> Result<Self, ScriptError> {
        if !feeds.dialect.has_expressions() {
            return Ok(Self { parts: vec![Part::Literal(text.to_owned())], place });
        }
        Self::compile_stretches(text, place, feeds, false)
    }

    fn compile_stretches(
        text: &str,
        place: TextPosition,
        feeds: &mut Feeds,
        placeholders: bool,
    ) -> Result<Self, ScriptError> {
        Self::from_stretches(expression::parse(text), place, feeds, placeholders)
    }

    fn from_stretches(
        stretches: Vec<TextPart>,
        place: TextPosition,
        feeds: &mut Feeds,
        placeholders: bool,
    ) -> Result<Self, ScriptError> {
        let mut parts = Vec::new();
        for stretch in stretches {
            match stretch {
                TextPart::Literal(text) if placeholders => {
                    for piece in pieces(&text)? {
                        let part = match piece {
                            Piece::Literal(text) => Part::Literal(text.to_owned()),
                            Piece::Placeholder(inner) => placeholder(inner, feeds)?,
                        };
                        append(&mut parts, part);
                    }
                }
                TextPart::Literal(text) => append(&mut parts, Part::Literal(text)),
                TextPart::Variable { name, written } => {
                    parts.push(variable(&name, written, feeds)?);
                }
                TextPart::Call { name, arguments, written } => {
                    parts.push(call(&name, arguments, written, feeds)?);
                }
            }
        }
        Ok(Self { parts, place })
    }

    /// Replaces the values of secret variables and columns by their placeholders: for names, which reports show.
    #[must_use]
    pub fn without_secrets(self, feeds: &Feeds) -> Self {
        let mut parts = Vec::new();
        for part in self.parts {
            let is_secret = part.is_secret(feeds);
            let shown = match part {
                Part::Variable { number, .. } if is_secret => {
                    let name = feeds.names.all().get(number).map_or("", String::as_str);
                    Part::Literal(format!("${{{name}}}"))
                }
                Part::Cell(column) if is_secret => {
                    Part::Literal(format!("{{{}}}", feeds.column_name(column).unwrap_or_default()))
                }
                Part::Call { function, .. } if is_secret => {
                    Part::Literal(format!("${{{}(…)}}", function.names[0]))
                }
                part => part,
            };
            append(&mut parts, shown);
        }
        Self { parts, place: self.place }
    }

    /// True if its text is constant.
    pub fn is_constant(&self) -> bool {
        self.as_constant().is_some()
    }

    /// Returns the constant text, if there are no placeholders.
    pub fn as_constant(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the text with its placeholders filled in.
    pub fn render<R: Rng + ?Sized>(&self, cx: &mut RenderContext<'_, R>, out: &mut String) {
        let limit = cx.user.map(|user| &user.worker.text_limit);
        let mut room = MAX_TEXT;
        for part in &self.parts {
            let before = out.len();
            match part {
                Part::Literal(text) => {
                    out.push_str(text);
                    continue;
                }
                Part::N => push(out, cx.n),
                Part::Uuid => push_uuid(out, cx.rng),
                Part::Random(least, most) => push(out, cx.rng.random_range(*least..=*most)),
                Part::Cell(column) => self.push(cx.feeds.cell(*column, cx.n), out),
                Part::Variable { number, otherwise } => {
                    let variables = cx.user.map(|user| user.variables.borrow());
                    let value = variables.as_ref().and_then(|variables| variables.slot(*number));
                    // `otherwise` is the expression where JMeter would send it.
                    if value.is_none()
                        && otherwise.is_empty()
                        && let Some(user) = cx.user
                    {
                        user.worker.unset_variables.note(*number);
                    }
                    let value = value.unwrap_or(otherwise);
                    if value.len() <= room {
                        self.push(value, out);
                    } else {
                        room = 0;
                    }
                }
                Part::Call { function, arguments, site } => {
                    if let Some(user) = cx.user {
                        let mut fill = || -> Vec<String> {
                            arguments.iter().map(|argument| argument.text(cx)).collect()
                        };
                        let arguments = if function.is_condition() {
                            user.worker.unset_variables.ignored(fill)
                        } else {
                            fill()
                        };
                        let call = Call { arguments: &arguments, site, user };
                        self.push(&(function.call)(&call), out);
                    }
                }
            }
            room = room.saturating_sub(out.len() - before);
            if room == 0 {
                limit.into_iter().for_each(TextLimit::note_overlong);
                return;
            }
        }
    }

    /// Returns the text with its placeholders filled in.
    pub fn text<R: Rng + ?Sized>(&self, cx: &mut RenderContext<'_, R>) -> String {
        let capacity = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.len(),
            _ => VALUE_CAPACITY,
        });
        let mut out = String::with_capacity(capacity.sum());
        self.render(cx, &mut out);
        out
    }

    fn push(&self, text: &str, out: &mut String) {
        if self.place == TextPosition::Url { push_encoded(out, text) } else { out.push_str(text) }
    }
}

/// True if a URL needs no base: it begins with a scheme, or is HOST:PORT.
pub fn is_absolute_url(url: &str) -> bool {
    // The first segment of a relative path has no colon (RFC 3986 section 4.2).
    let first_segment = url.split(['/', '?', '#']).next().unwrap_or_default();
    first_segment.contains(':')
}

fn variable(name: &str, written: String, feeds: &mut Feeds) -> Result<Part, ScriptError> {
    if feeds.dialect.keeps_unknown_expressions() {
        return Ok(Part::Variable { number: feeds.names.number(name), otherwise: written });
    }
    // A script may set any variable, so none is unknown.
    let number =
        if feeds.has_scripts { Some(feeds.names.number(name)) } else { feeds.names.find(name) };
    match number {
        Some(number) => Ok(Part::Variable { number, otherwise: String::new() }),
        None => Err(feeds.unknown_variable(name).into()),
    }
}

fn call(
    name: &str,
    arguments: Vec<Vec<TextPart>>,
    written: String,
    feeds: &mut Feeds,
) -> Result<Part, ScriptError> {
    let function =
        functions::find(name).filter(|function| function.arguments.contains(&arguments.len()));
    let Some(function) = function else {
        let keeps_unknown = feeds.dialect.keeps_unknown_expressions();
        // `${name}` is a call without arguments or a variable; a function of this name comes first.
        if let Some(name) = expression::as_variable(&written).map(str::to_owned)
            && (keeps_unknown || feeds.names.find(&name).is_some())
        {
            return variable(&name, written, feeds);
        }
        if keeps_unknown {
            return Ok(Part::Literal(written));
        }
        return Err(functions::refusal(name, arguments.len(), &written).into());
    };
    functions::check_built(function, &written, feeds.languages)?;
    // Only the function's result is encoded for its place, not the arguments.
    let arguments = arguments
        .into_iter()
        .map(|one| Template::from_stretches(one, TextPosition::Text, feeds, false));
    let arguments = arguments.collect::<Result<Vec<_>, ScriptError>>()?;
    if !feeds.dialect.keeps_unknown_expressions()
        && let Some(text) = arguments.first().and_then(Template::as_constant)
    {
        functions::check_constant(function, text, &written, feeds.languages)?;
    }
    // Each call has its own counter.
    feeds.sites += 1;
    Ok(Part::Call { function, arguments, site: format!("{name} {}", feeds.sites) })
}

/// True if a text contains a placeholder, even a malformed one.
pub fn has_placeholders(text: &str) -> bool {
    pieces(text).map_or(true, |pieces| pieces.iter().any(|p| matches!(p, Piece::Placeholder(_))))
}

/// Returns a placeholder `{n}` or `{uuid}` within other braces, such as that of the GraphQL query
/// `{user {uuid}}`, where it could be meant as a field.
pub fn nested_placeholder(text: &str) -> Option<String> {
    let mut depth = 0_i32;
    for piece in pieces(text).ok()? {
        match piece {
            Piece::Literal(literal) => {
                for letter in literal.chars() {
                    depth += i32::from(letter == '{') - i32::from(letter == '}');
                }
            }
            Piece::Placeholder(inner @ ("n" | "uuid")) if depth > 0 => {
                return Some(format!("{{{inner}}}"));
            }
            Piece::Placeholder(_) => {}
        }
    }
    None
}

/// Percent-encodes the text of a URL's path, query or form, except its placeholders.
///
/// # Errors
///
/// [`WordError`] if a placeholder is malformed.
pub fn encode_url(text: &str) -> Result<String, WordError> {
    map_literals(text, push_encoded)
}

/// Encodes a value or name of a form (WHATWG URL section 5.2), except its placeholders.
///
/// # Errors
///
/// [`WordError`] if a placeholder is malformed.
pub fn encode_form(text: &str) -> Result<String, WordError> {
    map_literals(text, |out, literal| out.push_str(&form_encoded(literal)))
}

/// Encodes a value or name of a form or query. Literal parts are encoded now, and values of
/// expressions when they are filled in.
pub fn encode_form_expressions(text: &str) -> String {
    let parts = expression::parse(text).into_iter().map(|stretch| match stretch {
        TextPart::Literal(text) => form_encoded(&text),
        TextPart::Variable { written, .. } | TextPart::Call { written, .. } => {
            format!("${{urlencode({written})}}")
        }
    });
    parts.collect()
}

/// Returns a text as a JSON string. Values of its expressions are escaped when they are filled in.
/// Placeholders are not changed.
pub fn json_text_stretches(text: &str) -> Vec<TextPart> {
    let quote = TextPart::Literal("\"".to_owned());
    let inner = expression::parse(text).into_iter().map(|stretch| match stretch {
        TextPart::Literal(text) => TextPart::Literal(escaped_for_json(&text)),
        TextPart::Variable { .. } | TextPart::Call { .. } => wrap_in_call("escapeJson", stretch),
    });
    std::iter::once(quote.clone()).chain(inner).chain([quote]).collect()
}

/// Returns an expression with a JSON value: a number, true, false, null, a list or map unchanged,
/// anything else as a string. None: the text is not a single expression.
pub fn json_value_stretch(text: &str) -> Option<TextPart> {
    let stretches: [TextPart; 1] = expression::parse(text).try_into().ok()?;
    let [stretch] = stretches;
    (!matches!(stretch, TextPart::Literal(_))).then(|| wrap_in_call("json", stretch))
}

/// Creates the call of a function with one argument.
fn wrap_in_call(function: &str, argument: TextPart) -> TextPart {
    let arguments = vec![vec![argument]];
    let written = format!("${{{function}({})}}", source_of(&arguments[0][0], true));
    TextPart::Call { name: function.to_owned(), arguments, written }
}

/// Escapes a literal text for JSON, except its placeholders.
fn escaped_for_json(text: &str) -> String {
    let Ok(pieces) = pieces(text) else { return functions::escape_json(text) };
    let mut escaped = String::with_capacity(text.len());
    for piece in pieces {
        match piece {
            Piece::Placeholder(inner) => escaped.extend(["{", inner, "}"]),
            Piece::Literal(literal) => {
                // `pieces` removed the backslash that made a placeholder literal.
                if has_placeholders(literal) {
                    escaped.push('\\');
                }
                escaped.push_str(&functions::escape_json(literal));
            }
        }
    }
    escaped
}

/// Returns the source text of these stretches.
pub fn expression_text(stretches: &[TextPart]) -> String {
    match stretches {
        [] => String::new(),
        all if all.iter().all(|stretch| matches!(stretch, TextPart::Literal(_))) => plain(
            &all.iter()
                .map(|stretch| if let TextPart::Literal(text) = stretch { text } else { "" })
                .collect::<String>(),
        ),
        all => all.iter().map(|stretch| source_of(stretch, false)).collect(),
    }
}

fn source_of(stretch: &TextPart, is_argument: bool) -> String {
    match stretch {
        TextPart::Literal(text) => {
            let text = text.replace('\\', r"\\").replace('$', r"\$");
            if is_argument { text.replace(',', r"\,") } else { text }
        }
        TextPart::Variable { written, .. } | TextPart::Call { written, .. } => written.clone(),
    }
}

/// Returns the source of a function call with texts as arguments. None: the parentheses
/// in them are unbalanced.
pub fn call_of(function: &str, arguments: &[&str]) -> Option<String> {
    let arguments: Vec<Vec<TextPart>> =
        arguments.iter().map(|text| expression::parse(text)).collect();
    call_text(function, &arguments)
}

/// Returns the source of a function call with parsed arguments. None: the parentheses
/// in them are unbalanced.
pub(crate) fn call_text(function: &str, arguments: &[Vec<TextPart>]) -> Option<String> {
    let literals = arguments.iter().flatten().filter_map(|stretch| match stretch {
        TextPart::Literal(text) => Some(text.as_str()),
        _ => None,
    });
    let mut open = 0_i32;
    for character in literals.flat_map(str::chars) {
        open += i32::from(character == '(') - i32::from(character == ')');
        if open < 0 {
            return None;
        }
    }
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.iter().map(|stretch| source_of(stretch, true)).collect())
        .collect();
    (open == 0).then(|| format!("${{__{function}({})}}", arguments.join(",")))
}

/// Escapes each `${` in a text, so that it has no expressions.
pub fn plain(text: &str) -> String {
    if text.contains("${") {
        text.replace('\\', r"\\").replace("${", r"\${")
    } else {
        text.to_owned()
    }
}

/// Compiles the texts of a body, in order.
///
/// # Errors
///
/// [`ScriptError`] if a placeholder is malformed, or its file cannot be read.
pub fn compile_body(
    body: &Body,
    headers: &[(String, String)],
    feeds: &mut Feeds,
) -> Result<Vec<Template>, ScriptError> {
    let place = if feeds.dialect.encodes_values() {
        TextPosition::of_body(headers)
    } else {
        TextPosition::Text
    };
    match body {
        Body::Text(text) if is_plain(text, feeds)? => Ok(Vec::new()),
        Body::Text(text) => Ok(vec![Template::compile(text, place, feeds)?]),
        Body::Mixed(fragments) => {
            let texts = fragments.iter().filter_map(|fragment| match fragment {
                BodyFragment::Text(text) => Some(text),
                BodyFragment::Bytes(_) => None,
            });
            texts.map(|text| Template::compile(text, place, feeds)).collect()
        }
        Body::Message(message) => {
            Ok(vec![Template::compile(&message.json, TextPosition::Text, feeds)?])
        }
        Body::None | Body::Bytes(_) | Body::Pieces(_) | Body::Omitted(_) => Ok(Vec::new()),
    }
}

/// True if a text has no placeholders, expressions or escapes, so that it is sent unchanged. Such
/// a body is never copied, however long it is.
fn is_plain(text: &str, feeds: &Feeds) -> Result<bool, ScriptError> {
    if feeds.dialect.has_expressions() && text.contains(['$', '\\']) {
        return Ok(false);
    }
    Ok(match pieces(text)?[..] {
        [] => true,
        [Piece::Literal(literal)] => literal.len() == text.len(),
        _ => false,
    })
}

fn map_literals(text: &str, encode: impl Fn(&mut String, &str)) -> Result<String, WordError> {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text)? {
        match piece {
            Piece::Literal(literal) => encode(&mut out, literal),
            Piece::Placeholder(inner) => out.extend(["{", inner, "}"]),
        }
    }
    Ok(out)
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text without an expression or placeholder.
    Literal(&'a str),
    /// Text between the braces of a placeholder.
    Placeholder(&'a str),
}

/// Begins of placeholders after the brace. Those that end with `}` are complete.
const HEADS: [&str; 5] = ["n}", "uuid}", "random:", "csv:", "var:"];

/// Splits a text into literals and placeholders.
///
/// # Errors
///
/// [`WordError`] if a placeholder is malformed, or mistyped.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, WordError> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut from = 0;
    while let Some(brace) = text[from..].find('{').map(|offset| from + offset) {
        let rest = &text[brace + 1..];
        from = brace + 1;
        let meant = mistyped(rest);
        let doubled = double_braces(rest);
        if meant.is_none() && doubled.is_none() && !is_head(rest) {
            continue;
        }
        // A backslash makes the placeholder literal.
        if brace > start && text.as_bytes()[brace - 1] == b'\\' {
            pieces.push(Piece::Literal(&text[start..brace - 1]));
            start = brace;
            continue;
        }
        if let Some(name) = doubled {
            let written = format!("{{{{{name}}}}}");
            let instead = format!(
                "{{csv:FILE:column}}, {{n}} or {{uuid}}, or ${{name}} in a scenario, or \\{written} for plain text"
            );
            return Err(WordError::new(&written, "no placeholder has double braces", instead));
        }
        let inner = &rest[..rest.find('}').ok_or_else(|| unclosed(rest))?];
        if let Some(meant) = meant {
            let written = format!("{{{inner}}}");
            let instead = format!("{meant}, or \\{written} for plain text");
            return Err(WordError::new(&written, "unknown placeholder", instead));
        }
        pieces.extend([Piece::Literal(&text[start..brace]), Piece::Placeholder(inner)]);
        from = brace + inner.len() + 2;
        start = from;
    }
    pieces.push(Piece::Literal(&text[start..]));
    pieces.retain(|p| *p != Piece::Literal(""));
    Ok(pieces)
}

/// True if a placeholder begins with the text after a brace, even a malformed one.
fn is_head(rest: &str) -> bool {
    HEADS.iter().any(|head| rest.starts_with(head))
}

/// True if a brace with this text after it needs a backslash to be plain text.
pub fn needs_backslash(after_brace: &str) -> bool {
    is_head(after_brace) || mistyped(after_brace).is_some() || double_braces(after_brace).is_some()
}

/// Escapes the braces that would be placeholders, so that a text is sent as it is. `is_plain` is
/// true for a brace that means something else; its argument is the text before the brace.
pub fn without_placeholders(text: &str, is_plain: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, letter) in text.char_indices() {
        if letter == '{' && needs_backslash(&text[index + 1..]) && !is_plain(&text[..index]) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// The text within double braces, such as `id` of `{{id}}`: a variable of Postman, Insomnia,
/// Bruno, Jinja or Handlebars. A placeholder of ours within braces, such as `{{n}}`, is none.
fn double_braces(rest: &str) -> Option<&str> {
    /// Maximum length of a name, because a body may have many braces.
    const LONGEST_NAME: usize = 60;
    let inner = rest.strip_prefix('{')?;
    if is_head(inner) {
        return None;
    }
    let end = inner.char_indices().take(LONGEST_NAME).find(|(_, letter)| *letter == '}')?.0;
    let name = inner[..end].trim();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$.-".contains(&byte));
    (is_name && inner[end..].starts_with("}}")).then_some(&inner[..end])
}

/// The placeholder that was probably meant by the text after a brace, such as `uuidd}` or `Random:1..9}`.
fn mistyped(rest: &str) -> Option<&'static str> {
    /// Letters of the longest name, with one too many.
    const LONGEST_NAME: usize = "random".len() + 1;
    const NAMES: [(&str, &str); 5] = [
        ("n", "{n}"),
        ("uuid", "{uuid}"),
        ("random", "{random:1..9}"),
        ("csv", "{csv:FILE:column}"),
        ("var", "{var:NAME}"),
    ];
    // A bounded search, because a body may have many braces.
    let mut begin = rest.char_indices().take(LONGEST_NAME + 1);
    let (end, sign) = begin.find(|(_, letter)| matches!(letter, ':' | '}'))?;
    let name = &rest[..end];
    let has_arguments = sign == ':';
    let (_, meant) = NAMES.into_iter().find(|(known, instead)| {
        let letters = strsim::osa_distance(&name.to_lowercase(), known);
        // A short word differs from many words in one letter.
        let is_near = letters <= known.len() / 4;
        name != *known && is_near && has_arguments == instead.contains(':')
    })?;
    rest.contains('}').then_some(meant)
}

fn placeholder(inner: &str, feeds: &mut Feeds) -> Result<Part, ScriptError> {
    if let Some(range) = inner.strip_prefix("random:") {
        return Ok(random(inner, range)?);
    }
    if let Some(source) = inner.strip_prefix("csv:") {
        let parts =
            source.rsplit_once(':').filter(|(file, column)| !file.is_empty() && !column.is_empty());
        let (file, column) =
            parts.ok_or_else(|| malformed(inner, "a file and a column are needed"))?;
        return Ok(Part::Cell(feeds.column(file, column)?));
    }
    if let Some(name) = inner.strip_prefix("var:") {
        let number = feeds.names.find(name).ok_or_else(|| {
            malformed(inner, "no step of the scenario and no extractor sets this variable")
        })?;
        return Ok(Part::Variable { number, otherwise: String::new() });
    }
    Ok(if inner == "n" { Part::N } else { Part::Uuid })
}

fn random(inner: &str, range: &str) -> Result<Part, WordError> {
    let ends = range.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (least, most) = ends.ok_or_else(|| malformed(inner, "two whole numbers are needed"))?;
    if least > most {
        return Err(malformed(inner, "the lower number comes first"));
    }
    Ok(Part::Random(least, most))
}

fn malformed(inner: &str, wrong: &str) -> WordError {
    refusal(&format!("{{{inner}}}"), wrong)
}

fn unclosed(rest: &str) -> WordError {
    let begin: String = rest.chars().take(20).collect();
    refusal(&format!("{{{begin}"), "its `}` is missing")
}

fn refusal(word: &str, wrong: &str) -> WordError {
    let example =
        if word.starts_with("{csv:") { "{csv:users.csv:name}" } else { "{random:1..100}" };
    WordError::new(word, wrong, format!("{example}, or \\{word} for plain text"))
}

fn append(parts: &mut Vec<Part>, part: Part) {
    if let (Some(Part::Literal(text)), Part::Literal(more)) = (parts.last_mut(), &part) {
        text.push_str(more);
    } else {
        parts.push(part);
    }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}"); // a String takes anything
}

fn push_encoded(out: &mut String, text: &str) {
    out.extend(utf8_percent_encode(text, NOT_IN_URLS));
}

#[cfg(test)]
mod tests;
