//! Properties of elements as fields of structs.
//!
//! A row of the table of kinds (`support/kinds.rs`) names each property once, with its type. The table generates a struct of
//! the values for each kind, which is read from a plan ([`Fields::read`]) and written to an exported one ([`Fields::write`]).
//! A test finds a property that is read and not used (`plan/tests/rows.rs`).

use crate::markup::Prop;
use crate::property::{Properties, Property};
use brunt_script::BeforeRun;
use std::borrow::Cow;
use std::marker::PhantomData;

/// Path of the name of an item in a list, which is an attribute.
const ITEM_NAME: &str = "@name";

/// A property of a kind of element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyRow {
    /// Names of the property and of the elements around it, with `/` between them.
    pub path: &'static str,
    /// Name in `JMeter`'s window.
    pub label: &'static str,
    /// Tag that `JMeter` writes.
    pub tag: &'static str,
    /// Form of the value.
    pub form: PropertyForm,
    /// Value in a new element; None if `JMeter` omits the property there.
    pub initial: Option<&'static str>,
    /// Value of an absent or empty property.
    pub absent: &'static str,
    /// Set if brunt ignores the property.
    pub ignored: Option<IgnoredProperty>,
}

/// A property without an effect in brunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IgnoredProperty {
    /// Reason for the user.
    pub reason: &'static str,
    /// Value for which brunt and `JMeter` do the same; a notice names each other value. None if the property changes no sample
    /// of `JMeter` either, so that there is no notice.
    pub harmless: Option<&'static str>,
}

impl PropertyRow {
    /// Returns the name of the property.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Its path and its value in a new element.
    pub(crate) fn initial(&self) -> Option<(&'static str, Prop)> {
        let text = self.initial?;
        let name = self.name().to_owned();
        Some(match self.form {
            PropertyForm::List
            | PropertyForm::Table
            | PropertyForm::Pairs(_)
            | PropertyForm::Items(_) => (self.path, Prop::List(name, Vec::new())),
            _ => (self.path, Prop::Scalar(self.tag, name, text.to_owned())),
        })
    }
}

/// The form of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyForm {
    /// A text.
    Text,
    /// A text that may have several lines.
    Lines,
    /// True or false.
    Flag,
    /// A number, or an expression.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Elements with a name and a value each.
    Pairs(ItemForm),
    /// Elements with other properties, which an editor shows in the text only.
    Items(ItemForm),
    /// Rows of texts, which an editor shows in the text only.
    Table,
}

/// The markup of elements in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemForm {
    /// Class of the elements.
    pub class: &'static str,
    /// Their properties. Those of pairs are the name, the value, then others.
    pub properties: &'static [PropertyRow],
}

impl ItemForm {
    /// Property with the name.
    pub fn name(&self) -> &'static str {
        self.properties[0].path
    }

    /// Property with the value.
    pub fn value(&self) -> &'static str {
        self.properties[1].path
    }

    /// Markup of a new entry, on one line.
    pub(crate) fn markup(&self, name: &str, value: &str) -> String {
        let texts = [Prop::text(self.name(), name), Prop::text(self.value(), value)];
        let others = self.properties[2..].iter().filter_map(PropertyRow::initial);
        let properties = texts.into_iter().chain(others.map(|(_, property)| property)).collect();
        Prop::Element(name.to_owned(), self.class, "", properties).markup()
    }
}

/// Values of the properties of a kind of element.
pub(crate) trait Fields: Sized {
    /// Its properties: those that brunt reads, then those that it ignores.
    const PROPERTIES: &'static [PropertyRow];

