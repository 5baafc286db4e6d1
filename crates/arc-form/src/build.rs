//! Emits instructions: types them, and gives the earlier one where the same was emitted before.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::verify::typing;
use super::{Id, Instruction, Need, Notes, Op, Operand, Region, Results, Type};
use arc_dsl::Value;
use smallvec::smallvec;

/// How many types may be in one.
const MOST_TYPES: usize = 1_000;

/// Code under construction: regions inside each other, the innermost one open.
#[derive(Debug, Default)]
pub(super) struct Builder {
    frames: Vec<Frame>,
    /// The types of all values, by id.
    types: Vec<Type>,
    /// What was emitted, and can be seen from the open region, by what it does.
    shared: HashMap<Box<[u32]>, Operand>,
    literals: HashMap<String, u32>,
    /// The line that instructions come from.
    pub(super) line: u32,
    /// Whether the same step is made once.
    share: bool,
    /// What the program needs that is gone through: the instructions of the outermost region, in
    /// the order in which it comes to them.
    needs: Vec<Need>,
    /// Those of them that other programs have made: a step that this program has not come to is
    /// not there for it.
    met: HashSet<Id>,
    /// The first id that is this program's own.
    own: u32,
}

/// Where a program begins, to go back there if it has no form.
#[derive(Debug)]
pub(super) struct Start {
    instructions: usize,
    keys: usize,
}

#[derive(Debug)]
struct Frame {
    parameters: Vec<(Id, Type)>,
    instructions: Vec<Instruction>,
    /// What this region has added to `shared`, and what stood there before.
    keys: Vec<(Box<[u32]>, Option<Operand>)>,
}

