//! Calls: inlines functions, evaluates steps that only rearrange compile-time objects, and emits the others.

use super::super::analysis::Called;
use super::super::{Id, Op, Type};
use super::build::Argument;
use super::symbols::{Function, Node, Symbol};
use super::{Arguments, DEPTH, Reason, RegionEnd, Specialised, Specialiser, is_plain};
use arc_isa::rules;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use arc_dsl::{
    ContainerKind, ErrorKind, Identity, Interpreter, Limits, MOST_ROUNDS, Primitive,
    Type as Signature, Value, ValueKind,
};

/// The primitives that [`Specialiser::rearrange`] may apply to values that are not compile-time objects.
static REARRANGED: Called = Called::these(&[
    Primitive::Identity,
    Primitive::Branch,
    Primitive::Both,
    Primitive::Either,
    Primitive::Astuple,
    Primitive::Initset,
    Primitive::Difference,
]);

/// The most nodes of a compile-time object.
const MOST_NODES: u32 = 1_000;

/// The most that a folded constant may weigh.
const MOST_WEIGHT: u32 = 256;

impl Specialiser {
    /// Applies a function.
    pub(super) fn call(&mut self, function: Symbol, arguments: &[Symbol]) -> Specialised {
        self.work()?;
        if let (Symbol::Primitive(_), Some(calls)) = (function, self.code.calls()) {
            *calls += 1;
        }
        match function {
            Symbol::Primitive(primitive)
                if primitive.is_first_order()
                    && arguments.iter().all(|argument| argument.is_one_value()) =>
            {
                self.plain(primitive, arguments)
            }
            _ if self.is_quick(function, arguments) => self.call_within_bounds(function, arguments),
            _ => self.call_once(function, arguments),
        }
    }

    /// A call of a first-order primitive with run-time values. It is not memoised, since equal instructions are
    /// emitted once anyway.
    fn plain(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        if primitive.parameters().len() != arguments.len() {
            return self.wrong_count(Some(primitive), primitive.parameters().len(), arguments);
        }
        if REARRANGED.has(primitive)
            && let Some(symbol) = self.rearrange(primitive, arguments)?
        {
            return Ok(symbol);
        }
        self.instruction(primitive, arguments)
    }

    /// Whether specialising the call again takes no longer than a lookup: the function only passes on its
    /// arguments, or builds a function from them.
    fn is_quick(&self, function: Symbol, arguments: &[Symbol]) -> bool {
        match function {
            Symbol::Primitive(primitive) => {
                primitive.returns() == Signature::Callable
                    && arguments.iter().all(|argument| {
                        let object = self.symbols.object(*argument);
                        object.is_none_or(|object| matches!(object, Node::Function(_)))
                    })
            }
            _ => matches!(
                self.symbols.object(function),
                Some(Node::Function(Function {
                    made_by: Primitive::Lbind | Primitive::Rbind | Primitive::Matcher,
                    ..
                }))
            ),
        }
    }

    /// Specialises a call, or returns the memoised result for the same arguments.
    fn call_once(&mut self, function: Symbol, arguments: &[Symbol]) -> Specialised {
        let key = self.key(function, arguments);
        let result = match self.applied.find_key(&self.keys[key.clone()]) {
            Ok(known) => {
                self.symbols.mark_repeated(known);
                Ok(known)
            }
            Err(place) => {
                let result = self.call_within_bounds(function, arguments);
                if let Ok(made) = result
                    && self.options.share
                {
                    self.applied.enter_key(place, &self.keys[key.clone()], made);
                }
                result
            }
        };
        self.keys.truncate(key.start);
        result
    }

    /// Appends the key of a call behind the keys of the calls around it.
    fn key(&mut self, function: Symbol, arguments: &[Symbol]) -> Range<usize> {
        let start = self.keys.len();
        self.keys.push(function.word());
        for argument in arguments {
            self.keys.push(argument.word());
        }
        start..self.keys.len()
    }

    fn call_within_bounds(&mut self, function: Symbol, arguments: &[Symbol]) -> Specialised {
        if self.depth >= DEPTH {
            return Err(Reason::Work.into());
        }
        self.depth += 1;
        let result = self.call_anew(function, arguments);
        self.depth -= 1;
        let result = result?;
        if self.symbols.weight(result) > MOST_NODES {
            return Err(Reason::Size.into());
        }
        Ok(result)
    }

