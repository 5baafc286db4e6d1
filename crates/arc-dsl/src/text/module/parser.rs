//! [`Parser`]: parses a block and builds a program from it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use arc_isa::Primitive;

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, Program, ProgramBuilder, Slot};
use crate::text::error::ParseErrorKind;
use crate::text::globals::{Binding, LATE};
use crate::text::lexer::{Block, Token};
use crate::text::module::Module;
use crate::text::tokens::{Result, Tokens};
use crate::value::Value;

/// Reads one [`Block`].
pub(in crate::text) struct Parser<'b, 't> {
    pub(in crate::text) tokens: Tokens<'b, 't>,
    /// The dialect in which names are looked up.
    pub(in crate::text) dialect: Dialect,
    /// The program whose body is being parsed; `None` in its first line, and for a literal.
    pub(in crate::text) scope: Option<Scope<'t>>,
    /// The text around the block; `None` if there is none.
    pub(in crate::text) module: Option<&'b Module<'t>>,
    /// When names that the text binds are looked up.
    pub(in crate::text) at: u32,
    /// When the function being parsed is defined.
    pub(in crate::text) defined: u32,
    /// The indentations of the bodies being parsed, outermost first.
    pub(in crate::text) indents: Vec<&'t str>,
    /// Whether the argument being parsed is a function that the callee only calls.
    pub(in crate::text) is_only_called: bool,
    /// Whether the block has an `if` within a statement; `None` until it was checked.
    pub(in crate::text) has_if: Option<bool>,
    /// Names in the block that a generated name must differ from; collected when the first one is needed.
    avoided: Option<HashSet<&'t str>>,
    /// A function that has to be parsed before this block can be.
    pub(in crate::text) needs: Option<usize>,
}

/// A parsed function or value of a text.
#[derive(Debug)]
pub(in crate::text) struct Parsed {
    /// Its steps; for a value, a program without inputs.
    pub(in crate::text) program: Program,
    /// The names of the parameters, for arguments by keyword.
    pub(in crate::text) parameters: Vec<String>,
    /// The default of each parameter, if it has one.
    pub(in crate::text) defaults: Vec<Option<Operand>>,
}

/// A function that a program defines.
#[derive(Debug, Clone)]
pub(in crate::text) struct LocalFunction<'t> {
    pub(in crate::text) line: u32,
    pub(in crate::text) parsed: Rc<Parsed>,
    /// The variables of the enclosing scope that are its inputs after the parameters.
    pub(in crate::text) captured: Rc<[&'t str]>,
    /// The names of the enclosing scope that must not be set again once it is used.
    pub(in crate::text) frozen: Rc<[&'t str]>,
    /// Whether it is defined in a scope that encloses the current function.
    pub(in crate::text) is_around: bool,
}

/// A program that is being built.
pub(in crate::text) struct Scope<'t> {
    pub(in crate::text) builder: ProgramBuilder,
    /// The names that the program imports.
    pub(in crate::text) imported: HashMap<&'t str, Binding<'t>>,
    /// The functions that it defines, and those of enclosing scopes that it uses.
    pub(in crate::text) functions: HashMap<&'t str, LocalFunction<'t>>,
    /// The variables of the enclosing program that are inputs of it.
    pub(in crate::text) captured: HashSet<&'t str>,
    /// Names that must not be set again, since a function on this line depends on their values.
    pub(in crate::text) frozen: HashMap<&'t str, u32>,
    /// For the first variables, whether they are certainly integers.
    integers: Vec<bool>,
    /// The token index of its body.
    pub(in crate::text) body: usize,
    /// The number of the last generated name.
    generated: u32,
}

/// The primitives that return an integer or fail, whatever their arguments. Their signatures do not say that: `color`
/// returns whatever is in the place of a colour.
const COUNTS: &[Primitive] = &[
    Primitive::Size,
    Primitive::Height,
    Primitive::Width,
    Primitive::Numcolors,
    Primitive::Colorcount,
];

