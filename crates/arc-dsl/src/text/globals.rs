//! What the names of a text stand for outside of its programs, in the order in which Python binds them.
//!
//! A function looks its names up when it is called, so that it sees the last binding of each; what
//! stands outside of functions sees the binding above it.

use std::collections::{BTreeMap, HashMap};

use crate::constants::Constant;
use crate::dialect::Dialect;
use crate::text::names;

/// Names of the DSL as another project calls them: theirs, and ours for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames(BTreeMap<String, String>);

impl Renames {
    /// The names as a table has them: a line `theirs = ours` each; what stands behind `#` is passed over.
    ///
    /// ```
    /// use arc_dsl::{Reading, Renames, read_programs};
    /// let names = Renames::parse("flip_lr = vmirror  # left to right\n").unwrap();
    /// let reading = Reading { names, ..Reading::default() };
    /// let read = read_programs("def solve_a(I): return flip_lr(I)", &reading);
    /// let program = read.programs[0].as_ref().unwrap();
    /// assert_eq!(program.to_string(), "def solve_a(I):\n    t1 = vmirror(I)\n    return t1\n");
    /// ```
    ///
    /// # Errors
    ///
    /// The first line, counted from 1, that is none of these, and what is wrong with it.
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
                let hint = match names::nearest(ours, known) {
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

    /// What the DSL's name is.
    pub(super) fn ours<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// What a module has of the DSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Primitives,
    Constants,
    Both,
    /// It is not known what: nothing that is the DSL's.
    Other,
}

/// Modules that have names of the DSL with another meaning, so that what is imported of them with `*` hides
/// the DSL's.
const HIDING: &[&str] = &[
    "numpy",
    "cupy",
    "scipy",
    "torch",
    "jax",
    "pandas",
    "operator",
    "itertools",
    "heapq",
    "statistics",
    "tensorflow",
    "sympy",
    "cv2",
    "skimage",
    "pylab",
];

/// Modules that have none.
const HARMLESS: &[&str] = &[
    "__future__",
    "abc",
    "arc_types",
    "collections",
    "copy",
    "dataclasses",
    "enum",
    "functools",
    "json",
    "logging",
    "math",
    "os",
    "pathlib",
    "pytest",
    "random",
    "re",
    "string",
    "sys",
    "time",
    "tqdm",
    "types",
    "typing",
    "typing_extensions",
    "unittest",
];

/// What a star import does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Star {
    /// It binds the DSL's names to the DSL's.
    Dsl(Holds),
    /// It may bind any of them to something else.
    Hides,
    /// It binds none of them.
    Nothing,
    /// Nobody knows; it is taken for a DSL of another name.
    Unknown,
}

impl Holds {
    /// What the module at this path has, as names of modules say it: `dsl`, `arc_dsl.dsl`, `constants`.
    pub(super) fn of(path: &str) -> Self {
        let last = path
            .rsplit('.')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        match last {
            "constants" => Holds::Constants,
            "dsl" => Holds::Primitives,
            _ if last.to_ascii_lowercase().contains("dsl") => Holds::Both,
            _ => Holds::Other,
        }
    }
}

impl Star {
    pub(super) fn of(path: &str) -> Self {
        let first = path
            .split('.')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        match Holds::of(path) {
            Holds::Other if HIDING.contains(&first) => Star::Hides,
            Holds::Other if HARMLESS.contains(&first) || HARMLESS.contains(&last) => Star::Nothing,
            Holds::Other => Star::Unknown,
            holds => Star::Dsl(holds),
        }
    }
}

/// What a name is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binding<'t> {
    /// What the DSL has by this name.
    Dsl(&'t str),
    /// A function of the text or a value that it sets, by its place.
    Function(usize),
    /// A module, by its path.
    Module(&'t str),
    /// Something that programs cannot use: what it is.
    Other(String),
}

#[derive(Debug, Clone)]
struct Bound<'t> {
    /// When it is bound: Python goes through a text from above.
    at: u32,
    line: u32,
    binding: Binding<'t>,
}

/// When names are looked up that a function has.
pub(super) const LATE: u32 = u32::MAX;

/// The bindings of a text.
#[derive(Debug, Default)]
pub(super) struct Globals<'t> {
    bindings: HashMap<&'t str, Vec<Bound<'t>>>,
    stars: Vec<(u32, u32, Star)>,
    /// When, and on which line, any name and any part of a module may be set, and why.
    changes: Vec<(u32, u32, &'static str)>,
    /// How many bindings there were.
    now: u32,
    /// Whether a name of the DSL was bound to something else.
    hides: bool,
    /// Whether a name was bound twice.
    rebinds: bool,
    /// Whether a name was bound to a module.
    has_modules: bool,
}

