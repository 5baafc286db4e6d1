//! Emits instructions: types them, and returns the earlier one if an equal one was emitted before.

use smallvec::SmallVec;

use crate::analysis::Called;
use crate::memo::{Hash, Memo};
use crate::rewrite::rewrite_calls;
use crate::typings::Typings;
use crate::verify::typing;
use crate::{Form, Id, Instruction, Op, Operand, Options, Region, Type, dead, words};
use arc_dsl::{Primitive, Value};
use arc_isa::rules::Typing;

/// The most nodes of a type.
const MOST_TYPES: usize = 1_000;

/// The types of arguments; usually few.
type Types = SmallVec<[Type; 4]>;

/// An argument of a call: the value of an earlier instruction, or a constant with its type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<'v> {
    Value(Id),
    Constant(&'v Value, &'v Type),
}

/// Code under construction: nested regions, of which the innermost is open.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    frames: Vec<Frame>,
    /// The instructions of all enclosing regions, those of the innermost last.
    instructions: Vec<Instruction>,
    /// The types of all values, by id.
    types: Vec<Type>,
    /// The emitted instructions that are visible from the open region, by their keys.
    shared: Memo<Id>,
    /// The numbers in keys.
    numbers: Numbers,
    /// A cache of typings of calls on values of common types.
    typings: Typings,
    /// The primitives that the emitted instructions call.
    called: Called,
    /// Buffers of the final passes.
    scratch: dead::Scratch,
    /// The line that instructions come from.
    pub(crate) line: u32,
    /// Whether equal steps become one instruction.
    share: bool,
}

#[derive(Debug)]
struct Frame {
    parameters: Vec<(Id, Type)>,
    /// The number of instructions when it was opened.
    start: usize,
    /// The number of keys in `shared` when it was opened.
    shared: usize,
    /// See [`Region::calls`].
    calls: u32,
}

impl Builder {
    pub(crate) fn new(share: bool) -> Self {
        let mut builder = Self {
            share,
            ..Self::default()
        };
        builder.clear();
        builder
    }

