//! [`Parser`]: a block that is being read, and the program that is built from it.

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
    /// The dialect that names are of.
    pub(in crate::text) dialect: Dialect,
    /// The program whose body is read; `None` in its first line, and for a literal.
    pub(in crate::text) scope: Option<Scope<'t>>,
    /// The text around the block; `None` if there is none.
    pub(in crate::text) module: Option<&'b Module<'t>>,
    /// When names are looked up that the text around the block binds.
    pub(in crate::text) at: u32,
    /// When the function that is read is defined.
    pub(in crate::text) defined: u32,
    /// How the bodies are indented that are read, the outer ones first.
    pub(in crate::text) indents: Vec<&'t str>,
    /// Whether the argument that is read is a function which the call only calls.
    pub(in crate::text) is_only_called: bool,
    /// Whether the block has an `if` within a statement, once that was asked.
    pub(in crate::text) has_if: Option<bool>,
    /// Names in the block that a generated one must differ from; gathered when the first
    /// one is needed.
    avoided: Option<HashSet<&'t str>>,
    /// A function that has to be read before this block can be.
    pub(in crate::text) needs: Option<usize>,
}

/// A function or a value of a text, read.
#[derive(Debug)]
pub(in crate::text) struct Parsed {
    /// Its steps; of a value without inputs.
    pub(in crate::text) program: Program,
    /// The names of the parameters, for arguments by keyword.
    pub(in crate::text) parameters: Vec<String>,
    /// What a parameter is where no argument is given.
    pub(in crate::text) defaults: Vec<Option<Operand>>,
}

/// A function that a program defines.
#[derive(Debug, Clone)]
pub(in crate::text) struct LocalFunction<'t> {
    pub(in crate::text) line: u32,
    pub(in crate::text) parsed: Rc<Parsed>,
    /// The variables around that are its inputs behind the parameters.
    pub(in crate::text) captured: Rc<[&'t str]>,
    /// The names around that must not be set again once it is used.
    pub(in crate::text) kept: Rc<[&'t str]>,
    /// Whether it is defined around the function that is read.
    pub(in crate::text) is_around: bool,
}

/// A program half read.
pub(in crate::text) struct Scope<'t> {
    pub(in crate::text) builder: ProgramBuilder,
    /// What the program imports under a name.
    pub(in crate::text) imported: HashMap<&'t str, Binding<'t>>,
    /// The functions that it defines, and those around it that it uses.
    pub(in crate::text) functions: HashMap<&'t str, LocalFunction<'t>>,
    /// The variables of the program around that are inputs of it.
    pub(in crate::text) captured: HashSet<&'t str>,
    /// Names that must not be set again, since a function on this line uses what they stand for.
    pub(in crate::text) kept: HashMap<&'t str, u32>,
    /// Of the first variables whether they are integers whatever the grids are.
    integers: Vec<bool>,
    /// Where its body begins among the tokens.
    pub(in crate::text) body: usize,
    /// The number of the last generated name.
    generated: u32,
}

/// The primitives that give an integer, or fail, whatever they are given. Their signatures do not say that: `color` gives
/// what stands in the place of a colour.
const COUNTS: &[Primitive] = &[
    Primitive::Size,
    Primitive::Height,
    Primitive::Width,
    Primitive::Numcolors,
    Primitive::Colorcount,
];

/// Those that give an integer for integers.
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
    /// Says of the inputs behind so many parameters whether they are integers.
    pub(in crate::text) fn set_integers(&mut self, parameters: usize, integers: Vec<bool>) {
        self.integers = vec![false; parameters];
        self.integers.extend(integers);
    }

    /// Whether a variable is an integer whatever the grids are.
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

    /// A program of which nothing has been read but its first line.
    pub(in crate::text) fn new(builder: ProgramBuilder) -> Self {
        Self {
            builder,
            imported: HashMap::new(),
            functions: HashMap::new(),
            captured: HashSet::new(),
            kept: HashMap::new(),
            integers: Vec::new(),
            body: 0,
            generated: 0,
        }
    }
}

impl<'b, 't> Parser<'b, 't> {
    /// A parser of text that stands alone, of this dialect.
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
            None => Err(self.tokens.error(token, ParseErrorKind::NotLiteral)),
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

/// The value of an operand that has one before the program runs.
pub(in crate::text) fn constant(operand: &Operand) -> Option<Value> {
    match operand {
        Operand::Slot(_) => None,
        Operand::Primitive(primitive) => Some(Value::primitive(*primitive).clone()),
        Operand::Constant(constant) => Some(constant.value().clone()),
        Operand::Literal(value) => Some(value.clone()),
    }
}
