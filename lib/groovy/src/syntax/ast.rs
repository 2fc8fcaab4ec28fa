//! The tree of a script. Names of local variables are resolved: how many frames outwards, and which slot there.

use std::sync::Arc;

pub(crate) type Name = Arc<str>;

/// A parsed script.
pub(crate) struct Code {
    /// The statements outside of methods and classes.
    pub main: Arc<Function>,
    /// Names that are no local variables: `JMeter`'s objects, classes, variables made by assignment.
    pub globals: Vec<Name>,
    /// Methods, in order; several may have one name.
    pub methods: Vec<Method>,
    pub classes: Vec<Arc<ClassDef>>,
    pub imports: Vec<Import>,
    /// Classes that are named where only a class can stand, with their lines.
    pub named: Vec<(u32, Name)>,
    pub dialect: crate::script::Dialect,
}

/// `import …`
pub(crate) struct Import {
    pub line: u32,
    pub path: Name,
    pub alias: Name,
    pub is_static: bool,
    pub is_wild: bool,
}

/// A function: of the script, of a class, or a closure.
pub(crate) struct Function {
    pub name: Name,
    pub parameters: Vec<Parameter>,
    /// Whether a closure without parameters gets `it`, in slot 0.
    pub implicit_it: bool,
    pub body: Vec<Stmt>,
    /// Slots of its frame.
    pub slots: u16,
    pub returns: Type,
}

/// A method of the script or of a class.
pub(crate) struct Method {
    pub function: Arc<Function>,
    pub is_static: bool,
}

/// A parameter; parameters take the first slots.
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
    /// Constants of an enum with the arguments of each.
    pub constants: Vec<(Name, Arc<Function>)>,
}

/// A field of a class.
pub(crate) struct Field {
    pub name: Name,
    pub ty: Type,
    /// Its value, as a function without parameters.
    pub value: Option<Arc<Function>>,
    pub is_static: bool,
}

/// What a declared type does to values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// `def`, `var`, `Object`, classes.
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
    /// Another class.
    Class(Name),
    Array(Box<Type>),
}

/// A statement.
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
    /// Names of classes; none for all.
    pub classes: Vec<Name>,
    pub slot: u16,
    pub body: Vec<Stmt>,
}

/// A case of a switch; several labels stand as several cases, the first ones with empty bodies.
pub(crate) struct Case {
    /// `None` for `default`.
    pub label: Option<Expr>,
    pub body: Vec<Stmt>,
    /// `case x ->`: no fall-through.
    pub closed: bool,
}

/// An expression.
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
    /// Frames outwards, slot.
    Local(u16, u16),
    Global(u32),
    List(Vec<Argument>),
    /// An array of a Java initialiser.
    Array(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// From, to, whether the last is left out.
    Range(Box<(Expr, Expr)>, bool),
    Closure(Arc<Function>),
    /// Operators of one rank, from left to right.
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
    /// Target, step, whether the value is that from before.
    Step(Box<Expr>, i32, bool),
    Postfix(Box<Expr>, Vec<Post>),
    /// A call by name alone: local variable, method, `JMeter` object or global function.
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
    /// `?=`: only if the target is false.
    pub elvis: bool,
    /// `(a, b) = …`
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

/// How a member is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// `.`
    Plain,
    /// `?.`
    Safe,
    /// `*.`
    Spread,
}

/// What follows a value.
pub(crate) enum Post {
    Property(Reach, Name, u32),
    /// `."${name}"`
    DynamicProperty(Reach, Expr, u32),
    Method(Reach, Name, Vec<Argument>, u32),
    DynamicMethod(Reach, Expr, Vec<Argument>, u32),
    /// `[…]`
    Index(Vec<Argument>, u32),
    /// `(…)` behind a value
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