    /// Forgets everything, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.instructions.clear();
        self.types.clear();
        self.shared.truncate(0);
        self.numbers.clear();
        self.called = Called::default();
        self.line = 0;
    }

    /// A new id for a value of this type.
    pub(crate) fn fresh(&mut self, ty: Type) -> Id {
        self.types.push(ty);
        Id(self.types.len() as u32 - 1)
    }

    /// How many ids there are.
    pub(crate) fn ids(&self) -> u32 {
        self.types.len() as u32
    }

    /// The type of a value.
    pub(crate) fn id_type(&self, id: Id) -> &Type {
        &self.types[id.index()]
    }

    /// The type of an operand; `None` for a constant without a type.
    pub(crate) fn operand_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Id(id) => Some(self.types[id.index()].clone()),
            Operand::Constant(value) => value.value_type(),
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

    /// The form of this body, with rewrites and without dead steps if the options say so.
    pub(crate) fn form(&mut self, name: &str, body: Region, options: &Options) -> Form {
        let mut form = Form {
            name: name.to_owned(),
            body,
            ids: self.ids(),
        };
        debug_assert_eq!(form.verify(), Ok(()), "{form}");
        if options.rewrite {
            rewrite_calls(&mut form, &self.called);
        }
        if options.dead {
            dead::remove_dead_steps(&mut form, &self.types, &mut self.scratch);
        }
        dead::compact(&mut form, &mut self.scratch);
        debug_assert_eq!(form.verify(), Ok(()), "{form}");
        form
    }

    /// Opens a region within the open one.
    pub(crate) fn open(&mut self, parameters: &[Type]) -> SmallVec<[Id; 2]> {
        let mut ids = SmallVec::new();
        let mut typed = Vec::with_capacity(parameters.len());
        for ty in parameters {
            let id = self.fresh(ty.clone());
            ids.push(id);
            typed.push((id, ty.clone()));
        }
        self.frames.push(Frame {
            parameters: typed,
            start: self.instructions.len(),
            shared: self.shared.len(),
            calls: 0,
        });
        ids
    }

    /// The calls that are counted in the open region.
    pub(crate) fn calls(&mut self) -> Option<&mut u32> {
        self.frames.last_mut().map(|frame| &mut frame.calls)
    }

    /// Closes the open region.
    pub(crate) fn close(&mut self, result: Operand) -> Region {
        let (parameters, instructions, calls) = match self.frames.pop() {
            Some(frame) => {
                self.shared.truncate(frame.shared);
                let instructions = self.instructions.drain(frame.start..).collect();
                (frame.parameters, instructions, frame.calls)
            }
            None => Default::default(),
        };
        Region {
            parameters,
            instructions,
            result,
            calls,
        }
    }

    /// Opens again a region that was closed last at this position.
    pub(crate) fn reopen(&mut self, region: Region) {
        self.frames.push(Frame {
            parameters: region.parameters,
            start: self.instructions.len(),
            shared: self.shared.len(),
            calls: region.calls,
        });
        self.instructions.extend(region.instructions);
    }

    /// The value of an operation, which is emitted if necessary; an error says why it has no type.
    pub(crate) fn emit(
        &mut self,
        op: Op,
        arguments: Vec<Operand>,
        regions: Vec<Region>,
    ) -> Result<Id, String> {
        let key = self.shared.key();
        self.numbers.write_key(key, op, &arguments, &regions);
        match self.find_emitted() {
            Ok(id) => Ok(id),
            Err(place) => {
                let typing = self.typing(op, &arguments, &regions)?;
                self.push(place, typing, op, arguments, regions)
            }
        }
    }

    /// The value of a call of a first-order primitive; an error says why it has no type.
    pub(crate) fn call(
        &mut self,
        primitive: Primitive,
        arguments: &[Argument<'_>],
    ) -> Result<Id, String> {
        let op = Op::Call(primitive);
        let words = self.shared.key();
        write_op(words, op, arguments.len());
        for argument in arguments {
            match argument {
                Argument::Value(id) => words.push(outer_word(*id)),
                Argument::Constant(value, _) => words::write(words, value),
            }
        }
        let place = match self.find_emitted() {
            Ok(id) => return Ok(id),
            Err(place) => place,
        };
        let types = arguments.iter().map(|argument| match argument {
            Argument::Value(id) => &self.types[id.index()],
            Argument::Constant(_, ty) => *ty,
        });
        let typing = self.typings.of(primitive, types)?;
        let operands = arguments.iter().map(|argument| match argument {
            Argument::Value(id) => Operand::Id(*id),
            Argument::Constant(value, _) => Operand::Constant((*value).clone()),
        });
        let operands = operands.collect();
        self.push(place, typing, op, operands, Vec::new())
    }

    /// Looks up the key that was written last: the value of the instruction with this key, or the hash for
    /// entering it, if it is to be entered.
    fn find_emitted(&self) -> Result<Id, Option<Hash>> {
        if !self.share {
            return Err(None);
        }
        self.shared.find().map_err(Some)
    }

    /// Adds an instruction under the key that was written last.
    fn push(
        &mut self,
        place: Option<Hash>,
        typing: Typing,
        op: Op,
        arguments: Vec<Operand>,
        regions: Vec<Region>,
    ) -> Result<Id, String> {
        // A set of pairs of pairs doubles the size of its type with every step.
        if typing.ty.size(MOST_TYPES) == MOST_TYPES {
            return Err(format!("a type of more than {MOST_TYPES} types"));
        }
        let id = self.fresh(typing.ty.clone());
        if let Some(place) = place {
            self.shared.enter(place, id);
        }
        let line = self.line;
        if let Op::Call(primitive) = op {
            self.called.add(primitive);
        }
        self.instructions.push(Instruction {
            id,
            ty: typing.ty,
            checked: typing.checked,
            op,
            arguments,
            regions,
            line,
        });
        Ok(id)
    }

    fn typing(&self, op: Op, arguments: &[Operand], regions: &[Region]) -> Result<Typing, String> {
        let types = self.operand_types(arguments)?;
        let results = self.operand_types(regions.iter().map(|region| &region.result))?;
        typing(op, &types, regions, &results)
    }
}

/// Numbers the values in the keys of instructions, so that equal instructions have equal keys, whatever the ids
/// inside their regions are.
#[derive(Debug, Default)]
struct Numbers {
    /// The numbers by id. Those of the current instruction start at `first`, which is never 0.
    by_id: Vec<u32>,
    first: u32,
    next: u32,
}

impl Numbers {
    fn clear(&mut self) {
        self.by_id.clear();
        (self.first, self.next) = (1, 1);
    }

    /// Writes the key of an instruction.
    fn write_key(
        &mut self,
        words: &mut Vec<u32>,
        op: Op,
        arguments: &[Operand],
        regions: &[Region],
    ) {
        self.first = self.next;
        self.instruction(words, op, arguments, regions);
    }

    fn instruction(
        &mut self,
        words: &mut Vec<u32>,
        op: Op,
        arguments: &[Operand],
        regions: &[Region],
    ) {
        write_op(words, op, arguments.len());
        for argument in arguments {
            self.operand(words, argument);
        }
        // The operation implies whether it has regions.
        if !regions.is_empty() {
            words.push(regions.len() as u32);
        }
        for region in regions {
            words.push(region.parameters.len() as u32);
            for (id, ty) in &region.parameters {
                self.number(*id);
                type_words(words, ty);
            }
            words.push(region.instructions.len() as u32);
            for instruction in &region.instructions {
                self.instruction(
                    words,
                    instruction.op,
                    &instruction.arguments,
                    &instruction.regions,
                );
                self.number(instruction.id);
            }
            self.operand(words, &region.result);
        }
    }

    /// Numbers a value that is defined inside the instruction.
    fn number(&mut self, id: Id) {
        if self.by_id.len() <= id.index() {
            self.by_id.resize(id.index() + 1, 0);
        }
        self.by_id[id.index()] = self.next;
        self.next += 1;
    }

