//! [`Builder`]: the symbol tables used while PTX is parsed.

use std::collections::HashMap;

use super::error::ParseIssue;
use super::module::{CallSite, Extent, File, Module, Register, SPECIAL};

/// A symbol table.
type Names<'a, T> = HashMap<&'a str, T>;

#[derive(Default)]
pub(super) struct Builder<'a> {
    pub(super) module: Module,
    pub(super) issues: Vec<ParseIssue>,
    /// Parameters by scope: those of a call are declared in a block around it.
    pub(super) parameters: Vec<Names<'a, Extent>>,
    /// Variables, with their offset in [`Module::data`].
    pub(super) variables: Names<'a, u64>,
    /// Names of the shared memory whose size the launch sets; all of them are its beginning.
    pub(super) shared: Vec<&'a str>,
    /// The function's numbered registers by the prefix of their names, and its individually named ones.
    pub(super) files: Names<'a, (File, u32, u32)>,
    pub(super) registers: Names<'a, Register>,
    pub(super) declared: Vec<(File, u32, u32)>,
    pub(super) labels: Names<'a, u32>,
    /// The function's tables of branch targets, with their lines and labels.
    pub(super) tables: Vec<(&'a str, u32, Vec<&'a str>)>,
    /// The function's branches, plain and indexed, and the module's calls, each with the name of its target.
    pub(super) branches: Vec<(usize, u32, &'a str)>,
    pub(super) indexed_branches: Vec<(usize, u32, &'a str)>,
    pub(super) callees: Vec<(usize, u32, &'a str)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new() -> Self {
        let mut builder = Self {
            parameters: vec![HashMap::new()],
            ..Self::default()
        };
        builder.module.sizes[File::Word as usize] = SPECIAL.len() as u32;
        builder
    }

    /// The register with this name.
    pub(super) fn register(&self, name: &str) -> Option<Register> {
        if let Some(index) = SPECIAL.iter().position(|special| *special == name) {
            let (file, index) = (File::Word, index as u32);
            return Some(Register { file, index });
        }
        if let Some(register) = self.registers.get(name) {
            return Some(*register);
        }
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let (file, first, count) = *self.files.get(letters)?;
        let number: u32 = name[letters.len()..].parse().ok()?;
        (number < count).then(|| Register {
            file,
            index: first + number,
        })
    }

    /// The register that holds a constant.
    pub(super) fn constant(&mut self, file: File, value: u64) -> Register {
        let module = &mut self.module;
        let next = &mut module.sizes[file as usize];
        let new = || {
            *next += 1;
            *next - 1
        };
        let index = *module.constants.entry((file, value)).or_insert_with(new);
        Register { file, index }
    }

    /// The bytes of a parameter in the parameter space.
    pub(super) fn extent_of(&self, name: &str) -> Option<Extent> {
        let mut scopes = self.parameters.iter().rev();
        scopes.find_map(|scope| scope.get(name)).copied()
    }

    /// The offset of a variable in [`Module::data`].
    pub(super) fn variable_at(&self, name: &str) -> Option<u64> {
        self.variables.get(name).copied()
    }

    /// Whether this is a name of shared memory.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.shared.contains(&name)
    }

    /// Records the target of the next instruction, a branch.
    pub(super) fn branch_to(&mut self, line: u32, label: &'a str) {
        self.branches.push((self.module.code.len(), line, label));
    }

    /// Records the table of the next instruction, an indexed branch.
    pub(super) fn branch_by(&mut self, line: u32, table: &'a str) {
        self.indexed_branches
            .push((self.module.code.len(), line, table));
    }

    /// Removes the record of a branch that was refused, and so is not the next instruction.
    pub(super) fn forget_branch(&mut self) {
        let next = self.module.code.len();
        self.branches.retain(|(at, ..)| *at < next);
        self.indexed_branches.retain(|(at, ..)| *at < next);
    }

    /// Resolves the labels of branches, at the end of a function.
    pub(super) fn resolve_branches(&mut self) -> Result<(), ParseIssue> {
        let unknown = |line, what: &str, name| ParseIssue::new(line, format!("no {what} {name}"));
        let labels = std::mem::take(&mut self.labels);
        let place_of = |line, label: &'a str| {
            let place = labels.get(label).copied();
            place.ok_or_else(|| unknown(line, "label", label))
        };
        for (at, line, label) in self.branches.drain(..) {
            self.module.code[at].target = place_of(line, label)?;
        }
        let mut numbers = HashMap::new();
        for (name, line, labels) in self.tables.drain(..) {
            let places = labels.into_iter().map(|label| place_of(line, label));
            let places = places.collect::<Result<_, _>>()?;
            numbers.insert(name, self.module.tables.len() as u32);
            self.module.tables.push(places);
        }
        for (at, line, name) in self.indexed_branches.drain(..) {
            let number = numbers.get(name).copied();
            let number = number.ok_or_else(|| unknown(line, "table of branch targets", name))?;
            self.module.code[at].target = number;
        }
        Ok(())
    }

    /// Records a call; returns the index of its site.
    pub(super) fn call_of(
        &mut self,
        line: u32,
        name: &'a str,
        arguments: Vec<Extent>,
        result: Option<Extent>,
    ) -> u32 {
        let site = self.module.calls.len();
        self.callees.push((site, line, name));
        self.module.calls.push(CallSite {
            callee: usize::MAX,
            arguments,
            result,
        });
        site as u32
    }
}
