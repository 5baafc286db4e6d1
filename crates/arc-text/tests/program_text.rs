//! Checks program text as a whole: printed programs parse back, and no text causes a panic.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;

use arc_dsl::generate::Generator;
use arc_dsl::{
    Callee, Cell, Constant, Grid, Indices, Loc, MAX_INT, Object, Operand, Primitive, Program,
    ProgramBuilder, Type, Value,
};
use arc_text::{ParseError, parse_programs, parse_value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn integer() -> impl Strategy<Value = i32> {
    prop_oneof![
        -12..12i32,
        -MAX_INT..=MAX_INT,
        Just(MAX_INT),
        Just(-MAX_INT)
    ]
}

fn loc() -> impl Strategy<Value = Loc> {
    (integer(), integer()).prop_map(|(i, j)| Loc::new(i, j))
}

fn cell() -> impl Strategy<Value = Cell> {
    (integer(), loc()).prop_map(|(colour, loc)| Cell::new(colour, loc))
}

fn grid() -> impl Strategy<Value = Grid> {
    (0..4usize, 0..4usize).prop_flat_map(|(height, width)| {
        let cells = vec(any::<i8>(), height * width);
        cells.prop_map(move |cells| Grid::from_cells(height, width, cells))
    })
}

/// Values without functions.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nothing),
        any::<bool>().prop_map(Value::from),
        integer().prop_map(Value::from),
        loc().prop_map(Value::from),
        cell().prop_map(Value::from),
        grid().prop_map(Value::from),
        vec(loc(), 0..4).prop_map(|locs| Indices::new(locs).into()),
        vec(cell(), 0..4).prop_map(|cells| Object::new(cells).into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::tuple),
            vec(inner, 0..4).prop_map(Value::set),
        ]
    })
}

/// A description of an operand: a variable is chosen among those already set when the operand is built.
#[derive(Debug, Clone)]
enum Choice {
    Variable(Index),
    Fixed(Operand),
}

impl Choice {
    fn operand(&self, variables: &[Operand]) -> Operand {
        match self {
            Choice::Variable(index) => index.get(variables).clone(),
            Choice::Fixed(operand) => operand.clone(),
        }
    }
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        4 => any::<Index>().prop_map(Choice::Variable),
        1 => select(Primitive::ALL).prop_map(|primitive| Choice::Fixed(primitive.into())),
        1 => select(Constant::ALL).prop_map(|constant| Choice::Fixed(constant.into())),
        2 => value().prop_map(|value| Choice::Fixed(value.into_literal().into())),
    ]
}

/// A name that the language does not use, though some of the names have other meanings elsewhere.
fn name() -> impl Strategy<Value = String> {
    let any = select(
        &[
            "O", "t1", "t2", "x1", "x3", "grid", "match", "define", "rb", "_", "ñ2",
        ][..],
    );
    any.prop_map(str::to_owned)
}

/// A program built in memory, well-formed but usually not well-typed.
fn program() -> impl Strategy<Value = Program> {
    let callee = prop_oneof![
        4 => select(Primitive::ALL).prop_map(Choice::from),
        1 => any::<Index>().prop_map(Choice::Variable),
    ];
    let step = (
        callee,
        vec(choice(), 4),
        proptest::option::of(name()),
        0..5usize,
    );
    ("[a-z]{1,3}_[0-9a-f]{8}", name(), vec(step, 0..8), choice()).prop_map(
        |(name, input, steps, output)| {
            let mut builder = ProgramBuilder::with_input(name, input, 1);
            let mut variables = vec![builder.input()];
            for (callee, choices, name, count) in steps {
                let (callee, count) = match callee.operand(&variables) {
                    Operand::Slot(slot) => (Callee::Slot(slot), count),
                    Operand::Primitive(primitive) => {
                        (primitive.into(), primitive.parameters().len())
                    }
                    other => panic!("{other:?} is not chosen as callee"),
                };
                let choices = choices.iter().cycle().take(count);
                let arguments: Vec<_> = choices.map(|choice| choice.operand(&variables)).collect();
                let result = match name.filter(|name| builder.variable(name).is_none()) {
                    Some(name) => builder.step(1, name, callee, arguments.into()),
                    None => builder.call(callee, arguments),
                };
                variables.push(result.unwrap());
            }
            builder.finish(output.operand(&variables)).unwrap()
        },
    )
}

impl From<Primitive> for Choice {
    fn from(primitive: Primitive) -> Self {
        Choice::Fixed(primitive.into())
    }
}

/// Text that uses everything that the language allows; the tests then corrupt it.
const GOOD: &str = r#""""Three programs."""
from dsl import *
from constants import (ZERO, ONE)


def solve_00000001(I):
    x1 = objects(I, T, F, without_bg=True)
    x2 = compose(first, rbind(order, size))  # the smallest
    x3 = x2(x1)
    O = paint(canvas(-1, (height(I), 3)), x3)
    return O


def solve_00000002(grid: Grid) -> Grid:
	'''Where cells are.'''
	cells = frozenset({(0, 0), (1, 2)}); more = {ORIGIN, (3, 4)}
	t1 = fill(grid, value=
		THREE, patch=combine(cells, more))
	return t1

