//! Parses types: `int`, `List<String>`, `java.util.Date[]`.

use super::ast::{Name, Type};
use super::parser::{Parse, Parser};
use super::token::Kind;

pub(super) const PRIMITIVES: [&str; 9] =
    ["boolean", "byte", "short", "int", "long", "float", "double", "char", "void"];

/// Words before a declaration that the interpreter ignores, except `static`.
pub(super) const MODIFIERS: [&str; 12] = [
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "synchronized",
    "transient",
    "volatile",
    "native",
    "strictfp",
    "default",
];

/// Words that cannot be names of variables.
pub(super) const KEYWORDS: [&str; 34] = [
    "if",
    "else",
    "while",
    "do",
    "for",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "throw",
    "try",
    "catch",
    "finally",
    "assert",
    "new",
    "in",
    "instanceof",
    "as",
    "true",
    "false",
    "null",
    "this",
    "super",
    "class",
    "interface",
    "enum",
    "import",
    "package",
    "extends",
    "implements",
    "throws",
    "def",
];

/// Type of a simple name.
pub(super) fn named_type(name: &Name) -> Type {
    match &**name {
        "def" | "var" | "Object" | "Comparable" | "Serializable" => Type::Any,
        "void" => Type::Void,
        "boolean" | "Boolean" => Type::Boolean,
        "byte" | "Byte" => Type::Byte,
        "short" | "Short" => Type::Short,
        "int" | "Integer" => Type::Int,
        "long" | "Long" => Type::Long,
        "float" | "Float" => Type::Float,
        "double" | "Double" => Type::Double,
        "char" | "Character" => Type::Char,
        "String" | "CharSequence" | "GString" => Type::String,
        "BigInteger" => Type::BigInteger,
        "BigDecimal" => Type::BigDecimal,
        "List" | "ArrayList" | "Collection" | "Iterable" => Type::List,
        "Set" | "HashSet" | "LinkedHashSet" => Type::Set,
        _ => Type::Class(name.clone()),
    }
}

impl Parser {
    /// Parses a type with its generics and brackets.
    pub fn ty(&mut self) -> Parse<Type> {
        let line = self.line();
        match self.attempt(Self::try_type) {
            Some((ty, name)) => {
                self.note_class(line, &name);
                Ok(ty)
            }
            None => Err(self.unexpected("a type")),
        }
    }

    /// Records a use of a class.
    pub fn note_class(&mut self, line: u32, name: &Name) {
        if !PRIMITIVES.contains(&&**name) && !["def", "var"].contains(&&**name) {
            self.class_uses.push((line, name.clone()));
        }
    }

    /// Parses a type; also returns its qualified name. None if no type follows.
    pub fn try_type(&mut self) -> Option<(Type, Name)> {
        let mut name = self.try_qualified()?;
        let end = self.position;
        if self.is_mark("<") && !self.try_generics() {
            // Not generics but a comparison, as in `x as int < 5`.
            self.position = end;
        }
        // A nested type after generics: `Map.Entry<K, V>`.
        if self.is_mark(".") && matches!(self.kind_at(1), Kind::Name(_)) && name.contains('.') {
            self.advance();
            name = self.name().ok()?;
        }
        let mut ty = named_type(&name.rsplit('.').next().unwrap_or(&name).into());
        if matches!(ty, Type::Class(_)) {
            ty = Type::Class(name.clone());
        }
        while self.is_mark("[") && self.is_mark_at(1, "]") {
            self.advance();
            self.advance();
            ty = Type::Array(Box::new(ty));
        }
        Some((ty, name))
    }

    /// Parses a qualified name such as `a.b.C`.
    fn try_qualified(&mut self) -> Option<Name> {
        let first = self.word().to_owned();
        if first.is_empty() || (KEYWORDS.contains(&&*first) && first != "def") {
            return None;
        }
        self.advance();
        let mut name = first;
        while self.is_mark(".") && matches!(self.kind_at(1), Kind::Name(_)) && !self.starts_line(0)
        {
            self.advance();
            name.push('.');
            name.push_str(self.word());
            self.advance();
        }
        Some(name.into())
    }

    /// Skips `<…>`; `false` if it is not a list of types.
    fn try_generics(&mut self) -> bool {
        let mut open = 0_i32;
        for _ in 0..200 {
            match self.kind() {
                Kind::Mark("<") => open += 1,
                Kind::Mark(">") => open -= 1,
                Kind::Mark(">>") => open -= 2,
                Kind::Mark(">>>") => open -= 3,
                Kind::Mark("," | "." | "?" | "&" | "[" | "]") | Kind::Name(_) => {}
                _ => return false,
            }
            self.advance();
            if open <= 0 {
                return open == 0;
            }
        }
        false
    }

    /// Skips modifiers and annotations.
    pub fn modifiers(&mut self) -> Parse<Modifiers> {
        let mut modifiers = Modifiers::default();
        loop {
            if self.is_mark("@")
                && matches!(self.kind_at(1), Kind::Name(_))
                && self.word_at(1) != "interface"
            {
                self.advance();
                self.name()?;
                while self.accept(".") {
                    self.name()?;
                }
                if self.is_mark("(") && !self.has_space_before(0) {
                    self.skip_parentheses()?;
                }
                modifiers.any = true;
            } else if self.word() == "def"
                && (MODIFIERS.contains(&self.word_at(1)) || self.is_mark_at(1, "<"))
            {
                modifiers.any = true;
                self.advance();
            } else if self.is_mark("<") && modifiers.any {
                // An interpreter needs no type parameters of a method.
                while !self.accept(">") && *self.kind() != Kind::End {
                    self.advance();
                }
            } else if MODIFIERS.contains(&self.word())
                && !self.is_mark_at(1, ":")
                && !self.is_mark_at(1, ".")
                && !self.is_mark_at(1, "->")
            {
                if self.word() == "default" && !matches!(self.kind_at(1), Kind::Name(_)) {
                    return Ok(modifiers);
                }
                modifiers.is_static |= self.word() == "static";
                modifiers.any = true;
                self.advance();
            } else {
                return Ok(modifiers);
            }
        }
    }

    fn skip_parentheses(&mut self) -> Parse<()> {
        let mut open = 0_i32;
        loop {
            match self.kind() {
                Kind::Mark("(") => open += 1,
                Kind::Mark(")") => open -= 1,
                Kind::End => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.advance();
            if open == 0 {
                return Ok(());
            }
        }
    }
}

/// Modifiers before a declaration.
#[derive(Clone, Copy, Default)]
pub(super) struct Modifiers {
    /// True if there is any modifier or annotation.
    pub any: bool,
    pub is_static: bool,
}
