//! Parses declarations: variables, methods, classes, imports.

use super::ast::{
    ClassDef, Expr, Field, Function, Import, Method, Name, Parameter, StmtKind, Type,
};
use super::parser::{LineEnds, Parse, Parser};
use super::scope::Visibility;
use super::token::Kind;
use super::types::{KEYWORDS, PRIMITIVES};
use std::sync::Arc;

/// Start of a declaration.
enum DeclarationStart {
    Variable(Type, Name),
    Method(Type, Name, Name),
}

impl Parser {
    pub fn declaration_or_expression(&mut self) -> Parse<StmtKind> {
        let before = self.position;
        let modifiers = self.modifiers()?;
        if modifiers.any && matches!(self.word(), "class" | "interface" | "enum" | "trait") {
            return self.class_statement();
        }
        if modifiers.is_static && self.is_mark("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        let may_declare_tuple =
            matches!(self.word(), "def" | "var") || (modifiers.any && self.is_mark("("));
        if may_declare_tuple
            && (self.is_mark("(") || self.is_mark_at(1, "("))
            && let Some(names) = self.attempt(Self::try_many)
        {
            return self.declare_tuple(names);
        }
        let line = self.line();
        match self.attempt(Self::try_begin) {
            Some(DeclarationStart::Variable(ty, name)) => {
                self.note_type(line, &ty);
                self.variables(ty, name)
            }
            Some(DeclarationStart::Method(ty, name, ty_name)) => {
                self.note_class(line, &ty_name);
                self.method(ty, name, modifiers.is_static)
            }
            // `final x = 1`
            None if modifiers.any
                && matches!(self.kind(), Kind::Name(_))
                && self.is_mark_at(1, "=") =>
            {
                let name = self.name()?;
                self.variables(Type::Any, name)
            }
            // `static name(a) {`
            None if modifiers.any
                && matches!(self.kind(), Kind::Name(_))
                && self.is_mark_at(1, "(") =>
            {
                let position = self.position;
                let name = self.name()?;
                if self.starts_method() {
                    return self.method(Type::Any, name, modifiers.is_static);
                }
                self.position = position;
                self.expression_statement()
            }
            None => {
                self.position = before;
                self.modifiers()?;
                if self.starts_method_without_type() {
                    let name = self.name()?;
                    return self.method(Type::Any, name, false);
                }
                self.expression_statement()
            }
        }
    }

    fn note_type(&mut self, line: u32, ty: &Type) {
        match ty {
            Type::Class(name) => self.class_uses.push((line, name.clone())),
            Type::Array(element) => self.note_type(line, element),
            _ => {}
        }
    }

    /// True for `name(a, b) {` of `BeanShell`, a method without a type.
    fn starts_method_without_type(&self) -> bool {
        let name = self.word();
        if name.is_empty()
            || KEYWORDS.contains(&name)
            || !self.is_mark_at(1, "(")
            || self.scopes.depth() > 1
        {
            return false;
        }
        let mut open = 0_i32;
        for ahead in 1..400 {
            match self.kind_at(ahead) {
                Kind::Mark("(") => open += 1,
                Kind::Mark(")") => {
                    open -= 1;
                    if open == 0 {
                        // In Groovy this would be a call with a closure. Only a list of bare
                        // names is a method.
                        return self.is_mark_at(ahead + 1, "{")
                            && self.only_names(2, ahead)
                            && self.dialect == crate::Dialect::BeanShell;
                    }
                }
                Kind::End => return false,
                _ => {}
            }
        }
        false
    }

    fn only_names(&self, from: usize, to: usize) -> bool {
        (from..to).all(|ahead| {
            matches!(
                self.kind_at(ahead),
                Kind::Name(_) | Kind::Mark("," | "[" | "]" | "." | "<" | ">")
            )
        })
    }

    /// Parses `Type name` if a declaration can follow.
    fn try_begin(&mut self) -> Option<DeclarationStart> {
        let first = self.word().to_owned();
        if first.is_empty() || (KEYWORDS.contains(&&*first) && first != "def") {
            return None;
        }
        let (mut ty, ty_name) = self.try_type()?;
        // A name on the next line begins a statement of its own.
        if self.starts_line(0) && first != "def" && !self.ignores_line_ends {
            return None;
        }
        let name: Name = match self.kind() {
            Kind::Name(name) if !KEYWORDS.contains(&&**name) => name.clone(),
            // `def "a method name"()`
            Kind::Text(name) if self.is_mark_at(1, "(") && first == "def" => name.clone(),
            _ => return None,
        };
        self.advance();
        while self.is_mark("[") && self.is_mark_at(1, "]") {
            self.advance();
            self.advance();
            ty = Type::Array(Box::new(ty));
        }
        if self.is_mark("(") {
            return if self.starts_method() {
                Some(DeclarationStart::Method(ty, name, ty_name))
            } else {
                None
            };
        }
        // `println x` is a call; `Foo x`, `int x` and `foo x = 1` are declarations.
        let is_certain =
            first == "def" || first == "var" || PRIMITIVES.contains(&&*first) || self.is_mark("=");
        let is_class_name =
            ty_name.rsplit('.').next().is_some_and(|name| name.starts_with(char::is_uppercase));
        let is_complete = self.starts_line(0)
            || matches!(self.kind(), Kind::Mark("=" | ";" | "," | "}" | ")" | ":") | Kind::End)
            || self.word() == "in";
        if is_complete && (is_certain || is_class_name || matches!(ty, Type::Array(_))) {
            Some(DeclarationStart::Variable(ty, name))
        } else {
            None
        }
    }

    /// True if `(…)` and then `{` or `throws` follow.
    fn starts_method(&self) -> bool {
        let mut open = 0_i32;
        for ahead in 0..2_000 {
            match self.kind_at(ahead) {
                Kind::Mark("(") => open += 1,
                Kind::Mark(")") => open -= 1,
                Kind::End => return false,
                _ => {}
            }
            if open == 0 {
                return self.is_mark_at(ahead + 1, "{")
                    || self.word_at(ahead + 1) == "throws"
                    || self.is_mark_at(ahead + 1, ";");
            }
        }
        false
    }

    /// Parses `def (a, int b)`.
    fn try_many(&mut self) -> Option<Vec<(Type, Name)>> {
        if !self.is_mark("(") {
            self.advance();
        }
        self.advance();
        let mut names = Vec::new();
        loop {
            let typed = matches!(self.kind_at(1), Kind::Name(_))
                || self.is_mark_at(1, "<")
                || self.is_mark_at(1, "[");
            let ty = if typed { self.try_type()?.0 } else { Type::Any };
            names.push((ty, self.name().ok()?));
            if !self.is_mark(",") {
                break;
            }
            self.advance();
        }
        if self.is_mark(")") && self.is_mark_at(1, "=") {
            self.advance();
            self.advance();
            return Some(names);
        }
        None
    }

    fn declare_tuple(&mut self, names: Vec<(Type, Name)>) -> Parse<StmtKind> {
        let value = self.expression()?;
        let mut slots = Vec::new();
        for (ty, name) in names {
            slots.push((self.declare(&name, ty.clone())?, ty));
        }
        Ok(StmtKind::LetMany(slots, value))
    }

    #[allow(clippy::needless_pass_by_value)] // Each variable gets its own type.
    fn variables(&mut self, ty: Type, first: Name) -> Parse<StmtKind> {
        let mut variables = Vec::new();
        let mut name = first;
        loop {
            let mut ty = ty.clone();
            while self.is_mark("[") && self.is_mark_at(1, "]") {
                self.advance();
                self.advance();
                ty = Type::Array(Box::new(ty));
            }
            // Declared before its value, because a closure may call itself by the
            // name of its variable.
            let is_recursive =
                self.is_mark("=") && self.is_mark_at(1, "{") && !matches!(ty, Type::Array(_));
            let early_slot =
                if is_recursive { Some(self.declare(&name, ty.clone())?) } else { None };
            let value = if self.accept("=") { Some(self.initial_value(&ty)?) } else { None };
            let slot = match early_slot {
                Some(slot) => slot,
                None => self.declare(&name, ty.clone())?,
            };
            variables.push((slot, ty, value));
            let next = self.is_mark(",") && matches!(self.kind_at(1), Kind::Name(_));
            if !next {
                return Ok(StmtKind::Let(variables));
            }
            self.advance();
            name = self.name()?;
        }
    }

    fn initial_value(&mut self, ty: &Type) -> Parse<Expr> {
        if matches!(ty, Type::Array(_)) && self.is_mark("{") {
            return self.array_initial();
        }
        let value = self.expression()?;
        self.command(value)
    }

    /// Parses the array initializer `{1, 2}`.
    pub fn array_initial(&mut self) -> Parse<Expr> {
        self.expect("{")?;
        let mut items = Vec::new();
        while !self.is_mark("}") {
            let item = self.nested(|parser| {
                if parser.is_mark("{") {
                    parser.array_initial()
                } else {
                    parser.with_lines(LineEnds::Ignored, Self::expression)
                }
            })?;
            items.push(item);
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Expr::Array(items))
    }

    fn method(&mut self, returns: Type, name: Name, is_static: bool) -> Parse<StmtKind> {
        let function = self.function(name, returns, Visibility::Enclosing)?;
        self.methods.push(Method { function: Arc::new(function), is_static });
        Ok(StmtKind::Nothing)
    }

    /// Parses the parameters and body of a method.
    fn function(&mut self, name: Name, returns: Type, visibility: Visibility) -> Parse<Function> {
        self.scopes.enter_function(visibility);
        let parts = self.nested(|parser| {
            parser.expect("(")?;
            let parameters = parser.parameters(")")?;
            parser.expect(")")?;
            if parser.accept_word("throws") {
                parser.ty()?;
                while parser.accept(",") {
                    parser.ty()?;
                }
            }
            let body = if parser.is_mark("{") { parser.block()? } else { Vec::new() };
            Ok((parameters, body))
        });
        let slots = self.scopes.leave_function();
        let (parameters, body) = parts?;
        Ok(Function { name, parameters, implicit_it: false, body, slots, returns })
    }

    /// Parses parameters up to a mark, without consuming it.
    pub fn parameters(&mut self, end: &str) -> Parse<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.is_mark(end) {
            self.modifiers()?;
            let is_untyped = self.is_mark("...")
                || matches!(self.kind(), Kind::Name(_))
                    && (self.is_mark_at(1, ",")
                        || self.is_mark_at(1, "=")
                        || self.is_mark_at(1, end));
            let mut ty = if is_untyped { Type::Any } else { self.ty()? };
            let variadic = self.accept("...");
            let name = self.name()?;
            while self.is_mark("[") && self.is_mark_at(1, "]") {
                self.advance();
                self.advance();
                ty = Type::Array(Box::new(ty));
            }
            let default = if self.accept("=") {
                Some(self.with_lines(LineEnds::Ignored, Self::expression)?)
            } else {
                None
            };
            self.declare(&name, ty.clone())?;
            parameters.push(Parameter { ty, default, variadic });
            if !self.accept(",") {
                break;
            }
        }
        Ok(parameters)
    }

