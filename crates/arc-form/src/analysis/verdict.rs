//! [`Possible`]: what the output of a form may be, and the instructions that may fail. An output that is none of these is
//! wrong before it is computed, once what may fail has not failed (Cousot and Cousot: "Abstract interpretation", POPL 1977).
//!
//! Failing means what Python raises. A limit of ours is none: whatever reaches one has no output of another size or of
//! other colours without it.

use arc_dsl::{Primitive, Value};
use arc_isa::rules::surely_accepts;

use crate::{Form, Id, Instruction, Op, Operand, Region, Type};

/// What the output of a form may be.
#[derive(Debug, Clone)]
pub struct Possible {
    /// Its size, if that follows from the input's.
    pub size: Option<Size>,
    /// The colours that it may have.
    pub colours: Option<Colours>,
    /// The colours that its cells may have where they are not the input's, if it is the input painted over.
    pub painted: Option<Colours>,
    /// The instructions that may fail, with what they need. The result is of no use.
    pub failing: Form,
}

/// Height and width, each so many times the input's height, its width, and 1.
pub type Size = [[u32; 3]; 2];

/// Some colours, and those of the input or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours {
    /// Bit `c` for colour `c`, from 0 to 14.
    pub constant: u16,
    /// Whether the input's are among them.
    pub of_input: bool,
}

/// What is known of a value.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Whether it has elements, and whether each of these has. A grid that has some has cells.
    some: bool,
    each: bool,
    size: Option<Size>,
    /// Which integers outside locations it may have.
    colours: Option<Colours>,
    painted: Option<Colours>,
}

const INPUT: Seen = Seen {
    some: true,
    each: true,
    size: Some([[1, 0, 0], [0, 1, 0]]),
    colours: Some(Colours {
        constant: 0,
        of_input: true,
    }),
    painted: Some(Colours::NONE),
};

impl Possible {
    /// What is known of a program's output; nothing if that cannot tell that it is wrong.
    pub fn of(form: &Form) -> Option<Self> {
        if !form.is_program() {
            return None;
        }
        let ids = form.ids as usize;
        let mut pass = Pass {
            seen: vec![Seen::default(); ids],
            types: vec![&Type::Never; ids],
        };
        pass.types[Id::INPUT.index()] = &Type::Grid;
        pass.seen[Id::INPUT.index()] = INPUT;
        let body = &form.body.instructions;
        let fails: Vec<bool> = body.iter().map(|it| !pass.instruction(it)).collect();
        let of = pass.operand(&form.body.result);
        if of.size.is_none() && of.colours.is_none() {
            return None;
        }
        let mut live = vec![false; ids];
        let mut failing: Vec<Instruction> = Vec::new();
        for (instruction, fails) in body.iter().zip(fails).rev() {
            if fails || live[instruction.id.index()] {
                mark(instruction, &mut live);
                failing.push(instruction.clone());
            }
        }
        failing.reverse();
        Some(Self {
            size: of.size,
            colours: of.colours,
            painted: of.painted,
            failing: Form {
                name: form.name.clone(),
                body: Region {
                    parameters: form.body.parameters.clone(),
                    instructions: failing,
                    result: Operand::Constant(Value::Int(0)),
                    calls: 0,
                },
                ids: form.ids,
            },
        })
    }
}

/// Marks what an instruction uses.
fn mark(instruction: &Instruction, live: &mut [bool]) {
    let results = instruction.regions.iter().map(|region| &region.result);
    for operand in instruction.arguments.iter().chain(results) {
        if let Operand::Id(id) = operand {
            live[id.index()] = true;
        }
    }
    for region in &instruction.regions {
        region.instructions.iter().for_each(|it| mark(it, live));
    }
}

impl Colours {
    const NONE: Self = Self {
        constant: 0,
        of_input: false,
    };

    fn or(self, other: Self) -> Self {
        Self {
            constant: self.constant | other.constant,
            of_input: self.of_input || other.of_input,
        }
    }
}

/// The colours of both.
fn both(a: Option<Colours>, b: Option<Colours>) -> Option<Colours> {
    Some(a?.or(b?))
}

/// Whether a value has elements; whether a grid has cells.
fn has_elements(value: &Value) -> bool {
    match value {
        Value::Grid(grid) => !grid.cells().is_empty(),
        value => value.as_container().is_some_and(|it| !it.is_empty()),
    }
}

