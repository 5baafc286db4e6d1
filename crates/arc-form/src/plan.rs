//! How an executor represents each value of a form: [`plan`], for a [`Target`].
//!
//! Most values are represented as their types say. If no use of a value can see the difference and the target
//! has a representation that is cheaper to build, that is selected: unordered sets, patches in parts, lists for
//! containers that are only iterated over. [`Plan::verify`] checks each value with its uses independently, and
//! so finds unjustified choices.

use std::cell::OnceCell;
use std::fmt;
use std::sync::LazyLock;

use crate::analysis::order::{self, Order, Sight};
use crate::analysis::window::{clippable, has_cells, is_patch};
use crate::analysis::{Called, Index, User};
use crate::{Fault, Form, Id, Instruction, Op, Operand, Region, Type};
use arc_isa::{Body, Elements, Facts, Size, Use};

/// A representation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Representation {
    /// As its type says.
    Typed,
    /// Locations as a list, so that no bounding box has to hold them. Its uses only iterate over it.
    Locations,
    /// A patch in parts: a list of the patches whose union it is. It is painted, or moved and painted: painting
    /// an overlap twice does no harm, and no bounding box has to hold all parts.
    Parts,
    /// A set as a list in any order, possibly with equal elements.
    Unordered,
    /// The same without equal elements.
    Distinct,
    /// A tuple of rows as a grid.
    Rows,
}

impl Representation {
    /// All of them.
    pub const ALL: [Representation; 6] = [
        Representation::Typed,
        Representation::Locations,
        Representation::Parts,
        Representation::Unordered,
        Representation::Distinct,
        Representation::Rows,
    ];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Representation::Typed => "typed",
            Representation::Locations => "locations",
            Representation::Parts => "parts",
            Representation::Unordered => "unordered",
            Representation::Distinct => "distinct",
            Representation::Rows => "rows",
        }
    }

    /// Whether the elements are in no particular order.
    pub fn is_unordered(self) -> bool {
        matches!(self, Representation::Unordered | Representation::Distinct)
    }
}

/// What a plan knows of an executor.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, for people.
    pub name: &'static str,
    /// The representations that it supports besides the typed one.
    pub representations: &'static [Representation],
    /// The most rows and columns of its grids, if patches may be clipped to that window: no grid has the cells
    /// that are lost. `None` if patches are represented whole.
    pub window: Option<u32>,
}

impl Target {
    /// Whether it supports this representation.
    pub fn has(&self, representation: Representation) -> bool {
        representation == Representation::Typed || self.representations.contains(&representation)
    }
}

/// The representation of each value of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    representations: Vec<Representation>,
    clipped: Vec<bool>,
    mixed: Vec<bool>,
}

impl Plan {
    /// The representation of a value.
    pub fn representation(&self, id: Id) -> Representation {
        self.representations[id.index()]
    }

    /// Whether the value is a tuple of the elements of sets and no use sees their order.
    pub fn is_mixed(&self, id: Id) -> bool {
        self.mixed.get(id.index()).is_some_and(|mixed| *mixed)
    }

    /// Whether the value may lose its cells outside the [window](Target::window) of the target, since nothing reads
    /// them.
    pub fn is_clipped(&self, id: Id) -> bool {
        self.clipped[id.index()]
    }
}

/// Selects a representation for each value of the form.
///
/// ```
/// use arc_form::{Representation, Target, plan, specialise};
/// let text = "
/// def solve_crosses(I):
///     x1 = ofcolor(I, 1)
///     x2 = mapply(vfrontier, x1)
///     O = underfill(I, 2, x2)
///     return O
/// ";
/// let form = specialise(&arc_text::parse_programs(text).remove(0)?)?;
/// let target = Target {
///     name: "example",
///     representations: &[Representation::Parts],
///     window: Some(32),
/// };
/// assert_eq!(plan(&form, &target).show(&form).to_string(), "\
/// form solve_crosses(v0: grid):
///   v1: indices = ofcolor(v0, 1) @3
///   v2: indices = mapply(v1) @4 [parts, clipped] {v3: pair ->
///     v4: indices = vfrontier(v3) @4 [clipped]
///     yield v4
///   }
///   v5: grid = underfill(v0, 2, v2) @5
///   return v5
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(form: &Form, target: &Target) -> Plan {
    let index = Index::new(form);
    let mut planner = Planner {
        held: RepresentationSet::of(target),
        order: OnceCell::new(),
        painted: OnceCell::new(),
        representations: vec![Representation::Typed; index.len()],
        index: &index,
    };
    planner.region(&form.body);
    let plan = Plan {
        representations: planner.representations,
        clipped: match target.window {
            Some(_) => clippable(form, &index),
            None => vec![false; index.len()],
        },
        mixed: order::mixed(&index),
    };
    debug_assert_eq!(plan.verify(form, target), Ok(()), "{}", plan.show(form));
    plan
}

