//! Compares the meaning of names in program text with Python: files that redefine names of the DSL, use other names for
//! them, and set constants and variables repeatedly are parsed here and run there. A program that is parsed must return
//! what Python returns; what cannot be resolved must be refused, never misinterpreted.
//!
//! In Python there is a module `dsl` with a handful of functions of the same meaning, defined below.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

use arc_dsl::{Grid, Interpreter};
use arc_text::{Reading, read_programs};
use libtest_mimic::{Arguments, Failed, Trial};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

const FILES: usize = 400;

const DRIVER: &str = r#"
import json, sys, types
dsl = types.ModuleType("dsl")
sys.setrecursionlimit(300)
class TooLarge(Exception): pass
dsl.TooLarge = TooLarge
exec('''
def moderate(grid):
    if len(grid) * len(grid[0]) > 3000: raise TooLarge()
    return grid
def identity(x): return x
def rot90(grid): return tuple(zip(*grid[::-1]))
def rot180(grid): return tuple(row[::-1] for row in grid[::-1])
def hmirror(piece): return tuple(piece[::-1])
def vmirror(piece): return tuple(row[::-1] for row in piece)
def dmirror(piece): return tuple(zip(*piece))
def hconcat(a, b): return moderate(tuple(i + j for i, j in zip(a, b)))
def vconcat(a, b): return moderate(tuple(a) + tuple(b))
def replace(grid, replacee, replacer):
    return tuple(tuple(replacer if v == replacee else v for v in r) for r in grid)
def height(piece): return len(piece)
def width(piece): return len(piece[0])
def shape(piece): return (height(piece), width(piece))
def astuple(a, b): return (a, b)
def canvas(value, dimensions): return tuple(tuple(value for j in range(dimensions[1])) for i in range(dimensions[0]))
ONE, TWO, THREE = 1, 2, 3
''', dsl.__dict__)
sys.modules["dsl"] = dsl
def grid(rows): return tuple(tuple(row) for row in rows)
cases = json.load(sys.stdin)
told = []
for case in cases["files"]:
    space = {"__name__": "solvers"}
    exec(case["text"], space)
    values = {}
    for name in case["programs"]:
        values[name] = []
        for rows in cases["grids"]:
            try:
                value = space[name](grid(rows))
                values[name].append(repr(grid(value)).replace(" ", ""))
            except TooLarge:
                values[name].append("too large")
            except Exception as error:
                values[name].append(None)
    told.append(values)
json.dump(told, sys.stdout)
"#;

/// Functions of the DSL that take a grid, and values of the DSL.
const TURNS: &[&str] = &[
    "rot90", "rot180", "hmirror", "vmirror", "dmirror", "identity",
];
const JOINS: &[&str] = &["hconcat", "vconcat"];
const NUMBERS: &[&str] = &["ONE", "TWO", "THREE"];

/// Generates a file of programs.
struct Writer {
    random: Pcg32,
    text: String,
    /// Names that refer to functions of one and of two grids, and to numbers.
    turns: Vec<String>,
    joins: Vec<String>,
    numbers: Vec<String>,
    programs: Vec<String>,
}

impl Writer {
    fn new(seed: u64) -> Self {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Self {
            random: Pcg32::seed_from_u64(seed),
            text: "from dsl import *\nimport dsl\nimport dsl as d\n".to_owned(),
            turns: names(TURNS),
            joins: names(JOINS),
            numbers: names(NUMBERS),
            programs: Vec::new(),
        }
    }

    fn pick(&mut self, names: &[String]) -> String {
        names[self.random.random_range(0..names.len())].clone()
    }

    fn turn(&mut self) -> String {
        let turns = self.turns.clone();
        match self.random.random_range(0..8) {
            0 => format!("dsl.{}", TURNS[self.random.random_range(0..TURNS.len())]),
            1 => format!("d.{}", TURNS[self.random.random_range(0..TURNS.len())]),
            _ => self.pick(&turns),
        }
    }