/// Whether its integers may be those of locations.
fn has_locations(ty: &Type) -> bool {
    match ty {
        Type::Pair | Type::MaybePair | Type::Indices | Type::Patch => true,
        Type::Set(element) | Type::Tuple(element) => has_locations(element),
        Type::Fixed(items) => items.iter().any(has_locations),
        _ => false,
    }
}

impl Seen {
    /// Nothing but whether it has elements.
    fn if_some(some: bool) -> Self {
        Self {
            some,
            ..Self::default()
        }
    }

    /// The same elements or cells, or some of them, elsewhere.
    fn rearranged(self) -> Self {
        Self {
            size: None,
            painted: None,
            ..self
        }
    }

    /// A grid with some of its colours.
    fn of_colours(self) -> Self {
        Self::default().coloured(self.colours)
    }

    /// The same elsewhere, of which this is known.
    fn having(self, some: bool, each: bool) -> Self {
        Self {
            some,
            each,
            ..self.rearranged()
        }
    }

    /// Some of its elements, if any.
    fn part(self) -> Self {
        self.having(false, self.each)
    }

    /// One of its elements.
    fn element(self) -> Self {
        self.having(self.each, false)
    }

    /// The elements of its elements.
    fn merged(self) -> Self {
        self.having(self.some && self.each, false)
    }

    fn coloured(self, colours: Option<Colours>) -> Self {
        Self { colours, ..self }
    }

    /// The grid with these colours on it.
    fn with(self, colours: Option<Colours>) -> Self {
        Self {
            colours: both(self.colours, colours),
            painted: both(self.painted, colours),
            ..self
        }
    }

    fn sized(self, size: Option<Size>) -> Self {
        Self {
            some: self.some || size.is_some(),
            each: self.each || size.is_some(),
            size,
            ..self.rearranged()
        }
    }

    /// The elements of both.
    fn and(self, other: Self) -> Self {
        Self {
            some: self.some || other.some,
            each: self.each && other.each,
            colours: both(self.colours, other.colours),
            ..Self::default()
        }
    }

    /// Either of them.
    fn or(self, other: Self) -> Self {
        Self {
            some: self.some && other.some,
            size: self.size.filter(|_| self.size == other.size),
            painted: both(self.painted, other.painted),
            ..self.and(other)
        }
    }
}

struct Pass<'f> {
    seen: Vec<Seen>,
    types: Vec<&'f Type>,
}

impl<'f> Pass<'f> {
    fn operand(&self, operand: &Operand) -> Seen {
        let value = match operand {
            Operand::Id(id) => return self.seen[id.index()],
            Operand::Constant(value) => value,
        };
        let colours = match value {
            Value::Int(n @ 0..15) => Some(Colours {
                constant: 1 << n,
                of_input: false,
            }),
            _ => None,
        };
        Seen::if_some(has_elements(value)).coloured(colours)
    }

