//! [`Notes`]: what the passes of a plan found out about an instruction.
//!
//! Notes change no result: the [`Evaluator`](super::Evaluator) ignores them, and a faster executor
//! may. In text they stand in brackets behind the line of the instruction,
//! `@6 [fused, clipped, at 1024+640, may overflow patch]`.

use std::fmt;

use super::{Id, Instruction, Operand};

/// What is known of an instruction and of the value that it makes; by default nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes {
    /// How the value is held.
    pub holding: Option<Holding>,
    /// Which argument is [fused](Holding::Fused) into this instruction.
    pub takes: Option<u8>,
    /// Whether the value may lose its cells outside rows and columns 0 to 31, those of its elements
    /// where it is a container of patches. Then elements of a set may fall together.
    pub clipped: bool,
    /// Where in the arena the value lies.
    pub place: Option<Place>,
    /// Where in the arena the instruction keeps what it needs while it runs: the parameters of its
    /// regions and what it gathers.
    pub work: Option<Place>,
    /// Which of the fixed sizes the value may pass.
    pub overflow: Option<Overflow>,
}

/// How an executor with fixed sizes holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holding {
    /// An integer, a truth value, a pair or a cell.
    Scalar,
    /// Four planes of bits.
    Grid,
    /// A plane of bits with its origin: locations.
    Mask,
    /// A mask with planes of colours.
    Object,
    /// All components of a grid, no two of which share a cell: one map of labels.
    LabelMap,
    /// Some of the components of a label map, in some order.
    View,
    /// Never made: whatever uses it, one instruction, goes through its parts instead.
    Fused,
    /// A fixed tuple that is never made: whatever uses it uses its items.
    Static,
    /// A container that is made.
    List,
}

impl Holding {
    /// All of them.
    pub const ALL: [Holding; 9] = [
        Holding::Scalar,
        Holding::Grid,
        Holding::Mask,
        Holding::Object,
        Holding::LabelMap,
        Holding::View,
        Holding::Fused,
        Holding::Static,
        Holding::List,
    ];

    /// The word for it in text.
    pub fn name(self) -> &'static str {
        match self {
            Holding::Scalar => "scalar",
            Holding::Grid => "grid",
            Holding::Mask => "mask",
            Holding::Object => "object",
            Holding::LabelMap => "label map",
            Holding::View => "view",
            Holding::Fused => "fused",
            Holding::Static => "static",
            Holding::List => "list",
        }
    }
}

/// A fixed size that a value may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Overflow {
    /// Rows or columns of a grid.
    Grid,
    /// Rows or columns of a patch's bounding box.
    Patch,
    /// The number of elements of a container, or the room for them.
    Elements,
}

impl Overflow {
    /// All of them.
    pub const ALL: [Overflow; 3] = [Overflow::Grid, Overflow::Patch, Overflow::Elements];

    /// The word for it in text.
    pub fn name(self) -> &'static str {
        match self {
            Overflow::Grid => "grid",
            Overflow::Patch => "patch",
            Overflow::Elements => "elements",
        }
    }
}

/// A part of the arena, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Its first byte.
    pub at: u32,
    /// How many bytes it has.
    pub bytes: u32,
}

impl Place {
    /// The byte behind its last one.
    pub fn end(self) -> u32 {
        self.at.saturating_add(self.bytes)
    }

    /// Whether they have a byte in common.
    pub fn overlaps(self, other: Place) -> bool {
        self.at < other.end() && other.at < self.end()
    }
}

impl Notes {
    /// Whether the value is never made, but gone through by the one instruction that uses it.
    pub fn fused(self) -> bool {
        self.holding == Some(Holding::Fused)
    }
}

impl Instruction {
    /// The value that is fused into this instruction.
    pub fn taken(&self) -> Option<Id> {
        match self.arguments.get(usize::from(self.notes.takes?))? {
            Operand::Id(id) => Some(*id),
            Operand::Constant(_) => None,
        }
    }
}

