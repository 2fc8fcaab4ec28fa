//! Classes of `java.util.regex`, and Groovy's operators `=~` and `==~`.

use super::{Class, text_at};
use crate::error::{Eval, Fault, illegal, throw};
use crate::methods::string::{byte_index, unit_index};
use crate::value::{Native, Value};
use crate::vm::Vm;
use brunt_java::deadline::run_within;
use fancy_regex::{Captures, Regex};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.util.regex.Pattern", pattern_static).and_constants(pattern_constant),
    Class::with_static("java.util.regex.Matcher", matcher_static),
];

/// Java's flags, the equivalent inline flags, and their names.
const FLAGS: [(i64, char, &str); 4] = [
    (2, 'i', "CASE_INSENSITIVE"),
    (4, 'x', "COMMENTS"),
    (8, 'm', "MULTILINE"),
    (32, 's', "DOTALL"),
];

fn pattern_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    let flag = FLAGS.iter().find(|(_, _, flag_name)| *flag_name == name).map(|(flag, ..)| *flag);
    flag.or_else(|| matches!(name, "UNICODE_CASE" | "LITERAL" | "UNIX_LINES").then_some(0))
        .map(Value::integer)
}

fn pattern_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("compile", [_, rest @ ..]) => {
            let text = text_at(vm, arguments, 0)?;
            let flags = match rest.first() {
                Some(flags) => vm.to_long(flags)?,
                None => 0,
            };
            pattern(vm, &text, flags)?
        }
        ("matches", [pattern, text]) => full_match(vm, text, pattern)?,
        ("quote", [_]) => {
            let text = text_at(vm, arguments, 0)?;
            vm.string(format!("\\Q{text}\\E"))?
        }
        _ => return Ok(None),
    }))
}

fn matcher_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "quoteReplacement" {
        return Ok(None);
    }
    let text = text_at(vm, arguments, 0)?;
    vm.string(text.replace('\\', "\\\\").replace('$', "\\$")).map(Some)
}

/// Translates a Java pattern to the syntax of `fancy_regex`. Constructs that mean the same
/// in both stay unchanged.
pub(crate) fn translate(java: &str) -> String {
    let mut rust = String::with_capacity(java.len());
    let mut rest = java;
    while let Some(position) = rest.find('\\') {
        rust.push_str(&rest[..position]);
        let after = &rest[position + 1..];
        let mut letters = after.chars();
        match letters.next() {
            Some('Q') => {
                let (quoted, next) = after[1..].split_once("\\E").unwrap_or((&after[1..], ""));
                for letter in quoted.chars() {
                    if !letter.is_alphanumeric() && letter.is_ascii() && !letter.is_whitespace() {
                        rust.push('\\');
                    }
                    rust.push(letter);
                }
                rest = next;
                continue;
            }
            // Java's `\Z` also matches before a final line break.
            Some('Z') => rust.push_str("(?=\\n?\\z)"),
            Some('R') => rust.push_str("(?:\\r\\n|[\\n\\r])"),
            Some('h') => rust.push_str("[ \\t]"),
            // Java accepts a needless backslash before these characters.
            Some(letter) if letter.is_ascii_punctuation() || letter.is_alphanumeric() => {
                let literal = matches!(
                    letter,
                    '"' | '\''
                        | '/'
                        | ':'
                        | ','
                        | ';'
                        | '='
                        | '!'
                        | '@'
                        | '%'
                        | '_'
                        | '`'
                        | '<'
                        | '>'
                );
                if !literal {
                    rust.push('\\');
                }
                rust.push(letter);
            }
            Some(letter) => rust.push(letter),
            None => rust.push_str("\\\\"),
        }
        rest = letters.as_str();
    }
    rust.push_str(rest);
    rust
}

struct Pattern {
    text: Rc<str>,
    regex: Arc<Regex>,
}

/// Compiles a pattern with Java's flags.
pub(crate) fn pattern(vm: &mut Vm, text: &str, flags: i64) -> Eval<Value> {
    let letters: String =
        FLAGS.iter().filter(|(flag, ..)| flags & flag != 0).map(|(_, letter, _)| *letter).collect();
    let full = if letters.is_empty() { text.to_owned() } else { format!("(?{letters}){text}") };
    let regex = vm.pattern(&full)?;
    Ok(Value::native(Pattern { text: text.into(), regex }))
}