/// The representations of a target as bits, since every value asks for them.
#[derive(Clone, Copy)]
struct RepresentationSet(u8);

impl RepresentationSet {
    fn of(target: &Target) -> Self {
        let bits = target.representations.iter().map(|one| 1 << *one as u8);
        Self(bits.fold(0, |all, bit: u8| all | bit))
    }

    fn has(self, representation: Representation) -> bool {
        self.0 >> representation as u8 & 1 != 0
    }
}

struct Planner<'f, 'i> {
    held: RepresentationSet,
    index: &'i Index<'f>,
    /// The order analysis, computed when a value may be unordered.
    order: OnceCell<Order>,
    /// Which values are only painted, computed when a value may be in parts.
    painted: OnceCell<Vec<bool>>,
    representations: Vec<Representation>,
}

impl Planner<'_, '_> {
    fn of(&self, operand: Option<&Operand>) -> Representation {
        match operand {
            Some(Operand::Id(id)) => self.representations[id.index()],
            _ => Representation::Typed,
        }
    }

    fn region(&mut self, region: &Region) {
        for instruction in &region.instructions {
            let chosen = self.choose(instruction);
            // An outline in a loop may have been chosen before; that choice stays.
            if chosen != Representation::Typed {
                self.representations[instruction.id.index()] = chosen;
            }
            for region in &instruction.regions {
                self.region(region);
            }
        }
    }

    fn choose(&mut self, instruction: &Instruction) -> Representation {
        use Representation as R;
        // Only containers have more than one representation.
        if !matches!(
            instruction.ty,
            Type::Indices | Type::Object | Type::Set(_) | Type::Tuple(_) | Type::Fixed(_)
        ) {
            return R::Typed;
        }
        let id = instruction.id;
        let only = |test: fn(&Instruction, usize) -> bool| self.index.is_only(id, test);
        if self.held.has(R::Locations)
            && (makes_locations(instruction) || self.joins_far(instruction))
            && only(goes_through)
        {
            return R::Locations;
        }
        if self.held.has(R::Parts) {
            if merges_patches(instruction) {
                if self.is_only_painted(id) {
                    self.outline(instruction);
                    return R::Parts;
                }
            } else if self.of(instruction.arguments.first()) == R::Parts
                && moves(instruction)
                && self.is_only_painted(id)
            {
                return R::Parts;
            }
        }
        if self.held.has(R::Rows) && gives_rows(instruction) && self.is_taken_as_grid(id) {
            return R::Rows;
        }
        self.without_order(instruction)
    }

    fn is_only_painted(&self, id: Id) -> bool {
        self.painted.get_or_init(|| only_painted(self.index))[id.index()]
    }

    /// Whether an instruction joins locations that may be far from each other.
    fn joins_far(&self, instruction: &Instruction) -> bool {
        let is_far = |operand: &Operand| {
            let facts = self.index.maker(operand).and_then(Instruction::facts);
            facts.is_some_and(|facts| facts.size == Size::Far)
        };
        let joins = |facts: &Facts| facts.elements == Elements::Joined && facts.body.is_none();
        instruction.ty == Type::Indices
            && instruction.facts().is_some_and(joins)
            && instruction.arguments.iter().all(is_far)
    }

    /// Puts the parts that a loop builds into parts themselves, if they are outlines of locations that may be
    /// far apart.
    fn outline(&mut self, instruction: &Instruction) {
        let outline = instruction.regions.first().and_then(|region| {
            let Operand::Id(result) = region.result else {
                return None;
            };
            let definition = self.index.definition(result).by?;
            let is_far = definition.facts()?.size == Size::Far;
            (is_far && is_far_outline(definition, self.index)).then_some(result)
        });
        if let Some(outline) = outline {
            self.representations[outline.index()] = Representation::Parts;
        }
    }

    fn without_order(&self, instruction: &Instruction) -> Representation {
        use Representation as R;
        if !self.held.has(R::Unordered) {
            return R::Typed;
        }
        let from_unordered = self.of(instruction.arguments.first()).is_unordered();
        let Some(element) = order::may_be_unordered(instruction, from_unordered) else {
            return R::Typed;
        };
        let order = self.order.get_or_init(|| Order::new(self.index));
        let Some(found) = order.of(instruction, element) else {
            return R::Typed;
        };
        if found.distinct && self.held.has(R::Distinct) {
            R::Distinct
        } else {
            R::Unordered
        }
    }