    fn call_anew(&mut self, function: Symbol, arguments: &[Symbol]) -> Specialised {
        if let Symbol::Primitive(primitive) = function {
            return match primitive.parameters().len() {
                expected if expected != arguments.len() => {
                    self.wrong_count(Some(primitive), expected, arguments)
                }
                _ => self.primitive(primitive, arguments),
            };
        }
        match self.symbols.object(function) {
            Some(Node::Function(made)) => match (*made, usize::from(made.parameters)) {
                // Applied once, it is the function itself, with any number of parameters.
                (made, expected) if expected != arguments.len() && self.has_unknown_count(made) => {
                    let what = "`power` is called with other than one argument, and only a run tells how often";
                    Err(Reason::Function(what.to_owned()).into())
                }
                (_, expected) if expected != arguments.len() => {
                    self.wrong_count(None, expected, arguments)
                }
                (made, _) => self.function(made, arguments),
            },
            Some(Node::OneOf { tag, options }) => {
                let (tag, options) = (*tag, Arc::clone(options));
                self.choose(tag, &options, &mut |specialiser, option| {
                    specialiser.call(option, arguments)
                })
            }
            _ => {
                let found = self.kind_of(function);
                self.fail(None, ErrorKind::NotCallable { found })
            }
        }
    }

    #[cold]
    fn wrong_count(
        &mut self,
        primitive: Option<Primitive>,
        expected: usize,
        arguments: &[Symbol],
    ) -> Specialised {
        let failure = ErrorKind::ArgumentCount {
            expected: expected as u8,
            found: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
        };
        self.fail(primitive, failure)
    }

    fn function(&mut self, function: Function, arguments: &[Symbol]) -> Specialised {
        let Function { made_by, parts, .. } = function;
        match (made_by, parts) {
            (Primitive::Compose, [outer, inner, _]) => {
                let x = self.call(inner, arguments)?;
                self.call(outer, &[x])
            }
            (Primitive::Chain, [h, g, f]) => {
                let x = self.call(f, arguments)?;
                let x = self.call(g, &[x])?;
                self.call(h, &[x])
            }
            (Primitive::Fork, [outer, a, b]) => {
                let a = self.call(a, arguments)?;
                let b = self.call(b, arguments)?;
                self.call(outer, &[a, b])
            }
            (Primitive::Matcher, [function, target, _]) => {
                let x = self.call(function, arguments)?;
                self.primitive(Primitive::Equality, &[x, target])
            }
            (Primitive::Lbind | Primitive::Rbind, [function, fixed, _]) => {
                let mut all = Arguments::from_slice(arguments);
                let is_last = made_by == Primitive::Rbind;
                all.insert(if is_last { all.len() } else { 0 }, fixed);
                self.call(function, &all)
            }
            (_, [function, n, _]) => self.power(function, n, arguments[0]),
        }
    }

    /// The kind of the value, as error messages name it.
    pub(super) fn kind_of(&self, symbol: Symbol) -> ValueKind {
        match self.symbols.node(symbol) {
            Node::Primitive(_) | Node::Function(_) => ValueKind::Function,
            Node::Constant(_) => self
                .symbols
                .value(symbol)
                .map_or(ValueKind::Nothing, Value::kind),
            Node::OneOf { options, .. } => self.kind_of(options[0]),
            _ => self
                .type_of(symbol)
                .map_or(ValueKind::Container, |ty| kind_of(&ty)),
        }
    }

    pub(super) fn is_callable(&self, symbol: Symbol) -> bool {
        match (symbol, self.symbols.object(symbol)) {
            (Symbol::Primitive(_), _) | (_, Some(Node::Function(_))) => true,
            (_, Some(Node::OneOf { options, .. })) => {
                options.iter().all(|option| self.is_callable(*option))
            }
            _ => false,
        }
    }

    pub(super) fn primitive(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        if primitive.returns() == Signature::Callable {
            return self.make_function(primitive, arguments);
        }
        if !primitive.is_first_order() {
            // A loop that is unrolled may be of a set with equal elements, and its results may be merged.
            let before = self.code.calls().map(|calls| *calls);
            let result = self.loop_over(primitive, arguments);
            if let (Some(calls), Some(before)) = (self.code.calls(), before) {
                *calls = before;
            }
            return result;
        }
        if arguments.iter().all(|argument| argument.is_one_value()) {
            return self.plain(primitive, arguments);
        }
        if let Some(symbol) = self.rearrange(primitive, arguments)? {
            return Ok(symbol);
        }
        self.first_order(primitive, arguments)
    }

    /// `compose`, `lbind` and similar primitives.
    fn make_function(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        for (at, (_, signature)) in primitive.parameters().iter().enumerate() {
            if *signature == Signature::Callable && !self.is_callable(arguments[at]) {
                let chosen = self.choose_argument(primitive, arguments, at);
                return chosen.unwrap_or_else(|| self.wrong_type(primitive, at, arguments[at]));
            }
        }
        let mut made = match *arguments {
            [function, count] if primitive == Primitive::Power => {
                return self.make_power(primitive, function, count);
            }
            [first, second] => Function::new(primitive, [first, second]),
            [first, second, third] => Function {
                parts: [first, second, third],
                ..Function::new(primitive, [first, second])
            },
            _ => return Err(Reason::Work.into()),
        };
        if matches!(primitive, Primitive::Lbind | Primitive::Rbind) {
            made.parameters = match self.parameters(arguments[0]) {
                Some(2) => 1,
                Some(3) => 2,
                Some(_) => 3,
                None => {
                    let chosen = self.choose_argument(primitive, arguments, 0);
                    return chosen.unwrap_or(Err(Reason::Work.into()));
                }
            };
        }
        Ok(self.symbols.add_function(made))
    }

