//! [`Possible`]: what the output of a form may be, and the instructions that may fail. An output that is none of these is
//! wrong before it is computed, once what may fail has not failed (Cousot and Cousot: "Abstract interpretation", POPL 1977).
//!
//! Failing means what Python raises. A limit of ours is none: whatever reaches one has no output of another size or of
//! other colours without it.

use arc_dsl::{ErrorKind, Primitive, Value};
use arc_isa::rules::{Typing, surely_accepts};

use crate::verify::typing;
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
    /// Bit 0: whether it has elements; bit 1: whether each of these has, and so on. A grid that has some has cells.
    filled: u8,
    size: Option<Size>,
    /// Which integers outside locations it may have.
    colours: Option<Colours>,
    painted: Option<Colours>,
}

const INPUT: Seen = Seen {
    filled: 0b11,
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
            fails: vec![false; ids],
        };
        let (_, of, _) = pass.region(&form.body, &[INPUT]);
        if of.size.is_none() && of.colours.is_none() {
            return None;
        }
        let mut failing = Failing {
            pass: &pass,
            used: vec![false; ids],
            ids: form.ids,
        };
        let body = failing.region(&form.body);
        Some(Self {
            size: of.size,
            colours: of.colours,
            painted: of.painted,
            failing: Form {
                name: form.name.clone(),
                body,
                ids: failing.ids,
            },
        })
    }
}

/// Keeps what may fail, and of that as little as fails alike.
struct Failing<'p> {
    pass: &'p Pass<'p>,
    used: Vec<bool>,
    ids: u32,
}

