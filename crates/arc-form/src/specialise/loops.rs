//! Loops: `apply`, `sfilter`, `argmax` and similar primitives with the function's body inlined, and `power`.

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

use super::super::{Id, Op, Operand, Region, Type};
use super::symbols::{Each, Node, Symbol, Tag};
use super::{Arguments, Reason, RegionEnd, Specialised, Specialiser};
use arc_dsl::{Container, MOST_ROUNDS, Primitive, Type as Signature, Value};
use arc_isa::rules;

/// The longest tuple whose loop is unrolled.
const UNROLLED: usize = 4;

/// The most rounds of `power` that are unrolled.
const UNROLLED_ROUNDS: i32 = 3;

/// The most rounds of `power` that are peeled off because a round changes the type.
const PEELED: i32 = 3;

/// Builds the instructions of a loop's body from its parameters.
type BodyBuilder<'a> = &'a mut dyn FnMut(&mut Specialiser, &[Symbol]) -> Specialised;

/// Placeholder values, and what an element stands for with it in their place.
type Template = (Arc<[Id]>, Symbol);

/// A container that a loop iterates over at run time.
struct Source {
    container: Operand,
    element: Type,
    /// What an element stands for, if not for itself.
    template: Option<Template>,
    /// Whether the order of the elements is that of what they stand for.
    ordered: bool,
}

impl Specialiser {
    /// A call of a primitive that applies functions to the elements of containers.
    pub(super) fn loop_over(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        use Primitive as P;
        for (at, (_, signature)) in primitive.parameters().iter().enumerate() {
            let argument = arguments[at];
            match signature {
                Signature::Callable if self.is_callable(argument) => {}
                Signature::Any => {}
                _ => {
                    let ty = self.type_of(argument);
                    if *signature == Signature::Callable
                        || self.is_callable(argument)
                        || ty
                            .as_ref()
                            .is_some_and(|ty| **ty != Type::Never && ty.container().is_none())
                    {
                        let chosen = self.choose_argument(primitive, arguments, at);
                        return chosen.unwrap_or_else(|| self.wrong_type(primitive, at, argument));
                    }
                    if matches!(self.symbols.object(argument), Some(Node::OneOf { .. }))
                        && self.is_split(argument)
                        && let Some(chosen) = self.choose_argument(primitive, arguments, at)
                    {
                        return chosen;
                    }
                }
            }
        }
        match (primitive, arguments) {
            (P::Rapply, &[functions, value]) => {
                let mut body = |specialiser: &mut Specialiser, items: &[Symbol]| {
                    specialiser.call(items[0], &[value])
                };
                self.map(P::Apply, functions, usize::MAX, &mut body)
            }
            (P::Apply | P::Mapply, &[function, container]) => {
                let mut body = |specialiser: &mut Specialiser, items: &[Symbol]| {
                    specialiser.call(function, items)
                };
                self.map(primitive, container, UNROLLED, &mut body)
            }
            (P::Papply | P::Mpapply, &[function, a, b]) => self.map_two(primitive, function, a, b),
            (P::Prapply, &[function, a, b]) => self.run(primitive, function, &[a, b]),
            (_, &[container, function]) => self.run(primitive, function, &[container]),
            _ => Err(Reason::Work.into()),
        }
    }

    /// `apply`, `mapply` and, with the elements as functions, `rapply`.
    fn map(
        &mut self,
        primitive: Primitive,
        container: Symbol,
        unrolled: usize,
        body: BodyBuilder<'_>,
    ) -> Specialised {
        let mut of_each = |specialiser: &mut Self, items: &[Symbol]| {
            let results = items.iter().map(|item| body(specialiser, &[*item]));
            results.collect::<Specialised<Vec<_>>>()
        };
        let results = match self.symbols.node(container) {
            Node::Single(item) => {
                let result = of_each(self, &[item])?[0];
                self.symbols.add(Node::Single(result))
            }
            Node::Set(items) => {
                let results = of_each(self, &items)?;
                self.set_of_results(results)?
            }
            _ => match self.items(container, unrolled)? {
                Some(items) => {
                    let results = of_each(self, &items)?;
                    self.symbols.add(Node::Tuple(results.into()))
                }
                None => return self.run_body(primitive, &[container], body),
            },
        };
        self.merge_if(primitive == Primitive::Mapply, results)
    }