    fn make_power(&mut self, primitive: Primitive, function: Symbol, count: Symbol) -> Specialised {
        let arguments = [function, count];
        if let Some(chosen) = self.choose_argument(primitive, &arguments, 1) {
            return chosen;
        }
        let n = match self.symbols.value(count) {
            Some(value) => value.as_int(),
            None if matches!(
                self.type_of(count).as_deref(),
                Some(Type::Int | Type::Bool | Type::MaybeInt)
            ) =>
            {
                let n = self.materialise(count)?;
                let n = self.emit(Op::Count, vec![n], Vec::new())?;
                let made = Function::new(primitive, [function, Symbol::Value(n)]);
                return Ok(self.symbols.add_function(made));
            }
            None => None,
        };
        match n {
            None => self.wrong_type(primitive, 1, count),
            Some(1) => Ok(function),
            Some(n @ 2..=MOST_ROUNDS) => {
                let n = self.symbols.constant(&Value::Int(n));
                let made = Function::new(primitive, [function, n]);
                Ok(self.symbols.add_function(made))
            }
            Some(n) => self.fail(Some(primitive), ErrorKind::Recursion(n)),
        }
    }

    /// Whether only a run tells how often a function is applied.
    fn has_unknown_count(&self, made: Function) -> bool {
        made.made_by == Primitive::Power && self.symbols.value(made.parts[1]).is_none()
    }

    /// The number of parameters of a function; `None` if that depends on the input.
    fn parameters(&self, function: Symbol) -> Option<u8> {
        if let Symbol::Primitive(primitive) = function {
            return Some(primitive.parameters().len() as u8);
        }
        match self.symbols.object(function) {
            Some(Node::Function(made)) => {
                (!self.has_unknown_count(*made)).then_some(made.parameters)
            }
            Some(Node::OneOf { options, .. }) => {
                let first = self.parameters(options[0])?;
                let same = options
                    .iter()
                    .all(|option| self.parameters(*option) == Some(first));
                same.then_some(first)
            }
            _ => Some(0),
        }
    }

    /// If one of the arguments is a choice: calls the primitive with each of its options in place of it.
    pub(super) fn choose_argument(
        &mut self,
        primitive: Primitive,
        arguments: &[Symbol],
        at: usize,
    ) -> Option<Specialised> {
        let (tag, options) = self.split(arguments[at])?;
        let function = Symbol::Primitive(primitive);
        Some(self.choose(tag, &options, &mut |specialiser, option| {
            let mut arguments = Arguments::from_slice(arguments);
            arguments[at] = option;
            specialiser.call(function, &arguments)
        }))
    }

    pub(super) fn wrong_type<T>(
        &mut self,
        primitive: Primitive,
        at: usize,
        argument: Symbol,
    ) -> Specialised<T> {
        let failure = ErrorKind::Type {
            argument: at as u8,
            expected: primitive.parameters()[at].1,
            found: self.kind_of(argument),
        };
        self.fail(Some(primitive), failure)
    }

    /// Whether a value may be passed to a parameter of this type; yes if that is only known at run time.
    fn is_accepted(&self, signature: Signature, symbol: Symbol) -> bool {
        match (self.symbols.node(symbol), self.type_of(symbol).as_deref()) {
            (Node::Primitive(_) | Node::Function(_), _) => {
                matches!(
                    signature,
                    Signature::Any | Signature::Boolean | Signature::Callable
                )
            }
            (_, Some(ty)) => {
                // An empty container is a grid and a patch, whatever its element type.
                let takes_empty = matches!(
                    signature,
                    Signature::Grid
                        | Signature::Object
                        | Signature::Indices
                        | Signature::Patch
                        | Signature::Element
                        | Signature::Piece
                );
                let may_be_empty = matches!(ty, Type::Tuple(_) | Type::Set(_));
                *ty == Type::Never || rules::accepts(signature, ty) || (takes_empty && may_be_empty)
            }
            (_, None) => match (signature, self.kind_of_container(symbol)) {
                (Signature::FrozenSet, Some(kind)) => kind == ContainerKind::Set,
                (Signature::Tuple | Signature::TupleTuple, Some(kind)) => {
                    kind == ContainerKind::Tuple
                }
                _ => true,
            },
        }
    }