impl Failing<'_> {
    /// What may fail of a region, without a result.
    fn region(&mut self, region: &Region) -> Region {
        let mut instructions = Vec::new();
        for instruction in region.instructions.iter().rev() {
            let from = instructions.len();
            if self.used[instruction.id.index()] {
                instructions.push(instruction.clone());
            } else if !self.pass.fails[instruction.id.index()] {
                continue;
            } else if let Some((flag, error)) = self.flag(instruction) {
                instructions.extend([self.unless(&flag, error), flag]);
            } else {
                instructions.push(self.without_result(instruction));
            }
            instructions[from..].iter().for_each(|it| self.mark(it));
        }
        instructions.reverse();
        Region {
            parameters: region.parameters.clone(),
            ..self::region(instructions)
        }
    }

    /// Marks what an instruction uses.
    fn mark(&mut self, instruction: &Instruction) {
        let results = instruction.regions.iter().map(|region| &region.result);
        for operand in instruction.arguments.iter().chain(results) {
            if let Operand::Id(id) = operand
                && let Some(used) = self.used.get_mut(id.index())
            {
                *used = true;
            }
        }
        for region in &instruction.regions {
            region.instructions.iter().for_each(|it| self.mark(it));
        }
    }

    /// What fails if the flag is false.
    fn unless(&mut self, flag: &Instruction, error: Instruction) -> Instruction {
        Instruction {
            id: self.id(),
            ty: Type::Int,
            op: Op::If,
            arguments: vec![Operand::Id(flag.id)],
            regions: vec![region(Vec::new()), region(vec![error])],
            ..flag.clone()
        }
    }

    /// Whether an instruction does not fail, and its error if it does, where that is the same whichever element of a set
    /// fails first: only for want of an element in one place.
    fn flag(&mut self, instruction: &Instruction) -> Option<(Instruction, Instruction)> {
        use Primitive as P;
        let Op::Call(primitive) = self.op_without_result(instruction)? else {
            return None;
        };
        let [container] = &instruction.arguments[..] else {
            return None;
        };
        let body = instruction.regions.first();
        let within = body.into_iter().flat_map(|it| &it.instructions);
        let mut within = within.filter(|it| self.pass.fails[it.id.index()]);
        let (within, others) = (within.next(), within.count());
        let truth = |is_true| Operand::Constant(Value::Bool(is_true));
        let (op, each, none, error) = match (primitive, within) {
            (P::Apply, Some(within)) if others == 0 => {
                let (flag, error) = self.flag(within)?;
                self.mark(&flag);
                let before = body?
                    .instructions
                    .iter()
                    .take_while(|it| it.id != within.id);
                let mut instructions = vec![flag];
                for it in before.collect::<Vec<_>>().into_iter().rev() {
                    if self.used[it.id.index()] {
                        self.mark(it);
                        instructions.push(it.clone());
                    }
                }
                let result = Operand::Id(instructions[0].id);
                instructions.reverse();
                let each = Region {
                    parameters: body?.parameters.clone(),
                    result,
                    ..region(instructions)
                };
                (P::Valmin, each, true, error)
            }
            (P::Apply | P::Papply | P::Prapply | P::Valmax | P::Valmin, _) | (_, Some(_)) => {
                return None;
            }
            _ => {
                let ty = self.pass.ty(container);
                let element = ty.element().filter(|_| ty != Type::Grid)?;
                let each = Region {
                    parameters: vec![(self.id(), element)],
                    result: truth(true),
                    ..region(Vec::new())
                };
                let error = Instruction {
                    id: self.id(),
                    ty: Type::Never,
                    checked: false,
                    op: Op::Fail(Some(primitive), ErrorKind::Empty),
                    arguments: Vec::new(),
                    regions: Vec::new(),
                    line: instruction.line,
                };
                (P::Valmax, each, false, error)
            }
        };
        let none = Region {
            result: truth(none),
            ..region(Vec::new())
        };
        let flag = Instruction {
            id: self.id(),
            ty: Type::Bool,
            checked: false,
            op: Op::Call(op),
            arguments: instruction.arguments.clone(),
            regions: vec![each, none],
            line: instruction.line,
        };
        Some((flag, error))
    }

    /// An instruction that fails when this one does. Of a loop only what may fail is left, where that does not depend on
    /// the results of its body.
    fn without_result(&mut self, instruction: &Instruction) -> Instruction {
        let Some(op) = self.op_without_result(instruction) else {
            return instruction.clone();
        };
        let regions = instruction.regions.iter();
        let regions: Vec<_> = regions.map(|it| self.region(it)).collect();
        let none = vec![Type::Int; regions.len()];
        let arguments = instruction.arguments.iter();
        let arguments: Vec<_> = arguments.map(|it| self.pass.ty(it)).collect();
        match typing(op, &arguments, &regions, &none) {
            Ok(Typing { ty, checked: false }) => Instruction {
                ty,
                checked: false,
                op,
                regions,
                ..instruction.clone()
            },
            _ => instruction.clone(),
        }
    }

    fn op_without_result(&self, instruction: &Instruction) -> Option<Op> {
        use Primitive as P;
        let Op::Call(primitive) = instruction.op else {
            let is_choice = matches!(instruction.op, Op::If | Op::Choose);
            return is_choice.then_some(instruction.op);
        };
        let types = self.pass.types_of(instruction);
        let results = instruction.regions.iter();
        let results: Vec<_> = results.map(|it| self.pass.ty(&it.result)).collect();
        let have_order = || results.iter().all(has_order);
        let are_containers = |ty: Option<&Type>| ty.is_some_and(|it| it.container().is_some());
        let op = match primitive {
            P::Apply
            | P::Papply
            | P::Prapply
            | P::First
            | P::Last
            | P::Mostcommon
            | P::Leastcommon => primitive,
            P::Sfilter => P::Apply,
            P::Mapply if are_containers(results.first()) => P::Apply,
            P::Mpapply if are_containers(results.first()) => P::Papply,
            P::Mfilter if are_containers(types[0].element().as_ref()) => P::Apply,
            P::Order if have_order() => P::Apply,
            P::Argmax | P::Argmin | P::Valmax | P::Valmin if have_order() => primitive,
            _ => return None,
        };
        accepts(primitive, &types).then_some(Op::Call(op))
    }

    fn id(&mut self) -> Id {
        self.ids += 1;
        Id(self.ids - 1)
    }
}

