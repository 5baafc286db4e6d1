//! Functions are parsed after those that they call.

use std::rc::Rc;

use arc_dsl::Dialect;

use super::lowering::{Lowering, Parsed};
use super::{CALLS_ITSELF, DefinitionKind, Given, Module, ParseState, Read};
use crate::error::ParseError;
use crate::globals::{Binding, LATE};
use crate::lexer::{Block, TokenKind};
use crate::tokens::Tokens;

/// How often parsing a function is restarted, each time because of a callee that is not parsed yet, before all
/// functions that it may call are parsed first.
const MAX_RESTARTS: usize = 16;

/// How many functions are read within each other for the types of their arguments.
const MAX_TYPED: usize = 8;

impl<'t> Module<'t> {
    /// Parses a function, and before it its callees.
    pub(super) fn read_function(&mut self, at: usize, dialect: Dialect) {
        let mut stack = vec![(at, 0)];
        while let Some(top) = stack.len().checked_sub(1) {
            let (at, tries) = stack[top];
            if matches!(self.state(at, dialect), ParseState::Read(_)) {
                stack.pop();
                continue;
            }
            self.states[at][dialect as usize] = ParseState::Reading;
            let (read, needs) = self.try_to_read(at, dialect, Given::Grid);
            let Some(needs) = needs else {
                self.states[at][dialect as usize] = ParseState::Read(read);
                // Its tokens are no longer needed.
                stack.pop();
                continue;
            };
            stack[top].1 += 1;
            if tries >= MAX_RESTARTS {
                for function in self.may_call(at) {
                    if matches!(self.state(function, dialect), ParseState::Unread) {
                        stack.push((function, 0));
                    }
                }
            }
            stack.push((needs, 0));
        }
    }

    /// Counts the functions as used that occur in what cannot be read: in Python it may call them.
    pub(super) fn use_unread(&mut self) {
        let mut used = Vec::new();
        for at in 0..self.functions.len() {
            let mut states = self.states[at].iter();
            if states.any(|state| matches!(state, ParseState::Read(Err(_)))) {
                used.extend(self.may_call(at));
            }
        }
        for name in std::mem::take(&mut self.unread) {
            let bound = self.globals.get(self.dialect(), name, LATE);
            if let Some((_, Binding::Function(at))) = bound {
                used.push(at);
            }
        }
        for at in used {
            self.used.borrow_mut()[at] = true;
        }
    }

    /// The functions whose names occur in a function.
    pub(super) fn may_call(&self, at: usize) -> Vec<usize> {
        let (block, when) = (self.block(at), self.functions[at].at);
        let names = block
            .tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Name);
        let bound =
            names.filter_map(
                |token| match self.globals.get(self.dialect(), token.text, when)?.1 {
                    Binding::Function(other) if other != at => Some(other),
                    _ => None,
                },
            );
        let mut bound: Vec<_> = bound.collect();
        bound.sort_unstable();
        bound.dedup();
        bound
    }

    /// Parses a function for these arguments, once for all calls with such, unless it says why it cannot. Otherwise the
    /// function that has to be parsed first.
    pub(crate) fn read_for(
        &self,
        at: usize,
        dialect: Dialect,
        given: Given,
    ) -> Result<Result<Read, &'static str>, usize> {
        let key = (at, given);
        let mut typed = self.typed.borrow_mut();
        if let Some(read) = typed.get(&key) {
            return Ok(read.clone().ok_or(CALLS_ITSELF));
        }
        let open = typed.iter().filter(|(_, read)| read.is_none());
        if open.clone().any(|((other, _), _)| *other == at) {
            return Ok(Err(CALLS_ITSELF));
        }
        if open.count() == MAX_TYPED {
            return Ok(Err(
                "of functions that are no functions of grids, at most 8 are read within each other",
            ));
        }
        typed.insert(key.clone(), None);
        drop(typed);
        let current = self.current.get();
        let (read, needs) = self.try_to_read(at, dialect, key.1.clone());
        self.current.set(current);
        let mut typed = self.typed.borrow_mut();
        if let Some(needs) = needs {
            typed.remove(&key);
            return Err(needs);
        }
        typed.insert(key, Some(read.clone()));
        Ok(Ok(read))
    }

    /// Parses a function, unless another one has to be parsed first.
    fn try_to_read(&self, at: usize, dialect: Dialect, given: Given) -> (Read, Option<usize>) {
        let function = &self.functions[at];
        if let Some(error) = &function.refused {
            return (Err(error.clone()), None);
        }
        self.current.set(at);
        let block = self.block(at);
        let mut lowering = Lowering::within(self, &block, dialect);
        (lowering.at, lowering.defined) = (function.at, function.defined);
        lowering.given = given;
        let mut tokens = Tokens::new(self.text, &block);
        let read = match function.kind {
            DefinitionKind::Def => self.definition(&mut lowering, &block),
            DefinitionKind::Lambda { at } => {
                tokens.go_to(at);
                let first = tokens.peek();
                tokens.lambda_behind(first, 0).and_then(|lambda| {
                    tokens.in_body = true;
                    tokens.end_of_statement()?;
                    lowering.function(function.token.text, first, &lambda)
                })
            }
            DefinitionKind::Value { at, element } => {
                tokens.go_to(at);
                tokens.expressions().and_then(|value| {
                    tokens.end_of_statement()?;
                    lowering.value(&value, element)
                })
            }
        };
        (read.map(Rc::new), lowering.needs)
    }

    /// The function of a block that begins with `def`.
    pub(super) fn definition(
        &self,
        lowering: &mut Lowering<'_, 't>,
        block: &Block<'t>,
    ) -> Result<Parsed, ParseError> {
        let mut tokens = Tokens::new(self.text, block);
        tokens.bump();
        let def = tokens.peek();
        let function = tokens.function("the name of the program")?;
        lowering.function(function.name.text, def, &function)
    }
}