    /// Reads the values.
    ///
    /// # Errors
    ///
    /// Fails on an invalid number that must be known before the run.
    fn read(before: &BeforeRun, source: &PropertySource<'_>) -> Result<Self, String>;

    /// Writes the values, and the defaults of ignored properties.
    fn write(self, writer: &mut dyn TextWriter) -> Vec<(&'static str, Prop)>;
}

/// An item of a list.
pub(crate) trait ListItem: Fields {
    /// Its class.
    const CLASS: &'static str;
    /// True if a name and a value are all that an editor needs.
    const IS_PAIR: bool;
}

/// The rows of a struct, in the order of its fields.
pub(crate) struct Rows(std::slice::Iter<'static, PropertyRow>);

impl Rows {
    pub(crate) fn of<F: Fields>() -> Self {
        Self(F::PROPERTIES.iter())
    }

    /// The row of the next field.
    pub(crate) fn take(&mut self) -> &'static PropertyRow {
        self.0.next().expect("a row for each field")
    }

    /// The remaining properties that a new element has.
    pub(crate) fn initial(self) -> impl Iterator<Item = (&'static str, Prop)> {
        self.0.filter_map(PropertyRow::initial)
    }
}

/// Type of a property.
pub(crate) trait Field {
    /// Its value in brunt.
    type Value;
    /// Tag that JMeter writes.
    const TAG: &'static str = "stringProp";
    /// Form in the studio.
    const FORM: PropertyForm;

    /// Reads a property; an absent or empty one has the value [`PropertyRow::absent`].
    ///
    /// # Errors
    ///
    /// Fails on an invalid number that must be known before the run.
    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, String>;

    /// Writes a property.
    fn write(value: Self::Value, name: &str, writer: &mut dyn TextWriter) -> Prop;
}

/// Writes a property of a row. An empty one is omitted, unless JMeter writes it in a new element.
pub(crate) fn written<F: Field>(
    value: F::Value,
    row: &PropertyRow,
    writer: &mut dyn TextWriter,
) -> Option<(&'static str, Prop)> {
    let property = F::write(value, row.name(), writer);
    (row.initial.is_some() || !property.is_empty()).then_some((row.path, property))
}

/// Properties of an element, then those of the elements with defaults for it, the innermost first.
pub(crate) struct PropertySource<'d>(pub(crate) Vec<Properties<'d>>);

impl<'d> PropertySource<'d> {
    /// All properties at a path, the element's first.
    fn all(&self, path: &str) -> impl Iterator<Item = Property<'d>> {
        self.0.iter().filter_map(move |properties| properties.at(path))
    }

    /// The first text at a path that is not empty.
    fn text(&self, path: &str) -> Option<Cow<'d, str>> {
        if path == ITEM_NAME {
            return self.0.first().map(Properties::name);
        }
        self.all(path).map(|property| property.text()).find(|text| !text.is_empty())
    }
}

/// The place of a property in a plan.
pub(crate) struct PropertyPlace<'r> {
    pub(crate) before: &'r BeforeRun,
    pub(crate) source: &'r PropertySource<'r>,
    pub(crate) row: &'static PropertyRow,
}

impl PropertyPlace<'_> {
    /// A template: constants are evaluated, and users fill in the rest.
    fn folded(&self) -> String {
        self.before.folded(&self.unevaluated())
    }

    /// A text that is evaluated before the run.
    fn evaluated(&self) -> String {
        self.before.text(&self.unevaluated())
    }

    /// The text in the plan.
    fn unevaluated(&self) -> String {
        self.source.text(self.row.path).map_or_else(|| self.row.absent.to_owned(), Cow::into_owned)
    }

    /// Items of all collections.
    pub(crate) fn items(&self) -> impl Iterator<Item = Property<'_>> {
        self.source.all(self.row.path).flat_map(|list| list.items().collect::<Vec<_>>())
    }
}

/// Converts texts of brunt to those of JMeter.
pub(crate) trait TextWriter {
    fn converted(&mut self, text: String) -> String;

    fn unchanged(&mut self, text: String) -> String {
        text
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident $tag:literal $form:expr, $read:ident, $write:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl Field for $name {
            type Value = String;
            const TAG: &'static str = $tag;
            const FORM: PropertyForm = $form;

            fn read(property: &PropertyPlace<'_>) -> Result<String, String> {
                Ok(property.$read())
            }

            fn write(value: String, name: &str, writer: &mut dyn TextWriter) -> Prop {
                Prop::Scalar($tag, name.to_owned(), writer.$write(value))
            }
        }
    )*};
}