def solve_00000003(I): return rapply((trim, rot90), (I))
"#;

/// A change to a text, on the level of bytes.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Remove(Index, Index),
    Copy(Index, Index, Index),
    Insert(Index, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        (place(), place()).prop_map(|(a, b)| Change::Remove(a, b)),
        (place(), place(), place()).prop_map(|(a, b, to)| Change::Copy(a, b, to)),
        (place(), select(WORDS)).prop_map(|(at, word)| Change::Insert(at, word)),
    ]
}

fn changed(changes: &[Change]) -> String {
    let mut text = GOOD.as_bytes().to_vec();
    for change in changes {
        let place = |index: &Index| index.index(text.len() + 1);
        match change {
            Change::Flip(at, mask) => {
                if let Some(byte) = text.get_mut(at.index(GOOD.len())) {
                    *byte ^= mask;
                }
            }
            Change::Remove(a, b) => {
                let (a, b) = (place(a), place(b));
                text.drain(a.min(b)..a.max(b).min(a.min(b) + 60));
            }
            Change::Copy(a, b, to) => {
                let (a, b, to) = (place(a), place(b), place(to));
                let piece = text[a.min(b)..a.max(b)].to_vec();
                text.splice(to..to, piece);
            }
            Change::Insert(at, word) => {
                let at = place(at);
                text.splice(at..at, word.bytes());
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Words that programs contain, and words that they do not.
const WORDS: &[&str] = &[
    "def ",
    "f",
    "(I)",
    ":",
    "\n",
    "\r\n",
    "\r",
    "    ",
    "\t",
    " ",
    "\x0c",
    "return ",
    "x",
    "t1",
    "I",
    "=",
    "trim",
    "add(",
    "fill(",
    "value=",
    "b=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    "-",
    "1",
    "1073741824",
    "1.5",
    "ZERO",
    "T",
    "None",
    "True",
    "frozenset(",
    "frozenset({",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "r'",
    "\\",
    "\\\n",
    "#",
    "import ",
    "from ",
    "if ",
    "lambda",
    "+",
    "->",
    ":=",
    "é",
    "→",
    "\u{feff}",
    "\0",
    "\ndef f(I):\n x = trim(I)\n return x\n",
    "\ndef ",
    "\n ",
];

/// Checks what must hold for the parser's results on any text.
fn check(text: &str) -> Result<(), TestCaseError> {
    for entry in parse_programs(text) {
        match entry {
            Ok(program) => check_program(&program)?,
            Err(error) => check_place(text, &error)?,
        }
    }
    match parse_value(text) {
        Ok(value) => check_value(&value),
        Err(error) => check_place(text, &error),
    }
}

/// The characters of a text in another order. A set that is printed and read has the elements of the first one, but may
/// iterate over them in another order.
fn characters(text: &str) -> Vec<char> {
    let mut characters: Vec<char> = text.chars().collect();
    characters.sort_unstable();
    characters
}

/// Checks that the program prints as text that parses to the same program.
fn check_program(program: &Program) -> Result<(), TestCaseError> {
    let text = program.to_string();
    let [read] = <[_; 1]>::try_from(parse_programs(&text)).expect("one program");
    let read = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    prop_assert_eq!(&read, program);
    prop_assert_eq!(characters(&read.to_string()), characters(&text));
    Ok(())
}

fn check_value(value: &Value) -> Result<(), TestCaseError> {
    let text = value.to_string();
    let read = parse_value(&text);
    prop_assert_eq!(read.as_ref(), Ok(value));
    // Equality treats true like 1; the text distinguishes them.
    let read = read.unwrap().to_string();
    prop_assert_eq!(characters(&read), characters(&text));
    Ok(())
}

/// Checks that an error points into the text or to the end of a line, and that its message is one short line.
fn check_place(text: &str, error: &ParseError) -> Result<(), TestCaseError> {
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let line = text.split('\n').nth(error.line as usize - 1);
    let columns = line.map(|line| line.chars().count() + 1);
    prop_assert!(columns.is_some_and(|columns| (1..=columns).contains(&(error.column as usize))));
    let message = error.to_string();
    prop_assert!(
        !message.contains('\n') && message.len() < 1000,
        "{}",
        message
    );
    Ok(())
}

#[test]
fn the_text_to_be_spoilt_is_good() {
    let programs: Vec<_> = parse_programs(GOOD)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(programs.len(), 3);
    for program in &programs {
        check_program(program).unwrap();
    }
    let printed: String = programs.iter().map(Program::to_string).collect();
    let again: Vec<_> = parse_programs(&printed)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(again, programs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn values_print_as_text_that_reads_as_them(value in value()) {
        check_value(&value)?;
    }

    #[test]
    fn programs_print_as_text_that_reads_as_them(program in program()) {
        check_program(&program)?;
    }

    #[test]
    fn any_string_is_survived(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_words_are_survived(words in vec(select(WORDS), 0..40)) {
        check(&words.concat())?;
    }

    #[test]
    fn any_words_in_a_program_are_survived(words in vec(select(WORDS), 0..12)) {
        check(&format!("def f(I):\n    O = {}\n    return O\n", words.concat()))?;
    }

    #[test]
    fn any_change_to_programs_is_survived(changes in vec(change(), 1..6)) {
        check(&changed(&changes))?;
    }

    #[test]
    fn a_text_that_breaks_off_is_survived(at in any::<Index>()) {
        let bytes = &GOOD.as_bytes()[..at.index(GOOD.len())];
        check(&String::from_utf8_lossy(bytes))?;
    }
}

/// A value as the literal that a program returns.
fn written(value: &Value) -> String {
    let program = ProgramBuilder::new("f").finish(value.clone().into());
    let text = program.unwrap().to_string();
    let (_, literal) = text.trim_end().split_once("return ").unwrap();
    literal.to_owned()
}

/// Python has `{15, 7}` for `{7, 15}`, and the other way round.
#[test]
fn a_literal_is_read_in_the_order_in_which_it_was_written() {
    let mut generator = Generator::new(7);
    let types = [Type::IntegerSet, Type::Indices, Type::Object, Type::Objects];
    let (mut several, mut exchanged) = (0, 0);
    for at in 0..2_000 {
        let value = generator.value(types[at % types.len()]).into_literal();
        let text = written(&value);
        let program = format!("def f(I):\n    O = totuple({text})\n    return O\n");
        let program = parse_programs(&program).remove(0).unwrap();
        let read = match &program.steps()[0].arguments[0] {
            Operand::Literal(read) => read.clone(),
            Operand::Constant(constant) => constant.value().clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(read.to_string(), value.to_string(), "{text}");
        assert!(program.to_string().contains(&text), "{program}");
        several += usize::from(value.as_container().is_some_and(|it| it.len() > 1));
        exchanged += usize::from(text != value.to_string());
    }
    assert!(several > 1_000 && exchanged > 20, "{several} {exchanged}");
}

/// A table of 32 slots, where a display of constants makes one of 16.
#[test]
fn an_order_that_no_display_has_is_that_of_a_tuple() {
    let locs = [(2, 1), (3, 1), (1, 1), (2, 0), (3, 0), (1, 0)];
    let set = Value::set(locs.map(|(i, j)| Value::Loc(Loc::new(i, j))));
    let text = written(&set);
    assert!(text.starts_with("frozenset(("), "{text}");
    let read = parse_value(&text).unwrap();
    assert_eq!(read.to_string(), set.to_string());
}

/// CPython has one constant for equal displays in a file.
#[test]
fn equal_sets_of_several_orders_are_not_all_displays() {
    let numbers = [0, 8, 16, 24].map(Value::Int);
    let mut displayed = BTreeSet::new();
    let mut others = 0;
    for start in 0..4 {
        for second in 1..4 {
            let mut added = numbers.clone();
            added.rotate_left(start);
            added.swap(1, second);
            let set = Value::set(added);
            let text = written(&set);
            assert_eq!(parse_value(&text).unwrap().to_string(), set.to_string());
            if text.contains('{') {
                displayed.insert(set.to_string());
            } else {
                others += 1;
            }
        }
    }
    assert!(displayed.len() == 1 && others > 3, "{displayed:?} {others}");
}

#[test]
fn every_kind_of_operand_prints_and_reads_back() {
    let mut builder = ProgramBuilder::with_input("solve_1", "grid", 0);
    let function = builder.call(
        Primitive::Matcher,
        [Primitive::Size.into(), Constant::TWO.into()],
    );
    let Operand::Slot(function) = function.unwrap() else {
        panic!("a call gives a variable")
    };
    let pair = Value::tuple(vec![Value::Bool(true), Value::Primitive(Primitive::Trim)]);
    let found = builder.call(function, [pair.into()]).unwrap();
    let chosen = [found, builder.input(), Value::Nothing.into()];
    builder.call(Primitive::Branch, chosen).unwrap();
    let program = builder.finish(Value::set([Value::Int(-1)]).into()).unwrap();
    let text = "def solve_1(grid):\n    x1 = matcher(size, TWO)\n    x2 = x1((True, trim))\n    \
                x3 = branch(x2, grid, None)\n    return frozenset({-1})\n";
    assert_eq!(program.to_string(), text);
    assert_eq!(parse_programs(text), [Ok(program)]);
}

#[test]
fn places_do_not_count_where_programs_are_compared() {
    let read = |text| parse_programs(text).remove(0).unwrap();
    let [a, b] = [
        "def f(I): return trim(I)",
        "\n\ndef f(I):\n\n  return trim(I)",
    ]
    .map(read);
    assert_eq!(a, b);
    assert_eq!(
        (a.line(), b.line(), a.steps()[0].line, b.steps()[0].line),
        (1, 3, 1, 5)
    );
    assert_eq!(a.source(), None);
    let from_file = a.clone().with_source("programs.py");
    assert_eq!(from_file.source(), Some("programs.py"));
    assert_eq!(from_file, a);
    assert_ne!(a, read("def f(I): return rot90(I)"));
    assert_ne!(a, read("def f(x): return trim(x)"));
    assert_ne!(a, read("def g(I): return trim(I)"));
}
