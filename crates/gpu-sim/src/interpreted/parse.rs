//! Parses PTX text into a [`Module`]: functions, their registers, parameters and labels.
//!
//! Supports what the kernels' compiler emits, as the PTX ISA 8.2 defines it; anything else is
//! reported with its line.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::decode::decode;
use super::error::{ParseError, ParseIssue};
use super::flow;
use super::module::{Extent, File, Function, Guard, Instruction, Module, NO_PC, Op, Register};
use super::names::Builder;
use super::tokens::{Tokens, number, operand};

/// The most bytes of variables in a module.
pub(super) const MOST_DATA: usize = 1 << 24;
/// The most bytes of parameters in a module.
pub(super) const MOST_PARAMETERS: u32 = 1 << 20;
/// The most registers of each file in a module.
pub(super) const MOST_REGISTERS: u32 = 1 << 18;

impl Module {
    /// Parses PTX.
    ///
    /// # Errors
    /// Every unsupported instruction and directive, each with its first line.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let mut builder = Builder::new();
        let parsed = builder.module_of(&mut Tokens::new(text));
        let mut issues = builder.issues;
        issues.extend(parsed.err());
        if issues.is_empty() {
            let mut module = builder.module;
            let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
            module.lines = std::iter::once(0).chain(breaks).collect();
            text.clone_into(&mut module.text);
            return Ok(module);
        }
        Err(ParseError::new(issues))
    }
}

impl<'a> Builder<'a> {
    fn module_of(&mut self, tokens: &mut Tokens<'a>) -> Result<(), ParseIssue> {
        loop {
            let line = tokens.line();
            match tokens.take() {
                None => break,
                Some(".version" | ".target" | ".address_size") => {
                    tokens.word()?;
                    while tokens.eat(",") {
                        tokens.word()?;
                    }
                }
                Some(".visible" | ".weak" | ".extern") => {}
                Some(".shared") => self.shared_memory(line, &tokens.up_to(";")?)?,
                Some(".global" | ".const") => self.variable(line, &tokens.up_to(";")?)?,
                Some(kind @ (".func" | ".entry")) => {
                    self.function(tokens, kind == ".entry")?;
                }
                Some(other) => return Err(ParseIssue::new(line, format!("directive {other}"))),
            }
        }
        for (site, line, name) in std::mem::take(&mut self.callees) {
            let mut all = self.module.functions.iter();
            let callee = all.position(|function| function.name == name);
            let unknown = || ParseIssue::new(line, format!("no function {name}"));
            let callee = callee.ok_or_else(unknown)?;
            self.module.calls[site].callee = callee;
            self.module.calls[site]
                .fits(&self.module.functions[callee])
                .map_err(|what| ParseIssue::new(line, what))?;
        }
        flow::no_recursion(&self.module)
    }