/// Compiled pattern of a `Pattern` object or a text.
fn regex_of(vm: &mut Vm, value: &Value) -> Eval<Arc<Regex>> {
    if let Some(pattern) = value.downcast::<Pattern>() {
        Ok(Arc::clone(&pattern.regex))
    } else {
        let text = vm.text(value)?;
        vm.pattern(&text)
    }
}

/// Maximum length of a text to search on the calling thread, in bytes.
const SHORT_TEXT: usize = 16 << 10;

/// Maximum duration of a search in a longer text.
const LONGEST_SEARCH: Duration = Duration::from_secs(2);

/// Searches a text. Stops the script if the search takes too many steps or too long. A single
/// search step cannot be interrupted, and each position of a long text may read all of it.
/// Therefore another thread searches long texts.
fn search<T: Send + 'static>(
    regex: &Arc<Regex>,
    text: &str,
    search: impl FnOnce(&Regex, &str) -> Result<T, fancy_regex::Error> + Send + 'static,
) -> Eval<T> {
    let result = if text.len() <= SHORT_TEXT {
        search(regex, text).map_err(|error| error.to_string())
    } else {
        let regex = Arc::clone(regex);
        let text = text.to_owned();
        let result = run_within(LONGEST_SEARCH, move || {
            search(&regex, &text).map_err(|error| error.to_string())
        });
        result.unwrap_or_else(|| Err(format!("more than {} s", LONGEST_SEARCH.as_secs())))
    };
    result.map_err(|reason| {
        Box::new(Fault::Budget(format!(
            "script stopped: a pattern took too long ({reason}); make it simpler"
        )))
    })
}

impl Native for Pattern {
    fn class_name(&self) -> &'static str {
        "java.util.regex.Pattern"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("matcher", [_]) => {
                let text = text_at(vm, arguments, 0)?;
                Matcher::make(&self.regex, &self.text, text)
            }
            ("split", [_, ..]) => {
                let text = text_at(vm, arguments, 0)?;
                split_by(vm, &text, &self.regex, 0)?
            }
            ("pattern" | "toString", []) => Value::Str(Rc::clone(&self.text)),
            ("flags", []) => Value::Int(0),
            ("asPredicate" | "asMatchPredicate", []) => Value::Null,
            ("isCase" | "matches", [_]) => {
                let text = text_at(vm, arguments, 0)?;
                Value::Bool(full_captures(vm, &self.regex, &text)?.is_some())
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.text.to_string()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Groups of a match of the whole text; None if the pattern does not match all of it.
fn full_captures(vm: &mut Vm, regex: &Arc<Regex>, subject: &str) -> Eval<Option<Groups>> {
    // Without anchors, `a|ab` would match only the first letter of `ab`.
    let anchored = vm.pattern(&format!("\\A(?:{})\\z", regex.as_str()))?;
    vm.tick(subject.len() / 16)?;
    search(&anchored, subject, |regex, text| {
        Ok(regex.captures(text)?.map(|captures| groups(&captures)))
    })
}

/// `text =~ pattern`
pub(crate) fn find(vm: &mut Vm, text: &Value, pattern: &Value) -> Eval<Value> {
    let regex = regex_of(vm, pattern)?;
    let subject = vm.text(text)?;
    let pattern_text = vm.text(pattern)?;
    Ok(Matcher::make(&regex, &pattern_text, subject))
}

/// `text ==~ pattern`
pub(crate) fn full_match(vm: &mut Vm, text: &Value, pattern: &Value) -> Eval<Value> {
    if text.is_null() {
        return Ok(Value::Bool(false));
    }
    let regex = regex_of(vm, pattern)?;
    let subject = vm.text(text)?;
    Ok(Value::Bool(full_captures(vm, &regex, &subject)?.is_some()))
}

/// Byte ranges of a match and its groups.
type Groups = Vec<Option<(usize, usize)>>;

fn groups(captures: &Captures<'_>) -> Groups {
    (0..captures.len())
        .map(|index| captures.get(index).map(|group| (group.start(), group.end())))
        .collect()
}

/// Finds successive matches, up to a maximum number.
fn matches(vm: &mut Vm, regex: &Arc<Regex>, text: &str, most: usize) -> Eval<Vec<Groups>> {
    vm.tick(text.len() / 16)?;
    // One match beyond the budget of the script ends it below.
    let most = most.min(usize::try_from(vm.budget.operations / 4).unwrap_or(usize::MAX - 1) + 1);
    let all_groups: Vec<Groups> = search(regex, text, move |regex, text| {
        regex
            .captures_iter(text)
            .take(most)
            .map(|captures| captures.map(|captures| groups(&captures)))
            .collect()
    })?;
    vm.tick(all_groups.len() * 4)?;
    vm.alloc(all_groups.iter().map(|groups| groups.len() * 24).sum())?;
    Ok(all_groups)
}

/// Expands `$1`, `${name}` and `\` in a replacement.
fn expand(
    regex: &Regex,
    template: &str,
    text: &str,
    groups: &Groups,
    out: &mut String,
) -> Eval<()> {
    let mut letters = template.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '$' if letters.peek() == Some(&'{') => {
                letters.next();
                let name: String = letters.by_ref().take_while(|letter| *letter != '}').collect();
                let index = regex.capture_names().position(|group_name| group_name == Some(&name));
                out.push_str(index.map_or("", |index| group_text(text, groups, index)));
            }
            '$' => {
                let Some(first) = letters.peek().and_then(|letter| letter.to_digit(10)) else {
                    return Err(illegal("Illegal group reference"));
                };
                letters.next();
                let mut index = first as usize;
                while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
                    // Java reads another digit only if that group exists: `$12` may be group 1 and
                    // a `2`.
                    if index * 10 + digit as usize >= groups.len() {
                        break;
                    }
                    index = index * 10 + digit as usize;
                    letters.next();
                }
                if index >= groups.len() {
                    return Err(throw(
                        "java.lang.IndexOutOfBoundsException",
                        format!("No group {index}"),
                    ));
                }
                out.push_str(group_text(text, groups, index));
            }
            other => out.push(other),
        }
    }
    Ok(())
}