    fn number(&mut self) -> String {
        let numbers = self.numbers.clone();
        let number = self.pick(&numbers);
        match self.random.random_range(0..6) {
            0 => format!("{number} + 1"),
            1 => format!("7 % ({number} + 2)"),
            2 => format!("{}", self.random.random_range(0..9)),
            _ => number,
        }
    }

    /// An expression whose value is a grid, using variables that hold grids.
    fn grid(&mut self, variables: &[String], depth: u32) -> String {
        if depth == 0 || self.random.random_range(0..4) == 0 {
            return self.pick(variables);
        }
        let inner = self.grid(variables, depth - 1);
        match self.random.random_range(0..6) {
            0 | 1 => {
                let other = self.grid(variables, depth - 1);
                let joins = self.joins.clone();
                format!("{}({inner}, {other})", self.pick(&joins))
            }
            2 => {
                let (a, b) = (self.number(), self.number());
                format!("replace({inner}, {a}, replacer={b})")
            }
            _ => format!("{}({inner})", self.turn()),
        }
    }

    /// The body of a function whose parameters are these grids.
    fn body(&mut self, parameters: &[String]) {
        let mut variables = parameters.to_vec();
        for _ in 0..self.random.random_range(0..4) {
            let value = self.grid(&variables, 2);
            match self.random.random_range(0..7) {
                // A variable with a name of the DSL hides that name in the whole function.
                0 => {
                    let name = ["width", "shape", "x", "y"][self.random.random_range(0..4)];
                    let _ = writeln!(self.text, "    {name} = {value}");
                    variables.push(name.to_owned());
                }
                1 => {
                    let other = self.grid(&variables, 1);
                    let _ = writeln!(self.text, "    x, z = {value}, {other}");
                    variables.extend(["x".to_owned(), "z".to_owned()]);
                }
                2 => {
                    let again = self.pick(&variables);
                    let _ = writeln!(self.text, "    {again} = {value}");
                }
                3 => {
                    let _ = writeln!(self.text, "    from dsl import rot90 as dmirror");
                }
                4 => {
                    let _ = writeln!(self.text, "    h, w = shape({value})");
                    let _ = writeln!(self.text, "    c = canvas(h, (w, h))");
                    variables.push("c".to_owned());
                }
                _ => {
                    let _ = writeln!(self.text, "    x = {value}");
                    variables.push("x".to_owned());
                }
            }
        }
        let value = self.grid(&variables, 2);
        let _ = writeln!(self.text, "    return {value}");
    }

    /// A statement outside of programs.
    fn statement(&mut self, number: usize) {
        let own = |name: &str| format!("{name}{number}");
        let (turns, numbers) = (self.turns.clone(), self.numbers.clone());
        let of_dsl = TURNS[self.random.random_range(0..TURNS.len())];
        match self.random.random_range(0..12) {
            0 => {
                let name = self.pick(&turns);
                let _ = writeln!(self.text, "from dsl import {of_dsl} as {name}");
            }
            1 => {
                let (name, value) = (self.pick(&numbers), self.random.random_range(0..9));
                let _ = writeln!(self.text, "{name} = {value}");
            }
            2 => {
                let (name, other) = (own("t"), self.pick(&turns));
                let _ = writeln!(self.text, "{name} = {other}");
                self.turns.push(name);
            }
            3 => {
                let (name, other) = (self.pick(&turns), self.pick(&turns));
                let _ = writeln!(self.text, "{name} = {other}");
            }
            4 => {
                let (name, value) = (own("N"), self.number());
                let _ = writeln!(self.text, "{name} = {value}");
                self.numbers.push(name);
            }
            5 | 6 => {
                let name = own("turned");
                let _ = writeln!(self.text, "def {name}(g):");
                self.body(&["g".to_owned()]);
                self.turns.push(name);
            }
            7 => {
                let name = own("joined");
                let _ = writeln!(self.text, "def {name}(a, b):");
                self.body(&["a".to_owned(), "b".to_owned()]);
                self.joins.push(name);
            }
            8 => {
                // It may call itself, as in Python.
                let _ = writeln!(self.text, "def {of_dsl}(g):");
                self.body(&["g".to_owned()]);
            }
            9 => {
                let (name, other) = (self.pick(&turns), self.pick(&turns));
                let _ = writeln!(self.text, "if ONE:\n    {name} = {other}");
            }
            10 => {
                let _ = writeln!(self.text, "from dsl import *");
            }
            _ => {
                let (name, other) = (own("l"), self.pick(&turns));
                let _ = writeln!(self.text, "{name} = lambda g: {other}({other}(g))");
                self.turns.push(name);
            }
        }
    }

