//! Checks that a form is valid: types, regions and uses.

use std::fmt;

use smallvec::SmallVec;

use super::{Form, Id, Instruction, Op, Operand, Region, Type};
use arc_dsl::Primitive;
use arc_isa::rules::{self, Typing};

/// What is wrong with a form, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("v{}: {message}", id.0)]
#[non_exhaustive]
pub struct Fault {
    /// The instruction or parameter.
    pub id: Id,
    /// What is wrong and what was expected.
    pub message: String,
}

pub(super) fn fault<T>(id: Id, message: impl fmt::Display) -> Result<T, Fault> {
    let message = message.to_string();
    Err(Fault { id, message })
}

impl Form {
    /// Checks that every value is defined once and is visible where it is used, that every instruction has the
    /// regions that it needs, and that every type follows from the rules.
    pub fn verify(&self) -> Result<(), Fault> {
        let mut verifier = Verifier {
            types: vec![None; self.ids as usize],
            defined: vec![false; self.ids as usize],
        };
        let numbers = (0..).map(Id);
        let mut parameters = self.body.parameters.iter().zip(numbers);
        if !parameters.all(|((id, _), number)| *id == number) {
            return fault(Id::INPUT, "expected parameters numbered v0, v1 and so on");
        }
        verifier.region(&self.body, Id::INPUT).map(|_| ())
    }
}

struct Verifier {
    /// The types of the values that are visible.
    types: Vec<Option<Type>>,
    defined: Vec<bool>,
}

impl Verifier {
    fn define(&mut self, id: Id, ty: &Type) -> Result<(), Fault> {
        match self.defined.get_mut(id.index()) {
            None => fault(id, "an id past the last one"),
            Some(true) => fault(id, "defined twice"),
            Some(defined) => {
                *defined = true;
                self.types[id.index()] = Some(ty.clone());
                Ok(())
            }
        }
    }

    fn operand(&self, operand: &Operand, of: Id) -> Result<Type, Fault> {
        match operand {
            Operand::Id(id) => match self.types.get(id.index()) {
                Some(Some(ty)) => Ok(ty.clone()),
                _ => fault(
                    of,
                    format_args!("v{} is not defined before, in scope", id.0),
                ),
            },
            Operand::Constant(value) => match value.value_type() {
                Some(ty) => Ok(ty),
                None => fault(of, "a constant without a type"),
            },
        }
    }

    /// The type of a region's result.
    fn region(&mut self, region: &Region, of: Id) -> Result<Type, Fault> {
        for (id, ty) in &region.parameters {
            self.define(*id, ty)?;
        }
        for instruction in &region.instructions {
            self.instruction(instruction)?;
        }
        let ty = self.operand(&region.result, of)?;
        let inside = region.parameters.iter().map(|(id, _)| *id);
        for id in inside.chain(region.instructions.iter().map(|instruction| instruction.id)) {
            self.types[id.index()] = None;
        }
        Ok(ty)
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        let id = instruction.id;
        let arguments = instruction
            .arguments
            .iter()
            .map(|operand| self.operand(operand, id))
            .collect::<Result<Vec<_>, _>>()?;
        let results = instruction
            .regions
            .iter()
            .map(|region| self.region(region, id))
            .collect::<Result<Vec<_>, _>>()?;
        if let Op::Fused(fused) = instruction.op
            && !instruction.regions.iter().all(|region| fused.is_of(region))
        {
            return fault(id, format_args!("a region that is no {}", fused.name()));
        }
        let typing = typing(instruction.op, &arguments, &instruction.regions, &results);
        match typing {
            Err(message) => fault(id, message),
            Ok(Typing { ty, checked })
                if ty != instruction.ty || checked != instruction.checked =>
            {
                let mark = |checked| if checked { "!" } else { "" };
                let (expected, found) = (mark(checked), mark(instruction.checked));
                let message = format!(
                    "expected the type {ty}{expected}, found {}{found}",
                    instruction.ty
                );
                fault(id, message)
            }
            Ok(_) => self.define(id, &instruction.ty),
        }
    }
}

fn count(found: usize, expected: Option<usize>, what: &str) -> Result<(), String> {
    match expected {
        Some(expected) if expected != found => {
            Err(format!("{what}: expected {expected}, found {found}"))
        }
        _ => Ok(()),
    }
}

fn join_all(types: &[Type]) -> Result<Type, String> {
    types
        .iter()
        .try_fold(Type::Never, |joined, ty| {
            let next = joined.join(ty);
            next.ok_or_else(|| rules::Unlike(joined, ty.clone()))
        })
        .map_err(|unlike| unlike.to_string())
}

/// Whether a region's parameters have these types.
fn takes(region: &Region, types: &[Type]) -> bool {
    region.parameters.iter().map(|(_, ty)| ty).eq(types)
}

/// The numbers of arguments and regions of an operation, where they are fixed.
fn arity(op: Op) -> [Option<usize>; 2] {
    match op {
        Op::Call(primitive) => {
            let (parameters, regions) = match (primitive.loop_function(), primitive) {
                (None, _) => (0, 0),
                (Some(_), Primitive::Valmax | Primitive::Valmin) => (1, 2),
                (Some(_), _) => (1, 1),
            };
            let arguments = primitive.parameters().len() - parameters;
            [Some(arguments), Some(regions)]
        }
        Op::Tuple | Op::Set => [None, Some(0)],
        Op::Item(_) | Op::Count => [Some(1), Some(0)],
        Op::If => [Some(1), Some(2)],
        Op::Choose => [Some(1), None],
        Op::Iterate => [Some(2), Some(1)],
        Op::Fused(_) => [None, Some(1)],
        Op::Absent | Op::Fail(..) => [Some(0), Some(0)],
    }
}