fn group_text<'t>(text: &'t str, groups: &Groups, index: usize) -> &'t str {
    groups.get(index).copied().flatten().map_or("", |(begin, end)| &text[begin..end])
}

fn replace(vm: &mut Vm, text: &str, pattern: &Value, with: &str, most: usize) -> Eval<Value> {
    let regex = regex_of(vm, pattern)?;
    replace_by(vm, &regex, text, with, most)
}

fn replace_by(vm: &mut Vm, regex: &Arc<Regex>, text: &str, with: &str, most: usize) -> Eval<Value> {
    let mut result = String::new();
    let mut last = 0;
    for groups in matches(vm, regex, text, most)? {
        let Some((begin, end)) = groups.first().copied().flatten() else { continue };
        let before = result.len();
        result.push_str(&text[last..begin]);
        expand(regex, with, text, &groups, &mut result)?;
        vm.alloc(result.len() - before)?;
        last = end;
    }
    result.push_str(&text[last..]);
    vm.string(result)
}

/// `replaceAll`
pub(crate) fn replace_all(vm: &mut Vm, text: &str, pattern: &Value, with: &str) -> Eval<Value> {
    replace(vm, text, pattern, with, usize::MAX)
}

/// `replaceFirst`
pub(crate) fn replace_first(vm: &mut Vm, text: &str, pattern: &Value, with: &str) -> Eval<Value> {
    replace(vm, text, pattern, with, 1)
}

/// `replaceAll` with a closure, whose argument is the match, or the match and its groups.
pub(crate) fn replace_each(
    vm: &mut Vm,
    text: &str,
    pattern: &Value,
    closure: &Value,
    most: usize,
) -> Eval<Value> {
    let regex = regex_of(vm, pattern)?;
    let mut result = String::new();
    let mut last = 0;
    for groups in matches(vm, &regex, text, most)? {
        let Some((begin, end)) = groups.first().copied().flatten() else { continue };
        let parts = parts(text, &groups);
        let argument = if parts.len() == 1 { parts[0].clone() } else { Value::list(parts) };
        let part = vm.call_closure(closure, &[argument])?;
        result.push_str(&text[last..begin]);
        result.push_str(&vm.text(&part)?);
        last = end;
    }
    result.push_str(&text[last..]);
    vm.string(result)
}

/// A match and its groups, as texts.
fn parts(text: &str, groups: &Groups) -> Vec<Value> {
    groups
        .iter()
        .map(|group| group.map_or(Value::Null, |(begin, end)| Value::str(&text[begin..end])))
        .collect()
}