    fn is_taken_as_grid(&self, id: Id) -> bool {
        let as_grid = |user: &User<'_>| takes_grid(user);
        self.index.users(id).all(as_grid)
    }
}

/// Which values are only painted, or moved and then painted; by id.
fn only_painted(index: &Index<'_>) -> Vec<bool> {
    static PAINTING: LazyLock<Called> =
        LazyLock::new(|| Called::all(|primitive| primitive.facts().painted().is_some()));
    if !index.called().meets(&PAINTING) {
        return vec![false; index.len()];
    }
    let mut painted = vec![false; index.len()];
    for instruction in index.instructions().iter().rev() {
        // Only patches are represented in parts, or moved.
        painted[instruction.id.index()] = has_patch_type(&instruction.ty)
            && index.is_only(instruction.id, |by, at| match by.use_of(at) {
                Use::Painted { .. } => true,
                Use::Moved => painted[by.id.index()],
                _ => false,
            });
    }
    painted
}

/// Whether an instruction moves the cells of its first argument.
fn moves(instruction: &Instruction) -> bool {
    instruction.use_of(0) == Use::Moved
}

/// Whether an instruction only iterates over the elements of its one container.
fn goes_through(instruction: &Instruction, _: usize) -> bool {
    instruction.facts().is_some_and(|facts| {
        facts.body.is_some()
            && instruction.arguments.len() == 1
            && facts.of_argument(0) != Use::Some
    })
}

/// Whether an instruction computes each element of a set of locations.
fn makes_locations(instruction: &Instruction) -> bool {
    let makes = |facts: &Facts| facts.elements == Elements::Made;
    instruction.ty == Type::Indices && instruction.facts().is_some_and(makes)
}

/// Whether an instruction merges what may be patches.
fn merges_patches(instruction: &Instruction) -> bool {
    let merges = |facts: &Facts| {
        facts.elements == Elements::Joined
            && (facts.of_argument(0) == Use::Each || facts.body == Some(Body::Merged))
    };
    has_patch_type(&instruction.ty)
        && !instruction.checked
        && instruction.facts().is_some_and(merges)
}

/// Whether an instruction computes the outline of locations in a tuple, which may be far apart, and only the
/// region around it uses the result.
fn is_far_outline(instruction: &Instruction, index: &Index<'_>) -> bool {
    let is_tuple_of_locations = |operand: &Operand| match operand {
        Operand::Id(id) => match index.definition(*id).ty {
            Type::Tuple(element) => **element == Type::Pair,
            Type::Fixed(items) => items.iter().all(|item| *item == Type::Pair),
            _ => false,
        },
        Operand::Constant(_) => false,
    };
    instruction.ty == Type::Indices
        && instruction.arguments.iter().all(is_tuple_of_locations)
        && index.only_user(instruction.id).is_some()
}

/// Whether an instruction returns a tuple of rows of colours.
fn gives_rows(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Fused(fused) if fused.gives_rows())
        && instruction.ty == Type::tuple_of(Type::tuple_of(Type::Int))
}

/// Whether a use takes a tuple of rows as a grid.
fn takes_grid(user: &User<'_>) -> bool {
    use arc_dsl::Type as T;
    match user.argument() {
        // The form's result may be either.
        None => user.by.is_none(),
        Some((by, at)) => match by.op {
            Op::Call(primitive) if primitive.is_first_order() => {
                // A parameter for a grid or a patch takes tuples as grids.
                let parameter = primitive.parameters().get(at);
                parameter.is_some_and(|(_, ty)| matches!(ty, T::Grid | T::Piece | T::Element))
            }
            Op::Fused(fused) => fused.gives_rows(),
            _ => false,
        },
    }
}

impl Plan {
    /// Checks that the target may represent every value as the plan says; each value is checked with its own
    /// uses alone.
    pub fn verify(&self, form: &Form, target: &Target) -> Result<(), Fault> {
        let index = Index::new(form);
        let fault = |id: Id, message: String| Err(Fault { id, message });
        if self.representations.len() != index.len() || self.clipped.len() != index.len() {
            return fault(Id::INPUT, "a plan of another form".to_owned());
        }
        for instruction in index.instructions() {
            let id = instruction.id;
            let held = self.representation(id);
            if !target.has(held) {
                let (name, held) = (target.name, held.name());
                return fault(id, format!("held as {held}, which {name} has not"));
            }
            if self.is_clipped(id) && target.window.is_none() {
                return fault(id, format!("clipped, and {} has no window", target.name));
            }
            if self.is_clipped(id) && !has_cells(&instruction.ty) {
                return fault(id, "clipped, and has no cells".to_owned());
            }
            if let Some(message) = self.is_wrong(instruction, held, &index) {
                return fault(id, format!("held as {}: {message}", held.name()));
            }
        }
        for id in (0..index.len() as u32).map(Id) {
            let parameter = index.definition(id).by.is_none();
            if parameter && self.representation(id) != Representation::Typed {
                return fault(id, "a parameter that is not held by its type".to_owned());
            }
        }
        Ok(())
    }