    fn ty(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Id(id) => self.types[id.index()].clone(),
            Operand::Constant(value) => value.value_type().unwrap_or_default(),
        }
    }

    /// What is known of the result of a region, whose parameters these are, and its type; whether nothing in it fails.
    fn region(&mut self, region: &'f Region, parameters: &[Seen]) -> (bool, Seen, Type) {
        for (at, (id, ty)) in region.parameters.iter().enumerate() {
            self.define(*id, ty, parameters.get(at).copied().unwrap_or_default());
        }
        let mut is_total = true;
        for instruction in &region.instructions {
            is_total &= self.instruction(instruction);
        }
        (
            is_total,
            self.operand(&region.result),
            self.ty(&region.result),
        )
    }

    fn define(&mut self, id: Id, ty: &'f Type, mut seen: Seen) {
        if has_locations(ty) {
            seen.colours = None;
        }
        seen.some |= ty.items().is_some_and(|items| !items.is_empty());
        (self.seen[id.index()], self.types[id.index()]) = (seen, ty);
    }

    /// Whether it does not fail. Notes what is known of its value.
    fn instruction(&mut self, instruction: &'f Instruction) -> bool {
        let given = |pass: &Self| -> Vec<Seen> {
            let arguments = instruction.arguments.iter();
            arguments.map(|it| pass.operand(it)).collect()
        };
        let arguments = given(self);
        let (is_total, seen) = match instruction.op {
            Op::Call(primitive) => {
                let body = instruction.regions.first().map(|region| {
                    // The body only runs for an element.
                    for operand in &instruction.arguments {
                        if let Operand::Id(id) = operand {
                            self.seen[id.index()].some |= *self.types[id.index()] != Type::Grid;
                        }
                    }
                    let elements: Vec<_> = arguments.iter().map(|it| it.element()).collect();
                    let body = self.region(region, &elements);
                    for (operand, seen) in instruction.arguments.iter().zip(&arguments) {
                        if let Operand::Id(id) = operand {
                            self.seen[id.index()] = *seen;
                        }
                    }
                    body
                });
                let mut others = instruction.regions.iter().skip(1);
                let others = others.all(|region| self.region(region, &[]).0);
                let types: Vec<_> = instruction.arguments.iter().map(|it| self.ty(it)).collect();
                let mut signatures = primitive.parameters().iter().enumerate();
                let of_function = primitive.loop_function();
                let mut signatures = signatures
                    .by_ref()
                    .filter(|(at, _)| Some(*at) != of_function);
                let are_accepted = types.iter().all(|ty| {
                    let signature = signatures.next();
                    signature.is_some_and(|(_, (_, signature))| surely_accepts(*signature, ty))
                });
                let call = Call {
                    instruction,
                    types: &types,
                    arguments: &arguments,
                    body,
                    others,
                };
                let (is_total, seen) = call.seen(primitive);
                (is_total && are_accepted, seen)
            }
            Op::Tuple | Op::Set => {
                let all = arguments
                    .iter()
                    .copied()
                    .reduce(Seen::or)
                    .unwrap_or_default();
                (true, all.having(!arguments.is_empty(), all.some))
            }
            Op::Item(_) => (true, arguments[0].element()),
            Op::Absent => (true, Seen::default()),
            Op::If | Op::Choose | Op::Fused(_) => {
                let (mut is_total, mut joined) = (true, None);
                for region in &instruction.regions {
                    let (total, seen, _) = self.region(region, &arguments);
                    is_total &= total;
                    joined = Some(joined.map_or(seen, |joined: Seen| joined.or(seen)));
                }
                (is_total, joined.unwrap_or_default())
            }
            Op::Count | Op::Iterate | Op::Fail(..) => {
                for region in &instruction.regions {
                    self.region(region, &[]);
                }
                (false, Seen::default())
            }
        };
        self.define(instruction.id, &instruction.ty, seen);
        // Of a known size it is a grid.
        is_total && (!instruction.checked || seen.size.is_some())
    }
}

/// A call, with what is known of its arguments.
struct Call<'c> {
    instruction: &'c Instruction,
    types: &'c [Type],
    arguments: &'c [Seen],
    /// Of a loop's body: whether nothing in it fails, its result, and the type of that.
    body: Option<(bool, Seen, Type)>,
    /// Whether nothing fails in the regions behind it.
    others: bool,
}

