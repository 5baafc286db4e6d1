//! The bindings of a text's global names, in the order in which Python binds them.
//!
//! A function looks names up when it is called, so it sees the last binding of each; code outside of functions sees the
//! binding above it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_dsl::{Constant, Dialect};

use crate::beside::{Beside, DslPart, Meaning};
use crate::lexer::Token;
use crate::names::{self, BUILTINS, is_of_dsl, is_one_of};
use crate::spelling::nearest;

/// Another project's names for the names of the DSL: maps theirs to ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames(BTreeMap<String, String>);

impl Renames {
    /// Parses a table of names: one `theirs = ours` per line; anything after `#` is ignored.
    ///
    /// ```
    /// use arc_text::{Reading, Renames, read_programs};
    /// let names = Renames::parse("flip_lr = vmirror  # left to right\n").unwrap();
    /// let reading = Reading { names, ..Reading::default() };
    /// let read = read_programs("def solve_a(I): return flip_lr(I)", &reading);
    /// let program = read.programs[0].as_ref().unwrap();
    /// assert_eq!(program.to_string(), "def solve_a(I):\n    t1 = vmirror(I)\n    return t1\n");
    /// ```
    ///
    /// # Errors
    ///
    /// The number of the first line, counted from 1, that has another form, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut renames = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let wrong = |message: String| (at + 1, message);
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let sides = line.split_once('=');
            let Some((theirs, ours)) = sides.map(|(theirs, ours)| (theirs.trim(), ours.trim()))
            else {
                let found = super::tokens::told(line);
                return Err(wrong(format!("expected `theirs = ours`, found `{found}`")));
            };
            if !names::is_name(theirs) {
                let found = super::tokens::told(theirs);
                return Err(wrong(format!(
                    "expected a name before `=`, found `{found}`"
                )));
            }
            if !Dialect::ALL
                .iter()
                .any(|&dialect| names::known(dialect, ours).is_some())
            {
                let known = Dialect::ALL.iter().flat_map(|&d| names::primitives(d));
                let hint = match nearest(ours, known) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => "expected a primitive or a constant".to_owned(),
                };
                let found = super::tokens::told(ours);
                return Err(wrong(format!("the DSL has no `{found}`, {hint}")));
            }
            if let Some(other) = renames.insert(theirs.to_owned(), ours.to_owned())
                && other != ours
            {
                return Err(wrong(format!("`{theirs}` is `{other}` already")));
            }
        }
        Ok(Self(renames))
    }

    /// The DSL's name for this name.
    pub(super) fn ours<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// Modules with names that also occur in the DSL, with other meanings: a star import from them hides the DSL's names.
const HIDING: &str = "numpy cupy scipy torch jax pandas operator itertools heapq statistics tensorflow sympy cv2 \
     skimage pylab";

/// Modules without such names.
const HARMLESS: &str = "__future__ abc arc_types collections copy dataclasses enum functools json logging math \
     os pathlib pytest random re string sys time tqdm types typing typing_extensions unittest";

/// The effect of a star import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StarImport {
    /// Binds the DSL's names to the DSL.
    Dsl(DslPart),
    /// Binds what the module beside the text with this index does.
    Beside(usize),
    /// May bind any of them to something else.
    Hides,
    /// Binds none of them.
    Nothing,
    /// Unknown module: assumed to be the DSL under another name.
    Unknown,
}

impl StarImport {
    pub(super) fn of(path: &str) -> Self {
        let first = path
            .split('.')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        match DslPart::of(path) {
            DslPart::Other if is_one_of(HIDING, first) => StarImport::Hides,
            DslPart::Other if is_one_of(HARMLESS, first) || is_one_of(HARMLESS, last) => {
                StarImport::Nothing
            }
            DslPart::Other => StarImport::Unknown,
            holds => StarImport::Dsl(holds),
        }
    }
}

/// What a name is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binding<'t> {
    /// The DSL's meaning of this name.
    Dsl(&'t str),
    /// A function of the text or a value that it sets, by index.
    Function(usize),
    /// A module, by its path.
    Module(String),
    /// What a module beside the text binds a name of the DSL to otherwise: its file and line.
    Beside(Arc<str>, u32),
    /// Something that programs cannot use, with the reason.
    Other(String),
}