impl<'t> Globals<'t> {
    /// The next moment.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Whether a name stands for different things at different times.
    pub(super) fn rebinds(&self) -> bool {
        self.rebinds || self.hides
    }

    /// Whether some name was bound to a module so far.
    pub(super) fn has_modules(&self) -> bool {
        self.has_modules
    }

    /// Whether every name of the DSL is the DSL's.
    pub(super) fn is_plain(&self) -> bool {
        !self.hides
    }

    pub(super) fn bind(&mut self, name: &'t str, line: u32, binding: Binding<'t>) {
        let is_dsl = is_of_dsl(name);
        // A module that was changed gives what it has then.
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

    pub(super) fn star(&mut self, line: u32, star: Star) {
        self.hides |= star == Star::Hides;
        self.stars.push((self.now, line, star));
        self.now += 1;
    }

    /// From now on any name, and any part of a module, may be something else than it was.
    pub(super) fn change(&mut self, line: u32, why: &'static str) {
        self.hides = true;
        self.changes.push((self.now, line, why));
        self.now += 1;
    }

    /// Where and why a module may have other parts than it had, if it may at a moment.
    pub(super) fn changed_before(&self, at: u32) -> Option<(u32, &'static str)> {
        self.change_before(at).map(|(_, line, why)| (line, why))
    }

    fn change_before(&self, at: u32) -> Option<(u32, u32, &'static str)> {
        let until = self.changes.partition_point(|&(then, ..)| then < at);
        self.changes[..until].last().copied()
    }

    /// What a name is bound to at a moment, and on which line; `None` if the text does not say.
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
            && let Some(star) = self.star_of(dialect, name, at)
            && bound.is_none_or(|bound| bound.at < star.0)
        {
            let is_constant = Constant::from_name(name).is_some();
            return match star.2 {
                Star::Hides => Some((star.1, Binding::Other("it may be hidden there".into()))),
                // Some modules of the DSL have its constants, some have not.
                Star::Dsl(Holds::Primitives | Holds::Both)
                    if is_constant
                        && bound.is_some_and(|bound| !self.has_constants(bound.at, at)) =>
                {
                    Some((star.1, Binding::Other("it may be set anew there".into())))
                }
                // A module that was changed gives what it has then.
                _ => self
                    .changed_before(at)
                    .map(|(line, why)| (line, Binding::Other(why.to_owned()))),
            };
        }
        bound.map(|bound| (bound.line, bound.binding.clone()))
    }

    /// Whether all constants were imported between two moments.
    fn has_constants(&self, from: u32, until: u32) -> bool {
        let star = Star::Dsl(Holds::Constants);
        let mut stars = self.stars.iter();
        stars.any(|&(then, _, other)| other == star && (from..until).contains(&then))
    }

    /// The last star import before a moment that may have bound a name of the DSL.
    fn star_of(&self, dialect: Dialect, name: &str, at: u32) -> Option<(u32, u32, Star)> {
        names::known(dialect, name)?;
        let is_constant = Constant::from_name(name).is_some();
        let binds = |star: &Star| match star {
            Star::Dsl(Holds::Constants) => is_constant,
            Star::Dsl(_) | Star::Hides => true,
            Star::Nothing | Star::Unknown => false,
        };
        let stars = self.stars.iter().rev();
        stars
            .copied()
            .find(|(then, _, star)| *then < at && binds(star))
    }

    /// The final bindings in the order in which they were bound: name, line and what.
    pub(super) fn all(&self) -> Vec<(&'t str, u32, Binding<'t>)> {
        let last = self.bindings.iter();
        let last = last.filter_map(|(name, bound)| Some((*name, bound.last()?)));
        let mut last: Vec<_> = last.collect();
        last.sort_by_key(|(_, bound)| bound.at);
        let told = last.into_iter();
        told.map(|(name, bound)| (name, bound.line, bound.binding.clone()))
            .collect()
    }

    /// Lets what was bound to a function be bound to something else.
    pub(super) fn replace(&mut self, function: usize, binding: &Binding<'t>) {
        for bound in self.bindings.values_mut().flatten() {
            if bound.binding == Binding::Function(function) {
                bound.binding = binding.clone();
            }
        }
    }
}

/// Whether some dialect has this name.
pub(super) fn is_of_dsl(name: &str) -> bool {
    Dialect::ALL
        .iter()
        .any(|&dialect| names::known(dialect, name).is_some())
}