    pub(super) fn are_constants(&self, symbols: &[Symbol]) -> bool {
        self.options.fold
            && symbols
                .iter()
                .all(|symbol| self.symbols.value(*symbol).is_some())
    }

    /// A call that becomes an instruction.
    fn first_order(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        let signatures = || {
            primitive
                .parameters()
                .iter()
                .map(|(_, signature)| *signature)
        };
        for (at, signature) in signatures().enumerate() {
            // A value that is certainly not a choice is passed unchanged.
            if arguments[at].is_one_value() {
                continue;
            }
            match self.symbols.node(arguments[at]) {
                Node::Primitive(_) | Node::Function(_) => {
                    let wrong = signatures()
                        .zip(arguments)
                        .position(|(signature, argument)| !self.is_accepted(signature, *argument));
                    if let Some(wrong) = wrong {
                        return self.wrong_type(primitive, wrong, arguments[wrong]);
                    }
                    if signature == Signature::Boolean {
                        let mut arguments = Arguments::from_slice(arguments);
                        arguments[at] = self.symbols.constant(&Value::Bool(true));
                        return self.first_order(primitive, &arguments);
                    }
                    let what = format!("`{primitive}` is given a function");
                    return Err(Reason::Function(what).into());
                }
                Node::Each(_) => {
                    let what = format!("`{primitive}` is given a container of functions");
                    return Err(Reason::Function(what).into());
                }
                _ => {}
            }
            if self.is_split(arguments[at])
                && let Some(chosen) = self.choose_argument(primitive, arguments, at)
            {
                return chosen;
            }
        }
        let mut values = Arguments::new();
        for argument in arguments {
            let value = self.materialise(*argument)?;
            values.push(self.symbol(value));
        }
        self.instruction(primitive, &values)
    }

    /// A call with run-time values: the instruction, or its value if that is known.
    fn instruction(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Specialised {
        if self.are_constants(arguments)
            && let Some(value) = self.fold(primitive, arguments)
        {
            return Ok(self.symbols.constant(&value));
        }
        if let (Primitive::Other, &[container, value]) = (primitive, arguments) {
            // As in the reference: what is left of a set is another set, which may have another order.
            let rest = self.primitive(Primitive::Remove, &[value, container])?;
            return self.primitive(Primitive::First, &[rest]);
        }
        let ids = self.code.ids();
        let emitted = {
            let mut values: SmallVec<[Argument<'_>; 4]> = SmallVec::new();
            for argument in arguments {
                values.push(match (argument, self.symbols.typed_value(*argument)) {
                    (Symbol::Value(id), _) => Argument::Value(*id),
                    (_, Some((value, ty))) => Argument::Constant(value, ty),
                    _ => return Err(Reason::Work.into()),
                });
            }
            self.code.call(primitive, &values)
        };
        let result = self.emitted(emitted, ids)?;
        self.unless_never(result)
    }

    /// The value of the instruction; if it can never have one, the region ends.
    pub(super) fn unless_never(&self, result: Id) -> Specialised {
        match self.code.id_type(result) {
            Type::Never => Err(RegionEnd::Fails(result)),
            _ => Ok(Symbol::Value(result)),
        }
    }

    /// The result of the primitive on constants, if that is a small value.
    fn fold(&mut self, primitive: Primitive, arguments: &[Symbol]) -> Option<Value> {
        let values: Option<Vec<&Value>> = arguments
            .iter()
            .map(|argument| self.symbols.value(*argument))
            .collect();
        let interpreter = Interpreter::new(Limits {
            max_steps: u64::from(MOST_WEIGHT),
            max_cells: u64::from(MOST_WEIGHT),
            max_elements: u64::from(MOST_WEIGHT),
            ..Limits::default()
        })
        .with_identity(Identity::Lost);
        let value = interpreter
            .call(Value::primitive(primitive), &values?)
            .ok()?;
        (value.weight() <= MOST_WEIGHT && is_plain(&value)).then_some(value)
    }
}

/// The kind of the values of a type, as error messages name it.
fn kind_of(ty: &Type) -> ValueKind {
    match ty {
        Type::Never | Type::MaybeInt => ValueKind::Nothing,
        Type::Bool => ValueKind::Boolean,
        Type::Int => ValueKind::Integer,
        Type::Pair | Type::MaybePair => ValueKind::Pair,
        Type::Cell => ValueKind::Cell,
        Type::Grid => ValueKind::Grid,
        Type::Tuple(_) | Type::Fixed(_) => ValueKind::Tuple,
        Type::Indices => ValueKind::Indices,
        Type::Object => ValueKind::Object,
        Type::Patch | Type::Set(_) => ValueKind::Set,
    }
}
