//! Parses imports: which names they bind, and to what.

use crate::text::beside::{DslPart, Meaning, joined};
use crate::text::globals::{Binding, StarImport};
use crate::text::lexer::{Token, TokenKind};
use crate::text::module::parser::Parser;
use crate::text::names::{self, is_of_dsl};
use crate::text::tokens::{Result, told};

/// The effects of an import.
#[derive(Debug, Default)]
pub(super) struct Imports<'t> {
    pub(super) names: Vec<(Token<'t>, Binding<'t>)>,
    pub(super) stars: Vec<StarImport>,
    /// The module of a star import.
    pub(super) module: &'t str,
}

impl<'t> Parser<'_, 't> {
    /// Parses an import, which comes next.
    pub(super) fn imports(&mut self) -> Result<Imports<'t>> {
        let mut imports = Imports::default();
        if self.tokens.bump().is_name("import") {
            loop {
                let first = self.tokens.peek();
                let path = self.module_path();
                if path.is_empty() {
                    return Err(self.tokens.unexpected("the name of a module"));
                }
                if self.tokens.peek().is_name("as") {
                    self.tokens.bump();
                    let name = self.tokens.name("a name for the module")?;
                    imports.names.push((name, Binding::Module(path.to_owned())));
                } else {
                    // `import a.b` binds `a`.
                    imports
                        .names
                        .push((first, Binding::Module(first.text.to_owned())));
                }
                if !self.tokens.accept(",") {
                    break;
                }
            }
            return Ok(imports);
        }
        let path = self.module_path();
        imports.module = path;
        if !self.tokens.peek().is_name("import") {
            return Err(self
                .tokens
                .unexpected("`import` after the name of the module"));
        }
        self.tokens.bump();
        if self.tokens.accept("*") {
            let beside = self.module.and_then(|module| module.module_beside(path));
            let star =
                beside.map_or_else(|| StarImport::of(path), |(at, _)| StarImport::Beside(at));
            imports.stars.push(star);
            return Ok(imports);
        }
        let open = self.tokens.peek();
        let in_brackets = self.tokens.accept("(");
        if in_brackets && self.tokens.accept(")") {
            return self.fail(
                open,
                crate::text::error::ParseErrorKind::Expected {
                    expected: "names to import",
                    found: "`()`".to_owned(),
                },
            );
        }
        loop {
            let name = self.tokens.name("a name to import")?;
            let mut target = name;
            if self.tokens.peek().is_name("as") {
                self.tokens.bump();
                target = self.tokens.name("a name after `as`")?;
            }
            imports.names.push((target, self.imported(path, name.text)));
            if !self.tokens.accept(",") || (in_brackets && self.tokens.peek().is(")")) {
                break;
            }
        }
        if in_brackets {
            self.tokens.expect(")", "`,` or `)`")?;
        }
        Ok(imports)
    }

    /// What this name of a module is bound to.
    fn imported(&self, path: &'t str, name: &'t str) -> Binding<'t> {
        let beside = self.module.and_then(|module| module.module_beside(path));
        match beside.and_then(|(at, beside)| beside.meaning(at, name)) {
            Some(Meaning::Dsl) => return Binding::Dsl(name),
            Some(Meaning::Other(file, line)) => return Binding::Beside(file.clone(), *line),
            None => {}
        }
        let is_dsl = DslPart::of(path) != DslPart::Other;
        let ours = self.module.map_or(name, |module| module.ours(name));
        if is_dsl && is_of_dsl(ours) {
            return Binding::Dsl(name);
        }
        if DslPart::of(name) != DslPart::Other {
            return Binding::Module(joined(path, name));
        }
        let name = told(name);
        let path = if path.is_empty() { "." } else { path };
        Binding::Other(if is_dsl {
            format!("the DSL has no `{name}`")
        } else {
            format!("`{name}` is imported from `{}`", told(path))
        })
    }

    /// A dotted module path, possibly with leading dots; it may be empty.
    fn module_path(&mut self) -> &'t str {
        let (first, mut last) = (self.tokens.peek(), None);
        loop {
            let token = self.tokens.peek();
            let is_part = match token.kind {
                TokenKind::Name => !names::is_keyword(token.text) && token.text != "as",
                _ => token.is(".") || token.is("..."),
            };
            let follows = last.is_none_or(|last: Token<'t>| {
                (last.kind == TokenKind::Name) != (token.kind == TokenKind::Name)
                    || token.kind != TokenKind::Name
            });
            if !is_part || !follows {
                break;
            }
            last = Some(self.tokens.bump());
        }
        last.map_or("", |last| self.tokens.between(first, last))
    }
}