    pub fn import(&mut self) -> Parse<StmtKind> {
        let line = self.line();
        let package = self.word() == "package";
        self.advance();
        let is_static = self.accept_word("static");
        let mut path = self.name()?.to_string();
        let mut is_wild = false;
        while self.accept(".") {
            if self.accept("*") {
                is_wild = true;
                break;
            }
            path.push('.');
            path.push_str(&self.name()?);
        }
        is_wild |= self.accept("*");
        let last = path.rsplit('.').next().unwrap_or(&path).to_owned();
        let alias = if self.accept_word("as") { self.name()? } else { last.into() };
        if !package {
            self.imports.push(Import { line, path: path.into(), alias, is_static, is_wild });
        }
        Ok(StmtKind::Nothing)
    }

    pub fn class_statement(&mut self) -> Parse<StmtKind> {
        let is_enum = self.word() == "enum";
        self.advance();
        let name = self.name()?;
        if self.is_mark("<") {
            // An interpreter needs no type parameters.
            while !self.is_mark("{")
                && !matches!(self.word(), "extends" | "implements")
                && *self.kind() != Kind::End
            {
                self.advance();
            }
        }
        let mut parent = None;
        while matches!(self.word(), "extends" | "implements") {
            let extends = self.word() == "extends";
            self.advance();
            loop {
                let Some((_, name)) = self.attempt(Self::try_type) else {
                    return Err(self.unexpected("a class"));
                };
                if extends {
                    parent = Some(name);
                }
                if !self.accept(",") {
                    break;
                }
            }
        }
        let class = self.class_body(name, parent, is_enum)?;
        self.classes.push(Arc::new(class));
        Ok(StmtKind::Nothing)
    }