#[rustfmt::skip]
texts! {
    /// A template that users fill in.
    Text "stringProp" PropertyForm::Text, folded, converted;
    /// A template that may have several lines.
    Lines "stringProp" PropertyForm::Lines, folded, converted;
    /// A template of a number.
    Number "stringProp" PropertyForm::Number, folded, converted;
    /// A template, written in JMeter's syntax by its conversion.
    Template "stringProp" PropertyForm::Text, folded, unchanged;
    /// A template of several lines, written in JMeter's syntax by its conversion.
    TemplateLines "stringProp" PropertyForm::Lines, folded, unchanged;
    /// A text that is evaluated before the run.
    Value "stringProp" PropertyForm::Text, evaluated, unchanged;
    /// A text of several lines that is evaluated before the run.
    ValueLines "stringProp" PropertyForm::Lines, evaluated, unchanged;
    /// A text of a number that is evaluated before the run.
    ValueNumber "stringProp" PropertyForm::Number, evaluated, unchanged;
    /// The number of a choice, or its label.
    Mode "intProp" PropertyForm::Number, evaluated, unchanged;
    /// Source of a script.
    Source "stringProp" PropertyForm::Lines, unevaluated, unchanged;
    Method "stringProp" PropertyForm::Choice(&[
        "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE",
        "LOCK", "UNLOCK", "REPORT", "MKCALENDAR", "SEARCH",
    ]), evaluated, unchanged;
    OnError "stringProp" PropertyForm::Choice(
        &["continue", "startnextloop", "stopthread", "stoptest", "stoptestnow"]
    ), evaluated, unchanged;
    Language "stringProp" PropertyForm::Choice(&["groovy", "javascript", "beanshell"]), evaluated, unchanged;
    /// Part of a reply that an extractor searches.
    ReplyField "stringProp" PropertyForm::Choice(
        &["false", "unescaped", "as_document", "true", "request_headers", "URL", "code", "message"]
    ), evaluated, unchanged;
    /// Samples that an extractor or an assertion applies to.
    AppliesTo "stringProp" PropertyForm::Choice(&["all", "children", "variable"]), evaluated, unchanged;
    /// Users that share a data file.
    ShareMode "stringProp" PropertyForm::Choice(&["shareMode.all", "shareMode.group", "shareMode.thread"]), evaluated, unchanged;
    TestedField "stringProp" PropertyForm::Choice(&[
        "Assertion.response_data", "Assertion.response_data_as_document", "Assertion.response_code",
        "Assertion.response_message", "Assertion.response_headers", "Assertion.request_headers", "Assertion.sample_label",
        "Assertion.request_data",
    ]), evaluated, unchanged;
    MeasuredField "stringProp" PropertyForm::Choice(&[
        "SizeAssertion.response_network_size", "SizeAssertion.response_headers", "SizeAssertion.response_data",
        "SizeAssertion.response_code", "SizeAssertion.response_message",
    ]), evaluated, unchanged;
}

/// A boolean as JMeter reads it: any text except `true` is false.
pub(crate) struct Flag;

impl Field for Flag {
    type Value = bool;
    const TAG: &'static str = "boolProp";
    const FORM: PropertyForm = PropertyForm::Flag;

    fn read(property: &PropertyPlace<'_>) -> Result<bool, String> {
        let value = property.evaluated();
        let value = if value.trim().is_empty() { property.row.absent } else { value.trim() };
        Ok(value.eq_ignore_ascii_case("true"))
    }

    fn write(value: bool, name: &str, _: &mut dyn TextWriter) -> Prop {
        Prop::Scalar(Self::TAG, name.to_owned(), value.to_string())
    }
}

/// The number of a choice.
pub(crate) struct Code;

impl Field for Code {
    type Value = i64;
    const TAG: &'static str = "intProp";
    const FORM: PropertyForm = PropertyForm::Number;

    fn read(property: &PropertyPlace<'_>) -> Result<i64, String> {
        Decimal::read(property).map(|number| number as i64)
    }

    fn write(value: i64, name: &str, _: &mut dyn TextWriter) -> Prop {
        Prop::Scalar(Self::TAG, name.to_owned(), value.to_string())
    }
}

/// A number that must be known before the run.
pub(crate) struct Decimal;

impl Field for Decimal {
    type Value = f64;
    const FORM: PropertyForm = PropertyForm::Number;

