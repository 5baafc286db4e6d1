//! Choices that depend on the input: `branch`, and operations on its result.

use rustc_hash::FxHashMap as HashMap;
use std::borrow::Cow;
use std::sync::Arc;

use super::super::{Id, Op, Operand, Region, Type};
use super::symbols::{Node, Symbol, Tag};
use super::{Reason, RegionEnd, Specialised, Specialiser};
use arc_dsl::{Primitive, Value};

/// One arm of a choice.
struct Arm {
    region: Region,
    /// Its result; `None` if it fails.
    symbol: Option<Symbol>,
    /// The ids of its instructions.
    ids: std::ops::Range<u32>,
}

/// The operation on each option.
pub(super) type Each<'a> = &'a mut dyn FnMut(&mut Specialiser, Symbol) -> Specialised;

impl Specialiser {
    /// Applies the operation to each option, in an arm of its own.
    pub(super) fn choose(&mut self, tag: Tag, options: &[Symbol], each: Each<'_>) -> Specialised {
        let mut arms = Vec::new();
        for option in options {
            arms.push(self.arm(*option, each)?);
        }
        self.join(tag, arms)
    }

    fn arm(&mut self, option: Symbol, each: Each<'_>) -> Specialised<Arm> {
        let start = self.code.ids();
        self.open(&[]);
        let (symbol, result) = match each(self, option) {
            Ok(symbol) => (Some(symbol), Operand::Constant(Value::Bool(true))),
            Err(RegionEnd::Fails(never)) => (None, Operand::Id(never)),
            Err(stop) => return Err(stop),
        };
        let ids = start..self.code.ids();
        let region = self.close(result);
        Ok(Arm {
            region,
            symbol,
            ids,
        })
    }

    /// Joins the results of the arms: as one value if their types allow that, otherwise as a choice.
    fn join(&mut self, tag: Tag, mut arms: Vec<Arm>) -> Specialised {
        let live: Vec<_> = arms.iter().filter_map(|arm| arm.symbol).collect();
        let Some(first) = live.first().copied() else {
            let never = self.emit_choice(tag, arms)?;
            return Err(RegionEnd::Fails(never));
        };
        let exports: Vec<Vec<Id>> = arms.iter().map(|arm| self.needed_values(arm)).collect();
        if live.iter().all(|symbol| *symbol == first) && exports.iter().all(Vec::is_empty) {
            self.effects(tag, arms)?;
            return Ok(first);
        }
        let types: Option<Vec<_>> = live.iter().map(|symbol| self.type_of(*symbol)).collect();
        if types.is_some_and(|types| one_type(&types)) {
            for arm in &mut arms {
                if let Some(symbol) = arm.symbol {
                    self.reopen_arm(arm, |specialiser| specialiser.materialise(symbol))?;
                }
            }
            return self.emit_choice(tag, arms).map(Symbol::Value);
        }
        let count: usize = exports.iter().map(Vec::len).sum();
        let mut replaced = HashMap::default();
        let symbols: Vec<_> = arms.iter().map(|arm| arm.symbol).collect();
        if count == 0 {
            self.effects(tag, arms)?;
        } else {
            let chosen = self.export(tag, arms, &exports, count)?;
            for (at, id) in exports.iter().flatten().enumerate() {
                let value = match count {
                    1 => chosen,
                    _ => self.emit(Op::Item(at as u8), vec![Operand::Id(chosen)], Vec::new())?,
                };
                replaced.insert(*id, Symbol::Value(value));
            }
        }
        // The result of an arm that fails is never used: any symbol will do.
        let options: Arc<[_]> = symbols
            .into_iter()
            .map(|symbol| self.symbols.replace(symbol.unwrap_or(first), &replaced))
            .collect();
        Ok(self.symbols.add(Node::OneOf { tag, options }))
    }

    /// Makes every arm return all values that any arm exports; those of other arms are absent.
    fn export(
        &mut self,
        tag: Tag,
        mut arms: Vec<Arm>,
        exports: &[Vec<Id>],
        count: usize,
    ) -> Specialised<Id> {
        if count > usize::from(u8::MAX) {
            return Err(Reason::Size.into());
        }
        for (at, arm) in arms.iter_mut().enumerate() {
            if arm.symbol.is_none() {
                continue;
            }
            self.reopen_arm(arm, |specialiser| {
                let mut items = Vec::new();
                for (owner, ids) in exports.iter().enumerate() {
                    for id in ids {
                        items.push(if owner == at {
                            Operand::Id(*id)
                        } else {
                            Operand::Id(specialiser.emit(Op::Absent, Vec::new(), Vec::new())?)
                        });
                    }
                }
                match count {
                    1 => items.pop().ok_or(Reason::Size.into()),
                    _ => specialiser
                        .emit(Op::Tuple, items, Vec::new())
                        .map(Operand::Id),
                }
            })?;
        }
        self.emit_choice(tag, arms)
    }

    /// Reopens an arm to add to it.
    fn reopen_arm(
        &mut self,
        arm: &mut Arm,
        result: impl FnOnce(&mut Self) -> Specialised<Operand>,
    ) -> Specialised<()> {
        let region = std::mem::replace(
            &mut arm.region,
            Region {
                parameters: Vec::new(),
                instructions: Vec::new(),
                result: Operand::Constant(Value::Bool(true)),
                calls: 0,
            },
        );
        self.scopes.push(self.applied.len());
        self.code.reopen(region);
        let result = result(self)?;
        arm.region = self.close(result);
        Ok(())
    }