impl Call<'_> {
    /// The argument, if it is a positive integer.
    fn count(&self, at: usize) -> Option<u32> {
        match self.instruction.arguments.get(at)? {
            Operand::Constant(Value::Int(n)) => u32::try_from(*n).ok().filter(|n| *n > 0),
            _ => None,
        }
    }

    /// Whether the elements of the first argument are containers.
    fn holds_containers(&self) -> bool {
        let element = self.types[0].element();
        element.is_some_and(|element| element.container().is_some())
    }

    /// Whether it does not fail, given arguments of the types of its signature, and what is known of its result.
    #[allow(clippy::too_many_lines, reason = "an arm for every primitive")]
    fn seen(&self, primitive: Primitive) -> (bool, Seen) {
        use Primitive as P;
        let unknown = Seen::default();
        let at = |at: usize| self.arguments.get(at).copied().unwrap_or_default();
        let (a, b, c) = (at(0), at(1), at(2));
        let (runs, body, key) = match &self.body {
            Some((runs, seen, ty)) => (*runs, *seen, ty),
            None => (true, unknown, &Type::Never),
        };
        let has_order = matches!(key, Type::Int | Type::Bool | Type::Pair);
        let is_grid = self.types.first() == Some(&Type::Grid);
        let scaled = |rows: Option<u32>, columns: Option<u32>| {
            let [height, width] = a.size?;
            let times = |side: [u32; 3], n: u32| side.map(|part| part.saturating_mul(n));
            Some([times(height, rows?), times(width, columns?)])
        };
        let sum = |[i, j]: [[u32; 3]; 2]| [0, 1, 2].map(|at| i[at].saturating_add(j[at]));
        match primitive {
            P::Fill | P::Underfill | P::Paint | P::Underpaint => (a.some, a.with(b.colours)),
            P::Cover => (a.some, a.with(a.colours)),
            P::Move => (a.some, a.with(both(a.colours, b.colours))),
            P::Replace => (true, a.with(c.colours)),
            P::Switch => (true, a.with(both(b.colours, c.colours))),
            P::Canvas => match self.instruction.arguments.get(1) {
                Some(Operand::Constant(Value::Loc(size))) if size.i > 0 && size.j > 0 => {
                    let size = [[0, 0, size.i as u32], [0, 0, size.j as u32]];
                    (true, a.sized(Some(size)))
                }
                _ => (true, a.of_colours()),
            },
            P::Identity => (true, a),
            P::Hmirror | P::Vmirror if is_grid => (true, a.sized(a.size)),
            P::Rot180 => (true, a.sized(a.size)),
            P::Dmirror | P::Cmirror | P::Rot90 | P::Rot270 if is_grid => {
                (true, a.sized(a.size.map(|[height, width]| [width, height])))
            }
            P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror => (a.some, a.rearranged()),
            P::Hupscale => (true, a.of_colours().sized(scaled(Some(1), self.count(1)))),
            P::Vupscale => (true, a.of_colours().sized(scaled(self.count(1), Some(1)))),
            P::Upscale if is_grid => (
                a.some,
                a.of_colours().sized(scaled(self.count(1), self.count(1))),
            ),
            P::Hconcat | P::Vconcat => {
                let colours = both(a.colours, b.colours);
                let size = a
                    .size
                    .zip(b.size)
                    .and_then(|([h, w], [i, j])| match primitive {
                        P::Hconcat => (h == i).then(|| [h, sum([w, j])]),
                        _ => (w == j).then(|| [sum([h, i]), w]),
                    });
                // Rows of unlike lengths are no grid.
                (true, unknown.coloured(colours).sized(size))
            }
            P::Crop
            | P::Trim
            | P::Tophalf
            | P::Bottomhalf
            | P::Lefthalf
            | P::Righthalf
            | P::Compress
            | P::Delta => (true, a.of_colours()),
            P::Upscale => (
                true,
                Seen::if_some(a.some && self.count(1).is_some()).coloured(a.colours),
            ),
            P::Subgrid => (a.some, b.of_colours()),
            P::Hsplit | P::Vsplit => (a.some && self.count(1).is_some(), a.of_colours()),
            P::Cellwise => (
                false,
                unknown.coloured(both(both(a.colours, b.colours), c.colours)),
            ),
            P::Downscale => (false, a.of_colours()),
            P::Objects | P::Fgpartition | P::Frontiers => (a.some, a.having(false, true)),
            P::Partition => (true, a.having(a.some, true)),
            P::Asobject | P::Palette => (true, Seen::if_some(a.some).coloured(a.colours)),
            P::Toobject => (b.some, b.of_colours()),
            P::Mostcolor | P::Leastcolor => (a.some, a.of_colours()),
            P::Color => (
                a.some && self.types[0].element() == Some(Type::Cell),
                a.of_colours(),
            ),
            P::Square => (a.some || !is_grid, unknown),
            P::Center
            | P::Uppermost
            | P::Lowermost
            | P::Leftmost
            | P::Rightmost
            | P::Inbox
            | P::Index
            | P::Occurrences => (a.some, unknown),
            P::Outbox => (a.some, Seen::if_some(true)),
            P::Position | P::Manhattan | P::Adjacent | P::Gravitate | P::Bordering => {
                (a.some && b.some, unknown)
            }
            P::First | P::Last | P::Mostcommon | P::Leastcommon => (a.some, a.element()),
            P::Argmax | P::Argmin => (a.some && has_order && runs, a.element()),
            P::Extract | P::Other => (false, a.element()),
            P::Valmax | P::Valmin => (has_order && runs && (a.some || self.others), unknown),
            P::Order => (has_order && runs, a.rearranged()),
            P::Colorfilter => {
                let are_objects = self.types[0].element() == Some(Type::Object);
                (a.each && are_objects, a.part())
            }
            P::Sizefilter => (self.holds_containers(), a.part()),
            P::Merge => (self.holds_containers(), a.merged()),
            P::Mfilter => (runs && self.holds_containers(), a.of_colours()),
            P::Sfilter => (runs, a.part()),
            P::Apply | P::Papply | P::Prapply => {
                let some = primitive == P::Apply && a.some;
                (runs, body.having(some, body.some))
            }
            P::Mapply | P::Mpapply => {
                let some = primitive == P::Mapply && a.some && body.some;
                (
                    runs && key.container().is_some(),
                    body.having(some, body.each),
                )
            }
            P::Difference | P::Intersection => (true, a.part()),
            P::Remove => (true, b.part()),
            P::Dedupe | P::Totuple | P::Normalize | P::Shift => (true, a.rearranged()),
            P::Combine => (true, a.and(b)),
            P::Initset => (true, a.having(true, a.some)),
            P::Insert => (true, a.having(true, a.some).and(b)),
            P::Repeat => (true, a.having(self.count(1).is_some(), a.some)),
            P::Branch => (true, b.or(c)),
            P::Product => (true, a.and(b).having(a.some && b.some, true)),
            P::Recolor => (true, Seen::if_some(b.some).coloured(a.colours)),
            P::Asindices | P::Toindices | P::Backdrop | P::Corners | P::Box => {
                (true, Seen::if_some(a.some))
            }
            P::Dneighbors | P::Ineighbors | P::Neighbors | P::Vfrontier | P::Hfrontier => {
                (true, Seen::if_some(true))
            }
            P::Maximum | P::Minimum => {
                let zero = Colours {
                    constant: 1,
                    of_input: false,
                };
                let are_integers = self.types[0].element() == Some(Type::Int);
                (are_integers, unknown.coloured(both(a.colours, Some(zero))))
            }
            P::Interval => (self.count(2).is_some(), unknown),
            P::Equality
            | P::Contained
            | P::Size
            | P::Astuple
            | P::Pair
            | P::Colorcount
            | P::Numcolors
            | P::Ofcolor
            | P::Connect
            | P::Shoot => (true, unknown),
            P::Divide => (false, unknown),
            // Of these families no other raises anything.
            other => (matches!(other.family(), "arithmetic" | "extents"), unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;
    use arc_dsl::{ErrorKind, Interpreter, Type as Signature};

    /// Each primitive is called with what its signature asks for, or with anything; nothing but the types is known, or
    /// which arguments have elements.
    #[test]
    fn what_is_said_not_to_fail_does_not() {
        let mut generator = Generator::new(5);
        let mut said = std::collections::HashSet::new();
        for round in 0..300 {
            for primitive in Primitive::ALL
                .iter()
                .copied()
                .filter(|p| p.is_first_order())
            {
                let parameters = primitive.parameters().iter().enumerate();
                let arguments = parameters.map(|(at, (_, signature))| match round % 4 {
                    3 => generator.value(Signature::ALL[(round + 7 * at) % Signature::ALL.len()]),
                    _ => generator.value(*signature),
                });
                let arguments: Vec<Value> = arguments.collect();
                let types: Option<Vec<Type>> = arguments.iter().map(Value::value_type).collect();
                let Some(types) = types else { continue };
                let Ok(typing) = primitive.typing(&types) else {
                    continue;
                };
                let parameters: Vec<_> = (0..).map(Id).zip(types.iter().cloned()).collect();
                let instruction = Instruction {
                    id: Id(4),
                    ty: typing.ty.clone(),
                    checked: typing.checked,
                    op: Op::Call(primitive),
                    arguments: parameters.iter().map(|(id, _)| Operand::Id(*id)).collect(),
                    regions: Vec::new(),
                    line: 1,
                };
                let mut pass = Pass {
                    seen: vec![Seen::default(); 5],
                    types: vec![&Type::Never; 5],
                };
                for ((id, ty), value) in parameters.iter().zip(&arguments) {
                    let each = value
                        .as_container()
                        .is_some_and(|it| it.iter().all(|it| has_elements(&it)));
                    pass.define(
                        *id,
                        ty,
                        Seen {
                            some: has_elements(value),
                            each,
                            ..Seen::default()
                        },
                    );
                }
                if !pass.instruction(&instruction) {
                    continue;
                }
                let borrowed: Vec<_> = arguments.iter().collect();
                let result = Interpreter::default().call(Value::primitive(primitive), &borrowed);
                let seen = pass.seen[4];
                let show = || format!("{primitive}{arguments:?} {result:?} {seen:?}");
                match &result {
                    Err(error) => assert!(matches!(error.kind, ErrorKind::Limit(_)), "{}", show()),
                    Ok(value) => {
                        said.insert(primitive);
                        assert!(!seen.some || has_elements(value), "{}", show());
                        let mut each = value
                            .as_container()
                            .into_iter()
                            .flat_map(arc_dsl::Container::iter);
                        assert!(!seen.each || each.all(|it| has_elements(&it)), "{}", show());
                    }
                }
            }
        }
        assert!(said.len() > 110, "{}", said.len());
    }
}
