//! [`Program`]: a straight-line sequence of calls, resolved and ready to run.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arc_isa::Primitive;
use rustc_hash::FxBuildHasher;

use crate::constants::Constant;
use crate::dialect::Dialect;
use crate::typed::TypedPrimitive;
use crate::value::literal::Literal;
use crate::value::{MAX_INT, Value};

/// A variable of a [`Program`], by its index in [`Program::variables`]. The first ones are the inputs; slot 0 is the
/// input grid in the public dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The input grid.
    pub const INPUT: Slot = Slot(0);

    /// The variable with this index: 0 is the input, step `n` sets variable `n + 1`.
    pub fn at(index: usize) -> Self {
        Slot(index as u32)
    }

    /// Its index among the variables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An argument of a step: a variable, a primitive as a value, a constant or a literal.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A variable set by an earlier step, or the input.
    Slot(Slot),
    /// A primitive passed as a function.
    Primitive(Primitive),
    /// A constant by its public name.
    Constant(Constant),
    /// A literal value.
    Literal(Value),
}

/// Literals are equal if they are written alike: equal sets may be in different orders.
impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Operand::Slot(a), Operand::Slot(b)) => a == b,
            (Operand::Primitive(a), Operand::Primitive(b)) => a == b,
            (Operand::Constant(a), Operand::Constant(b)) => a == b,
            (Operand::Literal(a), Operand::Literal(b)) => a == b && a.to_string() == b.to_string(),
            _ => false,
        }
    }
}

impl Eq for Operand {}

impl Operand {
    /// The variable, if it is one.
    #[must_use]
    pub fn slot(&self) -> Option<Slot> {
        match self {
            Operand::Slot(slot) => Some(*slot),
            _ => None,
        }
    }

    /// The callee of a step that calls it; `None` if it is a constant or a literal.
    #[must_use]
    pub fn callee(&self) -> Option<Callee> {
        match self {
            Operand::Slot(slot) => Some(Callee::Slot(*slot)),
            Operand::Primitive(primitive) => Some(Callee::Primitive(*primitive)),
            Operand::Literal(Value::Foreign(crate::Foreign::Primitive(primitive))) => {
                Some(Callee::Typed(*primitive))
            }
            Operand::Constant(_) | Operand::Literal(_) => None,
        }
    }

    /// The same, or why it cannot be called.
    pub fn called(&self) -> Result<Callee, BuildError> {
        self.callee().ok_or_else(|| {
            BuildError::NotCallable(match self {
                Operand::Constant(constant) => format!("the constant `{constant}`"),
                Operand::Literal(value) => value.kind().to_string(),
                Operand::Slot(_) | Operand::Primitive(_) => String::new(),
            })
        })
    }
}

/// What a step calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// A primitive; the number of arguments is checked when the step is added.
    Primitive(Primitive),
    /// A primitive of the typed dialect, which takes any number of arguments: a call with the wrong number returns the
    /// default.
    Typed(TypedPrimitive),
    /// A variable that holds a function.
    Slot(Slot),
}

/// One call, whose result is assigned to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Line in the text that the program was parsed from, counted from 1.
    pub line: u32,
    /// The variable that is set; no other step sets it.
    pub target: Slot,
    /// What is called.
    pub callee: Callee,
    /// The arguments in the order of the parameters.
    pub arguments: Box<[Operand]>,
}

impl Step {
    /// The variables that it reads: the one that it calls, and those among its arguments.
    pub fn reads(&self) -> impl Iterator<Item = Slot> {
        let callee = match self.callee {
            Callee::Slot(slot) => Some(slot),
            Callee::Primitive(_) | Callee::Typed(_) => None,
        };
        let arguments = self.arguments.iter().filter_map(Operand::slot);
        callee.into_iter().chain(arguments)
    }
}

/// A program: computes an output from an input grid, step by step.
///
/// Created by a [`ProgramBuilder`], or from text by the crate arc-text. Both guarantee that every
/// operand is set before it is used and that every primitive is called with the right number of arguments. Printing it
/// gives text that parses to the same program, provided that the names given to the builder are identifiers without
/// another use.
#[derive(Debug, Clone)]
pub struct Program {
    name: String,
    source: Option<Arc<str>>,
    task: Option<Arc<str>>,
    /// Whether its name was derived from its file name.
    named_by_file: bool,
    line: u32,
    dialect: Dialect,
    /// How many of the variables are inputs.
    inputs: usize,
    variables: Vec<String>,
    steps: Vec<Step>,
    output: Operand,
    /// The code of a program in free Python, which has no steps.
    python: Option<Arc<[Vec<Block>]>>,
}