    fn file(mut self) -> (String, Vec<String>) {
        for number in 0..self.random.random_range(2..12) {
            self.statement(number);
            if self.random.random_range(0..3) == 0 {
                let name = format!("solve_{number}");
                let _ = writeln!(self.text, "def {name}(I):");
                self.body(&["I".to_owned()]);
                self.programs.push(name);
            }
        }
        let _ = writeln!(self.text, "def solve_last(I):");
        self.body(&["I".to_owned()]);
        self.programs.push("solve_last".to_owned());
        (self.text, self.programs)
    }
}

fn agree(python: &str) -> Result<(), Failed> {
    let rows: [&[&[i32]]; 2] = [&[&[1, 2], &[3, 0]], &[&[1, 2, 3], &[4, 5, 6], &[0, 1, 1]]];
    let files: Vec<_> = (0..FILES as u64)
        .map(|seed| Writer::new(seed).file())
        .collect();
    let asked: Vec<_> = files
        .iter()
        .map(|(text, programs)| serde_json::json!({ "text": text, "programs": programs }))
        .collect();
    let asked = serde_json::json!({ "files": asked, "grids": rows });
    let mut child = Command::new(python)
        .args(["-c", DRIVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    stdin.write_all(asked.to_string().as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err("Python failed".into());
    }
    let told: Vec<std::collections::HashMap<String, Vec<Option<String>>>> =
        serde_json::from_slice(&output.stdout)?;
    let (mut followed, mut refused) = (0, 0);
    for ((text, programs), told) in files.iter().zip(&told) {
        let read = read_programs(text, &Reading::default()).programs;
        refused += read.iter().filter(|program| program.is_err()).count();
        for program in read
            .iter()
            .flatten()
            .filter(|it| programs.iter().any(|name| name == it.name()))
        {
            followed += 1;
            for (rows, expected) in rows.iter().zip(&told[program.name()]) {
                // A few steps double a grid, and a few more would fill the memory.
                if expected.as_deref() == Some("too large") {
                    continue;
                }
                let grid =
                    Grid::from_rows(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>())?;
                let value = Interpreter::default().run(program, grid).ok();
                let value = value.map(|value| value.to_string().replace(' ', ""));
                if value != *expected {
                    let name = program.name();
                    return Err(
                        format!("{name} gives {value:?}, in Python {expected:?}:\n{text}").into(),
                    );
                }
            }
        }
    }
    // Most programs that can be resolved are.
    if followed < FILES || followed < 3 * refused {
        return Err(format!("{followed} programs are read, {refused} refused").into());
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runs = |python: &&&str| {
        let version = Command::new(python).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let python = ["python3", "python"].iter().find(runs).copied();
    let name = match python {
        Some(_) => "names_mean_what_they_mean_in_python".to_owned(),
        None => "names_mean_what_they_mean_in_python (no python3 here)".to_owned(),
    };
    let trial = Trial::test(name, move || agree(python.unwrap_or("python3")));
    let trial = trial.with_ignored_flag(python.is_none());
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}