    /// The values of the arm's instructions that its symbol needs.
    fn needed_values(&self, arm: &Arm) -> Vec<Id> {
        let mut leaves = Vec::new();
        if let Some(symbol) = arm.symbol {
            self.symbols.leaves(symbol, &mut leaves);
        }
        leaves.retain(|id| arm.ids.contains(&id.0));
        leaves
    }

    /// Keeps the instructions of the arms if there are any: they may fail.
    fn effects(&mut self, tag: Tag, arms: Vec<Arm>) -> Specialised<()> {
        if arms.iter().any(|arm| !arm.region.is_empty()) {
            self.emit_choice(tag, arms)?;
        }
        Ok(())
    }

    fn emit_choice(&mut self, tag: Tag, arms: Vec<Arm>) -> Specialised<Id> {
        let op = match tag {
            Tag::Truth(_) => Op::If,
            Tag::Number(_) => Op::Choose,
        };
        let regions = arms.into_iter().map(|arm| arm.region).collect();
        self.emit(op, vec![Operand::Id(tag.id())], regions)
    }

    /// The value of a choice whose options are all of one type.
    pub(super) fn materialise_choice(
        &mut self,
        tag: Tag,
        options: &[Symbol],
    ) -> Specialised<Operand> {
        let plain = |symbol: &Symbol| {
            matches!(
                self.symbols.node(*symbol),
                Node::Value(_) | Node::Constant(_)
            )
        };
        if let (Tag::Truth(id), [a, b]) = (tag, options)
            && plain(a)
            && plain(b)
        {
            let (a, b) = (self.materialise(*a)?, self.materialise(*b)?);
            let arguments = vec![Operand::Id(id), a, b];
            return self
                .emit(Op::Call(Primitive::Branch), arguments, Vec::new())
                .map(Operand::Id);
        }
        let mut arms = Vec::new();
        for option in options {
            let mut arm = self.arm(*option, &mut |_, option| Ok(option))?;
            self.reopen_arm(&mut arm, |specialiser| specialiser.materialise(*option))?;
            arms.push(arm);
        }
        self.emit_choice(tag, arms).map(Operand::Id)
    }

    /// `branch`.
    pub(super) fn branch(&mut self, condition: Symbol, a: Symbol, b: Symbol) -> Specialised {
        if a == b {
            return Ok(a);
        }
        let condition = match self.symbols.node(condition) {
            Node::Primitive(_) | Node::Function(_) => return Ok(a),
            _ => self.materialise(condition)?,
        };
        let id = match condition {
            Operand::Constant(value) => return Ok(if value.is_truthy() { a } else { b }),
            Operand::Id(id) => id,
        };
        if let (Some(x), Some(y)) = (self.type_of(a), self.type_of(b))
            && one_type(&[x, y])
        {
            let (a, b) = (self.materialise(a)?, self.materialise(b)?);
            let arguments = vec![Operand::Id(id), a, b];
            let chosen = self.emit(Op::Call(Primitive::Branch), arguments, Vec::new())?;
            return Ok(Symbol::Value(chosen));
        }
        Ok(self.symbols.add(Node::OneOf {
            tag: Tag::Truth(id),
            options: [a, b].into(),
        }))
    }

    /// Turns a symbol that contains a choice into the choice between the symbols that it may be.
    pub(super) fn split(&mut self, symbol: Symbol) -> Option<(Tag, Vec<Symbol>)> {
        match self.symbols.node(symbol) {
            Node::OneOf { tag, options } => Some((tag, options.to_vec())),
            Node::Single(item) => {
                let (tag, options) = self.split(item)?;
                let single = |option| self.symbols.add(Node::Single(option));
                Some((tag, options.into_iter().map(single).collect()))
            }
            // Not for a set: its order would depend on the option.
            Node::Tuple(items) => items.iter().enumerate().find_map(|(at, item)| {
                let (tag, options) = self.split(*item)?;
                let with = |option| {
                    let mut items = items.to_vec();
                    items[at] = option;
                    self.symbols.add(Node::Tuple(items.into()))
                };
                Some((tag, options.into_iter().map(with).collect()))
            }),
            _ => None,
        }
    }

    /// Whether a choice should be built with arms, since the joined type would lose information.
    pub(super) fn is_split(&self, symbol: Symbol) -> bool {
        match self.symbols.object(symbol) {
            Some(Node::OneOf { options, .. }) => {
                let types: Option<Vec<_>> =
                    options.iter().map(|option| self.type_of(*option)).collect();
                types.is_none_or(|types| !one_type(&types))
            }
            Some(Node::Tuple(_) | Node::Single(_)) => self.type_of(symbol).is_none(),
            _ => false,
        }
    }
}

/// Whether the types have a common type that loses no information.
fn one_type(types: &[Cow<'_, Type>]) -> bool {
    if let [first, others @ ..] = types
        && others.iter().all(|other| other == first)
    {
        return true;
    }
    let joined = types
        .iter()
        .try_fold(Type::Never, |joined, ty| joined.join(ty));
    joined.is_some_and(|joined| types.iter().any(|ty| **ty == joined) || !is_sum(&joined))
}

/// Whether the type contains a patch of unknown kind.
fn is_sum(ty: &Type) -> bool {
    match ty {
        Type::Patch => true,
        Type::Set(element) | Type::Tuple(element) => is_sum(element),
        Type::Fixed(items) => items.iter().any(is_sum),
        _ => false,
    }
}