    fn map_two(
        &mut self,
        primitive: Primitive,
        function: Symbol,
        a: Symbol,
        b: Symbol,
    ) -> Specialised {
        if let Some(first) = self.items(a, UNROLLED)?
            && let Some(second) = self.items(b, UNROLLED)?
        {
            let mut results = Vec::new();
            for (a, b) in first.into_iter().zip(second) {
                results.push(self.call(function, &[a, b])?);
            }
            let results = self.symbols.add(Node::Tuple(results.into()));
            return self.merge_if(primitive == Primitive::Mpapply, results);
        }
        self.run(primitive, function, &[a, b])
    }

    /// The set of a function's results for each element of a set.
    fn set_of_results(&mut self, results: Vec<Symbol>) -> Specialised {
        let all = Node::Set(results.clone().into());
        let all = self.symbols.add(all);
        if self.type_of(all).is_some() {
            let set = self.materialise(all)?;
            return Ok(self.symbol(set));
        }
        self.symbols.set(results, None).ok_or_else(|| {
            let what = "a set of functions, or of unlike values, whose order only the run tells";
            Reason::Function(what.to_owned()).into()
        })
    }

    fn merge_if(&mut self, merge: bool, results: Symbol) -> Specialised {
        if !merge {
            return Ok(results);
        }
        let merge = Symbol::Primitive(Primitive::Merge);
        self.call(merge, &[results])
    }

    /// The elements of a tuple whose loop is unrolled, because it is short or its elements cannot be in a tuple
    /// at run time.
    fn items(&mut self, container: Symbol, most: usize) -> Specialised<Option<Vec<Symbol>>> {
        if let Some(Node::OneOf { .. }) = self.symbols.object(container) {
            let value = self.materialise(container)?;
            let value = self.symbol(value);
            return self.items(value, most);
        }
        let ty = self.type_of(container);
        let loose = ty.as_ref().is_none_or(|ty| rules::element(ty).is_err());
        match self.symbols.node(container) {
            Node::Tuple(items) => Ok((items.len() <= most || loose).then(|| items.to_vec())),
            Node::Value(id) => {
                let Some(items) = ty.as_deref().and_then(Type::items) else {
                    return Ok(None);
                };
                let len = items.len();
                if len > most && !loose {
                    return Ok(None);
                }
                let mut symbols = Vec::new();
                for at in 0..len {
                    let op = match (len, at) {
                        (2, 0) => Op::Call(Primitive::First),
                        (2, _) => Op::Call(Primitive::Last),
                        _ => Op::Item(u8::try_from(at).map_err(|_| Reason::Size)?),
                    };
                    let item = self.emit(op, vec![Operand::Id(id)], Vec::new())?;
                    symbols.push(Symbol::Value(item));
                }
                Ok(Some(symbols))
            }
            Node::Constant(_) => self.constant_items(container, |elements| {
                let is_tuple = elements.kind == arc_dsl::ContainerKind::Tuple;
                is_tuple && (elements.len() <= most.min(UNROLLED) || loose)
            }),
            _ => Ok(None),
        }
    }