/// A region of these instructions without parameters and result.
fn region(instructions: Vec<Instruction>) -> Region {
    Region {
        parameters: Vec::new(),
        instructions,
        result: Operand::Constant(Value::Int(0)),
        calls: 0,
    }
}

/// Whether the primitive accepts arguments of these types, all but its function.
fn accepts(primitive: Primitive, types: &[Type]) -> bool {
    let signatures = primitive.parameters().iter().enumerate();
    let mut signatures = signatures.filter(|(at, _)| Some(*at) != primitive.loop_function());
    types.iter().all(|ty| {
        let signature = signatures.next();
        signature.is_some_and(|(_, (_, signature))| surely_accepts(*signature, ty))
    })
}

/// Whether keys of this type can be compared.
fn has_order(key: &Type) -> bool {
    matches!(key, Type::Int | Type::Bool | Type::Pair)
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

/// What its type says of the elements that it has, see [`Seen::filled`].
fn filled_by_type(ty: &Type) -> u8 {
    match ty {
        Type::Pair | Type::Cell => 0b1,
        Type::Indices | Type::Object | Type::Patch => 0b10,
        Type::Set(element) | Type::Tuple(element) => filled_by_type(element) << 1,
        Type::Fixed(items) if !items.is_empty() => {
            let each = items
                .iter()
                .map(filled_by_type)
                .fold(u8::MAX, |all, it| all & it);
            each << 1 | 1
        }
        _ => 0,
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
            filled: u8::from(some),
            ..Self::default()
        }
    }

    /// Whether it has elements.
    fn some(self) -> bool {
        self.filled & 1 != 0
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
    fn filled(self, filled: u8) -> Self {
        Self {
            filled,
            ..self.rearranged()
        }
    }

    /// Some of its elements, if any.
    fn part(self) -> Self {
        self.filled(self.filled & !1)
    }

    /// One of its elements.
    fn element(self) -> Self {
        self.filled(self.filled >> 1)
    }

    /// A container of such, which has some or may be empty.
    fn wrapped(self, some: bool) -> Self {
        self.filled(self.filled << 1 | u8::from(some))
    }

    /// The elements of its elements.
    fn merged(self) -> Self {
        self.filled(self.filled >> 1 & (self.filled | !1))
    }

    /// The pairs of an element of each.
    fn paired(self, other: Self) -> Self {
        let filled = self.filled & other.filled;
        self.and(other)
            .filled((filled & !1) << 1 | 0b10 | filled & 1)
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
            filled: if size.is_some() { 0b11 } else { self.filled },
            size,
            ..self.rearranged()
        }
    }

    /// The elements of both.
    fn and(self, other: Self) -> Self {
        Self {
            filled: self.filled & other.filled | (self.filled | other.filled) & 1,
            colours: both(self.colours, other.colours),
            ..Self::default()
        }
    }

    /// Either of them.
    fn or(self, other: Self) -> Self {
        Self {
            filled: self.filled & other.filled,
            size: self.size.filter(|_| self.size == other.size),
            painted: both(self.painted, other.painted),
            ..self.and(other)
        }
    }
}