/// A block of code, and how many lines come before it in its text.
pub type Block = (usize, String);

/// Programs are equal if their names and steps are; their positions in a file do not count.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        let same_step = |(a, b): (&Step, &Step)| {
            a.target == b.target && a.callee == b.callee && a.arguments == b.arguments
        };
        self.name == other.name
            && (self.dialect, self.inputs) == (other.dialect, other.inputs)
            && self.variables == other.variables
            && self.output == other.output
            && self.python == other.python
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(same_step)
    }
}

impl Eq for Program {}

impl Program {
    /// A program in free Python: lists of blocks of code, in one of which it is. It has no steps, and nothing in this
    /// crate runs it: here it returns [`Value::Nothing`], which no grid is equal to.
    pub fn in_python(name: impl Into<String>, code: impl Into<Arc<[Vec<Block>]>>) -> Self {
        Self {
            output: Operand::Literal(Value::Nothing),
            python: Some(code.into()),
            ..ProgramBuilder::new(name).program
        }
    }

    /// Its code, if it is in free Python.
    #[must_use]
    pub fn python(&self) -> Option<&Arc<[Vec<Block>]>> {
        self.python.as_ref()
    }

    /// The name after `def`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The source it was read from, as the reader named it: for instance a file name.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Sets the source it was read from.
    #[must_use]
    pub fn with_source(self, source: impl Into<Arc<str>>) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// Assigns it to this task, whatever its name says.
    #[must_use]
    pub fn with_task(self, task: impl Into<Arc<str>>) -> Self {
        Self {
            task: Some(task.into()),
            ..self
        }
    }

    /// Gives it a name derived from its file name, for a program whose own name says nothing.
    #[must_use]
    pub fn named_by_file(self, name: impl Into<String>) -> Self {
        Self {
            named_by_file: true,
            ..self.with_name(name)
        }
    }

    /// Whether its name was derived from its file name.
    #[must_use]
    pub fn is_named_by_file(&self) -> bool {
        self.named_by_file
    }

    /// The id of the task that its text assigns it to, if any.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        self.task.as_deref()
    }

    /// Sets the line numbers of its steps, which errors report. If there are fewer lines than steps, the other steps
    /// keep theirs.
    #[must_use]
    pub fn with_lines(mut self, lines: impl IntoIterator<Item = u32>) -> Self {
        for (step, line) in self.steps.iter_mut().zip(lines) {
            step.line = line;
        }
        self
    }

    /// The same program under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// The same steps under names that any text may have: programs that differ in names alone become equal.
    pub fn anonymous(&self) -> Result<Program, BuildError> {
        let names = (0..self.inputs).map(|at| format!("i{at}"));
        let mut builder = ProgramBuilder::in_dialect(self.dialect, "p", names.collect(), 1);
        let inputs: Vec<_> = (0..self.inputs)
            .map(|at| Operand::Slot(Slot::at(at)))
            .collect();
        let output = builder.inline(self, &inputs)?;
        builder.finish(output)
    }

    /// The line of its `def`, counted from 1; 0 if it was built in memory.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The id of the task that it seems to belong to, if the tasks are not known: the one in its text, or the part of
    /// its name after the last underscore. If the tasks are known, use `TaskIds` of the crate arc-tasks.
    #[must_use]
    pub fn task_id(&self) -> &str {
        let by_name = || self.name.rsplit_once('_').map_or(&*self.name, |(_, id)| id);
        self.task().unwrap_or_else(by_name)
    }

    /// Its dialect.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The names of the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.variables[..self.inputs]
    }

    /// The names of the variables, starting with the inputs.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The calls in the order in which they are evaluated.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What the program returns.
    #[must_use]
    pub fn output(&self) -> &Operand {
        &self.output
    }
}