/// What star imports bind a name of the DSL to.
enum Starred<'t> {
    Dsl,
    Other(Binding<'t>),
}

impl Starred<'_> {
    fn set_again() -> Self {
        Starred::Other(Binding::Other("it may be set again there".into()))
    }
}

#[derive(Debug, Clone)]
struct Bound<'t> {
    /// When it is bound: a number that counts the bindings of the text from the top.
    at: u32,
    line: u32,
    binding: Binding<'t>,
}

/// The time at which the names in a function are looked up: after all bindings.
pub(super) const LATE: u32 = u32::MAX;

/// The bindings of a text.
#[derive(Debug, Default)]
pub(super) struct Globals<'t> {
    bindings: HashMap<&'t str, Vec<Bound<'t>>>,
    beside: Option<Arc<Beside>>,
    stars: Vec<(u32, u32, StarImport)>,
    /// From when on, and because of which line, any name and any part of a module may have changed, and why.
    changes: Vec<(u32, u32, &'static str)>,
    /// The number of bindings so far.
    now: u32,
    /// Whether a name of the DSL was bound to something else.
    hides: bool,
    /// Whether a name was bound twice.
    rebinds: bool,
    /// Whether a name was bound to a module.
    has_modules: bool,
}

impl<'t> Globals<'t> {
    pub(super) fn new(beside: Option<Arc<Beside>>) -> Self {
        Self {
            beside,
            ..Self::default()
        }
    }

    /// The current time: the number of bindings so far.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Whether a name means different things at different times.
    pub(super) fn rebinds(&self) -> bool {
        self.rebinds || self.hides
    }

    /// Whether a name has been bound to a module so far.
    pub(super) fn has_modules(&self) -> bool {
        self.has_modules
    }

    /// Whether every name of the DSL has the DSL's meaning.
    pub(super) fn is_plain(&self) -> bool {
        !self.hides
    }

    pub(super) fn bind(&mut self, name: Token<'t>, binding: Binding<'t>) {
        let (name, line) = (name.text, name.line);
        let is_dsl = is_of_dsl(name);
        // After such a change, a module's names are no longer known to be the DSL's.
        let binding = match (self.changes.last(), binding) {
            (Some((_, _, why)), Binding::Dsl(_) | Binding::Module(_)) => {
                Binding::Other((*why).to_owned())
            }
            (_, binding) => binding,
        };
        let bound = self.bindings.entry(name).or_default();
        if binding == Binding::Dsl(name) && bound.is_empty() && !self.hides {
            self.bindings.remove(name);
            return;
        }
        self.hides |= is_dsl && binding != Binding::Dsl(name);
        self.rebinds |= !bound.is_empty();
        self.has_modules |= matches!(binding, Binding::Module(_));
        let at = self.now;
        self.now += 1;
        bound.push(Bound { at, line, binding });
    }

    /// Whether a star import may bind names of the DSL to something else.
    pub(super) fn may_hide(&self, star: StarImport) -> bool {
        match star {
            StarImport::Beside(module) => {
                let beside = self.beside.as_deref();
                beside.is_some_and(|beside| beside.has_others(module))
            }
            star => star == StarImport::Hides,
        }
    }

    pub(super) fn star(&mut self, line: u32, star: StarImport) {
        self.hides |= self.may_hide(star);
        self.stars.push((self.now, line, star));
        self.now += 1;
    }

    /// Records that from now on any name, and any part of a module, may have changed.
    pub(super) fn change(&mut self, line: u32, why: &'static str) {
        self.hides = true;
        self.changes.push((self.now, line, why));
        self.now += 1;
    }

    /// If parts of a module may have changed before this time: on which line, and why.
    pub(super) fn changed_before(&self, at: u32) -> Option<(u32, &'static str)> {
        self.change_before(at).map(|(_, line, why)| (line, why))
    }

    fn change_before(&self, at: u32) -> Option<(u32, u32, &'static str)> {
        let until = self.changes.partition_point(|&(then, ..)| then < at);
        self.changes[..until].last().copied()
    }