/// The type of an instruction, by those of its arguments, of its regions and of their results.
pub(super) fn typing(
    op: Op,
    arguments: &[Type],
    regions: &[Region],
    results: &[Type],
) -> Result<Typing, String> {
    let expected = arity(op);
    count(arguments.len(), expected[0], "arguments")?;
    count(regions.len(), expected[1], "regions")?;
    let sure = |ty| Ok(Typing { ty, checked: false });
    match op {
        Op::Call(primitive) if expected[1] != Some(0) => {
            loop_typing(primitive, arguments, regions, results)
        }
        Op::Call(primitive) if primitive.is_first_order() => primitive
            .typing(arguments)
            .map_err(|unlike| unlike.to_string()),
        Op::Call(primitive) => Err(format!("`{primitive}` makes or takes functions")),
        Op::Tuple => sure(Type::fixed(arguments)),
        Op::Set => Ok(rules::collected(
            arc_dsl::ContainerKind::Set,
            &join_all(arguments)?,
        )),
        Op::Item(at) => match arguments[0].items() {
            Some(items) if usize::from(at) < items.len() => sure(items[usize::from(at)].clone()),
            _ => Err(format!("{} has no item {at}", arguments[0])),
        },
        Op::If | Op::Choose => {
            if regions.iter().any(|region| !region.parameters.is_empty()) {
                return Err("an arm has parameters".to_owned());
            }
            if op == Op::Choose && !matches!(arguments[0], Type::Int | Type::Never) {
                let found = &arguments[0];
                return Err(format!("expected an int to choose by, found {found}"));
            }
            sure(join_all(results)?)
        }
        Op::Count => match arguments[0] {
            Type::Int | Type::Bool | Type::MaybeInt => sure(Type::Int),
            _ => Err(format!("expected an int to count, found {}", arguments[0])),
        },
        Op::Iterate => match regions[0].parameters.as_slice() {
            _ if arguments[0] != Type::Int => {
                Err(format!("expected an int to count, found {}", arguments[0]))
            }
            [(_, ty)] if results[0].within(ty) && arguments[1].within(ty) => sure(ty.clone()),
            _ => Err("expected rounds whose result is of the parameter's type".to_owned()),
        },
        Op::Fused(_) if takes(&regions[0], arguments) => sure(results[0].clone()),
        Op::Fused(_) => Err("expected the arguments as parameters of the region".to_owned()),
        Op::Absent | Op::Fail(..) => sure(Type::Never),
    }
}

/// The same for a primitive that becomes a loop.
fn loop_typing(
    primitive: Primitive,
    arguments: &[Type],
    regions: &[Region],
    results: &[Type],
) -> Result<Typing, String> {
    let elements = elements(arguments)?;
    let parameters = regions[0].parameters.iter().map(|(_, ty)| ty);
    let second = regions.get(1);
    if !parameters.eq(&elements) || second.is_some_and(|second| !second.parameters.is_empty()) {
        return Err(format!(
            "expected the elements of the arguments as parameters of the region of `{primitive}`"
        ));
    }
    loop_result(primitive, arguments, &elements, results).map_err(|unlike| unlike.to_string())
}

/// The element types that a loop passes to its body.
fn elements(arguments: &[Type]) -> Result<SmallVec<[Type; 2]>, String> {
    let element = |ty: &Type| match rules::element(ty) {
        Ok(Some(element)) => Ok(element),
        // Not a container: the loop fails before it starts.
        Ok(None) => Ok(Type::Never),
        Err(rules::Unlike(a, b)) => Err(format!("a loop over both {a} and {b}")),
    };
    arguments.iter().map(element).collect()
}

/// The type of a loop's result, by that of its region.
fn loop_result(
    primitive: Primitive,
    arguments: &[Type],
    elements: &[Type],
    results: &[Type],
) -> Result<Typing, rules::Unlike> {
    use Primitive as P;
    use arc_dsl::ContainerKind::{Set, Tuple};
    let sure = |ty| Ok(Typing { ty, checked: false });
    let Some(kind) = arguments[0].container() else {
        let checked = arguments[0] != Type::Never;
        return Ok(Typing {
            ty: Type::Never,
            checked,
        });
    };
    match primitive {
        P::Apply => match arguments[0].items() {
            Some(items) => sure(Type::fixed(vec![results[0].clone(); items.len()])),
            None => Ok(rules::collected(kind, &results[0])),
        },
        P::Mapply => rules::merged(kind, &results[0]),
        P::Papply => Ok(rules::collected(Tuple, &results[0])),
        P::Mpapply => rules::merged(Tuple, &results[0]),
        P::Prapply => Ok(rules::collected(Set, &results[0])),
        P::Sfilter => match &arguments[0] {
            ty if ty.items().is_some() || *ty == Type::MaybePair => {
                sure(Type::tuple_of(elements[0].clone()))
            }
            ty => sure(ty.clone()),
        },
        P::Mfilter => rules::merged(kind, &elements[0]),
        P::Extract | P::Argmax | P::Argmin => sure(elements[0].clone()),
        P::Order => sure(Type::tuple_of(elements[0].clone())),
        _ => {
            // A key of 0 replaces the missing element.
            let (key, none) = (&results[0], &results[1]);
            match key.join(none) {
                Some(joined) => sure(joined),
                None => Ok(Typing {
                    ty: key.clone(),
                    checked: true,
                }),
            }
        }
    }
}