/// `text.split(pattern, limit)`
pub(crate) fn split(vm: &mut Vm, text: &str, pattern: &Value, limit: i64) -> Eval<Value> {
    let regex = regex_of(vm, pattern)?;
    split_by(vm, text, &regex, limit)
}

fn split_by(vm: &mut Vm, text: &str, regex: &Arc<Regex>, limit: i64) -> Eval<Value> {
    let most = if limit > 0 { limit as usize - 1 } else { usize::MAX };
    let mut pieces = Vec::new();
    let mut last = 0;
    for groups in matches(vm, regex, text, usize::MAX)? {
        let Some((begin, end)) = groups.first().copied().flatten() else { continue };
        // An empty match at the start or end produces no empty piece.
        if pieces.len() >= most || (end == 0 && begin == 0) || (begin == end && begin == text.len())
        {
            continue;
        }
        pieces.push(&text[last..begin]);
        last = end;
    }
    pieces.push(&text[last..]);
    // Java's `split` drops trailing empty pieces unless it has a limit.
    if limit == 0 && pieces.len() > 1 {
        while pieces.last().is_some_and(|piece| piece.is_empty()) {
            pieces.pop();
        }
    }
    vm.alloc(text.len() + pieces.len() * 40)?;
    Ok(Value::array(pieces.into_iter().map(Value::str).collect()))
}

/// A `Matcher` object for one text.
pub(crate) struct Matcher {
    regex: Arc<Regex>,
    pattern: Rc<str>,
    text: RefCell<Rc<str>>,
    /// Start of the next search, in bytes.
    next: Cell<usize>,
    /// Groups of the last match.
    current: RefCell<Option<Groups>>,
    /// End of the last match that `appendReplacement` processed.
    append_position: Cell<usize>,
}

impl Matcher {
    fn make(regex: &Arc<Regex>, pattern: &str, text: Rc<str>) -> Value {
        Value::native(Self {
            regex: Arc::clone(regex),
            pattern: pattern.into(),
            text: RefCell::new(text),
            next: Cell::new(0),
            current: RefCell::default(),
            append_position: Cell::new(0),
        })
    }

    /// Finds the next match.
    fn find(&self, vm: &mut Vm) -> Eval<bool> {
        let text = self.text.borrow().clone();
        vm.tick(4)?;
        if self.next.get() > text.len() {
            self.current.replace(None);
            return Ok(false);
        }
        vm.tick((text.len() - self.next.get()) / 64)?;
        let from = self.next.get();
        let groups = search(&self.regex, &text, move |regex, text| {
            Ok(regex.captures_from_pos(text, from)?.map(|captures| groups(&captures)))
        })?;
        if let Some((begin, end)) =
            groups.as_ref().and_then(|groups| groups.first().copied().flatten())
        {
            // An empty match advances by one character, or it would repeat forever.
            let empty_step = text[end..].chars().next().map_or(1, char::len_utf8);
            self.next.set(if begin == end { end + empty_step } else { end });
        } else {
            self.next.set(text.len() + 1);
        }
        let is_match = groups.is_some();
        self.current.replace(groups);
        Ok(is_match)
    }

    /// Byte range of a group of the last match.
    fn group(&self, index: i64) -> Eval<Option<(usize, usize)>> {
        match &*self.current.borrow() {
            None => Err(throw("java.lang.IllegalStateException", "No match found")),
            Some(groups) => match usize::try_from(index).ok().and_then(|index| groups.get(index)) {
                Some(group) => Ok(*group),
                None => {
                    Err(throw("java.lang.IndexOutOfBoundsException", format!("No group {index}")))
                }
            },
        }
    }

    fn index_of(&self, vm: &mut Vm, value: Option<&Value>) -> Eval<i64> {
        match value {
            None => Ok(0),
            Some(Value::Str(name)) => {
                let index =
                    self.regex.capture_names().position(|group_name| group_name == Some(name));
                index
                    .map(|index| index as i64)
                    .ok_or_else(|| illegal(format!("No group with name <{name}>")))
            }
            Some(other) => vm.to_long(other),
        }
    }

    /// Element of a matcher: the match without groups, or a list of the match and its groups.
    fn element(&self, text: &str, groups: &Groups) -> Value {
        let mut parts = parts(text, groups);
        if parts.len() == 1 { parts.remove(0) } else { Value::list(parts) }
    }
}

