//! Errors and notes about program text.

use std::sync::Arc;

use arc_dsl::{BuildError, Dialect, MAX_INT, TypedPrimitive};
use arc_isa::Primitive;

use crate::names::is_keyword;

/// An error in a program or a literal, and its position in the text.
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

/// Everything that can be wrong with program text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A certain token is required, but another one was found.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What is required.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A part of Python that the language does not have.
    #[error("found {found}, which is not read: expected {}", instead_of(found))]
    OnlyCalls {
        /// What was found.
        found: String,
    },
    /// A name that the text or a module binds to something that cannot be resolved.
    #[error("`{name}`, bound on line {line}, cannot be used: {why}")]
    Unusable {
        /// The name.
        name: String,
        /// The line that binds it.
        line: u32,
        /// Why it cannot be resolved.
        why: String,
    },
    /// A name that a module next to the text binds to something else than the DSL does.
    #[error(
        "`{name}` is not the DSL's here: line {line} of {file} defines it differently, which is not supported"
    )]
    BoundBeside {
        /// The name.
        name: String,
        /// The module.
        file: String,
        /// The line there.
        line: u32,
    },
    /// A function of the text is used as a value.
    #[error("{}: {why}", as_value(name))]
    FunctionAsValue {
        /// The function.
        name: String,
        /// Why it cannot be used as one, or what was expected.
        why: &'static str,
    },
    /// An operator that in Python also works on tuples and sets, applied to values that may be such.
    #[error(
        "`{operator}` means something else of tuples and sets, and here these may be some, expected `{instead}`"
    )]
    NotOfIntegers {
        /// The operator.
        operator: String,
        /// The call that computes it for integers.
        instead: String,
    },
    /// A name is set again although a function value depends on its earlier value.
    #[error(
        "`{name}` is set again, but the function used on line {line} keeps its earlier value, expected another name"
    )]
    SetAgain {
        /// The name.
        name: String,
        /// The line of the function.
        line: u32,
    },
    /// A keyword argument for a parameter that a function does not have, or that already has an argument.
    #[error("{}", keyword_of_function(function, name, *is_twice, *primitive))]
    KeywordOfFunction {
        /// The function called.
        function: String,
        /// The primitive, if it is one.
        primitive: Option<Primitive>,
        /// The keyword.
        name: String,
        /// Whether it is given twice.
        is_twice: bool,
    },
    /// With the steps of the functions that it calls, a program is too long.
    #[error("with the steps of `{name}` there are more than {max}, expected fewer")]
    TooManySteps {
        /// The function called.
        name: String,
        /// The limit.
        max: usize,
    },
    /// A value that may have another number of elements is unpacked.
    #[error("expected a value of {names} elements to take apart, found {found}")]
    Unpacked {
        /// How many variables it is unpacked into.
        names: usize,
        /// What is unpacked.
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
    /// A name that Python normalises to another one.
    #[error("Python normalises the name `{name}` to `{normal}`, expected that spelling")]
    Respelled {
        /// The name as written.
        name: String,
        /// The name after normalisation.
        normal: String,
    },
    /// A note: code outside of programs that belongs to none of them.
    #[error("ignored, since it is not part of a program: {found}{}", and_others(*others))]
    PassedOver {
        /// Its first token.
        found: String,
        /// How many more such statements there are in the file.
        others: usize,
    },
    /// A statement outside of functions that ends Python's import of the text.
    #[error(
        "Python's import ends here, before there is a program: {why}, in the statement that begins with `{found}`; \
         expected it below `if __name__ == \"__main__\":`, or not at all"
    )]
    EndsImport {
        /// The first token of the statement.
        found: String,
        /// What it does.
        why: &'static str,
    },
    /// A note: a function that is no program and that no program calls.
    #[error("`{name}` is not a program, and none here calls it: {why}")]
    Uncalled {
        /// The function.
        name: String,
        /// Why it is not a program.
        why: String,
    },
    /// A note: a definition that a later one replaces.
    #[error("`{name}` is defined again on line {line}, and that definition counts")]
    Replaced {
        /// The name.
        name: String,
        /// The line of the later one.
        line: u32,
    },
    /// A note: a star import from an unknown module.
    #[error("what `{module}` defines is not read: names that are bound nowhere else are the DSL's")]
    UnknownModule {
        /// The module.
        module: String,
    },
    /// A line that is not allowed outside of programs.
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
    /// A line of a program with another indentation than the first one.
    #[error("expected an indentation of {expected} as in the program's first line, found {found}")]
    Indentation {
        /// The indentation of the first line.
        expected: String,
        /// The indentation of this one.
        found: String,
    },
    /// A program without parameters, or with a number of parameters that no program of the dialect has.
    #[error("{}, found {found}{}", expected_parameters(*dialect), of_unfilled(unfilled.as_ref()))]
    ParameterCount {
        /// The dialect that was chosen, if one was.
        dialect: Option<Dialect>,
        /// The number found.
        found: usize,
        /// A parameter that nothing fills.
        unfilled: Option<Unfilled>,
    },
    /// A name that is neither a variable, a constant nor a primitive.
    #[error("unknown {} `{name}`{}, {}", if *is_called { "primitive" } else { "name" }, in_dialect(*dialect), known_to(*other, own.as_ref(), nearest.as_deref(), *is_called))]
    Unknown {
        /// The name.
        name: String,
        /// Whether it is called, which constants cannot be.
        is_called: bool,
        /// The dialect, if one was chosen.
        dialect: Option<Dialect>,
        /// The dialect that has the name, if another one does.
        other: Option<Dialect>,
        /// The file beside the text that binds the name, which the text imports from there with all others, and the line.
        own: Option<(Arc<str>, u32)>,
        /// The most similar known name, if one is similar enough.
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
    /// A variable has a name that the language uses.
    #[error("the name `{name}` is taken by a {owner}, expected another name")]
    NameTaken {
        /// The name.
        name: String,
        /// What the name belongs to.
        owner: &'static str,
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
    /// A tuple with variables or calls that is not a pair.
    #[error(
        "found a tuple of {found} with variables or calls in it, expected two elements, as in `(x1, x2)`, or constants alone"
    )]
    TupleOfVariables {
        /// How many elements it has.
        found: usize,
    },
    /// A set that Python would have to hash.
    #[error("Python cannot hash a set, expected `frozenset(..)`")]
    Unhashable,
    /// A division of constants by zero.
    #[error("expected a divisor that is not 0, found {found}")]
    DividedByZero {
        /// The operation.
        found: String,
    },
    /// A set that contains variables or calls.
    #[error(
        "found a set with variables or calls in it, expected constants alone; `initset` and `insert` make sets of variables"
    )]
    SetOfVariables,
    /// A call in a literal.
    #[error("expected a literal, found a call")]
    NotLiteral,
    /// An integer that no program can hold.
    #[error("expected an integer from -{MAX_INT} to {MAX_INT}, found {found}")]
    IntegerRange {
        /// Its text.
        found: String,
    },
    /// Brackets, functions or branches are nested too deeply.
    #[error(
        "expected at most {max} brackets, functions and branches inside each other, found more"
    )]
    Nesting {
        /// The limit.
        max: u32,
    },
    /// A batt in a form that is not supported.
    #[error(
        "a batt of an older generation: {found}; expected steps `tN = f(..)`, as card.py has written them since October 2025"
    )]
    OldBatt {
        /// What shows that it is an older form.
        found: &'static str,
    },
    /// A batt in place of programs.
    #[error("found a batt, expected programs; `mega-batch batt` runs it")]
    Batt,
    /// A program without a `return`.
    #[error("expected a `return` at the end of program `{name}`, found none")]
    NoReturn {
        /// The program.
        name: String,
    },
    /// A program of bare lines that does not set `O`.
    #[error("expected `O = ..` at the end of the program that begins on line {line}, found none")]
    NoOutput {
        /// Its first line.
        line: u32,
    },
    /// Something follows the `return`.
    #[error("expected nothing more after `return`, found {found}")]
    AfterReturn {
        /// What the line begins with.
        found: String,
    },
    /// A variable is assigned twice, or a primitive has another number of arguments than it takes.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A parameter of a program that nothing fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfilled {
    /// Its name.
    pub name: String,
    /// Whether it is one that programs of the typed dialect get, which the program uses.
    pub is_used: bool,
}