/// The place as text, `1024+640`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.at, self.bytes)
    }
}

/// The notes of the instruction with a space before them; nothing where there are none.
pub(super) fn write(f: &mut fmt::Formatter<'_>, instruction: &Instruction) -> fmt::Result {
    let notes = instruction.notes;
    let mut words = Vec::new();
    words.extend(notes.holding.map(|holding| holding.name().to_owned()));
    words.extend(instruction.taken().map(|id| format!("takes v{}", id.0)));
    words.extend(notes.clipped.then(|| "clipped".to_owned()));
    words.extend(notes.place.map(|place| format!("at {place}")));
    words.extend(notes.work.map(|place| format!("work {place}")));
    let overflow = notes.overflow;
    words.extend(overflow.map(|overflow| format!("may overflow {}", overflow.name())));
    if words.is_empty() {
        return Ok(());
    }
    write!(f, " [{}]", words.join(", "))
}

/// Reads what stands between the brackets.
pub(super) fn parse(text: &str, arguments: &[Operand]) -> Result<Notes, String> {
    let mut notes = Notes::default();
    for word in text.split(", ") {
        let unknown = || format!("unknown note `{word}`");
        let twice = if let Some(holding) = Holding::ALL.iter().find(|one| one.name() == word) {
            notes.holding.replace(*holding).is_some()
        } else if word == "clipped" {
            std::mem::replace(&mut notes.clipped, true)
        } else if let Some(id) = word.strip_prefix("takes v") {
            let id = Operand::Id(Id(id.parse().map_err(|_| unknown())?));
            let at = arguments.iter().position(|argument| *argument == id);
            let at = at.and_then(|at| u8::try_from(at).ok());
            notes.takes.replace(at.ok_or_else(unknown)?).is_some()
        } else if let Some(text) = word.strip_prefix("at ") {
            let place = place(text).ok_or_else(unknown)?;
            notes.place.replace(place).is_some()
        } else if let Some(text) = word.strip_prefix("work ") {
            let place = place(text).ok_or_else(unknown)?;
            notes.work.replace(place).is_some()
        } else if let Some(name) = word.strip_prefix("may overflow ") {
            let overflow = Overflow::ALL.into_iter().find(|one| one.name() == name);
            notes
                .overflow
                .replace(overflow.ok_or_else(unknown)?)
                .is_some()
        } else {
            return Err(unknown());
        };
        if twice {
            return Err(format!("the note `{word}` comes after another one like it"));
        }
    }
    Ok(notes)
}

fn place(text: &str) -> Option<Place> {
    let (at, bytes) = text.split_once('+')?;
    let (at, bytes) = (at.parse::<u32>().ok()?, bytes.parse().ok()?);
    at.checked_add(bytes)?;
    Some(Place { at, bytes })
}

#[cfg(test)]
mod tests {
    use crate::parse as parse_form;

    #[test]
    fn words_that_are_no_notes_are_refused() {
        let with = |notes: &str| {
            let text =
                format!("form f(v0: grid):\n  v1: grid = hconcat(v0, v0) @2{notes}\n  return v1\n");
            parse_form(&text).map(|form| form.to_string() == text)
        };
        assert_eq!(with(""), Ok(true));
        assert_eq!(with(" [grid, may overflow grid]"), Ok(true));
        for (notes, error) in [
            (" [cliped]", "line 2: unknown note `cliped`"),
            (" [at 4]", "line 2: unknown note `at 4`"),
            (
                " [at 4294967295+1]",
                "line 2: unknown note `at 4294967295+1`",
            ),
            (" [takes v7]", "line 2: unknown note `takes v7`"),
            (
                " [grid, mask]",
                "line 2: the note `mask` comes after another one like it",
            ),
            (" [grid", "line 2: expected `]` after the notes"),
        ] {
            assert_eq!(with(notes).unwrap_err().to_string(), error);
        }
    }
}