impl Native for Matcher {
    fn class_name(&self) -> &'static str {
        "java.util.regex.Matcher"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let text = self.text.borrow().clone();
        Ok(Some(match (name, arguments) {
            ("find", []) => Value::Bool(self.find(vm)?),
            ("find", [from]) => {
                let from = vm.to_long(from)?;
                self.next.set(byte_index(&text, from));
                Value::Bool(self.find(vm)?)
            }
            // The truth of a matcher does not change its position.
            ("asBoolean", []) => {
                self.next.set(0);
                let is_match = self.find(vm)?;
                self.next.set(0);
                Value::Bool(is_match)
            }
            ("matches", []) => {
                let groups = full_captures(vm, &self.regex, &text)?;
                let is_match = groups.is_some();
                self.current.replace(groups);
                Value::Bool(is_match)
            }
            ("lookingAt", []) => {
                self.next.set(0);
                Value::Bool(self.find(vm)? && self.group(0)?.is_some_and(|(begin, _)| begin == 0))
            }
            ("hitEnd", []) => Value::Bool(self.next.get() >= text.len()),
            ("group", rest) => {
                let index = self.index_of(vm, rest.first())?;
                self.group(index)?.map_or(Value::Null, |(begin, end)| Value::str(&text[begin..end]))
            }
            ("start" | "end", rest) => {
                let index = self.index_of(vm, rest.first())?;
                let place = self.group(index)?;
                let side = place.map(|(begin, end)| if name == "start" { begin } else { end });
                Value::Int(side.map_or(-1, |byte| unit_index(&text, byte) as i32))
            }
            ("groupCount", []) => Value::count(self.regex.captures_len().saturating_sub(1)),
            ("hasGroup", []) => Value::Bool(self.regex.captures_len() > 1),
            ("size" | "getCount" | "count", []) => {
                Value::count(matches(vm, &self.regex, &text, usize::MAX)?.len())
            }
            ("getAt", [index]) => {
                let all: Vec<Value> = matches(vm, &self.regex, &text, usize::MAX)?
                    .iter()
                    .map(|groups| self.element(&text, groups))
                    .collect();
                let length = all.len();
                let list = Value::list(all);
                if let Value::Int(position) = index
                    && i64::from(*position) >= length as i64
                {
                    return Err(throw(
                        "java.lang.IndexOutOfBoundsException",
                        format!(
                            "index is out of range 0..{} (index = {position})",
                            length as i64 - 1
                        ),
                    ));
                }
                vm.index(&list, index)?
            }
            ("replaceAll", [Value::Closure(_)]) => replace_each(
                vm,
                &text,
                &Value::Str(Rc::clone(&self.pattern)),
                &arguments[0],
                usize::MAX,
            )?,
            ("replaceAll" | "replaceFirst", [_]) => {
                let with = text_at(vm, arguments, 0)?;
                replace_by(
                    vm,
                    &self.regex,
                    &text,
                    &with,
                    if name == "replaceAll" { usize::MAX } else { 1 },
                )?
            }
            ("reset", rest) => {
                if let Some(other) = rest.first() {
                    let other = vm.text(other)?;
                    self.text.replace(other);
                }
                self.next.set(0);
                self.current.replace(None);
                Value::Null
            }
            ("appendReplacement", [buffer, _]) => {
                let with = text_at(vm, arguments, 1)?;
                let groups = self.current.borrow().clone().unwrap_or_default();
                let (begin, end) = self.group(0)?.unwrap_or((0, 0));
                let mut part = text.get(self.append_position.get()..begin).unwrap_or("").to_owned();
                expand(&self.regex, &with, &text, &groups, &mut part)?;
                self.append_position.set(end);
                vm.call_method(buffer, "append", &[Value::from(part)])?
            }
            ("appendTail", [buffer]) => {
                let tail = text.get(self.append_position.get()..).unwrap_or("").to_owned();
                vm.call_method(buffer, "append", &[Value::from(tail)])?
            }
            ("pattern", []) => Value::Str(Rc::clone(&self.pattern)),
            ("results", []) => {
                let items = self.elements(vm)?.unwrap_or_default();
                vm.new_list(items)?
            }
            _ => return Ok(None),
        }))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let text = self.text.borrow().clone();
        let all = matches(vm, &self.regex, &text, usize::MAX)?;
        Ok(Some(all.iter().map(|groups| self.element(&text, groups)).collect()))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(format!("java.util.regex.Matcher[pattern={}]", self.pattern)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