/// Primitives that return an integer if their arguments are integers.
const CALCULATES: &[Primitive] = &[
    Primitive::Add,
    Primitive::Subtract,
    Primitive::Multiply,
    Primitive::Divide,
    Primitive::Invert,
    Primitive::Double,
    Primitive::Halve,
    Primitive::Increment,
    Primitive::Decrement,
    Primitive::Identity,
];

impl Scope<'_> {
    /// Sets whether the inputs after this many parameters are integers.
    pub(in crate::text) fn set_integers(&mut self, parameters: usize, integers: Vec<bool>) {
        self.integers = vec![false; parameters];
        self.integers.extend(integers);
    }

    /// Whether a variable is certainly an integer.
    pub(in crate::text) fn is_integer(&mut self, slot: Slot) -> bool {
        for at in self.integers.len()..=slot.index() {
            let step = self.builder.step_of(Slot::at(at));
            let is_integer = step.is_some_and(|step| match step.callee {
                Callee::Primitive(it) if COUNTS.contains(&it) => true,
                Callee::Primitive(it) if CALCULATES.contains(&it) => {
                    step.arguments.iter().all(|argument| match argument {
                        Operand::Slot(slot) => self.integers[slot.index()],
                        other => matches!(constant(other), Some(Value::Int(_))),
                    })
                }
                _ => false,
            });
            self.integers.push(is_integer);
        }
        self.integers[slot.index()]
    }

    /// A program with nothing but its first line.
    pub(in crate::text) fn new(builder: ProgramBuilder) -> Self {
        Self {
            builder,
            imported: HashMap::new(),
            functions: HashMap::new(),
            captured: HashSet::new(),
            frozen: HashMap::new(),
            integers: Vec::new(),
            body: 0,
            generated: 0,
        }
    }
}

impl<'b, 't> Parser<'b, 't> {
    /// A parser of text that stands alone, in this dialect.
    pub(in crate::text) fn new(text: &'t str, block: &'b Block<'t>, dialect: Dialect) -> Self {
        Self {
            tokens: Tokens::new(text, block),
            dialect,
            scope: None,
            module: None,
            at: LATE,
            defined: LATE,
            indents: Vec::new(),
            is_only_called: false,
            has_if: None,
            avoided: None,
            needs: None,
        }
    }

    /// A parser of a block of a text.
    pub(in crate::text) fn within(
        module: &'b Module<'t>,
        block: &'b Block<'t>,
        dialect: Dialect,
    ) -> Self {
        Self {
            module: Some(module),
            ..Self::new(module.text, block, dialect)
        }
    }

    /// Fails with an error of this kind at a token.
    pub(in crate::text) fn fail<T>(&self, token: Token<'t>, kind: ParseErrorKind) -> Result<T> {
        Err(self.tokens.error(token, kind))
    }

    /// Adds a step to the program.
    pub(in crate::text) fn step(
        &mut self,
        token: Token<'t>,
        name: String,
        callee: Callee,
        arguments: Box<[Operand]>,
    ) -> Result<Operand> {
        match &mut self.scope {
            Some(scope) => scope
                .builder
                .step(token.line, name, callee, arguments)
                .map_err(|error| self.tokens.error(token, error.into())),
            None => self.fail(token, ParseErrorKind::NotLiteral),
        }
    }

    /// A name that the program's text does not contain.
    pub(in crate::text) fn generate_name(&mut self) -> String {
        let Some(scope) = &mut self.scope else {
            return String::new();
        };
        let avoided = self.avoided.get_or_insert_with(|| {
            let tokens = self.tokens.all().iter();
            tokens
                .map(|token| token.text)
                .filter(|text| text.starts_with('t'))
                .collect()
        });
        loop {
            scope.generated += 1;
            let name = format!("t{}", scope.generated);
            if !avoided.contains(name.as_str()) && scope.builder.variable(&name).is_none() {
                return name;
            }
        }
    }
}

/// The value of an operand, if it is known before the program runs.
pub(in crate::text) fn constant(operand: &Operand) -> Option<Value> {
    match operand {
        Operand::Slot(_) => None,
        Operand::Primitive(primitive) => Some(Value::primitive(*primitive).clone()),
        Operand::Constant(constant) => Some(constant.value().clone()),
        Operand::Literal(value) => Some(value.clone()),
    }
}