/// Why a step cannot be added to a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A variable has a name already taken.
    #[error("variable `{0}` is assigned twice")]
    Reassigned(String),
    /// An operand belongs to another program.
    #[error("an operand is no variable of this program")]
    UnknownSlot,
    /// A constant or a literal is called.
    #[error("expected a primitive or a variable to call, found {0}")]
    NotCallable(String),
    /// A literal holds an integer that no program can compute.
    #[error("a literal holds an integer past {MAX_INT}")]
    Literal,
    /// A function is called with the wrong number of arguments.
    #[error(
        "`{name}` takes {expected} argument{}, found {found}",
        if *expected == 1 { "" } else { "s" }
    )]
    InputCount {
        /// The function called.
        name: String,
        /// How many arguments it takes.
        expected: usize,
        /// How many it was given.
        found: usize,
    },
    /// A primitive is called with the wrong number of arguments.
    #[error(
        "`{primitive}` takes {expected} argument{} ({}), found {found}",
        if *expected == 1 { "" } else { "s" },
        primitive.parameter_names()
    )]
    ArgumentCount {
        /// The primitive called.
        primitive: Primitive,
        /// How many arguments it takes.
        expected: usize,
        /// How many it was given.
        found: usize,
    },
}

/// Builds a [`Program`] call by call.
///
/// ```
/// use arc_dsl::{Constant, Grid, Interpreter, Primitive, ProgramBuilder};
/// let mut builder = ProgramBuilder::new("solve_example");
/// let mirrored = builder.call(Primitive::Vmirror, [builder.input()])?;
/// let doubled = builder.call(Primitive::Hconcat, [builder.input(), mirrored])?;
/// let program = builder.finish(doubled)?;
/// assert_eq!(
///     program.to_string(),
///     "def solve_example(I):\n    x1 = vmirror(I)\n    x2 = hconcat(I, x1)\n    return x2\n",
/// );
/// let output = Interpreter::default().run(&program, Grid::from_rows(&[[1, 2]])?)?;
/// assert_eq!(output.to_string(), "((1, 2, 2, 1),)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProgramBuilder {
    program: Program,
    slots: HashMap<String, Slot, FxBuildHasher>,
}