impl Builder {
    pub(super) fn new(share: bool) -> Self {
        Self {
            share,
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

    /// Opens a region inside the open one.
    pub(super) fn open(&mut self, parameters: &[Type]) -> Vec<Id> {
        let ids: Vec<_> = parameters.iter().map(|ty| self.fresh(ty.clone())).collect();
        self.frames.push(Frame {
            parameters: ids
                .iter()
                .copied()
                .zip(parameters.iter().cloned())
                .collect(),
            instructions: Vec::new(),
            keys: Vec::new(),
        });
        ids
    }

    /// Begins another program in the outermost region. The steps of those before it are given
    /// back where it comes to them itself, so that it gets the form that it has alone.
    pub(super) fn begin(&mut self) -> Start {
        self.needs.clear();
        self.met.clear();
        self.own = self.ids();
        let frame = self.frames.first();
        Start {
            instructions: frame.map_or(0, |frame| frame.instructions.len()),
            keys: frame.map_or(0, |frame| frame.keys.len()),
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
        let keys = frame.keys.split_off(start.keys.min(frame.keys.len()));
        self.forget(keys);
    }

    /// Puts back what stood there before.
    fn forget(&mut self, keys: Vec<(Box<[u32]>, Option<Operand>)>) {
        for (key, before) in keys.into_iter().rev() {
            match before {
                Some(before) => self.shared.insert(key, before),
                None => self.shared.remove(&key),
            };
        }
    }

    /// Whether the program has come to this value, or does now.
    fn comes_to(&mut self, value: &Operand) -> bool {
        let Operand::Id(id) = *value else {
            return true;
        };
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
        let frame = self.frames.pop();
        let (parameters, instructions, keys) = match frame {
            Some(frame) => (frame.parameters, frame.instructions, frame.keys),
            None => Default::default(),
        };
        self.forget(keys);
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
            keys: Vec::new(),
        });
    }

    /// The value of an operation; an error says why it has no type.
    pub(super) fn emit(
        &mut self,
        op: Op,
        arguments: Vec<Operand>,
        regions: Vec<Region>,
    ) -> Result<Operand, String> {
        let missing = || "a constant without a type".to_owned();
        let types = |operands: Vec<&Operand>| {
            operands
                .into_iter()
                .map(|operand| self.operand_type(operand).ok_or_else(missing))
                .collect::<Result<Vec<_>, _>>()
        };
        let argument_types = types(arguments.iter().collect())?;
        let results = types(regions.iter().map(Region::result).collect())?;
        let parameters: Vec<Vec<_>> = regions
            .iter()
            .map(|region| region.parameters.iter().map(|(_, ty)| ty.clone()).collect())
            .collect();
        let typing = typing(op, &argument_types, &parameters, &results)?;
        // A set of pairs of pairs doubles its type with every step.
        if typing.ty.size(MOST_TYPES) == MOST_TYPES {
            return Err(format!("a type of more than {MOST_TYPES} types"));
        }
        let mut instruction = Instruction {
            id: Id(0),
            ty: typing.ty,
            checked: typing.checked,
            op,
            arguments,
            regions,
            line: self.line,
            notes: Notes::default(),
        };
        let key = self.share.then(|| self.key(&instruction));
        if let Some(same) = key.as_ref().and_then(|key| self.shared.get(key)).cloned()
            && self.comes_to(&same)
        {
            return Ok(same);
        }
        instruction.id = self.fresh(instruction.ty.clone());
        let operand = Operand::Id(instruction.id);
        if self.frames.len() == 1 {
            self.needs.push(Need {
                id: instruction.id,
                line: self.line,
            });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.instructions.push(instruction);
            if let Some(key) = key {
                let before = self.shared.insert(key.clone(), operand.clone());
                frame.keys.push((key, before));
            }
        }
        Ok(operand)
    }

    /// What the instruction does, whatever the ids inside its regions are.
    fn key(&mut self, instruction: &Instruction) -> Box<[u32]> {
        let mut key = Vec::new();
        self.write_key(&mut key, instruction, &mut HashMap::default());
        key.into()
    }

    fn write_key(
        &mut self,
        key: &mut Vec<u32>,
        instruction: &Instruction,
        inside: &mut HashMap<Id, u32>,
    ) {
        match instruction.op {
            Op::Call(primitive) => key.push(primitive as u32),
            Op::Tuple => key.push(1_000),
            Op::Item(at) => key.extend([1_001, u32::from(at)]),
            Op::If => key.push(1_002),
            Op::Choose => key.push(1_003),
            Op::Iterate => key.push(1_004),
            Op::Set => key.push(1_007),
            Op::Count => key.push(1_008),
            // One absent value is as good as another.
            Op::Absent => key.push(1_005),
            Op::Fail(primitive, failure) => {
                let primitive = primitive.map_or(0, |primitive| 1 + primitive as u32);
                key.extend([1_006, primitive, self.literal(&failure)]);
            }
        }
        key.push(instruction.arguments.len() as u32);
        for argument in &instruction.arguments {
            self.write_operand(key, argument, inside);
        }
        key.push(instruction.regions.len() as u32);
        for region in &instruction.regions {
            key.push(region.parameters.len() as u32);
            for (id, ty) in &region.parameters {
                inside.insert(*id, inside.len() as u32);
                let ty = self.literal(ty);
                key.push(ty);
            }
            key.push(region.instructions.len() as u32);
            for instruction in &region.instructions {
                self.write_key(key, instruction, inside);
                inside.insert(instruction.id, inside.len() as u32);
            }
            self.write_operand(key, region.result(), inside);
        }
    }

    fn write_operand(&mut self, key: &mut Vec<u32>, operand: &Operand, inside: &HashMap<Id, u32>) {
        match operand {
            Operand::Id(id) => match inside.get(id) {
                Some(local) => key.extend([0, *local]),
                None => key.extend([1, id.0]),
            },
            Operand::Constant(Value::Int(n)) => key.extend([2, n.cast_unsigned()]),
            Operand::Constant(Value::Bool(b)) => key.extend([3, u32::from(*b)]),
            Operand::Constant(value) => key.extend([4, self.literal(value)]),
        }
    }

    /// A number for what prints alike.
    pub(super) fn literal(&mut self, value: &impl ToString) -> u32 {
        let next = self.literals.len() as u32;
        *self.literals.entry(value.to_string()).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::Primitive;

    fn builder() -> (Builder, Operand) {
        let mut builder = Builder::new(true);
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
