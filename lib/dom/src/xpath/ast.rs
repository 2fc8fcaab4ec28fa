//! The parts of a parsed expression.

use regex::Regex;

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(f64),
    Text(Box<str>),
    /// Operators of the same precedence, from left to right.
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
    Negate(Box<Expr>),
    Union(Vec<Expr>),
    Call(Function, Vec<Expr>),
    Matches(Box<Expr>, Box<Regex>),
    Replace(Box<Expr>, Box<Regex>, Box<str>),
    Path(Path),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Clone, Debug)]
pub(super) struct Path {
    pub start: Start,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) enum Start {
    Root,
    Context,
    Filter(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub axis: Axis,
    pub test: Test,
    pub predicates: Vec<Expr>,
    /// True if a predicate depends on the position among the nodes of one context node.
    pub is_positional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
    Namespace,
    Itself,
}

pub(super) const AXES: [(&str, Axis); 13] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("following", Axis::Following),
    ("preceding", Axis::Preceding),
    ("attribute", Axis::Attribute),
    ("namespace", Axis::Namespace),
    ("self", Axis::Itself),
];

#[derive(Clone, Debug)]
pub(super) enum Test {
    /// Any element, attribute or namespace, depending on the axis.
    Any,
    /// A test `prefix:*`, with the colon.
    Prefix(Box<str>),
    Name(Box<str>),
    /// A local name in a namespace. An empty URI means no namespace; None means any name.
    Qualified {
        uri: Box<str>,
        local: Option<Box<str>>,
    },
    Node,
    Text,
    Comment,
    Instruction(Option<Box<str>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Last,
    Position,
    Count,
    Id,
    LocalName,
    NamespaceUri,
    Name,
    String,
    Concat,
    StartsWith,
    EndsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    LowerCase,
    UpperCase,
    Boolean,
    Not,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
    Matches,
    Replace,
}

/// Each function with its minimum and maximum number of arguments.
pub(super) const FUNCTIONS: [(&str, Function, usize, usize); 32] = [
    ("last", Function::Last, 0, 0),
    ("position", Function::Position, 0, 0),
    ("count", Function::Count, 1, 1),
    ("id", Function::Id, 1, 1),
    ("local-name", Function::LocalName, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("name", Function::Name, 0, 1),
    ("string", Function::String, 0, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("starts-with", Function::StartsWith, 2, 2),
    ("ends-with", Function::EndsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring", Function::Substring, 2, 3),
    ("string-length", Function::StringLength, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("translate", Function::Translate, 3, 3),
    ("lower-case", Function::LowerCase, 1, 1),
    ("upper-case", Function::UpperCase, 1, 1),
    ("boolean", Function::Boolean, 1, 1),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
    ("lang", Function::Lang, 1, 1),
    ("number", Function::Number, 0, 1),
    ("sum", Function::Sum, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("round", Function::Round, 1, 1),
    ("matches", Function::Matches, 2, 3),
    ("replace", Function::Replace, 3, 4),
];

impl Expr {
    /// True if the expression gives a set of nodes.
    pub fn is_nodes(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Union(_) | Self::Call(Function::Id, _))
    }

    /// True if its value as a predicate may depend on the position of the node.
    pub fn is_positional(&self) -> bool {
        self.is_number() || self.uses_position()
    }

    fn is_number(&self) -> bool {
        use Function::{Ceiling, Count, Floor, Last, Number, Position, Round, StringLength, Sum};
        match self {
            Self::Number(_) | Self::Negate(_) => true,
            Self::Chain(_, rest) => rest.iter().any(|(operator, _)| operator.is_arithmetic()),
            Self::Call(function, _) => {
                [Ceiling, Count, Floor, Last, Number, Position, Round, StringLength, Sum]
                    .contains(function)
            }
            _ => false,
        }
    }

    fn uses_position(&self) -> bool {
        match self {
            Self::Chain(first, rest) => {
                first.uses_position() || rest.iter().any(|(_, one)| one.uses_position())
            }
            Self::Negate(one) | Self::Matches(one, _) | Self::Replace(one, _, _) => {
                one.uses_position()
            }
            Self::Union(all) => all.iter().any(Self::uses_position),
            Self::Call(Function::Last | Function::Position, _) => true,
            Self::Call(_, arguments) => arguments.iter().any(Self::uses_position),
            // Within the predicates of a path, position() is that of the path's nodes.
            Self::Path(Path { start: Start::Filter(first, _), .. }) => first.uses_position(),
            Self::Number(_) | Self::Text(_) | Self::Path(_) => false,
        }
    }
}

impl Operator {
    pub fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Modulo)
    }
}
