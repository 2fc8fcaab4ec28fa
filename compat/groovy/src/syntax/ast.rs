//! The syntax tree of a script. Local variables are resolved to a number of frames
//! outwards and a slot.

use std::sync::Arc;

pub(crate) type Name = Arc<str>;

/// Syntax tree of a script.
pub(crate) struct Code {
    /// Statements outside of methods and classes.
    pub main: Arc<Function>,
    /// Names that are not local variables: `JMeter` objects, classes,
    /// variables created by assignment.
    pub globals: Vec<Name>,
    /// Methods in order; overloads share a name.
    pub methods: Vec<Method>,
    pub classes: Vec<Arc<ClassDef>>,
    pub imports: Vec<Import>,
    /// Names in places where only a class is valid, with their lines.
    pub class_uses: Vec<(u32, Name)>,
    pub dialect: crate::script::Dialect,
}

/// An `import` declaration of a script.
pub(crate) struct Import {
    pub line: u32,
    pub path: Name,
    pub alias: Name,
    pub is_static: bool,
    pub is_wild: bool,
}

/// A function of the script or of a class, or a closure.
pub(crate) struct Function {
    pub name: Name,
    pub parameters: Vec<Parameter>,
    /// True if a closure without parameters gets `it`, in slot 0.
    pub implicit_it: bool,
    pub body: Vec<Stmt>,
    /// Number of slots in its frame.
    pub slots: u16,
    pub returns: Type,
}

/// A method of the script or of a class.
pub(crate) struct Method {
    pub function: Arc<Function>,
    pub is_static: bool,
}

/// A parameter. Parameters occupy the first slots.
pub(crate) struct Parameter {
    pub ty: Type,
    pub default: Option<Expr>,
    pub variadic: bool,
}

/// A class of the script.
pub(crate) struct ClassDef {
    pub name: Name,
    pub parent: Option<Name>,
    pub fields: Vec<Field>,
    pub methods: Vec<Method>,
    pub constructors: Vec<Arc<Function>>,
    /// Initializer blocks.
    pub initializers: Vec<Method>,
    /// Constants of an enum, each with a function that evaluates its arguments.
    pub constants: Vec<(Name, Arc<Function>)>,
}

/// A field of a class.
pub(crate) struct Field {
    pub name: Name,
    pub ty: Type,
    /// Initial value, as a function without parameters.
    pub value: Option<Arc<Function>>,
    pub is_static: bool,
}

/// Effect of a declared type on values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// `def`, `var`, `Object`, and classes without conversion.
    Any,
    Void,
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Char,
    String,
    BigInteger,
    BigDecimal,
    List,
    Set,
    /// A class without a variant of its own.
    Class(Name),
    Array(Box<Type>),
}

/// A statement with its position.
pub(crate) struct Stmt {
    pub line: u32,
    pub kind: StmtKind,
}

pub(crate) enum StmtKind {
    Expr(Expr),
    /// Declarations with one type.
    Let(Vec<(u16, Type, Option<Expr>)>),
    /// `def (a, b) = …`
    LetMany(Vec<(u16, Type)>, Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Option<Name>, Expr, Box<Stmt>),
    DoWhile(Option<Name>, Box<Stmt>, Expr),
    For(Option<Name>, Box<ForParts>),
    ForIn(Option<Name>, u16, Type, Expr, Box<Stmt>),
    Switch(Expr, Vec<Case>),
    Break(Option<Name>),
    Continue(Option<Name>),
    Return(Option<Expr>),
    Throw(Expr),
    Try(Box<TryParts>),
    Assert(Expr, Option<Expr>, Name),
    Block(Vec<Stmt>),
    Nothing,
}

pub(crate) struct ForParts {
    pub before: Vec<Stmt>,
    pub condition: Option<Expr>,
    pub after: Vec<Expr>,
    pub body: Stmt,
}