    /// What a name is bound to at this time, and on which line; `None` if the text does not say.
    pub(super) fn get(&self, dialect: Dialect, name: &str, at: u32) -> Option<(u32, Binding<'t>)> {
        let bound = self.bindings.get(name).and_then(|bound| {
            let until = bound.partition_point(|bound| bound.at < at);
            bound[..until].last()
        });
        if let Some((then, line, why)) = self.change_before(at)
            && bound.is_none_or(|bound| bound.at < then)
        {
            return Some((line, Binding::Other(why.to_owned())));
        }
        if self.hides
            && let Some((line, starred)) = self.starred(dialect, name, at, bound)
        {
            return match starred {
                Starred::Other(binding) => Some((line, binding)),
                // After such a change, a module's names are no longer known to be the DSL's.
                Starred::Dsl => self
                    .changed_before(at)
                    .map(|(line, why)| (line, Binding::Other(why.to_owned()))),
            };
        }
        bound.map(|bound| (bound.line, bound.binding.clone()))
    }

    /// Whether a star import binds this name of the DSL and nothing else does, so that it is the DSL's.
    pub(super) fn is_starred(&self, dialect: Dialect, name: &str) -> bool {
        matches!(
            self.starred(dialect, name, LATE, None),
            Some((_, Starred::Dsl))
        )
    }

    /// What star imports before this time bind a name of the DSL or of Python to, and on which line, if they do so after `bound`
    /// binds it.
    fn starred(
        &self,
        dialect: Dialect,
        name: &str,
        at: u32,
        bound: Option<&Bound<'t>>,
    ) -> Option<(u32, Starred<'t>)> {
        let is_builtin = is_one_of(BUILTINS, name);
        if !is_builtin {
            names::known(dialect, name)?;
        }
        let is_constant = Constant::from_name(name).is_some();
        let since = bound.map_or(0, |bound| bound.at);
        let mut doubt = None;
        let stars = self.stars.iter().rev();
        let stars = stars.filter(|&&(then, ..)| (since..at).contains(&then));
        for &(_, line, star) in stars {
            let starred = match star {
                StarImport::Nothing | StarImport::Unknown => continue,
                StarImport::Dsl(_) if is_builtin => continue,
                // Some modules of the DSL include its constants, others do not.
                StarImport::Dsl(DslPart::Primitives | DslPart::Both) if is_constant => {
                    doubt.get_or_insert(line);
                    continue;
                }
                StarImport::Dsl(DslPart::Constants) if !is_constant => continue,
                StarImport::Dsl(_) => Starred::Dsl,
                StarImport::Hides => {
                    Starred::Other(Binding::Other("it may be hidden there".into()))
                }
                StarImport::Beside(module) => match self.beside.as_ref()?.starred(module, name) {
                    None => continue,
                    Some(Meaning::Dsl) => Starred::Dsl,
                    Some(Meaning::Other(file, line)) => {
                        Starred::Other(Binding::Beside(Arc::clone(file), *line))
                    }
                },
            };
            return Some(match (starred, doubt) {
                (Starred::Other(_), Some(line)) => (line, Starred::set_again()),
                (starred, _) => (line, starred),
            });
        }
        let line = doubt?;
        Some(match bound {
            Some(bound) if !matches!(bound.binding, Binding::Dsl(of) if of == name) => {
                (line, Starred::set_again())
            }
            _ => (line, Starred::Dsl),
        })
    }

    /// What star imports from modules beside the text bind, besides the names of the DSL.
    pub(super) fn starred_others(&self) -> impl Iterator<Item = &HashMap<String, (Arc<str>, u32)>> {
        let modules = self.stars.iter().filter_map(|&(.., star)| match star {
            StarImport::Beside(module) => self.beside.as_ref()?.modules.get(module),
            _ => None,
        });
        modules.map(|module| &module.own)
    }

    /// The final bindings in the order in which they were made: name, line and binding.
    pub(super) fn all(&self) -> Vec<(&'t str, u32, Binding<'t>)> {
        let last = self.bindings.iter();
        let last = last.filter_map(|(name, bound)| Some((*name, bound.last()?)));
        let mut last: Vec<_> = last.collect();
        last.sort_by_key(|(_, bound)| bound.at);
        let told = last.into_iter();
        told.map(|(name, bound)| (name, bound.line, bound.binding.clone()))
            .collect()
    }

    /// Rebinds all names of a function to something else.
    pub(super) fn replace(&mut self, function: usize, binding: &Binding<'t>) {
        for bound in self.bindings.values_mut().flatten() {
            if bound.binding == Binding::Function(function) {
                bound.binding = binding.clone();
            }
        }
    }
}