/// What is read in the place of a part of Python.
fn instead_of(found: &str) -> &'static str {
    match found.strip_prefix("the keyword ").unwrap_or(found) {
        "`for`" | "`while`" => "a comprehension, `apply` or `power`",
        "`:=`" => "`name = value` on a line before",
        "`*`" => "the values one by one",
        "`.`" => "a function, as `size(x)`",
        "`[`" => "a tuple",
        "a dictionary" => "`a if x == 1 else b`",
        "`is`" => "`==`",
        _ => "`name = primitive(arguments)` or `return value`",
    }
}

fn as_value(name: &str) -> String {
    if is_keyword(name) && name != "lambda" {
        format!("what `{name}` evaluates becomes a function of the DSL")
    } else {
        format!("the function `{name}` is used as a value")
    }
}

fn of_unfilled(unfilled: Option<&Unfilled>) -> String {
    match unfilled {
        None => String::new(),
        Some(Unfilled { name, is_used }) if *is_used => {
            format!(": `{name}` is filled in the typed dialect only (`--dialect typed`)")
        }
        Some(Unfilled { name, .. }) => {
            format!(": nothing fills `{name}`, which has no default")
        }
    }
}

fn in_dialect(dialect: Option<Dialect>) -> String {
    dialect.map_or_else(String::new, |dialect| format!(" in the {dialect} dialect"))
}

fn known_to(
    other: Option<Dialect>,
    own: Option<&(Arc<str>, u32)>,
    nearest: Option<&str>,
    is_called: bool,
) -> String {
    match (other, own, nearest) {
        (_, Some((file, line)), _) => {
            format!(
                "which line {line} of {file} defines, and not this file: only what the DSL has is read of other files"
            )
        }
        (Some(dialect), ..) => format!("which the {dialect} dialect has (`--dialect {dialect}`)"),
        (.., Some(name)) => format!("did you mean `{name}`?"),
        _ if is_called => "expected a primitive or a variable".to_owned(),
        _ => "expected a variable, a primitive or a constant".to_owned(),
    }
}

fn keyword_of_function(
    function: &str,
    name: &str,
    is_twice: bool,
    primitive: Option<Primitive>,
) -> String {
    match primitive {
        _ if is_twice => format!("argument `{name}` of `{function}` is given twice"),
        Some(primitive) => {
            let names = primitive.parameter_names();
            format!("`{function}` has no parameter `{name}`, expected one of {names}")
        }
        None => format!("`{function}` has no parameter `{name}`"),
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