    /// `.extern .shared .align 16 .b8 NAME[]`: the array whose size the launch sets.
    fn shared_memory(&mut self, line: u32, words: &[&'a str]) -> Result<(), ParseIssue> {
        match words {
            [.., name, "[", "]"] => {
                self.shared.push(name);
                Ok(())
            }
            _ => Err(ParseIssue::new(line, "shared memory of a fixed size")),
        }
    }

    /// `.global .align 4 .u32 NAME = 5`, `.const .align 1 .b8 NAME[3] = {1, 2, 3}`.
    fn variable(&mut self, line: u32, words: &[&'a str]) -> Result<(), ParseIssue> {
        let unknown = || ParseIssue::new(line, format!("variable {}", words.join(" ")));
        let mut rest = words;
        let mut align = 8;
        if let [".align", bytes, after @ ..] = rest {
            align = alignment(bytes).ok_or_else(unknown)?;
            rest = after;
        }
        let [ty, name, rest @ ..] = rest else {
            return Err(unknown());
        };
        let unit = bits_of(ty).ok_or_else(unknown)? as usize / 8;
        let (count, values): (usize, &[&str]) = match rest {
            [] => (1, &[]),
            ["=", value] => (1, std::slice::from_ref(value)),
            ["[", count, "]"] => (count.parse().map_err(|_| unknown())?, &[]),
            ["[", count, "]", "=", "{", values @ .., "}"] => {
                (count.parse().map_err(|_| unknown())?, values)
            }
            _ => return Err(unknown()),
        };
        let data = &mut self.module.data;
        let begin = data.len().next_multiple_of(align);
        let end = count
            .checked_mul(unit)
            .and_then(|bytes| begin.checked_add(bytes));
        let end = end.filter(|end| *end <= MOST_DATA).ok_or_else(|| {
            let what = format!("more than {MOST_DATA} bytes of variables");
            ParseIssue::new(line, what)
        })?;
        data.resize(begin, 0);
        for value in values.iter().filter(|word| **word != ",") {
            let value = number(value).ok_or_else(unknown)?;
            data.extend(&value.to_le_bytes()[..unit]);
        }
        if data.len() > end {
            return Err(unknown());
        }
        data.resize(end, 0);
        self.variables.insert(name, begin as u64);
        Ok(())
    }

    fn function(&mut self, tokens: &mut Tokens<'a>, is_entry: bool) -> Result<(), ParseIssue> {
        self.parameters.truncate(1);
        self.parameters.push(HashMap::new());
        let mut result = None;
        if tokens.eat("(") {
            tokens.expect(".param")?;
            result = Some(self.parameter(tokens)?);
            tokens.expect(")")?;
        }
        let name = tokens.word()?;
        let mut parameters = Vec::new();
        if tokens.eat("(") {
            while !tokens.eat(")") {
                tokens.expect(".param")?;
                parameters.push(self.parameter(tokens)?);
                tokens.eat(",");
            }
        }
        // Skips launch bounds; a declaration has no body.
        loop {
            match tokens.word()? {
                ";" => return Ok(()),
                "{" => break,
                _ => {}
            }
        }
        let line = tokens.line();
        let first = self.module.code.len() as u32;
        self.files.clear();
        self.registers.clear();
        self.body(tokens)?;
        self.resolve_branches()?;
        let end = self.module.code.len() as u32;
        let registers = std::mem::take(&mut self.declared);
        self.module.functions.push(Function {
            name: name.to_owned(),
            is_entry,
            first,
            end,
            parameters,
            result,
            registers,
        });
        if self.issues.is_empty() {
            if first == end {
                let what = format!("function {name} without instructions");
                return Err(ParseIssue::new(line, what));
            }
            let Module { code, tables, .. } = &mut self.module;
            flow::set_reconvergence_points(&mut code[first as usize..], first, tables)?;
        }
        Ok(())
    }

    /// `.align 8 .b8 NAME[24]`, after `.param`.
    fn parameter(&mut self, tokens: &mut Tokens<'a>) -> Result<Extent, ParseIssue> {
        let line = tokens.line();
        if tokens.eat(".align") {
            let bytes = tokens.word()?;
            let unknown = || ParseIssue::new(line, format!("parameter aligned to {bytes}"));
            alignment(bytes).ok_or_else(unknown)?;
        }
        let ty = tokens.word()?;
        let name = tokens.word()?;
        let unknown = || ParseIssue::new(line, format!("parameter {ty} {name}"));
        let unit = bits_of(ty).ok_or_else(unknown)? / 8;
        let mut count: u32 = 1;
        if tokens.eat("[") {
            count = tokens.word()?.parse().map_err(|_| unknown())?;
            tokens.expect("]")?;
        }
        let at = self.module.parameter_bytes.next_multiple_of(16);
        let bytes = count
            .checked_mul(unit)
            .filter(|bytes| *bytes <= MOST_PARAMETERS - at);
        let bytes = bytes.ok_or_else(|| {
            let what = format!("more than {MOST_PARAMETERS} bytes of parameters");
            ParseIssue::new(line, what)
        })?;
        self.module.parameter_bytes = at + bytes;
        let extent = Extent { at, bytes };
        if let Some(scope) = self.parameters.last_mut() {
            scope.insert(name, extent);
        }
        Ok(extent)
    }

    fn body(&mut self, tokens: &mut Tokens<'a>) -> Result<(), ParseIssue> {
        let mut depth = 1;
        while depth > 0 {
            let line = tokens.line();
            match tokens.take() {
                Some("{") => {
                    depth += 1;
                    self.parameters.push(HashMap::new());
                }
                Some("}") => {
                    depth -= 1;
                    self.parameters.pop();
                }
                Some(".pragma") => tokens.skip_past(";"),
                Some(".param") => {
                    self.parameter(tokens)?;
                    tokens.expect(";")?;
                }
                Some(".reg") => self.declare(line, &tokens.up_to(";")?)?,
                Some(";") => {}
                Some("@") => {
                    let negated = tokens.eat("!");
                    let name = tokens.word()?;
                    let guard = self.register(name).filter(|r| r.file == File::Predicate);
                    let unknown = || ParseIssue::new(line, format!("no predicate {name}"));
                    let Register { index, .. } = guard.ok_or_else(unknown)?;
                    let opcode = tokens.word()?;
                    self.statement(tokens, line, opcode, Some(Guard { index, negated }))?;
                }
                Some(word) => {
                    if !tokens.eat(":") {
                        self.statement(tokens, line, word, None)?;
                    } else if tokens.eat(".branchtargets") {
                        self.branch_targets(line, word, &tokens.up_to(";")?)?;
                    } else {
                        let here = self.module.code.len() as u32;
                        self.labels.insert(word, here);
                    }
                }
                None => {
                    return Err(ParseIssue::new(line, "the end of a function is missing"));
                }
            }
        }
        Ok(())
    }

    /// `.reg .b32 %r<5>`, `.reg .pred p, q`.
    fn declare(&mut self, line: u32, words: &[&'a str]) -> Result<(), ParseIssue> {
        let unknown = || ParseIssue::new(line, format!("registers {}", words.join(" ")));
        let (ty, names) = words.split_first().ok_or_else(unknown)?;
        let file = match *ty {
            ".pred" => File::Predicate,
            ".b16" | ".u16" | ".s16" | ".b32" | ".u32" | ".s32" => File::Word,
            ".b64" | ".u64" | ".s64" => File::Long,
            _ => return Err(unknown()),
        };
        for list in names.split(|word| *word == ",") {
            let first = self.module.sizes[file as usize];
            let left = MOST_REGISTERS.saturating_sub(first);
            let count: u32 = match list {
                [name, "<", count, ">"] => {
                    let count = count.parse().map_err(|_| unknown())?;
                    self.files.insert(name, (file, first, count));
                    count
                }
                [name] => {
                    let index = first;
                    self.registers.insert(name, Register { file, index });
                    1
                }
                _ => return Err(unknown()),
            };
            if count > left {
                let what = format!("more than {MOST_REGISTERS} registers of a kind");
                return Err(ParseIssue::new(line, what));
            }
            self.module.sizes[file as usize] = first + count;
            self.declared.push((file, first, count));
        }
        Ok(())
    }

    /// `NAME: .branchtargets LABEL, LABEL`: the targets of indexed branches, from index 0.
    fn branch_targets(
        &mut self,
        line: u32,
        name: &'a str,
        words: &[&'a str],
    ) -> Result<(), ParseIssue> {
        let mut labels = Vec::new();
        for label in words.split(|word| *word == ",") {
            let [label] = label else {
                let found = label.join(" ");
                let what = format!("branch targets {name}: a label expected, `{found}` found");
                return Err(ParseIssue::new(line, what));
            };
            labels.push(*label);
        }
        self.tables.push((name, line, labels));
        Ok(())
    }

    fn statement(
        &mut self,
        tokens: &mut Tokens<'a>,
        line: u32,
        opcode: &'a str,
        guard: Option<Guard>,
    ) -> Result<(), ParseIssue> {
        let mut operands = Vec::new();
        while !tokens.eat(";") {
            operands.push(operand(tokens)?);
            tokens.eat(",");
        }
        let mut instruction = Instruction {
            op: Op::Trap,
            guard,
            to: [0; 4],
            from: [0; 5],
            offset: 0,
            target: NO_PC,
            reconvergence: NO_PC,
            line,
            reads: SmallVec::new(),
            writes: SmallVec::new(),
        };
        if let Some(Guard { index, .. }) = guard {
            let file = File::Predicate;
            instruction.reads.push(Register { file, index }.number());
        }
        match decode(self, opcode, &operands, &mut instruction) {
            Ok(()) => self.module.code.push(instruction),
            Err(what) => {
                self.forget_branch();
                self.issues.push(ParseIssue::new(line, what));
            }
        }
        Ok(())
    }
}

/// Parses an alignment in bytes.
fn alignment(bytes: &str) -> Option<usize> {
    let bytes: usize = bytes.parse().ok()?;
    (bytes.is_power_of_two() && bytes <= 128).then_some(bytes)
}

/// The number of bits of a type, such as 32 for `.b32`.
fn bits_of(ty: &str) -> Option<u32> {
    let bits = ty.strip_prefix('.')?.get(1..)?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64).then_some(bits)
}
