//! Prints the longest functions, and checks that no function nests deeper than [`MAX_NESTING`].

use super::{assert_none, sources};
use std::fmt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ImplItemFn, ItemFn, TraitItemFn};

/// Maximum number of branches, loops and closures around a statement of a function.
const MAX_NESTING: usize = 5;

/// Number of the longest functions and files that are printed.
const PRINTED: usize = 5;

/// Length and nesting of one function.
struct FunctionShape {
    path: String,
    line: usize,
    name: String,
    lines: usize,
    nesting: usize,
}

impl fmt::Display for FunctionShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, name, lines, nesting } = self;
        write!(formatter, "{path}:{line}: {name}: {lines} lines, nesting {nesting}")
    }
}

/// Collects the shapes of all functions of a file.
struct FunctionVisitor<'a> {
    path: &'a str,
    shapes: Vec<FunctionShape>,
}

impl FunctionVisitor<'_> {
    fn add(&mut self, name: &syn::Ident, block: &Block) {
        let mut depth = NestingVisitor::default();
        depth.visit_block(block);
        let span = block.span();
        let name = name.to_string();
        let line = span.start().line;
        let lines = span.end().line + 1 - line;
        self.shapes.push(FunctionShape {
            path: self.path.to_owned(),
            line,
            name,
            lines,
            nesting: depth.deepest,
        });
    }
}

impl<'ast> Visit<'ast> for FunctionVisitor<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig.ident, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Measures how deeply branches, loops and closures with a block nest in a function.
#[derive(Default)]
struct NestingVisitor {
    depth: usize,
    deepest: usize,
}

impl<'ast> Visit<'ast> for NestingVisitor {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let nests = match expression {
            Expr::If(_) | Expr::Match(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                true
            }
            Expr::Closure(closure) => matches!(*closure.body, Expr::Block(_)),
            _ => false,
        };
        self.depth += usize::from(nests);
        self.deepest = self.deepest.max(self.depth);
        visit::visit_expr(self, expression);
        self.depth -= usize::from(nests);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        self.visit_block(&branch.then_branch);
        match branch.else_branch.as_ref().map(|(_, otherwise)| &**otherwise) {
            // A chain of `else if` is one level.
            Some(Expr::If(next)) => self.visit_expr_if(next),
            Some(otherwise) => self.visit_expr(otherwise),
            None => {}
        }
    }

    /// A function in a function is measured on its own.
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn shapes_of(path: &str, source: &str) -> Vec<FunctionShape> {
    let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut visitor = FunctionVisitor { path, shapes: Vec::new() };
    visitor.visit_file(&file);
    visitor.shapes
}

#[test]
fn functions_do_not_nest_too_deeply() {
    let mut sources = sources(&super::SOURCES);
    sources.sort_by_key(|(_, text)| std::cmp::Reverse(text.lines().count()));
    let mut shapes: Vec<FunctionShape> =
        sources.iter().flat_map(|(path, text)| shapes_of(path, text)).collect();
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.lines));
    println!("longest files:");
    for (path, text) in sources.iter().take(PRINTED) {
        println!("  {path}: {} lines", text.lines().count());
    }
    println!("longest functions:");
    for shape in shapes.iter().take(PRINTED) {
        println!("  {shape}");
    }
    let too_deep = shapes.iter().filter(|shape| shape.nesting > MAX_NESTING);
    assert_none(
        &too_deep.map(|shape| format!("{shape} (at most {MAX_NESTING})")).collect::<Vec<_>>(),
    );
}

#[test]
fn a_chain_of_branches_is_one_level_and_an_inner_function_counts_alone() {
    let source = "fn outer() { if a { } else if b { loop { fn inner() { if c { match d { _ => {} } } } } } else { e(|| { f }) } }";
    let shapes = shapes_of("file.rs", source);
    let nesting: Vec<(&str, usize)> =
        shapes.iter().map(|shape| (&*shape.name, shape.nesting)).collect();
    assert_eq!(nesting, [("outer", 2), ("inner", 2)]);
}