impl ProgramBuilder {
    /// An empty program with the input `I`.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_input(name, "I", 0)
    }

    /// An empty program with an input of this name, defined at `line`.
    pub fn with_input(name: impl Into<String>, input: impl Into<String>, line: u32) -> Self {
        Self::in_dialect(Dialect::Public, name, vec![input.into()], line)
    }

    /// An empty program of a dialect, defined at `line`, with inputs of these names; there has to be at least one.
    pub fn in_dialect(
        dialect: Dialect,
        name: impl Into<String>,
        inputs: Vec<String>,
        line: u32,
    ) -> Self {
        let slots = inputs.iter().zip(0..);
        Self {
            slots: slots
                .map(|(name, slot)| (name.clone(), Slot(slot)))
                .collect(),
            program: Program {
                name: name.into(),
                source: None,
                task: None,
                named_by_file: false,
                line,
                dialect,
                inputs: inputs.len(),
                variables: inputs,
                steps: Vec::new(),
                output: Operand::Slot(Slot::INPUT),
                python: None,
            },
        }
    }

    /// The line on which the program begins.
    pub fn line(&self) -> u32 {
        self.program.line
    }

    /// The input grid.
    #[must_use]
    pub fn input(&self) -> Operand {
        Operand::Slot(Slot::INPUT)
    }

    /// The variable of this name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// Adds another name for a variable.
    pub fn alias(&mut self, name: &str, slot: Slot) {
        self.slots.insert(name.to_owned(), slot);
    }

    /// The step that sets a variable; `None` for an input.
    pub fn step_of(&self, slot: Slot) -> Option<&Step> {
        let at = slot.index().checked_sub(self.program.inputs)?;
        self.program.steps.get(at)
    }

    /// Whether the program has an input.
    pub fn has_inputs(&self) -> bool {
        self.program.inputs > 0
    }

    /// How many steps there are so far.
    pub fn steps(&self) -> usize {
        self.program.steps.len()
    }

    /// The names of the variables so far.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.program.variables.iter().map(String::as_str)
    }

    /// Adds a call; its result is named `x1`, `x2` and so on.
    pub fn call(
        &mut self,
        callee: impl Into<Callee>,
        arguments: impl IntoIterator<Item = Operand>,
    ) -> Result<Operand, BuildError> {
        let line = self.program.steps.len() as u32 + 2;
        let mut number = self.program.variables.len();
        while self.slots.contains_key(&format!("x{number}")) {
            number += 1;
        }
        let name = format!("x{number}");
        self.step(line, name, callee.into(), arguments.into_iter().collect())
    }

    /// Adds a call at `line` whose result is named `name`.
    pub fn step(
        &mut self,
        line: u32,
        name: String,
        callee: Callee,
        arguments: Box<[Operand]>,
    ) -> Result<Operand, BuildError> {
        if self.variable(&name).is_some() {
            return Err(BuildError::Reassigned(name));
        }
        match callee {
            Callee::Primitive(primitive) => {
                let (expected, found) = (primitive.parameters().len(), arguments.len());
                if expected != found {
                    return Err(BuildError::ArgumentCount {
                        primitive,
                        expected,
                        found,
                    });
                }
            }
            Callee::Typed(_) => {}
            Callee::Slot(slot) => self.check(&Operand::Slot(slot))?,
        }
        arguments
            .iter()
            .try_for_each(|argument| self.check(argument))?;
        let target = Slot(self.program.variables.len() as u32);
        self.slots.insert(name.clone(), target);
        self.program.variables.push(name);
        self.program.steps.push(Step {
            line,
            target,
            callee,
            arguments,
        });
        Ok(Operand::Slot(target))
    }

    /// Adds the steps of a function with these operands as its inputs, like [`call`](Self::call), and returns the
    /// operand for its result.
    ///
    /// ```
    /// use arc_dsl::{Dialect, Operand, Primitive, ProgramBuilder, Slot};
    /// let inputs = ["a", "b"].map(String::from);
    /// let mut beside = ProgramBuilder::in_dialect(Dialect::Public, "beside", inputs.into(), 1);
    /// let [a, b] = [0, 1].map(|input| Operand::Slot(Slot::at(input)));
    /// let mirrored = beside.call(Primitive::Vmirror, [b])?;
    /// let joined = beside.call(Primitive::Hconcat, [a, mirrored])?;
    /// let beside = beside.finish(joined)?;
    /// let mut builder = ProgramBuilder::new("solve_example");
    /// let output = builder.inline(&beside, &[builder.input(), builder.input()])?;
    /// assert_eq!(
    ///     builder.finish(output)?.to_string(),
    ///     "def solve_example(I):\n    x1 = vmirror(I)\n    x2 = hconcat(I, x1)\n    return x2\n",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inline(
        &mut self,
        function: &Program,
        arguments: &[Operand],
    ) -> Result<Operand, BuildError> {
        self.inline_with(function, arguments, |builder, callee, arguments| {
            builder.call(callee, arguments)
        })
    }

    /// Adds the steps of a function; `add` adds each call.
    pub fn inline_with(
        &mut self,
        function: &Program,
        arguments: &[Operand],
        mut add: impl FnMut(&mut Self, Callee, Vec<Operand>) -> Result<Operand, BuildError>,
    ) -> Result<Operand, BuildError> {
        let (expected, found) = (function.inputs, arguments.len());
        if expected != found {
            return Err(BuildError::InputCount {
                name: function.name.clone(),
                expected,
                found,
            });
        }
        let mut variables = arguments.to_vec();
        let operand = |variables: &[Operand], operand: &Operand| match operand {
            Operand::Slot(slot) => variables[slot.index()].clone(),
            other => other.clone(),
        };
        for step in &function.steps {
            let callee = match step.callee {
                Callee::Slot(slot) => variables[slot.index()].called()?,
                callee => callee,
            };
            let given = step.arguments.iter();
            let given = given.map(|given| operand(&variables, given)).collect();
            let value = add(self, callee, given)?;
            variables.push(value);
        }
        Ok(operand(&variables, &function.output))
    }

    /// The program that returns `output`.
    pub fn finish(mut self, output: Operand) -> Result<Program, BuildError> {
        self.check(&output)?;
        self.program.output = output;
        Ok(self.program)
    }

    fn check(&self, operand: &Operand) -> Result<(), BuildError> {
        match operand {
            Operand::Slot(slot) if slot.index() >= self.program.variables.len() => {
                Err(BuildError::UnknownSlot)
            }
            Operand::Literal(value) if !value.is_within_bounds() => Err(BuildError::Literal),
            _ => Ok(()),
        }
    }
}

impl From<Primitive> for Callee {
    fn from(primitive: Primitive) -> Self {
        Callee::Primitive(primitive)
    }
}

impl From<TypedPrimitive> for Callee {
    fn from(primitive: TypedPrimitive) -> Self {
        Callee::Typed(primitive)
    }
}

