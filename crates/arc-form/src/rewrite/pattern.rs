//! The calls that a [`Fused`] replaces, as the form of their text: whether instructions are such calls, and such
//! instructions.

use std::sync::{LazyLock, OnceLock};

use super::Fused;
use crate::analysis::Called;
use crate::{
    Argument, Form, Id, Instruction, Op, Operand, Options, Region, Specialiser, Type, dead,
};
use arc_dsl::Primitive;

/// The primitives that an operation's text names. To read the text takes longer than to see that a form lacks one.
pub(super) struct Named {
    pub(super) fused: Fused,
    pub(super) called: Called,
    /// The one whose result is that of the operation.
    pub(super) last: Primitive,
}

/// Those of all operations.
pub(super) static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let named = |fused: &Fused| {
        let words = fused.calls().split(|at: char| !at.is_ascii_alphanumeric());
        let named: Vec<_> = words.filter_map(Primitive::from_name).collect();
        Some(Named {
            fused: *fused,
            called: Called::these(&named),
            last: *named.first()?,
        })
    };
    Fused::ALL.iter().filter_map(named).collect()
});

/// What an operation replaces.
#[derive(Debug)]
pub(super) struct Pattern(Form);

/// The instruction that computes a value; for a value that none computes, that value.
type Maker<'m, 'f> = &'m dyn Fn(&Operand) -> Result<&'f Instruction, Operand>;

/// The instructions of a region, for which fused ones stand as the calls that they replace.
#[derive(Default)]
struct Calls<'f> {
    made: Vec<&'f Instruction>,
    /// The values of parameters and results of fused ones.
    same: Vec<(Id, &'f Operand)>,
}

impl<'f> Calls<'f> {
    fn enter(&mut self, region: &'f Region) {
        for one in &region.instructions {
            if let (Op::Fused(_), [inside]) = (one.op, &one.regions[..]) {
                let parameters = inside.parameters.iter().map(|(id, _)| *id);
                self.same.extend(parameters.zip(&one.arguments));
                self.same.push((one.id, &inside.result));
            } else {
                self.made.push(one);
            }
            one.regions.iter().for_each(|region| self.enter(region));
        }
    }

    fn maker(&self, value: &Operand) -> Result<&'f Instruction, Operand> {
        let mut value = value;
        while let Operand::Id(id) = value {
            if let Some(one) = self.made.iter().find(|one| one.id == *id) {
                return Ok(*one);
            }
            let Some((_, same)) = self.same.iter().find(|(other, _)| other == id) else {
                break;
            };
            value = same;
        }
        Err(value.clone())
    }
}

/// Instructions that are the calls of a pattern.
pub(super) struct Match<'f> {
    /// The values of the pattern's parameters and of those of its regions, by id.
    values: Vec<Option<Operand>>,
    /// The calls in the order of the pattern.
    pub(super) calls: Vec<&'f Instruction>,
}

impl<'f> Match<'f> {
    /// Whether a value is that of the pattern.
    fn is(
        &mut self,
        (pattern, value): (&Region, &Operand),
        found: &Operand,
        maker: Maker<'_, 'f>,
    ) -> bool {
        let Operand::Id(id) = value else {
            return false;
        };
        match (call_of(pattern, *id), maker(found)) {
            (Some(one), Ok(made)) if one.op == made.op => {
                let mut arguments = one.arguments.iter().zip(&made.arguments);
                let mut regions = one.regions.iter().zip(&made.regions);
                let is_call = arguments.all(|(one, found)| self.is((pattern, one), found, maker))
                    && regions.all(|(one, region)| {
                        for ((id, _), (found, _)) in one.parameters.iter().zip(&region.parameters) {
                            self.values[id.index()] = Some(Operand::Id(*found));
                        }
                        self.is((pattern, &one.result), &region.result, maker)
                    });
                self.calls.push(made);
                is_call
            }
            (None, made) => {
                let found = made.map_or_else(|value| value, |made| Operand::Id(made.id));
                *self.values[id.index()].get_or_insert_with(|| found.clone()) == found
            }
            _ => false,
        }
    }

    /// The values of the operation's parameters.
    pub(super) fn arguments(self, fused: Fused) -> Option<Vec<Operand>> {
        let values = self.values.into_iter();
        values.take(fused.parameters().len()).collect()
    }
}