    pub fn class_body(
        &mut self,
        name: Name,
        parent: Option<Name>,
        is_enum: bool,
    ) -> Parse<ClassDef> {
        let mut class = ClassDef {
            name,
            parent,
            fields: Vec::new(),
            methods: Vec::new(),
            constructors: Vec::new(),
            initializers: Vec::new(),
            constants: Vec::new(),
        };
        self.expect("{")?;
        self.nested(|parser| {
            parser.with_lines(LineEnds::Significant, |parser| {
                if is_enum {
                    parser.constants(&mut class)?;
                }
                while !parser.is_mark("}") {
                    parser.class_member(&mut class)?;
                }
                Ok(())
            })
        })?;
        self.expect("}")?;
        Ok(class)
    }

    fn constants(&mut self, class: &mut ClassDef) -> Parse<()> {
        while matches!(self.kind(), Kind::Name(_)) && !self.word().is_empty() {
            let name = self.name()?;
            let mut items = Vec::new();
            if self.accept("(") {
                items = self.arguments(")")?;
            }
            let function = self.thunk(Expr::List(items));
            class.constants.push((name, Arc::new(function)));
            if !self.accept(",") {
                break;
            }
        }
        self.accept(";");
        Ok(())
    }

    fn thunk(&mut self, value: Expr) -> Function {
        let line = self.line();
        let body = vec![super::ast::Stmt { line, kind: StmtKind::Return(Some(value)) }];
        let parameters = Vec::new();
        Function {
            name: "value".into(),
            parameters,
            implicit_it: false,
            body,
            slots: 4,
            returns: Type::Any,
        }
    }

