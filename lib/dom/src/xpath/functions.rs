//! Implements the core function library (XPath 1.0, section 4), and a few text
//! functions of XPath 2.0.

use super::ast::{Expr, Function};
use super::axes::local;
use super::evaluate::{Context, Evaluator, Outcome};
use super::value::{NodeRef, Value, is_space};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl<'a> Evaluator<'a> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &'a [Expr],
        context: Context,
    ) -> Outcome<Value<'a>> {
        use Function as F;
        match function {
            F::Last => Ok(Value::Number(context.size as f64)),
            F::Position => Ok(Value::Number(context.position as f64)),
            F::True | F::False => Ok(Value::Boolean(function == F::True)),
            F::Boolean | F::Not => Ok(Value::Boolean(
                self.value(&arguments[0], context)?.is_true() == (function == F::Boolean),
            )),
            F::Count | F::Sum | F::Id => self.call_on_nodes(function, &arguments[0], context),
            F::Number | F::Floor | F::Ceiling | F::Round => {
                self.call_on_number(function, arguments, context)
            }
            F::LocalName | F::NamespaceUri | F::Name => {
                let node_ref = match arguments.first() {
                    Some(nodes) => self.nodes(nodes, context)?.first().copied(),
                    None => Some(context.node_ref),
                };
                node_ref
                    .map_or(Ok(Value::Text("".into())), |node_ref| self.name(function, node_ref))
            }
            F::Concat => {
                let mut all = String::new();
                for argument in arguments {
                    let text = self.text(argument, context)?;
                    self.charge(text.len() as u64)?;
                    all.push_str(&text);
                }
                self.new_text(all)
            }
            _ => {
                let first = match arguments.first() {
                    Some(argument) => self.text(argument, context)?,
                    None => Cow::Borrowed(context.node_ref.text(self.document)),
                };
                self.charge_text(&first)?;
                self.call_on_text(function, first, arguments.get(1..).unwrap_or(&[]), context)
            }
        }
    }

    fn call_on_nodes(
        &self,
        function: Function,
        argument: &'a Expr,
        context: Context,
    ) -> Outcome<Value<'a>> {
        if function == Function::Id {
            return self.by_id(self.value(argument, context)?);
        }
        let nodes = self.nodes(argument, context)?;
        if function == Function::Count {
            return Ok(Value::Number(nodes.len() as f64));
        }
        let mut sum = 0.0;
        for node_ref in nodes {
            self.charge_text(node_ref.text(self.document))?;
            sum += super::value::number(node_ref.text(self.document));
        }
        Ok(Value::Number(sum))
    }

    /// Returns the elements with an `id` among the words.
    fn by_id(&self, value: Value<'a>) -> Outcome<Value<'a>> {
        let texts: Vec<Cow<'a, str>> = match value {
            Value::Nodes(nodes) => {
                nodes.iter().map(|node_ref| Cow::Borrowed(node_ref.text(self.document))).collect()
            }
            other => vec![other.text(self.document)],
        };
        let mut ids = HashSet::new();
        for text in &texts {
            self.charge(1 + text.len() as u64)?;
            ids.extend(text.split_ascii_whitespace());
        }
        let count = self.document.nodes.len() as u32;
        // All nodes are examined for their ids.
        self.charge(u64::from(count))?;
        let mut nodes = Vec::new();
        for node in 0..count {
            let id = self
                .document
                .attribute(node, "id")
                .or_else(|| self.document.attribute(node, "xml:id"));
            if id.is_some_and(|id| ids.contains(id)) {
                nodes.push(NodeRef::node(node));
            }
        }
        Ok(Value::Nodes(nodes))
    }

    fn call_on_number(
        &self,
        function: Function,
        arguments: &'a [Expr],
        context: Context,
    ) -> Outcome<Value<'a>> {
        let number = match arguments.first() {
            Some(argument) => self.number(argument, context)?,
            None => Value::Nodes(vec![context.node_ref]).number(self.document),
        };
        Ok(Value::Number(match function {
            Function::Floor => number.floor(),
            Function::Ceiling => number.ceil(),
            Function::Round => round(number),
            _ => number,
        }))
    }

    fn name(&self, function: Function, node_ref: NodeRef) -> Outcome<Value<'a>> {
        let name = node_ref.name(self.document);
        let text = match function {
            Function::Name => name,
            Function::LocalName => local(name),
            _ => self.namespace_uri(node_ref)?,
        };
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    /// Returns the namespace URI of a prefix, by the nearest declaration.
    pub(super) fn namespace_uri(&self, node_ref: NodeRef) -> Outcome<&'a str> {
        let prefix = node_ref.name(self.document).split_once(':').map_or("", |(prefix, _)| prefix);
        // Attributes without a prefix are in no namespace.
        let is_none = node_ref.name(self.document).is_empty()
            || (node_ref.attribute().is_some() && prefix.is_empty());
        let key = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        for node in std::iter::once(node_ref.node)
            .chain(self.document.ancestors(node_ref.node))
            .filter(|_| !is_none)
        {
            self.charge(1 + self.document.attributes(node).len() as u64)?;
            if let Some(uri) = self.document.attribute(node, &key) {
                return Ok(uri);
            }
        }
        Ok("")
    }

    /// Calls a function with a text and further arguments.
    fn call_on_text(
        &self,
        function: Function,
        text: Cow<'a, str>,
        more: &'a [Expr],
        context: Context,
    ) -> Outcome<Value<'a>> {
        match function {
            Function::String => Ok(Value::Text(text)),
            Function::StringLength => Ok(Value::Number(text.chars().count() as f64)),
            Function::Lang => self.is_lang(&text, context),
            Function::NormalizeSpace => {
                let words: Vec<&str> =
                    text.split(is_space).filter(|word| !word.is_empty()).collect();
                self.new_text(words.join(" "))
            }
            Function::LowerCase => self.new_text(text.to_lowercase()),
            Function::UpperCase => self.new_text(text.to_uppercase()),
            Function::Substring => {
                let from = round(self.number(&more[0], context)?);
                let length =
                    more.get(1).map(|length| self.number(length, context)).transpose()?.map(round);
                self.new_text(substring(&text, from, length))
            }
            Function::Translate => {
                let from = self.text(&more[0], context)?;
                let to = self.text(&more[1], context)?;
                self.charge((from.len() + to.len()) as u64)?;
                self.new_text(translate(&text, &from, &to))
            }
            _ => {
                let other = self.text(&more[0], context)?;
                self.charge_text(&other)?;
                self.call_on_two_texts(function, &text, &other)
            }
        }
    }

    fn call_on_two_texts(&self, function: Function, text: &str, other: &str) -> Outcome<Value<'a>> {
        Ok(Value::Boolean(match function {
            Function::StartsWith => text.starts_with(other),
            Function::EndsWith => text.ends_with(other),
            Function::SubstringBefore => {
                return self
                    .new_text(text.split_once(other).map_or("", |(before, _)| before).to_owned());
            }
            Function::SubstringAfter => {
                return self
                    .new_text(text.split_once(other).map_or("", |(_, after)| after).to_owned());
            }
            _ => text.contains(other),
        }))
    }

    /// True if the nearest `xml:lang` (in HTML `lang`) is this language, or a dialect of it.
    fn is_lang(&self, wanted: &str, context: Context) -> Outcome<Value<'a>> {
        let name = if self.document.html { "lang" } else { "xml:lang" };
        for node in std::iter::once(context.node_ref.node)
            .chain(self.document.ancestors(context.node_ref.node))
        {
            self.charge(1 + self.document.attributes(node).len() as u64)?;
            if let Some(language) = self.document.attribute(node, name) {
                let start =
                    language.get(..wanted.len()).filter(|start| start.eq_ignore_ascii_case(wanted));
                let rest = start.map(|_| &language[wanted.len()..]);
                return Ok(Value::Boolean(
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
                ));
            }
        }
        Ok(Value::Boolean(false))
    }
}

/// Rounds to the nearest integer; halves are rounded up.
fn round(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { (number + 0.5).floor() }
}

/// Returns the characters with a position, from 1, of at least `from` and below `from + length`.
fn substring(text: &str, from: f64, length: Option<f64>) -> String {
    let mut out = String::new();
    for (index, letter) in text.chars().enumerate() {
        let position = index as f64 + 1.0;
        if position >= from && length.is_none_or(|length| position < from + length) {
            out.push(letter);
        }
    }
    out
}

/// Replaces each character of `from` by the one at the same position in `to`, or removes it.
fn translate(text: &str, from: &str, to: &str) -> String {
    let mut map = HashMap::new();
    let mut to = to.chars();
    for letter in from.chars() {
        let replacement = to.next();
        map.entry(letter).or_insert(replacement);
    }
    text.chars().filter_map(|letter| map.get(&letter).copied().unwrap_or(Some(letter))).collect()
}
