//! Emits instructions: types them, and gives the earlier one where the same was emitted before.

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::memo::Memo;
use super::verify::typing;
use super::{
    Failure, Form, Id, Instruction, Need, Op, Operand, Options, Output, Region, Results, Type,
    dead, rewrite, words,
};
use arc_dsl::Value;

/// How many types may be in one.
const MOST_TYPES: usize = 1_000;

/// Types of arguments, of which there are few.
type Types = SmallVec<[Type; 4]>;

/// Code under construction: regions inside each other, the innermost one open.
#[derive(Debug, Default)]
pub(super) struct Builder {
    frames: Vec<Frame>,
    /// The types of all values, by id.
    types: Vec<Type>,
    /// What was emitted, and can be seen from the open region, by what it does.
    shared: Memo<Id>,
    /// The last key that was written.
    key: Key,
    /// The line that instructions come from.
    pub(super) line: u32,
    /// Whether the same step is made once.
    share: bool,
    /// How many steps the program has: about as many the outermost region has.
    steps: usize,
    /// Whether the program is one of several.
    merges: bool,
    /// What the program needs that is gone through: the instructions of the outermost region, in
    /// the order in which it comes to them.
    needs: Vec<Need>,
    /// Those of them that other programs have made: a step that this program has not come to is
    /// not there for it.
    met: FxHashSet<Id>,
    /// The first id that is this program's own.
    own: u32,
}

/// Where a program begins, to go back there if it has no form.
#[derive(Debug)]
pub(super) struct Start {
    instructions: usize,
    shared: usize,
}

#[derive(Debug)]
struct Frame {
    parameters: Vec<(Id, Type)>,
    instructions: Vec<Instruction>,
    /// How many keys `shared` had before.
    shared: usize,
}

impl Builder {
    pub(super) fn new(share: bool, steps: usize) -> Self {
        Self {
            share,
            steps,
            types: Vec::with_capacity(2 * steps),
            ..Self::default()
        }
    }

    /// A new id for a value of this type.
    pub(super) fn fresh(&mut self, ty: Type) -> Id {
        self.types.push(ty);
        Id(self.types.len() as u32 - 1)
    }

    /// How many ids there are.
    pub(super) fn ids(&self) -> u32 {
        self.types.len() as u32
    }

    /// The type of a value.
    pub(super) fn id_type(&self, id: Id) -> &Type {
        &self.types[id.index()]
    }