    /// What is wrong with the representation of an instruction's value.
    fn is_wrong(
        &self,
        instruction: &Instruction,
        held: Representation,
        index: &Index<'_>,
    ) -> Option<String> {
        use Representation as R;
        let (made, used): (bool, &dyn Fn(&User<'_>) -> bool) = match held {
            R::Typed => return None,
            R::Locations => (instruction.ty == Type::Indices, &|user| {
                user.argument().is_some_and(|(by, at)| goes_through(by, at))
            }),
            R::Parts => (has_patch_type(&instruction.ty), &|user| {
                self.is_user_of_parts(user)
            }),
            R::Unordered | R::Distinct => {
                let from = match instruction.arguments.first() {
                    Some(Operand::Id(id)) => self.representation(*id).is_unordered(),
                    _ => false,
                };
                let may = order::may_be_unordered(instruction, from).is_some();
                let painted_last = Self::is_painted_last(instruction, index);
                if painted_last {
                    return (!may).then(|| "its elements have an order".to_owned());
                }
                let tuple = matches!(instruction.ty, Type::Fixed(_));
                (may, &move |user| self.sees_no_order(user, tuple))
            }
            R::Rows => (gives_rows(instruction), &takes_grid),
        };
        if !made {
            return Some("the instruction gives no such value".to_owned());
        }
        let wrong = index.users(instruction.id).find(|user| !used(user))?;
        Some(match wrong.by {
            Some(by) => format!("v{} needs it whole", by.id.0),
            None => "the form gives it".to_owned(),
        })
    }

    /// Whether a use accepts a patch in parts: it paints the patch, moves it into one in parts, or is a loop
    /// that merges its results into one.
    fn is_user_of_parts(&self, user: &User<'_>) -> bool {
        let in_parts = |by: &Instruction| self.representation(by.id) == Representation::Parts;
        match user.argument() {
            Some((by, at)) => match by.use_of(at) {
                Use::Painted { .. } => true,
                Use::Moved => in_parts(by),
                _ => false,
            },
            None => user.by.is_some_and(|by| merges_patches(by) && in_parts(by)),
        }
    }

    /// Whether a use does not see the order of elements, neither itself nor through its result. The first
    /// element of a tuple may differ from that of its set.
    fn sees_no_order(&self, user: &User<'_>, tuple: bool) -> bool {
        match user.argument() {
            None => user.by.is_some_and(order::merges_sets),
            Some((by, at)) => match order::sight(by, at) {
                Sight::Order => false,
                Sight::Elements => true,
                Sight::First => !tuple,
                Sight::OfResult => {
                    self.representation(by.id).is_unordered()
                        || matches!(by.ty, Type::Indices | Type::Object)
                        // It sorts the elements, or its result has an order regardless.
                        || (by.facts()).is_some_and(|facts| facts.elements == Elements::Joined)
                }
            },
        }
    }

    /// Whether the elements of a tuple are painted over each other, so that of equal ones the last counts.
    fn is_painted_last(instruction: &Instruction, index: &Index<'_>) -> bool {
        matches!(instruction.ty, Type::Fixed(_))
            && index.is_only(instruction.id, |by, _| {
                index.is_only(by.id, order::paints_over)
            })
    }
}

fn has_patch_type(ty: &Type) -> bool {
    *ty != Type::Patch && is_patch(ty)
}

/// A form as text, annotated with a plan.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub(crate) form: &'a Form,
    pub(crate) plan: &'a Plan,
}

impl Plan {
    /// The form that this is the plan of, as text, with a note for each value that is not represented as its
    /// type says.
    pub fn show<'a>(&'a self, form: &'a Form) -> Shown<'a> {
        Shown { form, plan: self }
    }

    /// The note on a value, in brackets at the end of its line; nothing if there is none.
    pub(crate) fn note(&self, f: &mut fmt::Formatter<'_>, id: Id) -> fmt::Result {
        let held = self.representation(id);
        let held = (held != Representation::Typed).then(|| held.name());
        let clipped = self.is_clipped(id).then_some("clipped");
        match (held, clipped) {
            (None, None) => Ok(()),
            (Some(one), None) | (None, Some(one)) => write!(f, " [{one}]"),
            (Some(held), Some(clipped)) => write!(f, " [{held}, {clipped}]"),
        }
    }
}