impl Pattern {
    fn new(fused: Fused) -> Option<Self> {
        let (names, types): (Vec<_>, Vec<_>) = fused.parameters().iter().cloned().unzip();
        let text = format!(
            "def {}({}): return {}\n",
            fused.name(),
            names.join(", "),
            fused.calls()
        );
        let function = arc_text::parse_functions(&text).pop()?.ok()?;
        let arguments: Vec<_> = (0..).map(Argument::Parameter).take(types.len()).collect();
        let mut specialiser = Specialiser::new(Options {
            rewrite: false,
            ..Options::default()
        });
        let form = specialiser
            .specialise_function(&function, &arguments, &types)
            .ok()?;
        Some(Self(form))
    }

    /// What an operation replaces; `None` only if its text is wrong.
    pub(super) fn of(fused: Fused) -> Option<&'static Self> {
        static ALL: [OnceLock<Option<Pattern>>; Fused::ALL.len()] =
            [const { OnceLock::new() }; Fused::ALL.len()];
        ALL[fused as usize]
            .get_or_init(|| Self::new(fused))
            .as_ref()
    }

    /// The calls that compute a value, if they are those of the pattern.
    pub(super) fn find<'f>(&self, value: &Operand, maker: Maker<'_, 'f>) -> Option<Match<'f>> {
        let Self(Form { body, ids, .. }) = self;
        let mut found = Match {
            values: vec![None; *ids as usize],
            calls: Vec::new(),
        };
        found
            .is((body, &body.result), value, maker)
            .then_some(found)
    }
}

/// The instruction of a region, or of one inside, that has this id.
fn call_of(region: &Region, id: Id) -> Option<&Instruction> {
    region.instructions.iter().find_map(|one| {
        let inside = || one.regions.iter().find_map(|region| call_of(region, id));
        if one.id == id { Some(one) } else { inside() }
    })
}

/// Whether the region has the calls that an operation replaces, which may be fused themselves, and no others.
pub(super) fn is_of(fused: Fused, region: &Region) -> bool {
    let mut calls = Calls::default();
    calls.enter(region);
    let maker = |value: &Operand| calls.maker(value);
    let found = Pattern::of(fused).and_then(|pattern| pattern.find(&region.result, &maker));
    let parameters = region.parameters.iter().map(|(id, _)| Operand::Id(*id));
    found.is_some_and(|found| {
        found.calls.len() == calls.made.len()
            && found
                .arguments(fused)
                .is_some_and(|all| all.into_iter().eq(parameters))
    })
}

/// An instruction with this operation, whose arguments have these types; its calls are on these lines, and if there are
/// fewer the others on the last one.
pub(super) fn instruction(
    fused: Fused,
    arguments: Vec<(Operand, Type)>,
    lines: &[u32],
    ids: &mut u32,
) -> Option<Instruction> {
    let Pattern(form) = Pattern::of(fused)?;
    let mut region = form.body.clone();
    let ty = region.instructions.last()?.ty.clone();
    let (arguments, types): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
    for (parameter, ty) in region.parameters.iter_mut().zip(types) {
        parameter.1 = ty;
    }
    let last = *lines.last()?;
    at_lines(
        &mut region,
        &mut lines.iter().copied().chain(std::iter::repeat(last)),
    );
    *ids = dead::rename(&mut region, &mut vec![0; form.ids as usize], *ids) + 1;
    Some(Instruction {
        id: Id(*ids - 1),
        ty,
        checked: false,
        op: Op::Fused(fused),
        arguments,
        regions: vec![region],
        line: last,
    })
}

/// Puts the instructions of a region on these lines, and counts none of its calls: the reference may make others.
fn at_lines(region: &mut Region, lines: &mut impl Iterator<Item = u32>) {
    region.calls = 0;
    for one in &mut region.instructions {
        one.regions
            .iter_mut()
            .for_each(|region| at_lines(region, lines));
        one.line = lines.next().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_calls_of_its_own() {
        for fused in Fused::ALL {
            let parameters = fused.parameters().iter().zip(0..);
            let arguments = parameters.map(|((_, ty), id)| (Operand::Id(Id(id)), ty.clone()));
            let made = instruction(*fused, arguments.collect(), &[1], &mut 10).unwrap();
            for other in Fused::ALL {
                let is_of = is_of(*other, &made.regions[0]);
                assert_eq!(is_of, other == fused, "{fused:?} {other:?}");
            }
        }
    }
}