    /// The elements of a constant, if it is a container that `takes` accepts.
    pub(super) fn constant_items(
        &mut self,
        constant: Symbol,
        takes: impl FnOnce(&Container<'_>) -> bool,
    ) -> Specialised<Option<Vec<Symbol>>> {
        let elements = self.symbols.value(constant).and_then(Value::as_container);
        let Some(elements) = elements.filter(takes) else {
            return Ok(None);
        };
        let values: Vec<_> = elements.iter().map(Cow::into_owned).collect();
        let items = values.iter().map(|value| self.constant(value));
        items.collect::<Specialised<_>>().map(Some)
    }

    /// The symbol that an element of a container stands for.
    pub(super) fn stand_for(
        &mut self,
        item: Symbol,
        holes: &[Id],
        template: Symbol,
    ) -> Specialised {
        let mut with = HashMap::default();
        if let [hole] = holes {
            with.insert(*hole, item);
        } else {
            let item = self.materialise(item)?;
            for (at, hole) in holes.iter().enumerate() {
                let part = self.emit(Op::Item(at as u8), vec![item.clone()], Vec::new())?;
                with.insert(*hole, Symbol::Value(part));
            }
        }
        Ok(self.symbols.replace(template, &with))
    }

    /// The container to iterate over at run time. If a tuple's elements cannot be in a tuple at run time, the
    /// loop iterates over their indices.
    fn source(&mut self, symbol: Symbol) -> Specialised<Source> {
        if let Some(Node::Each(each)) = self.symbols.object(symbol).cloned() {
            return Ok(Source {
                template: Some((each.holes, each.template)),
                ordered: each.ordered,
                ..self.source(each.container)?
            });
        }
        let element = self.type_of(symbol).as_deref().map(rules::element);
        if let (Some(Node::Tuple(items) | Node::Set(items)), None | Some(Err(_))) =
            (self.symbols.object(symbol), &element)
        {
            let items = Arc::clone(items);
            let numbers: Vec<_> = (0..items.len()).map(|at| Value::Int(at as i32)).collect();
            let numbers = match self.symbols.object(symbol) {
                Some(Node::Set(_)) => Value::set(numbers),
                _ => Value::tuple(numbers),
            };
            let hole = self.code.fresh(Type::Int);
            let template = self.symbols.add(Node::OneOf {
                tag: Tag::Number(hole),
                options: items,
            });
            return Ok(Source {
                container: Operand::Constant(numbers),
                element: Type::Int,
                template: Some(([hole].into(), template)),
                ordered: true,
            });
        }
        let container = self.materialise(symbol)?;
        let element = match element {
            Some(Ok(element)) => element.unwrap_or(Type::Never),
            Some(Err(rules::Unlike(a, b))) => {
                return Err(Reason::Types(format!("a loop over both {a} and {b}")).into());
            }
            None => Type::Never,
        };
        Ok(Source {
            container,
            element,
            template: None,
            ordered: true,
        })
    }

    /// The product of two sets whose elements stand for other values.
    pub(super) fn product_at_run_time(&mut self, a: Symbol, b: Symbol) -> Specialised {
        let (mut containers, mut holes, mut items) = (Vec::new(), Vec::new(), Vec::new());
        for side in [a, b] {
            let source = self.source(side)?;
            containers.push(source.container);
            match source.template {
                None => {
                    let hole = self.code.fresh(source.element);
                    holes.push(hole);
                    items.push(Symbol::Value(hole));
                }
                Some((inside, template)) => {
                    let [hole] = *inside else {
                        let what = "`product` of functions that have captured several values";
                        return Err(Reason::Function(what.to_owned()).into());
                    };
                    holes.push(hole);
                    items.push(template);
                }
            }
        }
        let pairs = self.emit(Op::Call(Primitive::Product), containers, Vec::new())?;
        let container = Symbol::Value(pairs);
        let template = self.symbols.add(Node::Tuple(items.into()));
        Ok(self.symbols.add(Node::Each(Each {
            container,
            holes: holes.into(),
            template,
            // The hashes of the pairs decide, and those of functions are not known.
            ordered: false,
        })))
    }

    fn run(
        &mut self,
        primitive: Primitive,
        function: Symbol,
        containers: &[Symbol],
    ) -> Specialised {
        let mut body =
            |specialiser: &mut Specialiser, items: &[Symbol]| specialiser.call(function, items);
        self.run_body(primitive, containers, &mut body)
    }

    /// A loop at run time.
    fn run_body(
        &mut self,
        primitive: Primitive,
        containers: &[Symbol],
        body: BodyBuilder<'_>,
    ) -> Specialised {
        use Primitive as P;
        let mut sources: SmallVec<[Source; 2]> = SmallVec::new();
        for container in containers {
            sources.push(self.source(*container)?);
        }
        if primitive == P::Mfilter && sources[0].template.is_some() {
            let what = "`mfilter` merges a tuple or set of unlike values";
            return Err(Reason::Types(what.to_owned()).into());
        }
        if !sources.iter().all(|source| source.ordered) {
            let what = "the order of a set of functions, or of unlike values, is asked for";
            return Err(Reason::Function(what.to_owned()).into());
        }
        let elements = sources.iter().map(|source| source.element.clone());
        let elements: SmallVec<[Type; 2]> = elements.collect();
        let start = self.code.ids();
        let ids = self.open(&elements);
        let result = self.body_result(primitive, &sources, &ids, start, body);
        let (result, template) = match result {
            Ok(made) => made,
            Err(RegionEnd::Fails(never)) => (Operand::Id(never), None),
            Err(stop) => return Err(stop),
        };
        let mut regions = vec![self.close(result)];
        if matches!(primitive, P::Valmax | P::Valmin) {
            regions.push(self.key_of_nothing(body)?);
        }
        let operands = sources.iter().map(|source| source.container.clone());
        let result = self.emit(Op::Call(primitive), operands.collect(), regions)?;
        let container = self.unless_never(result)?;
        let each = |(holes, template), ordered| {
            Node::Each(Each {
                container,
                holes,
                template,
                ordered,
            })
        };
        if let Some(made) = template {
            let ordered = self.kind_of_container(container) == Some(arc_dsl::ContainerKind::Tuple);
            return Ok(self.symbols.add(each(made, ordered)));
        }
        let Some(given) = sources.swap_remove(0).template else {
            return Ok(container);
        };
        match primitive {
            P::Sfilter | P::Order => Ok(self.symbols.add(each(given, true))),
            P::Extract | P::Argmax | P::Argmin => self.stand_for(container, &given.0, given.1),
            _ => Ok(container),
        }
    }

    /// The result of a loop's body; if that cannot be one value, the values to keep and the template with their
    /// holes.
    fn body_result(
        &mut self,
        primitive: Primitive,
        sources: &[Source],
        ids: &[Id],
        start: u32,
        body: BodyBuilder<'_>,
    ) -> Specialised<(Operand, Option<Template>)> {
        use Primitive as P;
        let mut items = Arguments::new();
        for (id, source) in ids.iter().zip(sources) {
            let item = Symbol::Value(*id);
            items.push(match &source.template {
                Some((holes, template)) => self.stand_for(item, holes, *template)?,
                None => item,
            });
        }
        let result = body(self, &items)?;
        let truth = matches!(primitive, P::Sfilter | P::Mfilter | P::Extract);
        if truth && self.is_callable(result) {
            return Ok((Operand::Constant(Value::Bool(true)), None));
        }
        if self.type_of(result).is_some() || !matches!(primitive, P::Apply | P::Papply | P::Prapply)
        {
            return Ok((self.materialise(result)?, None));
        }
        // A container of functions: keeps what each has captured.
        let mut leaves = Vec::new();
        self.symbols.leaves(result, &mut leaves);
        leaves.retain(|id| id.0 >= start);
        if leaves.is_empty() {
            leaves.push(ids[0]);
        }
        let mut holes = Vec::new();
        let mut with = HashMap::default();
        for leaf in &leaves {
            let hole = self.code.fresh(self.code.id_type(*leaf).clone());
            holes.push(hole);
            with.insert(*leaf, Symbol::Value(hole));
        }
        let template = self.symbols.replace(result, &with);
        let kept: Vec<_> = leaves.iter().map(|leaf| Operand::Id(*leaf)).collect();
        let result = match <[Operand; 1]>::try_from(kept) {
            Ok([leaf]) => leaf,
            Err(kept) => Operand::Id(self.emit(Op::Tuple, kept, Vec::new())?),
        };
        Ok((result, Some((holes.into(), template))))
    }

    /// The region of `valmax` and `valmin` for an empty container: the key of 0.
    fn key_of_nothing(&mut self, body: BodyBuilder<'_>) -> Specialised<Region> {
        let zero = self.symbols.constant(&Value::Int(0));
        self.open(&[]);
        let key = body(self, &[zero]).and_then(|key| self.materialise(key));
        match key {
            Ok(key) => Ok(self.close(key)),
            Err(RegionEnd::Fails(never)) => Ok(self.close(Operand::Id(never))),
            Err(stop) => Err(stop),
        }
    }

    /// A function applied `n` times, with `n` at least 2.
    pub(super) fn power(&mut self, function: Symbol, n: Symbol, argument: Symbol) -> Specialised {
        let rounds = self.symbols.value(n).and_then(Value::as_int);
        let around = self.waiting;
        self.waiting += rounds.unwrap_or(MOST_ROUNDS) - 1;
        if self.waiting >= MOST_ROUNDS {
            let what = "`power` inside of `power`, for which Python may recurse too deep";
            return Err(Reason::Function(what.to_owned()).into());
        }
        let result = match rounds {
            Some(rounds) => self.power_of(function, rounds, argument),
            None => self.power_at_run_time(function, n, argument),
        };
        self.waiting = around;
        result
    }

    /// The same for a number that is known.
    fn power_of(&mut self, function: Symbol, rounds: i32, argument: Symbol) -> Specialised {
        let mut value = argument;
        if rounds <= UNROLLED_ROUNDS {
            for _ in 0..rounds {
                value = self.call(function, &[value])?;
            }
            return Ok(value);
        }
        for peeled in 1..=PEELED {
            value = self.call(function, &[value])?;
            let rest = Operand::Constant(Value::Int(rounds - peeled));
            if let Some(result) = self.rounds(function, rest, value)? {
                return Ok(result);
            }
        }
        let what = "every round of `power` changes the type of its value";
        Err(Reason::Types(what.to_owned()).into())
    }

    /// The same if the number of rounds is known only at run time; at least one.
    fn power_at_run_time(&mut self, function: Symbol, n: Symbol, argument: Symbol) -> Specialised {
        let count = self.materialise(n)?;
        if let Some(result) = self.rounds(function, count, argument)? {
            return Ok(result);
        }
        let value = self.call(function, &[argument])?;
        let decrement = Symbol::Primitive(Primitive::Decrement);
        let rest = self.call(decrement, &[n])?;
        let rest = self.materialise(rest)?;
        if let Some(result) = self.rounds(function, rest, value)? {
            return Ok(result);
        }
        let what = "every round of `power` changes the type of its value";
        Err(Reason::Types(what.to_owned()).into())
    }

    /// The rounds of `power` as a loop, if the value that they carry has one type.
    fn rounds(
        &mut self,
        function: Symbol,
        n: Operand,
        value: Symbol,
    ) -> Specialised<Option<Symbol>> {
        let Some(mut ty) = self.type_of(value).map(Cow::into_owned) else {
            return Ok(None);
        };
        let value = self.materialise(value)?;
        // A join moves up a lattice of small height.
        for _ in 0..4 {
            let ids = self.open(std::slice::from_ref(&ty));
            let carried = Symbol::Value(ids[0]);
            let made = match self.call(function, &[carried]) {
                Ok(symbol) => {
                    let made = self.type_of(symbol);
                    made.map(|made| (made.into_owned(), Ok(symbol)))
                }
                Err(RegionEnd::Fails(never)) => Some((Type::Never, Err(Operand::Id(never)))),
                Err(stop) => return Err(stop),
            };
            let joined = made.and_then(|(made, symbol)| Some((ty.join(&made)?, symbol)));
            match joined {
                Some((joined, symbol)) if joined == ty => {
                    let result = match symbol {
                        Ok(symbol) => self.materialise(symbol)?,
                        Err(operand) => operand,
                    };
                    let region = self.close(result);
                    let result = self.emit(Op::Iterate, vec![n, value], vec![region])?;
                    return Ok(Some(Symbol::Value(result)));
                }
                joined => {
                    // The body was emitted for the wrong type: build it again, or give up.
                    self.close(Operand::Constant(Value::Bool(true)));
                    match joined {
                        Some((joined, _)) => ty = joined,
                        None => return Ok(None),
                    }
                }
            }
        }
        Ok(None)
    }
}