struct Pass<'f> {
    seen: Vec<Seen>,
    types: Vec<&'f Type>,
    /// Whether it may fail.
    fails: Vec<bool>,
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

    /// The type of an operand. A corner of what has elements is a pair.
    fn ty(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Id(id) => match self.types[id.index()] {
                Type::MaybePair if self.seen[id.index()].some() => Type::Pair,
                ty => ty.clone(),
            },
            Operand::Constant(value) => value.value_type().unwrap_or_default(),
        }
    }

    /// The types of the arguments. What paints takes tuples as sets.
    fn types_of(&self, instruction: &Instruction) -> Vec<Type> {
        use Primitive as P;
        let paints = matches!(
            instruction.op,
            Op::Call(P::Fill | P::Underfill | P::Paint | P::Underpaint | P::Cover)
        );
        let arguments = instruction.arguments.iter();
        let ty = |operand| match self.ty(operand) {
            Type::Tuple(element) if paints && *element == Type::Cell => Type::Object,
            Type::Tuple(element) if paints && *element == Type::Pair => Type::Indices,
            ty => ty,
        };
        arguments.map(ty).collect()
    }

    /// Whether its value may be of another type than its own.
    fn is_checked(&self, instruction: &Instruction) -> bool {
        let regions = &instruction.regions;
        let results: Vec<_> = regions.iter().map(|it| self.ty(&it.result)).collect();
        let types = self.types_of(instruction);
        instruction.checked
            && !typing(instruction.op, &types, regions, &results).is_ok_and(|it| !it.checked)
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
        seen.filled |= filled_by_type(ty);
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
                            let is_grid = *self.types[id.index()] == Type::Grid;
                            self.seen[id.index()].filled |= u8::from(!is_grid);
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
                let types = self.types_of(instruction);
                let call = Call {
                    instruction,
                    types: &types,
                    arguments: &arguments,
                    body,
                    others,
                };
                let (is_total, seen) = call.seen(primitive);
                (is_total && accepts(primitive, &types), seen)
            }
            Op::Tuple | Op::Set => {
                let all = arguments
                    .iter()
                    .copied()
                    .reduce(Seen::or)
                    .unwrap_or_default();
                (true, all.wrapped(!arguments.is_empty()))
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
        let fails = !is_total || seen.size.is_none() && self.is_checked(instruction);
        self.fails[instruction.id.index()] = fails;
        !fails
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
        let are_some = self.arguments.iter().all(|it| it.some());
        let has_order = has_order(key);
        let is_grid = self.types.first() == Some(&Type::Grid);
        let scaled = |rows: Option<u32>, columns: Option<u32>| {
            let [height, width] = a.size?;
            let times = |side: [u32; 3], n: u32| side.map(|part| part.saturating_mul(n));
            Some([times(height, rows?), times(width, columns?)])
        };
        let sum = |[i, j]: [[u32; 3]; 2]| [0, 1, 2].map(|at| i[at].saturating_add(j[at]));
        match primitive {
            P::Fill | P::Underfill | P::Paint | P::Underpaint => (a.some(), a.with(b.colours)),
            P::Cover => (a.some(), a.with(a.colours)),
            P::Move => (a.some(), a.with(both(a.colours, b.colours))),
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
            P::Hmirror | P::Vmirror | P::Dmirror | P::Cmirror => (a.some(), a.rearranged()),
            P::Hupscale => (true, a.of_colours().sized(scaled(Some(1), self.count(1)))),
            P::Vupscale => (true, a.of_colours().sized(scaled(self.count(1), Some(1)))),
            P::Upscale if is_grid => (
                a.some(),
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
                Seen::if_some(a.some() && self.count(1).is_some()).coloured(a.colours),
            ),
            P::Subgrid => (a.some(), b.of_colours()),
            P::Hsplit | P::Vsplit => {
                let some = self.count(1).is_some();
                (a.some() && some, Seen::if_some(some).coloured(a.colours))
            }
            P::Cellwise => (
                false,
                unknown.coloured(both(both(a.colours, b.colours), c.colours)),
            ),
            P::Downscale => (false, a.of_colours()),
            P::Objects
                if self.instruction.arguments.get(3)
                    == Some(&Operand::Constant(Value::Bool(false))) =>
            {
                (a.some(), a.filled(0b11))
            }
            P::Objects | P::Fgpartition | P::Frontiers => (a.some(), a.filled(0b10)),
            P::Partition => (true, a.filled(0b10 | a.filled & 1)),
            P::Asobject | P::Palette => (true, Seen::if_some(a.some()).coloured(a.colours)),
            P::Toobject => (b.some(), b.of_colours()),
            P::Mostcolor | P::Leastcolor => (a.some(), a.of_colours()),
            P::Color => (
                a.some() && self.types[0].element() == Some(Type::Cell),
                a.of_colours(),
            ),
            P::Square => (a.some() || !is_grid, unknown),
            P::Center
            | P::Uppermost
            | P::Lowermost
            | P::Leftmost
            | P::Rightmost
            | P::Inbox
            | P::Index
            | P::Occurrences => (a.some(), unknown),
            P::Outbox => (a.some(), Seen::if_some(true)),
            P::Position | P::Manhattan | P::Adjacent | P::Gravitate | P::Bordering => {
                (a.some() && b.some(), unknown)
            }
            P::First | P::Last | P::Mostcommon | P::Leastcommon => (a.some(), a.element()),
            P::Argmax | P::Argmin => (a.some() && has_order && runs, a.element()),
            P::Extract | P::Other => (false, a.element()),
            P::Valmax | P::Valmin => (has_order && runs && (a.some() || self.others), unknown),
            P::Order => (has_order && runs, a.rearranged()),
            P::Colorfilter => {
                let are_objects = self.types[0].element() == Some(Type::Object);
                (a.filled & 0b10 != 0 && are_objects, a.part())
            }
            P::Sizefilter => (self.holds_containers(), a.part()),
            P::Merge => (self.holds_containers(), a.merged()),
            P::Mfilter => (runs && self.holds_containers(), a.of_colours()),
            P::Sfilter => (runs, a.part()),
            P::Apply | P::Papply | P::Prapply => (runs, body.wrapped(are_some)),
            P::Mapply | P::Mpapply => (
                runs && key.container().is_some(),
                body.wrapped(are_some).merged(),
            ),
            P::Difference | P::Intersection => (true, a.part()),
            P::Remove => (true, b.part()),
            P::Dedupe | P::Totuple | P::Normalize | P::Shift => (true, a.rearranged()),
            P::Combine => (true, a.and(b)),
            P::Initset => (true, a.wrapped(true)),
            P::Insert => (true, a.wrapped(true).and(b)),
            P::Repeat => (true, a.wrapped(self.count(1).is_some())),
            P::Branch => (true, b.or(c)),
            P::Product | P::Pair => (true, a.paired(b)),
            P::Recolor => (true, Seen::if_some(b.some()).coloured(a.colours)),
            P::Asindices
            | P::Toindices
            | P::Backdrop
            | P::Corners
            | P::Box
            | P::Ulcorner
            | P::Urcorner
            | P::Llcorner
            | P::Lrcorner => (true, Seen::if_some(a.some())),
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
    use arc_dsl::{Container, Interpreter, Type as Signature};

    /// What [`Seen::filled`] may say of a value.
    fn filled(value: &Value) -> u8 {
        let container = value.as_container();
        let elements = container.into_iter().flat_map(Container::iter);
        let each = match value {
            Value::Grid(grid) => return if grid.cells().is_empty() { 0 } else { 0b11 },
            _ => elements
                .map(|it| filled(&it))
                .fold(u8::MAX, |all, it| all & it),
        };
        each << 1 | u8::from(has_elements(value))
    }

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
                    fails: vec![false; 5],
                };
                for ((id, ty), value) in parameters.iter().zip(&arguments) {
                    let filled = filled(value);
                    let seen = Seen {
                        filled,
                        ..Seen::default()
                    };
                    pass.define(*id, ty, seen);
                    assert!(pass.seen[id.index()].filled & !filled == 0, "{value}");
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
                        assert!(seen.filled & !filled(value) == 0, "{}", show());
                    }
                }
            }
        }
        assert!(said.len() > 110, "{}", said.len());
    }
}