    /// The type of an operand; a constant has one, or is none.
    pub(super) fn operand_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => Some(self.types[id.index()].clone()),
            Operand::Constant(value) => Type::of(value),
        }
    }

    fn operand_types<'o>(
        &self,
        operands: impl IntoIterator<Item = &'o Operand>,
    ) -> Result<Types, String> {
        let mut types = Types::new();
        for operand in operands {
            let ty = self.operand_type(operand);
            types.push(ty.ok_or_else(|| "a constant without a type".to_owned())?);
        }
        Ok(types)
    }

    /// The form of this body, rewritten and without its dead steps as the options ask.
    pub(super) fn form(&self, name: &str, body: Region, options: &Options) -> Form {
        let mut form = Form {
            name: name.to_owned(),
            body,
            ids: self.ids(),
            outputs: vec![Output::default()],
        };
        debug_assert_eq!(form.verify(), Ok(()), "{form}");
        if options.rewrite {
            rewrite(&mut form);
        }
        if options.dead {
            dead::take_out(&mut form, &self.types);
        }
        dead::compact(&mut form);
        debug_assert_eq!(form.verify(), Ok(()), "{form}");
        form
    }

    /// Opens a region inside the open one.
    pub(super) fn open(&mut self, parameters: &[Type]) -> SmallVec<[Id; 2]> {
        let mut ids = SmallVec::new();
        let mut typed = Vec::with_capacity(parameters.len());
        for ty in parameters {
            let id = self.fresh(ty.clone());
            ids.push(id);
            typed.push((id, ty.clone()));
        }
        let room = if self.frames.is_empty() {
            self.steps
        } else {
            0
        };
        self.frames.push(Frame {
            parameters: typed,
            instructions: Vec::with_capacity(room),
            shared: self.shared.len(),
        });
        ids
    }

    /// Begins another program in the outermost region. The steps of those before it are given
    /// back where it comes to them itself, so that it gets the form that it has alone.
    pub(super) fn begin(&mut self) -> Start {
        self.merges = true;
        self.needs.clear();
        self.met.clear();
        self.own = self.ids();
        let frame = self.frames.first();
        Start {
            instructions: frame.map_or(0, |frame| frame.instructions.len()),
            shared: self.shared.len(),
        }
    }

    /// What the program needs that was begun last.
    pub(super) fn needs(&mut self) -> Vec<Need> {
        std::mem::take(&mut self.needs)
    }

    /// Takes back what the program has made that began there.
    pub(super) fn undo(&mut self, start: &Start) {
        while self.frames.len() > 1 {
            self.close(Operand::Constant(Value::Nothing));
        }
        let Some(frame) = self.frames.first_mut() else {
            return;
        };
        frame.instructions.truncate(start.instructions);
        self.shared.truncate(start.shared);
    }

    /// Whether the program has come to this value, or does now.
    fn comes_to(&mut self, id: Id) -> bool {
        if id.0 >= self.own || self.met.contains(&id) {
            return true;
        }
        // In a region it would be evaluated when the region is, which may be never.
        let here = self.frames.len() == 1;
        if here {
            self.met.insert(id);
            self.needs.push(Need {
                id,
                line: self.line,
            });
        }
        here
    }

    /// Closes the open region.
    pub(super) fn close(&mut self, result: Operand) -> Region {
        self.close_with(smallvec![result])
    }

    /// Closes the open region, which gives this.
    pub(super) fn close_with(&mut self, results: Results) -> Region {
        let (parameters, instructions) = match self.frames.pop() {
            Some(frame) => {
                self.shared.truncate(frame.shared);
                (frame.parameters, frame.instructions)
            }
            None => Default::default(),
        };
        Region {
            parameters,
            instructions,
            results,
        }
    }

    /// Opens a region again that was closed last at this place.
    pub(super) fn reopen(&mut self, region: Region) {
        self.frames.push(Frame {
            parameters: region.parameters,
            instructions: region.instructions,
            shared: self.shared.len(),
        });
    }

    /// The value of an operation; an error says why it has no type.
    pub(super) fn emit(
        &mut self,
        op: Op,
        arguments: Vec<Operand>,
        regions: Vec<Region>,
    ) -> Result<Operand, String> {
        let types = self.operand_types(&arguments)?;
        let results = self.operand_types(regions.iter().map(Region::result))?;
        let typing = typing(op, &types, &regions, &results)?;
        // A set of pairs of pairs doubles its type with every step.
        if typing.ty.size(MOST_TYPES) == MOST_TYPES {
            return Err(format!("a type of more than {MOST_TYPES} types"));
        }
        let mut place = None;
        if self.share {
            self.key.write(op, &arguments, &regions);
            match self.shared.find(&self.key.words) {
                Ok(id) if self.comes_to(id) => return Ok(Operand::Id(id)),
                Ok(_) => place = Some(Memo::<Id>::hash(&self.key.words)),
                Err(hash) => place = Some(hash),
            }
        }
        let id = self.fresh(typing.ty.clone());
        if self.merges && self.frames.len() == 1 {
            let line = self.line;
            self.needs.push(Need { id, line });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.instructions.push(Instruction {
                id,
                ty: typing.ty,
                checked: typing.checked,
                op,
                arguments,
                regions,
                line: self.line,
            });
            if let Some(place) = place {
                self.shared.enter(place, &self.key.words, id);
            }
        }
        Ok(Operand::Id(id))
    }
}

/// What an instruction does, in words: two that do the same have one key, whatever the ids inside
/// their regions are.
#[derive(Debug)]
struct Key {
    words: Vec<u32>,
    /// The numbers of values by id. Those of the instruction at hand begin with `first`.
    numbers: Vec<u32>,
    first: u32,
    next: u32,
}

impl Default for Key {
    fn default() -> Self {
        Self {
            words: Vec::with_capacity(64),
            numbers: Vec::new(),
            first: 1,
            next: 1,
        }
    }
}

impl Key {
    fn write(&mut self, op: Op, arguments: &[Operand], regions: &[Region]) {
        self.words.clear();
        self.first = self.next;
        self.instruction(op, arguments, regions);
    }

    fn instruction(&mut self, op: Op, arguments: &[Operand], regions: &[Region]) {
        match op {
            Op::Call(primitive) => self.words.push(primitive as u32),
            Op::Tuple => self.words.push(1_000),
            Op::Item(at) => self.words.extend_from_slice(&[1_001, u32::from(at)]),
            Op::If => self.words.push(1_002),
            Op::Choose => self.words.push(1_003),
            Op::Iterate => self.words.push(1_004),
            Op::Set => self.words.push(1_007),
            Op::Count => self.words.push(1_008),
            // One absent value is as good as another.
            Op::Absent | Op::Fused(_) => self.words.push(1_005),
            Op::Fail(primitive, failure) => {
                let primitive = primitive.map_or(0, |primitive| 1 + primitive as u32);
                self.words.extend_from_slice(&[1_006, primitive]);
                self.failure(failure);
            }
        }
        self.words.push(arguments.len() as u32);
        for argument in arguments {
            self.operand(argument);
        }
        self.words.push(regions.len() as u32);
        for region in regions {
            self.words.push(region.parameters.len() as u32);
            for (id, ty) in &region.parameters {
                self.number(*id);
                self.ty(ty);
            }
            self.words.push(region.instructions.len() as u32);
            for instruction in &region.instructions {
                self.instruction(instruction.op, &instruction.arguments, &instruction.regions);
                self.number(instruction.id);
            }
            self.operand(region.result());
        }
    }

