//! Determines the dialect of each program of a text: that of the names that it uses.

use std::collections::HashSet;

use arc_dsl::Dialect;

use crate::globals::{Binding, LATE};
use crate::lexer::TokenKind;
use crate::module::Module;
use crate::names;

/// Which dialects have names in a text that no other one has.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    public: bool,
    typed: bool,
}

impl Evidence {
    /// The dialect, if the names are those of one alone.
    fn dialect(self) -> Option<Dialect> {
        match (self.public, self.typed) {
            (true, false) => Some(Dialect::Public),
            (false, true) => Some(Dialect::Typed),
            _ => None,
        }
    }
}

impl Module<'_> {
    /// Chooses the dialect of each of these functions, unless the caller has.
    ///
    /// A function with the input alone is in the public dialect. For any other one the names decide that only one of
    /// the dialects has: those that it uses; if it uses none, those of the whole text; and at last its parameters.
    pub(super) fn choose_dialects(&mut self, functions: impl Iterator<Item = usize>) {
        if self.reading.dialect.is_some() || self.lists_all {
            return;
        }
        let mut of_text = None;
        for at in functions {
            let (count, first) = self.functions[at].parameters;
            if count < 2 {
                continue;
            }
            let own = self.evidence(at).dialect();
            let chosen = own.or_else(|| {
                let of_text = of_text.get_or_insert_with(|| {
                    (0..self.functions.len()).fold(Evidence::default(), |sum, at| {
                        let next = self.evidence(at);
                        Evidence {
                            public: sum.public || next.public,
                            typed: sum.typed || next.typed,
                        }
                    })
                });
                of_text.dialect()
            });
            let by_parameters = if first == "S" {
                Dialect::Typed
            } else {
                Dialect::Public
            };
            self.functions[at].dialect = chosen.unwrap_or(by_parameters);
        }
    }

    /// Which dialects have names in a function that the other one does not have.
    fn evidence(&self, at: usize) -> Evidence {
        let block = self.block(at);
        let tokens = &block.tokens[..];
        let is_set = |place: usize| tokens.get(place + 1).is_some_and(|next| next.is("="));
        let is_name = |place: &usize| tokens[*place].kind == TokenKind::Name;
        let names = || (0..tokens.len()).filter(is_name);
        let set: HashSet<&str> = names()
            .filter(|&place| is_set(place))
            .map(|place| tokens[place].text)
            .collect();
        let mut evidence = Evidence::default();
        for place in names() {
            let name = tokens[place].text;
            let is_part = place > 0 && tokens[place - 1].is(".");
            if is_part || set.contains(name) {
                continue;
            }
            let ours = self.ours(name);
            let [public, typed] = [Dialect::Public, Dialect::Typed]
                .map(|dialect| names::known(dialect, ours).is_some());
            if public == typed {
                continue;
            }
            let dialect = if typed {
                Dialect::Typed
            } else {
                Dialect::Public
            };
            if matches!(
                self.globals.get(dialect, name, LATE),
                None | Some((_, Binding::Dsl(_)))
            ) {
                evidence.public |= public;
                evidence.typed |= typed;
            }
        }
        evidence
    }
}
