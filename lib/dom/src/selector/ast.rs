//! The parts of a parsed selector.

/// Compound selectors from left to right, each with the combinator before it. The first combinator
/// counts only within `:has()`.
pub(super) type Complex = Vec<(Combinator, Vec<Simple>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    /// The next element sibling.
    Next,
    /// Any later element sibling.
    Later,
}

#[derive(Clone, Debug)]
pub(super) enum Simple {
    Any,
    Name(String),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        condition: Option<(Matcher, String)>,
        ignores_case: bool,
    },
    Nth {
        step: i64,
        offset: i64,
        from_end: bool,
        of_type: bool,
    },
    Empty,
    Root,
    Checked,
    Disabled,
    Enabled,
    Not(Vec<Complex>),
    Is(Vec<Complex>),
    Has(Vec<Complex>),
    /// Text in lower case that the element contains.
    Contains(String),
    Place(Place),
}

/// Comparison of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matcher {
    Equal,
    NotEqual,
    Word,
    Dash,
    Start,
    End,
    Inside,
}

/// A position among the elements found so far, from 0; negative numbers count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    At(i64),
    Below(i64),
    Above(i64),
}
