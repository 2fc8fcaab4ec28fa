//! Properties of elements as fields of structs.
//!
//! A row of the table of kinds (`support/kinds.rs`) names each property once, with its type. The table generates a struct of
//! the values for each kind, which is read from a plan ([`Fields::read`]) and written to an exported one ([`Fields::write`]).
//! A test finds a property that is read and not used (`plan/tests/rows.rs`).

use crate::element::TestElement;
use crate::error::JmxError;
use crate::export::{Place, PlanWriter, Prop};
use crate::forms::{PairForm, PropertyForm, PropertyRow};
use crate::plan::PlanReader;
use crate::plan::texts::number_of;
use crate::property::{Properties, Property};
use crate::support::kinds::{Authorization, Cookie, Header, Parameter, Upload, Variable};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Path of the name of an item in a list, which is an attribute.
const ITEM_NAME: &str = "@name";

/// Values of the properties of a kind of element.
pub(crate) trait Fields: Sized {
    /// Its properties: those that brunt reads, then those that it ignores.
    const PROPERTIES: &'static [PropertyRow];

    /// Reads the values.
    ///
    /// # Errors
    ///
    /// Fails on an invalid number that must be known before the run.
    fn read(reader: &PlanReader<'_>, source: &PropertySource<'_>) -> Result<Self, JmxError>;

    /// Writes the values, and the defaults of ignored properties.
    fn write(self, writer: &mut PlanWriter<'_>) -> Vec<(&'static str, Prop)>;
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
    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, JmxError>;

    /// Writes a property.
    fn write(value: Self::Value, name: &str, writer: &mut PlanWriter<'_>) -> Prop;
}

/// Writes a property of a row. An empty one is omitted, unless JMeter writes it in a new element.
pub(crate) fn written<F: Field>(
    value: F::Value,
    row: &PropertyRow,
    writer: &mut PlanWriter<'_>,
) -> Option<(&'static str, Prop)> {
    let property = F::write(value, row.name(), writer);
    (row.initial.is_some() || !property.is_empty()).then_some((row.path, property))
}

/// Properties of an element, and those of the elements with defaults for it.
pub(crate) struct PropertySource<'d> {
    /// The element, for messages.
    element: TestElement<'d>,
    /// Its properties, then those of the innermost defaults.
    levels: Vec<Properties<'d>>,
}

impl<'d> PropertySource<'d> {
    /// Properties of an element alone.
    pub(crate) fn of(element: TestElement<'d>) -> Self {
        Self { element, levels: vec![element.properties()] }
    }

    /// Properties of an element, and of the defaults around it, the innermost last.
    pub(crate) fn with_defaults(element: TestElement<'d>, defaults: &[TestElement<'d>]) -> Self {
        let levels = std::iter::once(&element).chain(defaults.iter().rev());
        Self { element, levels: levels.map(TestElement::properties).collect() }
    }

    /// All properties at a path, the element's first.
    fn all(&self, path: &str) -> impl Iterator<Item = Property<'d>> {
        self.levels.iter().filter_map(move |properties| properties.at(path))
    }

    /// The first text at a path that is not empty.
    fn text(&self, path: &str) -> Option<Cow<'d, str>> {
        if path == ITEM_NAME {
            return self.levels.first().map(Properties::name);
        }
        self.all(path).map(|property| property.text()).find(|text| !text.is_empty())
    }
}

impl PlanReader<'_> {
    /// Reads the properties of an element.
    ///
    /// # Errors
    ///
    /// Fails on an invalid number that must be known before the run.
    pub(crate) fn fields<F: Fields>(&self, element: TestElement<'_>) -> Result<F, JmxError> {
        F::read(self, &PropertySource::of(element))
    }
}

/// The place of a property in a plan.
pub(crate) struct PropertyPlace<'r> {
    pub(crate) reader: &'r PlanReader<'r>,
    pub(crate) source: &'r PropertySource<'r>,
    pub(crate) row: &'static PropertyRow,
}

impl PropertyPlace<'_> {
    /// A template: constants are evaluated, and users fill in the rest.
    fn folded(&self) -> String {
        self.reader.before.folded(&self.unevaluated())
    }

    /// A text that is evaluated before the run.
    fn evaluated(&self) -> String {
        self.reader.before.text(&self.unevaluated())
    }

    /// The text in the plan.
    fn unevaluated(&self) -> String {
        self.source.text(self.row.path).map_or_else(|| self.row.absent.to_owned(), Cow::into_owned)
    }

    /// Items of all collections.
    fn items(&self) -> impl Iterator<Item = Property<'_>> {
        self.source.all(self.row.path).flat_map(|list| list.items().collect::<Vec<_>>())
    }
}

