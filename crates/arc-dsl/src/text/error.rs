//! What can be wrong with program text.

use arc_isa::Primitive;

use crate::dialect::Dialect;
use crate::program::BuildError;
use crate::typed::TypedPrimitive;
use crate::value::MAX_INT;

/// What is wrong with a program or a literal, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
#[non_exhaustive]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1; a tab is one character.
    pub column: u32,
    /// What was wrong and what was expected.
    pub kind: ParseErrorKind,
}

/// What can be wrong with program text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else stands where the language needs one certain thing.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What is needed there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A part of Python that the language leaves out.
    #[error(
        "found {found}, but only calls are allowed: expected `name = primitive(arguments)` or `return value`"
    )]
    OnlyCalls {
        /// What stands there.
        found: String,
    },
    /// A name that is not the engine's own where it is used, and that cannot be followed.
    #[error("`{name}` cannot be used, which line {line} binds: {why}")]
    Unusable {
        /// The name.
        name: String,
        /// The line that gives it its meaning.
        line: u32,
        /// What keeps it from being followed.
        why: String,
    },
    /// A name that the module beside the text binds otherwise than the DSL.
    #[error(
        "`{name}` is not the DSL's here: {file} binds it otherwise on line {line}, which is not followed"
    )]
    BoundBeside {
        /// The name.
        name: String,
        /// The module.
        file: String,
        /// The line there.
        line: u32,
    },
    /// A function of the text stands where a value does.
    #[error("the function `{name}` is not called but passed on: {why}")]
    FunctionAsValue {
        /// The function.
        name: String,
        /// What was expected for that.
        why: &'static str,
    },
    /// An operator that Python has for tuples and sets too, of what may be one.
    #[error(
        "`{operator}` means something else of tuples and sets, and here these may be some, expected `{instead}`"
    )]
    NotOfIntegers {
        /// The operator.
        operator: String,
        /// What does it with integers.
        instead: String,
    },
    /// A name is set again that a function has been made with.
    #[error(
        "`{name}` is set again, but the function used on line {line} keeps what it was, expected another name"
    )]
    SetAgain {
        /// The name.
        name: String,
        /// The line of the function.
        line: u32,
    },
    /// An argument by keyword that a function of the text does not have, or has already.
    #[error("{}", keyword_of_function(function, name, *is_twice))]
    KeywordOfFunction {
        /// The function called.
        function: String,
        /// The keyword.
        name: String,
        /// Whether it is given twice.
        is_twice: bool,
    },
    /// A program becomes too long with the steps of the functions that it calls.
    #[error("with the steps of `{name}` there are more than {max}, expected fewer")]
    TooManySteps {
        /// The function called.
        name: String,
        /// How many there may be.
        max: usize,
    },
    /// A value is taken apart that may have another number of elements.
    #[error("expected a value of {names} elements to take apart, found {found}")]
    Unpacked {
        /// How many variables there are for them.
        names: usize,
        /// What is taken apart.
        found: String,
    },
    /// A character that looks like space.
    #[error(
        "found the character U+{code:04X}, which looks like a space, expected a space or a tab"
    )]
    Invisible {
        /// The character.
        code: u32,
    },
    /// A name that Python takes for another one.
    #[error("Python takes the name `{name}` for `{normal}`, expected it so")]
    Respelled {
        /// The name as it is written.
        name: String,
        /// What Python takes it for.
        normal: String,
    },
    /// A note: what stands outside of programs and has no part in them.
    #[error("passed over, since it is no part of a program: {found}{}", and_others(*others))]
    PassedOver {
        /// What it begins with.
        found: String,
        /// How many more there are in the file.
        others: usize,
    },
    /// A note: a function that is no program and that none calls.
    #[error("`{name}` is no program, and none here calls it: {why}")]
    Uncalled {
        /// The function.
        name: String,
        /// What keeps it from being a program.
        why: String,
    },
    /// A note: a definition that a later one takes the place of.
    #[error("`{name}` is defined again on line {line}, which counts")]
    Replaced {
        /// The name.
        name: String,
        /// The line of the one that counts.
        line: u32,
    },
    /// A note: everything is imported from a module that nobody knows.
    #[error("what `{module}` defines is not read: names that are bound nowhere else are the DSL's")]
    UnknownModule {
        /// The module.
        module: String,
    },
    /// A line outside every program that cannot stand there.
    #[error("expected `def` or an import at the top level, found {found}")]
    TopLevel {
        /// What the line begins with.
        found: String,
    },
    /// A bracket without its partner.
    #[error("`{open}` is never closed, expected `{close}`")]
    UnclosedBracket {
        /// The bracket.
        open: char,
        /// Its partner.
        close: char,
    },
    /// A string without its end.
    #[error("a string that begins here is never closed, expected `{quote}`")]
    UnclosedString {
        /// The quotation marks that it begins with.
        quote: String,
    },
    /// A line of a program is indented otherwise than the first one.
    #[error("expected an indentation of {expected} as in the program's first line, found {found}")]
    Indentation {
        /// The indentation of the first line.
        expected: String,
        /// The indentation of this one.
        found: String,
    },
    /// A program has no parameter, or as many as no program of the dialect has.
    #[error("{}, found {found}", expected_parameters(*dialect))]
    ParameterCount {
        /// The dialect that was chosen, if one was.
        dialect: Option<Dialect>,
        /// How many there are.
        found: usize,
    },
    /// A call of something that is neither a primitive nor a variable.
    #[error("unknown primitive `{name}`, {}", hint(nearest.as_deref(), "a primitive or a variable"))]
    UnknownPrimitive {
        /// The name.
        name: String,
        /// The known name that is nearest to it, where one is near.
        nearest: Option<String>,
    },
    /// A name that is neither a variable, a constant nor a primitive.
    #[error("unknown name `{name}`, {}", hint(nearest.as_deref(), "a variable, a primitive or a constant"))]
    UnknownName {
        /// The name.
        name: String,
        /// The known name that is nearest to it, where one is near.
        nearest: Option<String>,
    },
    /// A variable is used above the line that sets it.
    #[error("`{name}` is used before it is set on line {line}")]
    UsedBeforeSet {
        /// The variable.
        name: String,
        /// The line that sets it.
        line: u32,
    },
    /// A variable is called like something that the language has.
    #[error("the name `{name}` is taken by a {owner}, expected another name")]
    NameTaken {
        /// The name.
        name: String,
        /// What bears it.
        owner: &'static str,
    },
    /// A constant or a literal is called.
    #[error("expected a primitive or a variable to call, found {found}")]
    NotCallable {
        /// What is called.
        found: String,
    },
    /// A keyword argument that the primitive does not have.
    #[error("`{primitive}` has no parameter `{name}`, expected one of {}", primitive.parameter_names())]
    UnknownKeyword {
        /// The primitive called.
        primitive: Primitive,
        /// The keyword.
        name: String,
    },
    /// An argument is given by place and by keyword, or twice by keyword.
    #[error("argument `{name}` of `{primitive}` is given twice")]
    DuplicateArgument {
        /// The primitive called.
        primitive: Primitive,
        /// The parameter.
        name: String,
    },
    /// A variable, whose parameters have no names, is called with a keyword argument.
    #[error("`{callee}` is a variable, expected arguments without keywords")]
    KeywordForVariable {
        /// The variable called.
        callee: String,
    },
    /// A primitive of the typed dialect is called with a keyword argument.
    #[error("expected arguments of `{primitive}` without keywords, as the typed dialect has them")]
    KeywordForTyped {
        /// The primitive called.
        primitive: TypedPrimitive,
    },
    /// A tuple of variables or calls that is no pair.
    #[error(
        "found a tuple of {found} with variables or calls in it, expected two elements, as in `(x1, x2)`, or constants alone"
    )]
    TupleOfVariables {
        /// How many elements it has.
        found: usize,
    },
    /// A set with variables or calls in it.
    #[error(
        "found a set with variables or calls in it, expected constants alone; `initset` and `insert` make sets of variables"
    )]
    SetOfVariables,
    /// A call in a text that is to be a literal.
    #[error("expected a literal, found a call")]
    NotLiteral,
    /// An integer that no program can hold.
    #[error("expected an integer from -{MAX_INT} to {MAX_INT}, found {found}")]
    IntegerRange {
        /// Its text.
        found: String,
    },
    /// Brackets in brackets without end.
    #[error("expected at most {max} brackets inside each other, found more")]
    Nesting {
        /// How many there may be.
        max: u32,
    },
    /// A batt of a form that is not read.
    #[error(
        "a batt of an older generation: {found}; expected steps `tN = f(..)`, as card.py has written them since October 2025"
    )]
    OldBatt {
        /// Which.
        found: &'static str,
    },
    /// A batt where programs are read.
    #[error("found a batt, expected programs; `mega-batch batt` runs it")]
    Batt,
    /// A program without an end.
    #[error("expected a `return` at the end of program `{name}`, found none")]
    NoReturn {
        /// The program.
        name: String,
    },
    /// A program of bare lines without an end.
    #[error("expected `O = ..` at the end of the program that begins on line {line}, found none")]
    NoOutput {
        /// The line.
        line: u32,
    },
    /// More stands below the end.
    #[error("expected nothing more after `return`, found {found}")]
    AfterReturn {
        /// What the line begins with.
        found: String,
    },
    /// A variable is assigned twice, or a primitive has another number of arguments than it takes.
    #[error(transparent)]
    Build(#[from] BuildError),
}

fn hint(nearest: Option<&str>, expected: &str) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("expected {expected}"),
    }
}

fn keyword_of_function(function: &str, name: &str, is_twice: bool) -> String {
    if is_twice {
        format!("argument `{name}` of `{function}` is given twice")
    } else {
        format!("`{function}` has no parameter `{name}`")
    }
}

fn and_others(others: usize) -> String {
    match others {
        0 => String::new(),
        _ => format!(", and {others} more like it"),
    }
}

fn expected_parameters(dialect: Option<Dialect>) -> &'static str {
    match dialect {
        Some(Dialect::Public) => "expected one parameter, the input grid",
        None => "expected one parameter, the input grid, or `(S, I, C)`",
        Some(Dialect::Typed) => "expected the parameters `(S, I, C)` or the input grid alone",
    }
}