    /// Numbers a value that is made inside the instruction.
    fn number(&mut self, id: Id) {
        if self.numbers.len() <= id.index() {
            self.numbers.resize(id.index() + 1, 0);
        }
        self.numbers[id.index()] = self.next;
        self.next += 1;
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Id(id) => {
                let number = self.numbers.get(id.index()).copied().unwrap_or(0);
                self.words.push(match number.checked_sub(self.first) {
                    Some(inside) => words::FREE + 2 * inside,
                    None => words::FREE + 2 * id.0 + 1,
                });
            }
            Operand::Constant(value) => words::write(&mut self.words, value),
        }
    }

    fn failure(&mut self, failure: Failure) {
        match failure {
            Failure::Type {
                argument,
                expected,
                found,
            } => {
                let argument = u32::from(argument);
                self.words
                    .extend_from_slice(&[0, argument, expected as u32, found as u32]);
            }
            Failure::NotCallable(found) => self.words.extend_from_slice(&[1, found as u32]),
            Failure::ArgumentCount { expected, found } => {
                self.words
                    .extend_from_slice(&[2, u32::from(expected), u32::from(found)]);
            }
            Failure::NotPositive(n) => self.words.extend_from_slice(&[3, n.cast_unsigned()]),
            Failure::Empty => self.words.push(4),
        }
    }

    fn ty(&mut self, ty: &Type) {
        self.words.push(match ty {
            Type::Never => 0,
            Type::Bool => 1,
            Type::Int => 2,
            Type::MaybeInt => 3,
            Type::Pair => 4,
            Type::MaybePair => 5,
            Type::Cell => 6,
            Type::Grid => 7,
            Type::Indices => 8,
            Type::Object => 9,
            Type::Patch => 10,
            Type::Set(_) => 11,
            Type::Tuple(_) => 12,
            Type::Fixed(items) => 13 + items.len() as u32,
        });
        match ty {
            Type::Set(element) | Type::Tuple(element) => self.ty(element),
            Type::Fixed(items) => items.iter().for_each(|item| self.ty(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::{Primitive, Value};

    fn builder() -> (Builder, Operand) {
        let mut builder = Builder::new(true, 0);
        let input = builder.open(&[Type::Grid])[0];
        (builder, Operand::Id(input))
    }

    fn call(builder: &mut Builder, primitive: Primitive, arguments: &[&Operand]) -> Operand {
        let arguments = arguments.iter().map(|&operand| operand.clone()).collect();
        builder
            .emit(Op::Call(primitive), arguments, Vec::new())
            .unwrap()
    }

    /// A loop over the rows of a grid that gives the sizes of these, and something that it leaves.
    fn sizes(builder: &mut Builder, grid: &Operand, also: Primitive) -> Operand {
        let row = Operand::Id(builder.open(&[Type::tuple_of(Type::Int)])[0]);
        call(builder, also, &[grid]);
        let size = call(builder, Primitive::size, &[&row]);
        let region = builder.close(size);
        let arguments = vec![grid.clone()];
        builder
            .emit(Op::Call(Primitive::apply), arguments, vec![region])
            .unwrap()
    }

    #[test]
    fn the_same_step_is_given_back_here_and_inside_but_not_outside() {
        let (mut builder, input) = builder();
        let height = call(&mut builder, Primitive::height, &[&input]);
        builder.open(&[]);
        assert_eq!(call(&mut builder, Primitive::height, &[&input]), height);
        let width = call(&mut builder, Primitive::width, &[&input]);
        assert_eq!(call(&mut builder, Primitive::width, &[&input]), width);
        builder.close(width.clone());
        assert_ne!(call(&mut builder, Primitive::width, &[&input]), width);
    }

    #[test]
    fn loops_are_the_same_whatever_the_ids_inside_are() {
        let (mut builder, input) = builder();
        let first = sizes(&mut builder, &input, Primitive::height);
        assert_eq!(sizes(&mut builder, &input, Primitive::height), first);
        assert_ne!(sizes(&mut builder, &input, Primitive::width), first);
    }

    #[test]
    fn constants_that_are_equal_in_python_are_told_apart() {
        let (mut builder, _) = builder();
        let [yes, one] = [Value::Bool(true), Value::Int(1)].map(Operand::Constant);
        let a = call(&mut builder, Primitive::initset, &[&yes]);
        let b = call(&mut builder, Primitive::initset, &[&one]);
        assert_ne!(a, b);
    }

    #[test]
    fn what_has_no_type_is_not_emitted() {
        let (mut builder, input) = builder();
        let pair = vec![input, Operand::Constant(Value::Int(1))];
        let pair = builder.emit(Op::Tuple, pair, Vec::new()).unwrap();
        let error = builder.emit(Op::Call(Primitive::dedupe), vec![pair], Vec::new());
        assert_eq!(
            error.unwrap_err(),
            "no type has both the values of grid and those of int"
        );
    }
}
