//! Decorators: which of them leave a function as it is.

use super::{DefinitionKind, Module};
use crate::globals::{Binding, LATE};
use crate::lexer::{Block, Token, TokenKind};
use crate::names;
use crate::tokens::{Tokens, told, unusable};

/// Decorators that do not change what a function returns.
const KEEPING: &str =
    "cache lru_cache no_type_check override final staticmethod typechecked beartype";

impl<'t> Module<'t> {
    /// Marks a function as unusable if a decorator may change it.
    pub(super) fn decorated(&mut self, at: usize, name: Token<'t>) {
        for (token, block) in std::mem::take(&mut self.decorators) {
            let path = block
                .tokens
                .iter()
                .skip_while(|other| other.start <= token.start);
            let path = path.take_while(|other| other.kind == TokenKind::Name || other.is("."));
            let path: Vec<_> = path.map(|token| token.text).collect();
            let last = path.last().copied().unwrap_or_default();
            let keeps = names::is_one_of(KEEPING, last)
                || matches!(path[..], [name] if self.returns_argument(&block, name));
            if let [decorator] = path[..]
                && let Some((_, Binding::Function(decorator))) =
                    self.globals.get(self.dialect(), decorator, LATE)
            {
                self.used.borrow_mut()[decorator] = true;
            }
            if !keeps {
                let why = format!("the decorator `@{}` may change it", told(&path.concat()));
                let kind = unusable(name.text, token.line, why);
                self.functions[at].refused = Some(Tokens::new(self.text, &block).error(name, kind));
            }
        }
    }

    /// Whether a decorator without arguments is a function of the text that returns its argument.
    fn returns_argument(&self, decorator: &Block<'t>, name: &str) -> bool {
        if decorator.tokens.iter().any(|token| token.is("(")) {
            return false;
        }
        let bound = self.globals.get(self.dialect(), name, LATE);
        let Some((_, Binding::Function(at))) = bound else {
            return false;
        };
        let (function, block) = (&self.functions[at], self.block(at));
        let (count, parameter) = function.parameters;
        let tokens: Vec<_> = block
            .tokens
            .iter()
            .filter(|it| it.kind != TokenKind::Newline)
            .collect();
        let is_set = tokens
            .windows(2)
            .any(|it| it[0].is_name(parameter) && it[1].is("="));
        let returns = tokens
            .iter()
            .filter(|token| token.is_name("return"))
            .count();
        let ends = matches!(tokens[..], [.., it, value, _] if it.is_name("return") && value.is_name(parameter));
        function.kind == DefinitionKind::Def && count == 1 && !is_set && returns == 1 && ends
    }
}
