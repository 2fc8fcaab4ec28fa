//! Parses values and their suffixes: members, indices, calls, closures.

use super::ast::{Argument, Call, Expr, Function, Name, New, Post, Reach, Type};
use super::parser::{LineEnds, Parse, Parser};
use super::scope::Visibility;
use super::token::Kind;
use super::types::KEYWORDS;
use std::sync::Arc;

impl Parser {
    pub fn postfix(&mut self) -> Parse<Expr> {
        let value = self.primary()?;
        self.postfix_of(value)
    }

    /// Parses the suffixes of a value.
    pub fn postfix_of(&mut self, value: Expr) -> Parse<Expr> {
        let mut posts = Vec::new();
        let mut base = value;
        while self.post(&mut base, &mut posts)? {}
        Ok(if posts.is_empty() { base } else { Expr::Postfix(Box::new(base), posts) })
    }

    /// Parses one suffix; `false` if none follows.
    fn post(&mut self, base: &mut Expr, posts: &mut Vec<Post>) -> Parse<bool> {
        let Kind::Mark(mark) = *self.kind() else { return Ok(false) };
        let line = self.line();
        match mark {
            "." | "?." | "*." | "::" | ".&" | ".@" | "*.@" => self.member(mark, posts)?,
            "[" if !self.on_new_line() => {
                self.advance();
                let arguments = self.nested(|parser| parser.arguments("]"))?;
                posts.push(Post::Index(arguments, line));
            }
            // `"with-dash"(…)` calls the method of this name.
            "(" if !self.has_space_before(0)
                && posts.is_empty()
                && matches!(base, Expr::Text(_)) =>
            {
                if let Expr::Text(name) = base {
                    let name = name.clone();
                    *base = self.call_of(&name, None, line)?;
                }
            }
            "(" if !self.on_new_line()
                && (!self.has_space_before(0) || !matches!(base, Expr::Text(_))) =>
            {
                self.advance();
                let arguments = self.nested(|parser| parser.arguments(")"))?;
                posts.push(Post::Call(arguments, line));
                self.trailing_closures(posts)?;
            }
            "{" if self.takes_closure(base, posts) => {
                let closure = self.closure()?;
                let callee = match base {
                    Expr::Global(global) => Some((*global, self.globals[*global as usize].clone())),
                    Expr::Text(name) => Some((self.global(name), name.clone())),
                    _ => None,
                };
                if let Some((global, name)) = callee.filter(|_| posts.is_empty()) {
                    *base = Expr::Call(Box::new(Call {
                        name,
                        local: None,
                        global,
                        arguments: Vec::new(),
                        line,
                    }));
                }
                Self::attach(base, posts, closure, line);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// True if `{` begins a closure argument of the preceding expression.
    fn takes_closure(&self, base: &Expr, posts: &[Post]) -> bool {
        // In Java, `{` after a value begins a block.
        if self.starts_line(0)
            || self.dialect == crate::Dialect::BeanShell && !self.is_closure_here()
        {
            return false;
        }
        match posts.last() {
            Some(Post::Property(..) | Post::Method(..)) => true,
            Some(_) => false,
            None => {
                matches!(base, Expr::Call(_) | Expr::Global(_) | Expr::Local(..) | Expr::Text(_))
            }
        }
    }

    /// Appends a closure to the arguments.
    fn attach(base: &mut Expr, posts: &mut Vec<Post>, closure: Expr, line: u32) {
        match posts.pop() {
            Some(Post::Property(reach, name, line)) => {
                posts.push(Post::Method(reach, name, vec![Argument::Plain(closure)], line));
            }
            Some(Post::Method(reach, name, mut arguments, line)) => {
                arguments.push(Argument::Plain(closure));
                posts.push(Post::Method(reach, name, arguments, line));
            }
            Some(Post::Call(mut arguments, line)) => {
                arguments.push(Argument::Plain(closure));
                posts.push(Post::Call(arguments, line));
            }
            Some(other) => {
                posts.push(other);
                posts.push(Post::Call(vec![Argument::Plain(closure)], line));
            }
            None => match base {
                Expr::Call(call) => call.arguments.push(Argument::Plain(closure)),
                _ => posts.push(Post::Call(vec![Argument::Plain(closure)], line)),
            },
        }
    }

    fn trailing_closures(&mut self, posts: &mut Vec<Post>) -> Parse<()> {
        while self.is_mark("{") && !self.starts_line(0) && self.dialect == crate::Dialect::Groovy {
            let line = self.line();
            let closure = self.closure()?;
            Self::attach(&mut Expr::Null, posts, closure, line);
        }
        Ok(())
    }

    /// Parses a member: `.name`, `.name(…)`, `."text"`, `.new`.
    fn member(&mut self, mark: &str, posts: &mut Vec<Post>) -> Parse<()> {
        let line = self.line();
        self.advance();
        let reach = match mark {
            "?." => Reach::Safe,
            "*." | "*.@" => Reach::Spread,
            _ => Reach::Plain,
        };
        let attribute = self.accept("@") || matches!(mark, ".@" | "*.@");
        if attribute {
            let name = self.name()?;
            posts.push(Post::Property(reach, format!("@{name}").into(), line));
            return Ok(());
        }
        if self.accept("**") {
            posts.push(Post::Property(reach, "**".into(), line));
            return Ok(());
        }
        if self.is_mark("<") {
            // Type arguments of a call.
            while !self.accept(">") && *self.kind() != Kind::End {
                self.advance();
            }
        }
        if matches!(mark, ".&" | "::") {
            let name = self.name()?;
            posts.push(Post::Reference(name));
            return Ok(());
        }
        match self.kind().clone() {
            Kind::Name(name) | Kind::Text(name) => {
                self.advance();
                if self.is_mark("(") && !self.on_new_line() {
                    self.advance();
                    let arguments = self.nested(|parser| parser.arguments(")"))?;
                    posts.push(Post::Method(reach, name, arguments, line));
                    return self.trailing_closures(posts);
                }
                posts.push(Post::Property(reach, name, line));
            }
            Kind::Template(_) => {
                let name = self.literal()?;
                if self.is_mark("(") && !self.on_new_line() {
                    self.advance();
                    let arguments = self.nested(|parser| parser.arguments(")"))?;
                    posts.push(Post::DynamicMethod(reach, name, arguments, line));
                } else {
                    posts.push(Post::DynamicProperty(reach, name, line));
                }
            }
            Kind::Mark("(") => {
                self.advance();
                let name = self.with_lines(LineEnds::Ignored, Self::expression)?;
                self.expect(")")?;
                posts.push(Post::DynamicProperty(reach, name, line));
            }
            _ => return Err(self.unexpected("the name of a property or method")),
        }
        Ok(())
    }

    fn primary(&mut self) -> Parse<Expr> {
        match self.kind().clone() {
            Kind::Text(_) | Kind::Template(_) | Kind::Char(_) => self.literal(),
            Kind::Number(_) => {
                let number = self.number()?;
                self.advance();
                Ok(number)
            }
            Kind::Mark("(") if self.is_lambda() => self.lambda_with_parentheses(),
            Kind::Mark("(") => {
                self.advance();
                let value =
                    self.nested(|parser| parser.with_lines(LineEnds::Ignored, Self::expression))?;
                self.expect(")")?;
                Ok(value)
            }
            Kind::Mark("[") => self.nested(Self::list_or_map),
            Kind::Mark("{") => self.closure(),
            Kind::Name(name) => self.named_primary(&name),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// True if `(…) ->` follows.
    fn is_lambda(&self) -> bool {
        // Bounded, because the search repeats for each parenthesis.
        for ahead in 1..40 {
            match self.kind_at(ahead) {
                Kind::Mark(")") => return self.is_mark_at(ahead + 1, "->"),
                Kind::Mark("," | "." | "<" | ">" | "[" | "]") | Kind::Name(_) => {}
                _ => return false,
            }
        }
        false
    }

    fn named_primary(&mut self, name: &Name) -> Parse<Expr> {
        match &**name {
            "true" | "false" => {
                self.advance();
                Ok(Expr::Bool(&**name == "true"))
            }
            "null" => {
                self.advance();
                Ok(Expr::Null)
            }
            "this" => {
                self.advance();
                Ok(Expr::This)
            }
            "super" => {
                self.advance();
                Ok(Expr::Super)
            }
            "new" => self.nested(Self::new_object),
            "switch" => {
                let line = self.line();
                let kind = self.nested(Self::switch_statement)?;
                Ok(Expr::Switch(Box::new(super::ast::Stmt { line, kind })))
            }
            word if KEYWORDS.contains(&word) => Err(self.unexpected("a value")),
            _ if self.is_mark_at(1, "->") => self.lambda(),
            _ => self.name_or_call(name),
        }
    }

    fn name_or_call(&mut self, name: &Name) -> Parse<Expr> {
        let line = self.line();
        self.advance();
        if self.is_mark("[")
            && self.is_mark_at(1, "]")
            && (self.is_mark_at(2, ".") || self.is_mark_at(2, ")") || self.is_mark_at(2, ","))
        {
            // `byte[].class`
            self.advance();
            self.advance();
        }
        if !self.is_mark("(") || self.on_new_line() {
            return Ok(self.variable(name));
        }
        let local = self.scopes.find(name).map(|(depth, slot, _)| (depth, slot));
        self.call_of(name, local, line)
    }

    /// Parses a call of a name, from its opening bracket on.
    fn call_of(&mut self, name: &Name, local: Option<(u16, u16)>, line: u32) -> Parse<Expr> {
        self.advance();
        let arguments = self.nested(|parser| parser.arguments(")"))?;
        let global = self.global(name);
        let mut call =
            Expr::Call(Box::new(Call { name: name.clone(), local, global, arguments, line }));
        while self.is_mark("{") && !self.starts_line(0) && self.dialect == crate::Dialect::Groovy {
            let closure = self.closure()?;
            if let Expr::Call(call) = &mut call {
                call.arguments.push(Argument::Plain(closure));
            }
        }
        Ok(call)
    }

    fn new_object(&mut self) -> Parse<Expr> {
        let line = self.line();
        self.advance();
        let begin = self.position;
        let mut name = self.name()?.to_string();
        while self.is_mark(".") && matches!(self.kind_at(1), Kind::Name(_)) {
            self.advance();
            name.push('.');
            name.push_str(&self.name()?);
        }
        let name: Name = name.into();
        if self.is_mark("[") {
            return self.new_array(begin);
        }
        self.position = begin;
        let Some((_, name)) = self.attempt(|parser| parser.try_new_type(&name)) else {
            return Err(self.unexpected("a class"));
        };
        self.note_class(line, &name);
        if self.is_mark("[") {
            return self.new_array(begin);
        }
        let arguments = if self.accept("(") { self.arguments(")")? } else { Vec::new() };
        // `new Name() {` begins an anonymous class.
        let body = if self.is_mark("{")
            && !self.starts_line(0)
            && self.dialect == crate::Dialect::Groovy
            || self.is_anonymous()
        {
            let class = self.class_body(format!("{name}$1").into(), Some(name.clone()), false)?;
            Some(Arc::new(class))
        } else {
            None
        };
        Ok(Expr::New(Box::new(New { class: name, arguments, line, body })))
    }

    fn is_anonymous(&self) -> bool {
        self.is_mark("{") && matches!(self.word_at(1), "public" | "protected" | "private" | "@")
    }

    /// Parses the generics of a class, which may be `<>`.
    fn try_new_type(&mut self, name: &Name) -> Option<(Type, Name)> {
        for _ in 0..name.split('.').count() * 2 - 1 {
            self.advance();
        }
        if self.is_mark("<") && self.is_mark_at(1, ">") {
            self.advance();
            self.advance();
        } else if self.is_mark("<") {
            let mut open = 0_i32;
            for _ in 0..200 {
                open += match self.kind() {
                    Kind::Mark("<") => 1,
                    Kind::Mark(">") => -1,
                    Kind::Mark(">>") => -2,
                    Kind::Mark(">>>") => -3,
                    Kind::Mark("," | "." | "?" | "[" | "]" | "&") | Kind::Name(_) => 0,
                    _ => return None,
                };
                self.advance();
                if open <= 0 {
                    break;
                }
            }
        }
        Some((Type::Any, name.clone()))
    }

    fn new_array(&mut self, begin: usize) -> Parse<Expr> {
        self.position = begin;
        let mut name = self.name()?.to_string();
        while self.accept(".") {
            name = self.name()?.to_string();
        }
        if self.is_mark("<") {
            while !self.accept(">") && *self.kind() != Kind::End {
                self.advance();
            }
        }
        let mut ty = super::types::named_type(&name.into());
        let mut sizes = Vec::new();
        while self.is_mark("[") && !self.on_new_line() {
            self.advance();
            if self.accept("]") {
                ty = Type::Array(Box::new(ty));
                continue;
            }
            sizes.push(self.with_lines(LineEnds::Ignored, Self::expression)?);
            self.expect("]")?;
        }
        if sizes.is_empty() && self.is_mark("{") {
            let array = self.array_initial()?;
            return Ok(Expr::Cast(ty, Box::new(array)));
        }
        Ok(Expr::NewArray(ty, sizes))
    }

    fn list_or_map(&mut self) -> Parse<Expr> {
        self.advance();
        if self.is_mark(":") && self.is_mark_at(1, "]") {
            self.advance();
            self.advance();
            return Ok(Expr::Map(Vec::new()));
        }
        self.with_lines(LineEnds::Ignored, |parser| {
            let mut items = Vec::new();
            while !parser.is_mark("]") {
                items.push(parser.item()?);
                if !parser.accept(",") {
                    break;
                }
            }
            parser.expect("]")?;
            let is_map = items.iter().any(|item| matches!(item, Argument::Named(..)));
            if !is_map {
                return Ok(Expr::List(items));
            }
            let mut pairs = Vec::new();
            for item in items {
                match item {
                    Argument::Named(key, value) => pairs.push((key, value)),
                    Argument::Spread(_) | Argument::Plain(_) => {
                        return Err(parser.error("a map has `key: value` only"));
                    }
                }
            }
            Ok(Expr::Map(pairs))
        })
    }

    fn item(&mut self) -> Parse<Argument> {
        if self.is_mark("*") && self.is_mark_at(1, ":") {
            self.advance();
            self.advance();
            // `*: map` has a key that no other entry can have.
            return Ok(Argument::Named(Expr::Super, self.expression()?));
        }
        if self.accept("*") {
            return Ok(Argument::Spread(self.expression()?));
        }
        if let Some(key) = self.attempt(Self::try_key) {
            return Ok(Argument::Named(key, self.expression()?));
        }
        let value = self.expression()?;
        if self.accept(":") {
            return Ok(Argument::Named(value, self.expression()?));
        }
        Ok(Argument::Plain(value))
    }

    /// True if `{` begins a closure with `->` in its head.
    pub fn is_closure_here(&self) -> bool {
        let mut open = 0_i32;
        // Bounded, because the search repeats for each brace.
        for ahead in 1..200 {
            match self.kind_at(ahead) {
                Kind::Mark("->") if open == 0 => return true,
                Kind::Mark("(" | "[" | "<") => open += 1,
                Kind::Mark(")" | "]" | ">") => open -= 1,
                Kind::Mark("," | "=" | "." | "..." | "?")
                | Kind::Name(_)
                | Kind::Number(_)
                | Kind::Text(_) => {}
                _ => return false,
            }
        }
        false
    }

    pub fn closure(&mut self) -> Parse<Expr> {
        let has_head = self.is_closure_here();
        self.expect("{")?;
        self.scopes.enter_function(Visibility::Enclosing);
        let parts = self.nested(|parser| {
            parser.with_lines(LineEnds::Significant, |parser| {
                let parameters = if has_head {
                    let parameters = parser.parameters("->")?;
                    parser.expect("->")?;
                    Some(parameters)
                } else {
                    // A closure without a head has the parameter `it`.
                    parser.declare(&"it".into(), Type::Any)?;
                    None
                };
                Ok((parameters, parser.statements_until(&Kind::Mark("}"))?))
            })
        });
        let slots = self.scopes.leave_function();
        let (parameters, body) = parts?;
        self.expect("}")?;
        Ok(closure_of(parameters, body, slots))
    }

    /// Parses a Java lambda `x -> …`.
    fn lambda(&mut self) -> Parse<Expr> {
        self.scopes.enter_function(Visibility::Enclosing);
        let body = self.nested(|parser| {
            let name = parser.name()?;
            parser.declare(&name, Type::Any)?;
            parser.expect("->")?;
            parser.lambda_body()
        });
        let slots = self.scopes.leave_function();
        let parameters =
            vec![super::ast::Parameter { ty: Type::Any, default: None, variadic: false }];
        Ok(closure_of(Some(parameters), body?, slots))
    }

    /// Parses a Java lambda `(a, b) -> …`.
    pub fn lambda_with_parentheses(&mut self) -> Parse<Expr> {
        self.scopes.enter_function(Visibility::Enclosing);
        let parts = self.nested(|parser| {
            parser.expect("(")?;
            let parameters = parser.parameters(")")?;
            parser.expect(")")?;
            parser.expect("->")?;
            Ok((parameters, parser.lambda_body()?))
        });
        let slots = self.scopes.leave_function();
        let (parameters, body) = parts?;
        Ok(closure_of(Some(parameters), body, slots))
    }

    fn lambda_body(&mut self) -> Parse<Vec<super::ast::Stmt>> {
        if self.is_mark("{") {
            return self.block();
        }
        let line = self.line();
        let value = self.expression()?;
        Ok(vec![super::ast::Stmt { line, kind: super::ast::StmtKind::Expr(value) }])
    }
}

fn closure_of(
    parameters: Option<Vec<super::ast::Parameter>>,
    body: Vec<super::ast::Stmt>,
    slots: u16,
) -> Expr {
    let implicit_it = parameters.is_none();
    let parameters = parameters.unwrap_or_default();
    let name = "call".into();
    Expr::Closure(Arc::new(Function {
        name,
        parameters,
        implicit_it,
        body,
        slots,
        returns: Type::Any,
    }))
}