impl PlanWriter<'_> {
    fn converted(&mut self, text: String) -> String {
        self.text(&text, Place::Text)
    }

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

            fn read(property: &PropertyPlace<'_>) -> Result<String, JmxError> {
                Ok(property.$read())
            }

            fn write(value: String, name: &str, writer: &mut PlanWriter<'_>) -> Prop {
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

    fn read(property: &PropertyPlace<'_>) -> Result<bool, JmxError> {
        let value = property.evaluated();
        let value = if value.trim().is_empty() { property.row.absent } else { value.trim() };
        Ok(value.eq_ignore_ascii_case("true"))
    }

    fn write(value: bool, name: &str, _: &mut PlanWriter<'_>) -> Prop {
        Prop::Scalar(Self::TAG, name.to_owned(), value.to_string())
    }
}

/// The number of a choice.
pub(crate) struct Code;

impl Field for Code {
    type Value = i64;
    const TAG: &'static str = "intProp";
    const FORM: PropertyForm = PropertyForm::Number;

    fn read(property: &PropertyPlace<'_>) -> Result<i64, JmxError> {
        Decimal::read(property).map(|number| number as i64)
    }

    fn write(value: i64, name: &str, _: &mut PlanWriter<'_>) -> Prop {
        Prop::Scalar(Self::TAG, name.to_owned(), value.to_string())
    }
}

/// A number that must be known before the run.
pub(crate) struct Decimal;

impl Field for Decimal {
    type Value = f64;
    const FORM: PropertyForm = PropertyForm::Number;

    fn read(property: &PropertyPlace<'_>) -> Result<f64, JmxError> {
        let PropertyPlace { source, row, .. } = property;
        let default = row.absent.parse().unwrap_or_default();
        number_of(source.element, row.path, &property.evaluated(), default)
    }

    fn write(value: f64, name: &str, _: &mut PlanWriter<'_>) -> Prop {
        Prop::text(name, value.to_string())
    }
}

/// A list of templates.
pub(crate) struct TextList;

impl Field for TextList {
    type Value = Vec<String>;
    const TAG: &'static str = "collectionProp";
    const FORM: PropertyForm = PropertyForm::List;

    fn read(property: &PropertyPlace<'_>) -> Result<Vec<String>, JmxError> {
        Ok(property.items().map(|item| property.reader.before.folded(&item.text())).collect())
    }

    fn write(value: Vec<String>, name: &str, writer: &mut PlanWriter<'_>) -> Prop {
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

    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, JmxError> {
        let before = &property.reader.before;
        let rows = property
            .items()
            .map(|row| row.items().map(|cell| before.folded(&cell.text())).collect());
        Ok(rows.collect())
    }

    fn write(value: Self::Value, name: &str, writer: &mut PlanWriter<'_>) -> Prop {
        let rows = value.into_iter().enumerate();
        let rows = rows.map(|(number, row)| TextList::write(row, &number.to_string(), writer));
        Prop::List(name.to_owned(), rows.collect())
    }
}

/// Names and values of an `Arguments` element.
pub(crate) struct Variables;

impl Variables {
    /// Names and unevaluated values of the items of a list, without those that have an empty name.
    pub(crate) fn pairs<'d>(
        items: impl Iterator<Item = Property<'d>>,
    ) -> impl Iterator<Item = (String, String)> {
        let [name, value, ..] = Variable::PROPERTIES else { unreachable!("a name and a value") };
        items.filter_map(|item| {
            let properties = item.properties();
            let name = properties.text(name.path)?.trim().to_owned();
            let value = properties.text(value.path).unwrap_or_default().into_owned();
            (!name.is_empty()).then_some((name, value))
        })
    }
}

impl Field for Variables {
    type Value = Vec<(String, String)>;
    const TAG: &'static str = Records::<Variable>::TAG;
    const FORM: PropertyForm = Records::<Variable>::FORM;

    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, JmxError> {
        Ok(Self::pairs(property.items()).collect())
    }

    fn write(value: Self::Value, name: &str, writer: &mut PlanWriter<'_>) -> Prop {
        let variables = value.into_iter().map(|(name, value)| Variable { name, value });
        Records::write(variables.collect(), name, writer)
    }
}

pub(crate) type Parameters = Records<Parameter>;
pub(crate) type Uploads = Records<Upload>;
pub(crate) type Headers = Records<Header>;
pub(crate) type Cookies = Records<Cookie>;
pub(crate) type Authorizations = Records<Authorization>;

/// A list of elements.
pub(crate) struct Records<T>(PhantomData<T>);

impl<T: ListItem> Field for Records<T> {
    type Value = Vec<T>;
    const TAG: &'static str = "collectionProp";
    const FORM: PropertyForm = if T::IS_PAIR {
        PropertyForm::Pairs(PairForm { class: T::CLASS, properties: T::PROPERTIES })
    } else {
        PropertyForm::Table
    };

    fn read(property: &PropertyPlace<'_>) -> Result<Vec<T>, JmxError> {
        let element = property.source.element;
        let items = property.items().map(|item| {
            T::read(property.reader, &PropertySource { element, levels: vec![item.properties()] })
        });
        items.collect()
    }

    fn write(value: Vec<T>, name: &str, writer: &mut PlanWriter<'_>) -> Prop {
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