    fn read(property: &PropertyPlace<'_>) -> Result<f64, String> {
        match property.evaluated().trim() {
            "" => Ok(property.row.absent.parse().unwrap_or_default()),
            text => number(property.row.name(), text),
        }
    }

    fn write(value: f64, name: &str, _: &mut dyn TextWriter) -> Prop {
        Prop::text(name, value.to_string())
    }
}

/// A list of templates.
pub(crate) struct TextList;

impl Field for TextList {
    type Value = Vec<String>;
    const TAG: &'static str = "collectionProp";
    const FORM: PropertyForm = PropertyForm::List;

    fn read(property: &PropertyPlace<'_>) -> Result<Vec<String>, String> {
        Ok(property.items().map(|item| property.before.folded(&item.text())).collect())
    }

    fn write(value: Vec<String>, name: &str, writer: &mut dyn TextWriter) -> Prop {
        let texts = value.into_iter().enumerate();
        let texts =
            texts.map(|(number, text)| Prop::text(&number.to_string(), writer.converted(text)));
        Prop::List(name.to_owned(), texts.collect())
    }
}

/// Rows of templates.
pub(crate) struct Table;

impl Field for Table {
    type Value = Vec<Vec<String>>;
    const TAG: &'static str = "collectionProp";
    const FORM: PropertyForm = PropertyForm::Table;

    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, String> {
        let before = property.before;
        let rows = property
            .items()
            .map(|row| row.items().map(|cell| before.folded(&cell.text())).collect());
        Ok(rows.collect())
    }

    fn write(value: Self::Value, name: &str, writer: &mut dyn TextWriter) -> Prop {
        let rows = value.into_iter().enumerate();
        let rows = rows.map(|(number, row)| TextList::write(row, &number.to_string(), writer));
        Prop::List(name.to_owned(), rows.collect())
    }
}

/// A list of elements.
pub(crate) struct Records<T>(PhantomData<T>);

impl<T: ListItem> Field for Records<T> {
    type Value = Vec<T>;
    const TAG: &'static str = "collectionProp";
    const FORM: PropertyForm = {
        let form = ItemForm { class: T::CLASS, properties: T::PROPERTIES };
        if T::IS_PAIR { PropertyForm::Pairs(form) } else { PropertyForm::Items(form) }
    };

    fn read(property: &PropertyPlace<'_>) -> Result<Vec<T>, String> {
        let items = property
            .items()
            .map(|item| T::read(property.before, &PropertySource(vec![item.properties()])));
        items.collect()
    }

    fn write(value: Vec<T>, name: &str, writer: &mut dyn TextWriter) -> Prop {
        let items = value.into_iter().map(|item| {
            let properties = item.write(writer).into_iter().map(|(_, property)| property);
            let mut properties: Vec<Prop> = properties.collect();
            // JMeter gives an item the name of its content.
            let item_name = match properties.first() {
                Some(Prop::Scalar(_, _, text)) => text.clone(),
                _ => String::new(),
            };
            properties.retain(|property| property.name() != ITEM_NAME);
            Prop::Element(item_name, T::CLASS, "", properties)
        });
        Prop::List(name.to_owned(), items.collect())
    }
}

/// Parses a trimmed text as a finite number.
///
/// # Errors
///
/// Fails with the name of the property and a fix.
pub(crate) fn number(name: &str, text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        let (message, fix) = no_number(name, text);
        format!("{message}; {fix}")
    })
}

/// Parses a whole number as Java does: without white space and decimals.
pub(crate) fn whole_number(text: &str) -> Option<f64> {
    text.parse::<i64>().ok().map(|number| number as f64)
}

/// Describes an invalid number, and its fix.
pub(crate) fn no_number(name: &str, text: &str) -> (String, &'static str) {
    let short = name.rsplit('.').next().unwrap_or(name);
    if text.contains("${") {
        let fix = "give its variable or property a value, such as -Jname=10";
        (format!("{short} is `{text}`, which is no number"), fix)
    } else if text.trim().parse::<f64>().is_ok() {
        (
            format!("{short} is `{text}`, which is no whole number"),
            "write it without spaces and decimals",
        )
    } else {
        (format!("{short} is `{text}`, which is no number"), "write a number")
    }
}