    fn class_member(&mut self, class: &mut ClassDef) -> Parse<()> {
        if self.accept(";") {
            return Ok(());
        }
        let modifiers = self.modifiers()?;
        if matches!(self.word(), "class" | "interface" | "enum") {
            self.class_statement()?;
            return Ok(());
        }
        if self.is_mark("{") {
            self.scopes.enter_function(Visibility::OwnOnly);
            let body = self.block();
            let slots = self.scopes.leave_function();
            let function = Function {
                name: "<init>".into(),
                parameters: Vec::new(),
                implicit_it: false,
                body: body?,
                slots,
                returns: Type::Void,
            };
            class
                .initializers
                .push(Method { function: Arc::new(function), is_static: modifiers.is_static });
            return Ok(());
        }
        let simple = class.name.rsplit('.').next().unwrap_or(&class.name).to_owned();
        // A method with the name of its class is a constructor.
        if self.word() == simple && self.is_mark_at(1, "(") {
            let name = self.name()?;
            let function = self.function(name, Type::Any, Visibility::OwnOnly)?;
            class.constructors.push(Arc::new(function));
            return Ok(());
        }
        let ty = if matches!(self.kind(), Kind::Name(_))
            && !matches!(self.kind_at(1), Kind::Name(_) | Kind::Mark("<" | "[" | "."))
        {
            Type::Any
        } else {
            if self.is_mark("<") {
                while !self.accept(">") && *self.kind() != Kind::End {
                    self.advance();
                }
            }
            self.ty()?
        };
        let name = self.name()?;
        if self.is_mark("(") {
            let function = self.function(name, ty, Visibility::OwnOnly)?;
            class
                .methods
                .push(Method { function: Arc::new(function), is_static: modifiers.is_static });
            return Ok(());
        }
        self.fields(class, &ty, name, modifiers.is_static)
    }

    fn fields(
        &mut self,
        class: &mut ClassDef,
        ty: &Type,
        first: Name,
        is_static: bool,
    ) -> Parse<()> {
        let mut name = first;
        loop {
            let value = if self.accept("=") {
                self.scopes.enter_function(Visibility::OwnOnly);
                let value = self.initial_value(ty);
                let slots = self.scopes.leave_function();
                let mut function = self.thunk(value?);
                function.slots = slots;
                Some(Arc::new(function))
            } else {
                None
            };
            class.fields.push(Field { name, ty: ty.clone(), value, is_static });
            if !self.accept(",") {
                break;
            }
            name = self.name()?;
        }
        self.accept(";");
        Ok(())
    }
}