pub(crate) struct TryParts {
    pub resources: Vec<Stmt>,
    pub resource_slots: Vec<u16>,
    pub body: Vec<Stmt>,
    pub catches: Vec<Catch>,
    pub finally: Option<Vec<Stmt>>,
}

pub(crate) struct Catch {
    /// Names of classes; empty to catch all.
    pub classes: Vec<Name>,
    pub slot: u16,
    pub body: Vec<Stmt>,
}

/// A case of a switch. A case with several labels becomes several cases, all but the
/// last with empty bodies.
pub(crate) struct Case {
    /// `None` for `default`.
    pub label: Option<Expr>,
    pub body: Vec<Stmt>,
    /// True for `case x ->`, which has no fall-through.
    pub closed: bool,
}

/// An expression of the syntax tree.
pub(crate) enum Expr {
    Null,
    This,
    Super,
    Bool(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Char(char),
    /// Digits of a `BigInteger`.
    BigInt(Name),
    /// Digits of a `BigDecimal`.
    Decimal(Name),
    Text(Name),
    Template(Vec<Piece>),
    /// Number of frames outwards, slot.
    Local(u16, u16),
    Global(u32),
    List(Vec<Argument>),
    /// A Java array initializer.
    Array(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// Ends; true if the last element is excluded.
    Range(Box<(Expr, Expr)>, bool),
    Closure(Arc<Function>),
    /// Operators of one precedence, from left to right.
    Chain(Box<Expr>, Vec<(Operator, u32, Expr)>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Plus(Box<Expr>),
    Invert(Box<Expr>),
    Ternary(Box<(Expr, Expr, Expr)>),
    Elvis(Box<(Expr, Expr)>),
    Assign(Box<Assignment>),
    /// Target, step; true for the value before the step.
    Step(Box<Expr>, i32, bool),
    Postfix(Box<Expr>, Vec<Post>),
    /// A call by name: local variable, method, `JMeter` object or global function.
    Call(Box<Call>),
    New(Box<New>),
    NewArray(Type, Vec<Expr>),
    Cast(Type, Box<Expr>),
    As(Box<Expr>, Type),
    InstanceOf(Box<Expr>, Type, bool),
    Switch(Box<Stmt>),
}

pub(crate) struct Assignment {
    pub target: Expr,
    pub ty: Type,
    pub operator: Option<Operator>,
    pub value: Expr,
    /// True for `?=`, which assigns only if the target is false.
    pub elvis: bool,
    /// Targets of `(a, b) = …`.
    pub many: Vec<Expr>,
}

pub(crate) struct Call {
    pub name: Name,
    pub local: Option<(u16, u16)>,
    pub global: u32,
    pub arguments: Vec<Argument>,
    pub line: u32,
}

pub(crate) struct New {
    pub class: Name,
    pub arguments: Vec<Argument>,
    pub line: u32,
    /// Methods of an anonymous class.
    pub body: Option<Arc<ClassDef>>,
}

/// An argument, or an element of a list.
pub(crate) enum Argument {
    Plain(Expr),
    /// `*list`
    Spread(Expr),
    /// `name: value`
    Named(Expr, Expr),
}

/// A part of a template.
pub(crate) enum Piece {
    Text(Name),
    Value(Expr),
}

/// Kind of member access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// `.`
    Plain,
    /// `?.`
    Safe,
    /// `*.`
    Spread,
}

/// Suffix of a value.
pub(crate) enum Post {
    Property(Reach, Name, u32),
    /// `."${name}"`
    DynamicProperty(Reach, Expr, u32),
    Method(Reach, Name, Vec<Argument>, u32),
    DynamicMethod(Reach, Expr, Vec<Argument>, u32),
    /// `[…]`
    Index(Vec<Argument>, u32),
    /// `(…)` directly after a value
    Call(Vec<Argument>, u32),
    /// `.&name`
    Reference(Name),
}

/// An operator between two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Identical,
    NotIdentical,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Compare,
    Find,
    Match,
    In,
    NotIn,
}