    fn operand(&self, words: &mut Vec<u32>, operand: &Operand) {
        match operand {
            Operand::Id(id) => {
                let number = self.by_id.get(id.index()).copied().unwrap_or(0);
                words.push(match number.checked_sub(self.first) {
                    Some(inside) => words::FREE + 2 * inside,
                    None => outer_word(*id),
                });
            }
            Operand::Constant(value) => words::write(words, value),
        }
    }
}

/// The word for a value that is defined outside the instruction.
fn outer_word(id: Id) -> u32 {
    words::FREE + 2 * id.0 + 1
}

/// Writes an operation with this number of arguments.
fn write_op(words: &mut Vec<u32>, op: Op, arguments: usize) {
    let code = match op {
        Op::Call(primitive) => primitive as u32,
        Op::Tuple => 1_000,
        Op::Item(_) => 1_001,
        Op::If => 1_002,
        Op::Choose => 1_003,
        Op::Iterate => 1_004,
        // All absent values are interchangeable.
        Op::Absent | Op::Fused(_) => 1_005,
        Op::Fail(..) => 1_006,
        Op::Set => 1_007,
        Op::Count => 1_008,
    };
    words.push(code | (arguments as u32) << 10);
    match op {
        Op::Item(at) => words.push(u32::from(at)),
        Op::Fail(primitive, error) => {
            words.push(primitive.map_or(0, |primitive| 1 + primitive as u32));
            words.extend(format!("{error:?}").bytes().map(u32::from));
        }
        _ => {}
    }
}

fn type_words(words: &mut Vec<u32>, ty: &Type) {
    match ty {
        Type::Set(element) => {
            words.push(11);
            type_words(words, element);
        }
        Type::Tuple(element) => {
            words.push(12);
            type_words(words, element);
        }
        Type::Fixed(items) => {
            words.push(13 + items.len() as u32);
            items.iter().for_each(|item| type_words(words, item));
        }
        // A type that contains no other type is a common one.
        plain => words.extend(plain.common_number().map(u32::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> (Builder, Operand) {
        let mut builder = Builder::new(true);
        let input = builder.open(&[Type::Grid])[0];
        (builder, Operand::Id(input))
    }

    fn call(builder: &mut Builder, primitive: Primitive, arguments: &[&Operand]) -> Operand {
        let arguments = arguments.iter().map(|&operand| operand.clone()).collect();
        let id = builder.emit(Op::Call(primitive), arguments, Vec::new());
        Operand::Id(id.unwrap())
    }

    /// A loop over the rows of a grid that computes their sizes, and something dead.
    fn sizes(builder: &mut Builder, grid: &Operand, also: Primitive) -> Operand {
        let row = Operand::Id(builder.open(&[Type::tuple_of(Type::Int)])[0]);
        call(builder, also, &[grid]);
        let size = call(builder, Primitive::Size, &[&row]);
        let region = builder.close(size);
        let arguments = vec![grid.clone()];
        let id = builder.emit(Op::Call(Primitive::Apply), arguments, vec![region]);
        Operand::Id(id.unwrap())
    }

    #[test]
    fn the_same_step_is_given_back_here_and_inside_but_not_outside() {
        let (mut builder, input) = builder();
        let height = call(&mut builder, Primitive::Height, &[&input]);
        builder.open(&[]);
        assert_eq!(call(&mut builder, Primitive::Height, &[&input]), height);
        let width = call(&mut builder, Primitive::Width, &[&input]);
        assert_eq!(call(&mut builder, Primitive::Width, &[&input]), width);
        builder.close(width.clone());
        assert_ne!(call(&mut builder, Primitive::Width, &[&input]), width);
    }

    #[test]
    fn loops_are_the_same_whatever_the_ids_inside_are() {
        let (mut builder, input) = builder();
        let first = sizes(&mut builder, &input, Primitive::Height);
        assert_eq!(sizes(&mut builder, &input, Primitive::Height), first);
        assert_ne!(sizes(&mut builder, &input, Primitive::Width), first);
    }

    #[test]
    fn constants_that_are_equal_in_python_are_told_apart() {
        let (mut builder, _) = builder();
        let [yes, one] = [Value::Bool(true), Value::Int(1)].map(Operand::Constant);
        let a = call(&mut builder, Primitive::Initset, &[&yes]);
        let b = call(&mut builder, Primitive::Initset, &[&one]);
        assert_ne!(a, b);
    }

    #[test]
    fn what_has_no_type_is_not_emitted() {
        let (mut builder, input) = builder();
        let pair = vec![input, Operand::Constant(Value::Int(1))];
        let pair = builder.emit(Op::Tuple, pair, Vec::new()).unwrap();
        let error = builder.emit(
            Op::Call(Primitive::Dedupe),
            vec![Operand::Id(pair)],
            Vec::new(),
        );
        assert_eq!(
            error.unwrap_err(),
            "no type has both the values of grid and those of int"
        );
    }
}