impl From<Slot> for Callee {
    fn from(slot: Slot) -> Self {
        Callee::Slot(slot)
    }
}

impl From<Primitive> for Operand {
    fn from(primitive: Primitive) -> Self {
        Operand::Primitive(primitive)
    }
}

impl From<Constant> for Operand {
    fn from(constant: Constant) -> Self {
        Operand::Constant(constant)
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        match value {
            // In program text, the primitive's name stands for this value.
            Value::Primitive(primitive) => Operand::Primitive(primitive),
            _ => Operand::Literal(value),
        }
    }
}

/// The text of the program, which parses to the same program.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = &self.python {
            return code
                .iter()
                .flatten()
                .try_for_each(|(_, code)| f.write_str(code));
        }
        writeln!(f, "def {}({}):", self.name, self.inputs().join(", "))?;
        for step in &self.steps {
            f.write_str("    ")?;
            self.write_step(f, step)?;
            writeln!(f)?;
        }
        f.write_str("    return ")?;
        self.write_operand(f, &self.output)?;
        writeln!(f)
    }
}

impl Program {
    /// The name of what a step calls.
    pub fn callee_name(&self, step: &Step) -> &str {
        match step.callee {
            Callee::Primitive(primitive) => primitive.name(),
            Callee::Typed(primitive) => primitive.name(),
            Callee::Slot(slot) => &self.variables[slot.index()],
        }
    }

    /// Writes a step as the assignment of a call.
    pub fn write_step(&self, f: &mut impl fmt::Write, step: &Step) -> fmt::Result {
        let target = &self.variables[step.target.index()];
        write!(f, "{target} = {}(", self.callee_name(step))?;
        for (at, argument) in step.arguments.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            self.write_operand(f, argument)?;
        }
        f.write_str(")")
    }

    fn write_operand(&self, f: &mut impl fmt::Write, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Slot(slot) => f.write_str(&self.variables[slot.index()]),
            Operand::Primitive(primitive) => f.write_str(primitive.name()),
            Operand::Constant(constant) => f.write_str(constant.name()),
            Operand::Literal(value) => write!(f, "{}", Literal(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_that_no_program_can_make_is_refused() {
        let mut builder = ProgramBuilder::new("f");
        let pair = Value::pair(&Value::Int(0), &Value::Int(MAX_INT + 1));
        let nested = Value::set([Value::tuple(vec![pair])]);
        let refused = builder.call(Primitive::Size, [nested.into()]);
        assert_eq!(refused, Err(BuildError::Literal));
        let largest = Value::Int(-MAX_INT);
        assert!(builder.call(Primitive::Identity, [largest.into()]).is_ok());
    }

    #[test]
    fn a_primitive_as_value_is_the_operand_of_its_name() {
        let value = Value::Primitive(Primitive::Trim);
        assert_eq!(Operand::from(value), Operand::Primitive(Primitive::Trim));
    }

    #[test]
    fn a_program_belongs_to_the_task_that_ends_its_name() {
        let task = |name| {
            ProgramBuilder::new(name)
                .finish(Operand::Slot(Slot::INPUT))
                .unwrap()
        };
        assert_eq!(task("solve_007bbfb7").task_id(), "007bbfb7");
        assert_eq!(task("my_second_try_007bbfb7").task_id(), "007bbfb7");
        assert_eq!(task("007bbfb7").task_id(), "007bbfb7");
    }

    #[test]
    fn a_builder_refuses_what_no_program_can_have() {
        let mut builder = ProgramBuilder::new("f");
        let input = builder.input();
        let step = |builder: &mut ProgramBuilder, name: &str, arguments: &[Operand]| {
            builder.step(1, name.to_owned(), Primitive::Trim.into(), arguments.into())
        };
        let foreign = Operand::Slot(Slot(1));
        assert_eq!(
            step(&mut builder, "x", std::slice::from_ref(&foreign)),
            Err(BuildError::UnknownSlot)
        );
        let error = step(&mut builder, "x", &[]).unwrap_err();
        assert_eq!(error.to_string(), "`trim` takes 1 argument (grid), found 0");
        let error = step(&mut builder, "I", std::slice::from_ref(&input)).unwrap_err();
        assert_eq!(error.to_string(), "variable `I` is assigned twice");
        assert_eq!(
            builder.clone().finish(foreign),
            Err(BuildError::UnknownSlot)
        );
        assert!(builder.finish(input).unwrap().steps().is_empty());
    }
}
