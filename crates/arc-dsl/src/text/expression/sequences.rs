//! Lowers comprehensions, indices, and calls of Python's built-in functions.
//!
//! The DSL has no lists and no generators. Where only the elements of one are taken, as by `tuple(..)`, the tuple of its
//! elements gives the same.

use arc_isa::{ContainerKind, Primitive, ValueType};

use crate::dialect::Dialect;
use crate::program::{Callee, Operand, Slot};
use crate::text::error::{ParseError, ParseErrorKind};
use crate::text::expression::{Expression, tuple};
use crate::text::lexer::Token;
use crate::text::lowering::{LocalFunction, Lowering, constant};
use crate::text::names::BUILTINS;
use crate::text::statements::Parameter;
use crate::text::tokens::{Result, described};
use crate::text::tree::{Argument, Comprehension, Expr, ExprKind, Trailer};
use crate::value::Value;

/// What Python makes where the DSL has a tuple of the same elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// A list, or what has a length and indices as one.
    List,
    /// What can only be iterated over.
    Iterator,
}

impl<'t> Lowering<'_, 't> {
    /// Whether a name that nothing else is bound to is a function of Python that can be lowered here.
    pub(in crate::text) fn is_builtin(&self, name: &str) -> bool {
        self.scope.is_some() && self.dialect == Dialect::Public && BUILTINS.contains(&name)
    }

    /// A call of a function of Python.
    pub(in crate::text) fn builtin(
        &mut self,
        token: Token<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Expression<'t>> {
        let positional = arguments.iter().filter(|it| it.keyword.is_none());
        let given: Vec<&Expr<'t>> = positional.map(|it| &it.value).collect();
        let has_keywords = given.len() < arguments.len();
        let value = match (token.text, &given[..]) {
            ("len", [of]) if !has_keywords => match self.sequence(of)? {
                Some((_, Made::Iterator)) => {
                    return Err(self.expects(of.token, "what has a length"));
                }
                Some((elements, _)) => self.made(token, Primitive::Size, [elements])?,
                None => {
                    let of = self.argument(of)?;
                    self.made(token, Primitive::Size, [of])?
                }
            },
            ("tuple", []) if !has_keywords => Value::tuple(Vec::new()).into(),
            ("tuple", [of]) if !has_keywords => self.tuple_of(of)?,
            ("abs", [of]) if !has_keywords => {
                let of = self.argument(of)?;
                let negative = self.made(
                    token,
                    Primitive::Greater,
                    [Value::Int(0).into(), of.clone()],
                )?;
                let inverted = self.made(token, Primitive::Invert, [of.clone()])?;
                self.made(token, Primitive::Branch, [negative, inverted, of])?
            }
            ("sum", [of]) if !has_keywords => self.sum(token, of)?,
            ("min" | "max", [of]) => self.extreme(token, of, arguments)?,
            ("min" | "max", [first, rest @ ..]) if !has_keywords => {
                let mut least = self.argument(first)?;
                for next in rest {
                    let next = self.argument(next)?;
                    let sides = match token.text {
                        "min" => [least.clone(), next.clone()],
                        _ => [next.clone(), least.clone()],
                    };
                    let is_next = self.made(token, Primitive::Greater, sides)?;
                    least = self.made(token, Primitive::Branch, [is_next, next, least])?;
                }
                least
            }
            _ => {
                let expected = "`tuple(..)` or another call around it that takes only its elements";
                return match self.sequence_of_call(token, arguments)? {
                    Some(_) => Err(self.expects(token, expected)),
                    None => Err(self.expects(token, "arguments as the function is supported with")),
                };
            }
        };
        Ok(Expression::of(value))
    }

    /// The tuple of the elements of what is a list or a generator in Python, and which of them.
    fn sequence(&mut self, expr: &Expr<'t>) -> Result<Option<(Operand, Made)>> {
        Ok(match &expr.kind {
            ExprKind::Paren(inner) => self.sequence(inner)?,
            ExprKind::List(elements) => {
                let elements = elements.iter().map(|element| self.argument(element));
                let elements = tuple(elements.collect::<Result<_>>()?, expr.token);
                Some((self.operand(elements)?, Made::List))
            }
            ExprKind::Comprehension(it) => {
                let made = match expr.token.text {
                    "[" => Made::List,
                    "{" => return Ok(None),
                    _ => Made::Iterator,
                };
                Some((self.comprehension(it, true)?, made))
            }
            ExprKind::Trailed(trailed) => match (&trailed.0, &trailed.1[..]) {
                (name, [Trailer::Call(arguments)]) if self.means_builtin(name) => {
                    self.sequence_of_call(name.token, arguments)?
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// The same of a call of a function of Python.
    fn sequence_of_call(
        &mut self,
        token: Token<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Option<(Operand, Made)>> {
        let positional = arguments.iter().filter(|it| it.keyword.is_none());
        let given: Vec<&Expr<'t>> = positional.map(|it| &it.value).collect();
        let has_keywords = given.len() < arguments.len();
        let int = |n: i32| Operand::from(Value::Int(n));
        Ok(Some(match (token.text, &given[..]) {
            ("sorted", [of]) => (self.sorted(token, of, arguments)?, Made::List),
            _ if has_keywords => return Ok(None),
            ("list", [of]) => (self.tuple_of(of)?, Made::List),
            ("range", bounds) if (1..=3).contains(&bounds.len()) => {
                let bounds = bounds.iter().map(|bound| self.argument(bound));
                let mut bounds = bounds.collect::<Result<Vec<_>>>()?.into_iter();
                let first = bounds.next().unwrap_or_else(|| int(0));
                let interval = match (bounds.next(), bounds.next()) {
                    (Some(stop), step) => [first, stop, step.unwrap_or_else(|| int(1))],
                    (None, _) => [int(0), first, int(1)],
                };
                (self.made(token, Primitive::Interval, interval)?, Made::List)
            }
            ("reversed", [of]) => {
                let elements = match self.sequence(of)? {
                    Some((_, Made::Iterator)) => {
                        return Err(self.expects(of.token, "what can be reversed"));
                    }
                    Some((elements, _)) => elements,
                    None => {
                        let value = self.argument(of)?;
                        self.certainly_tuple(&value, of.token, SURE_TO_REVERSE)?;
                        value
                    }
                };
                (self.mirrored(token, elements)?, Made::Iterator)
            }
            ("enumerate", [of]) => {
                let elements = self.tuple_of(of)?;
                let size = self.made(token, Primitive::Size, [elements.clone()])?;
                let places = self.made(token, Primitive::Interval, [int(0), size, int(1)])?;
                let pairs = self.made(token, Primitive::Pair, [places, elements])?;
                (pairs, Made::Iterator)
            }
            ("zip", [a, b]) => {
                let (a, b) = (self.elements(a)?, self.elements(b)?);
                (self.made(token, Primitive::Pair, [a, b])?, Made::Iterator)
            }
            _ => return Ok(None),
        }))
    }

    /// Whether an expression is the name of a function of Python, which nothing else is bound to.
    fn means_builtin(&self, name: &Expr<'t>) -> bool {
        let is_bound = |name: &str| {
            self.scope.as_ref().is_some_and(|scope| {
                scope.builder.variable(name).is_some()
                    || scope.functions.contains_key(name)
                    || scope.imported.contains_key(name)
                    || scope.sets.contains_key(name)
            }) || self.module.is_some_and(|module| {
                let bound = module.globals.get(self.dialect, name, self.at);
                bound.is_some() || module.ours(name) != name
            })
        };
        let text = name.token.text;
        matches!(name.kind, ExprKind::Name) && self.is_builtin(text) && !is_bound(text)
    }

    /// A container of the elements that Python iterates over.
    pub(super) fn elements(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        match self.sequence(expr)? {
            Some((elements, _)) => Ok(elements),
            None => self.argument(expr),
        }
    }

    /// The tuple of the elements that Python iterates over.
    fn tuple_of(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        let elements = self.elements(expr)?;
        self.as_tuple(expr.token, elements)
    }

    fn as_tuple(&mut self, token: Token<'t>, elements: Operand) -> Result<Operand> {
        match self.certain(&elements, token).and_then(|ty| ty.container()) {
            Some(ContainerKind::Tuple) => Ok(elements),
            _ => self.made(token, Primitive::Totuple, [elements]),
        }
    }

    /// The set of these elements, which are added one after the other.
    pub(in crate::text) fn set_of(
        &mut self,
        token: Token<'t>,
        elements: Operand,
    ) -> Result<Operand> {
        let alone = self.made(token, Primitive::Initset, [elements])?;
        self.made(token, Primitive::Merge, [alone])
    }

    /// `frozenset(..)` of what is not known before the program runs.
    pub(in crate::text) fn frozenset_of(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        let token = expr.token;
        if let Some((elements, _)) = self.sequence(expr)? {
            return self.set_of(token, elements);
        }
        // Python copies a set into another one, which may have another order.
        if matches!(expr.kind, ExprKind::Comprehension(_)) {
            let expected = "a comprehension without the braces";
            return Err(self.expects(token, expected));
        }
        let value = self.argument(expr)?;
        if constant(&value).is_some() {
            return Ok(value);
        }
        match self.certain(&value, token).and_then(|ty| ty.container()) {
            Some(ContainerKind::Tuple) => self.set_of(token, value),
            Some(ContainerKind::Set) => Ok(value),
            None => self.fail(token, ParseErrorKind::SetOfVariables),
        }
    }

    /// `sorted(of, key=.., reverse=..)`
    fn sorted(
        &mut self,
        token: Token<'t>,
        of: &Expr<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Operand> {
        let mut elements = self.elements(of)?;
        let element = self.element_type(&elements, token);
        let (mut key, mut is_reversed) = (Primitive::Identity.into(), false);
        for Argument { keyword, value } in arguments {
            let Some(keyword) = keyword else { continue };
            match (keyword.text, &value.kind) {
                ("key", _) => key = self.called(value, element.clone())?,
                ("reverse", ExprKind::Word) if value.token.text != "None" => {
                    is_reversed = value.token.text == "True";
                }
                _ => return Err(self.expects(*keyword, "`key=..` or `reverse=True`")),
            }
        }
        if is_reversed {
            // Equal elements keep their order.
            elements = self.as_tuple(token, elements)?;
            elements = self.mirrored(token, elements)?;
        }
        let sorted = self.made(token, Primitive::Order, [elements, key])?;
        let sorted = self.typed(sorted, element.map(ValueType::tuple_of));
        if is_reversed {
            return self.mirrored(token, sorted);
        }
        Ok(sorted)
    }

    /// A tuple backwards.
    fn mirrored(&mut self, token: Token<'t>, elements: Operand) -> Result<Operand> {
        let ty = self.element_type(&elements, token);
        let mirrored = self.made(token, Primitive::Hmirror, [elements])?;
        Ok(self.typed(mirrored, ty.map(ValueType::tuple_of)))
    }

    /// `min(of, key=..)` or `max(of, key=..)`; `default=0` is what `minimum` and `maximum` have.
    fn extreme(
        &mut self,
        token: Token<'t>,
        of: &Expr<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Operand> {
        let is_least = token.text == "min";
        let elements = self.elements(of)?;
        let element = self.element_type(&elements, token);
        let mut keywords = arguments
            .iter()
            .filter_map(|it| Some((it.keyword?, &it.value)));
        let key = match (keywords.next(), keywords.next()) {
            (None, _) => Primitive::Identity.into(),
            (Some((name, key)), None) if name.text == "key" => self.called(key, element.clone())?,
            (Some((name, value)), None)
                if name.text == "default"
                    && constant(&self.argument(value)?) == Some(Value::Int(0)) =>
            {
                let primitive = if is_least {
                    Primitive::Minimum
                } else {
                    Primitive::Maximum
                };
                return self.made(token, primitive, [elements]);
            }
            (Some((name, _)), _) => {
                return Err(self.expects(name, "`key=..` or `default=0` alone"));
            }
        };
        let primitive = if is_least {
            Primitive::Argmin
        } else {
            Primitive::Argmax
        };
        let extreme = self.made(token, primitive, [elements, key])?;
        Ok(self.typed(extreme, element))
    }

    /// The type of the elements of a container, if it is certain.
    fn element_type(&mut self, elements: &Operand, token: Token<'t>) -> Option<ValueType> {
        self.certain(elements, token)?.element()
    }

    /// A function that is only called, with elements of this type.
    fn called(&mut self, expr: &Expr<'t>, element: Option<ValueType>) -> Result<Operand> {
        let outer = std::mem::replace(&mut self.is_only_called, true);
        self.element = element.filter(|_| matches!(expr.kind, ExprKind::Lambda(_)));
        let function = self.argument(expr);
        self.element = None;
        self.is_only_called = outer;
        function
    }

    /// `sum(of)`: how many elements there are in tuples of so many, for integers above zero and for those below.
    fn sum(&mut self, token: Token<'t>, of: &Expr<'t>) -> Result<Operand> {
        if let ExprKind::Comprehension(it) = &of.kind
            && matches!(it.value.kind, ExprKind::Integer(false))
            && it.value.token.text == "1"
            && of.token.text != "{"
        {
            let counted = self.comprehension(it, false)?;
            return self.made(token, Primitive::Size, [counted]);
        }
        let elements = self.tuple_of(of)?;
        let above = [Primitive::Repeat.into(), Value::Int(0).into()];
        let above = self.made(token, Primitive::Lbind, above)?;
        let below = [above.clone(), Primitive::Invert.into()];
        let below = self.made(token, Primitive::Compose, below)?;
        let mut sizes = [above, below].map(Some);
        for function in &mut sizes {
            let Some(repeated) = function.take() else {
                continue;
            };
            let repeated = self.made(token, Primitive::Apply, [repeated, elements.clone()])?;
            let merged = self.made(token, Primitive::Merge, [repeated])?;
            *function = Some(self.made(token, Primitive::Size, [merged])?);
        }
        match sizes {
            [Some(above), Some(below)] => self.made(token, Primitive::Subtract, [above, below]),
            _ => Err(self.only_calls(token)),
        }
    }

    /// The tuple of the elements of a comprehension; without its value, of those of the container that it takes.
    pub(in crate::text) fn comprehension(
        &mut self,
        it: &Comprehension<'t>,
        has_value: bool,
    ) -> Result<Operand> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return Err(self.only_calls(it.token));
        }
        let elements = self.elements(&it.container)?;
        let ty = self.certain(&elements, it.token);
        let element = ty.and_then(|ty| ty.element());
        let mut elements = self.as_tuple(it.token, elements)?;
        if let Some(condition) = &it.condition {
            let (condition, _) = self.of_element(it, condition, element.as_ref())?;
            elements = self.made(it.token, Primitive::Sfilter, [elements, condition])?;
            elements = self.typed(elements, element.clone().map(ValueType::tuple_of));
        }
        let is_element = matches!(it.value.kind, ExprKind::Name)
            && matches!(it.names[..], [name] if name.text == it.value.token.text && !it.are_elements);
        if is_element || !has_value {
            return Ok(elements);
        }
        let (value, ty) = self.of_element(it, &it.value, element.as_ref())?;
        elements = self.made(it.token, Primitive::Apply, [value, elements])?;
        Ok(self.typed(elements, ty.map(ValueType::tuple_of)))
    }

    /// An expression as a function of the element of a comprehension, and its type if that is certain.
    fn of_element(
        &mut self,
        it: &Comprehension<'t>,
        value: &Expr<'t>,
        element: Option<&ValueType>,
    ) -> Result<(Operand, Option<ValueType>)> {
        let mut used = Vec::new();
        value.names(&mut |name| used.push(name));
        used.retain(|name| it.names.iter().all(|own| own.text != name.text));
        let own = if it.are_elements {
            &[][..]
        } else {
            &it.names[..]
        };
        // No name can be equal to the word `for`.
        let name = own.first().copied().unwrap_or(it.token);
        let parameter = Parameter::named(name, self.input_name(name, 0));
        let mut ty = None;
        let function = self.local(it.token, vec![parameter], &used, None, |lowering| {
            let input = Operand::Slot(Slot::at(0));
            lowering.typed(input.clone(), element.cloned());
            if it.are_elements {
                let pair = Expression::Inlined(input);
                let parts = lowering.taken_apart(pair, it.names.len(), it.names[0])?;
                for (name, part) in it.names.iter().zip(parts) {
                    if let (Operand::Slot(slot), Some(scope)) = (part, &mut lowering.scope) {
                        scope.builder.alias(name.text, slot);
                    }
                }
            }
            let value = lowering.argument(value)?;
            ty = lowering.certain(&value, it.token);
            Ok(value)
        })?;
        Ok((self.called_only(it.token, &function)?, ty))
    }

    fn called_only(&mut self, token: Token<'t>, function: &LocalFunction<'t>) -> Result<Operand> {
        let outer = std::mem::replace(&mut self.is_only_called, true);
        let value = self.value_of(token, function);
        self.is_only_called = outer;
        value
    }

    /// `value[index]` or `value[::-1]`
    pub(in crate::text) fn indexed(
        &mut self,
        value: Operand,
        token: Token<'t>,
        index: &[Option<Expr<'t>>],
    ) -> Result<Operand> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return Err(self.only_calls(token));
        }
        let element = self
            .certainly_tuple(&value, token, SURE_TO_INDEX)?
            .element();
        let at = match index {
            [Some(at)] => at,
            [None, None, Some(step)]
                if matches!(step.kind, ExprKind::Integer(true)) && step.token.text == "1" =>
            {
                return self.mirrored(token, value);
            }
            _ => return Err(self.expects(token, "an index or `[::-1]`")),
        };
        let place = self.argument(at)?;
        if self.certain(&place, at.token) != Some(ValueType::Int) {
            let expected = "an index that is an integer whatever the grid is";
            return Err(self.expects(at.token, expected));
        }
        let found = match constant(&place) {
            Some(Value::Int(0)) => self.made(token, Primitive::First, [value])?,
            Some(Value::Int(-1)) => self.made(token, Primitive::Last, [value])?,
            _ => {
                // The elements with their places, and before them with those counted from the end.
                let size = self.made(token, Primitive::Size, [value.clone()])?;
                let start = self.made(token, Primitive::Invert, [size.clone()])?;
                let places = [start, size, Value::Int(1).into()];
                let places = self.made(token, Primitive::Interval, places)?;
                let twice = self.made(token, Primitive::Combine, [value.clone(), value])?;
                let pairs = self.made(token, Primitive::Pair, [places, twice])?;
                let is_there = [Primitive::First.into(), place];
                let is_there = self.made(token, Primitive::Matcher, is_there)?;
                let pair = self.made(token, Primitive::Extract, [pairs, is_there])?;
                self.made(token, Primitive::Last, [pair])?
            }
        };
        Ok(self.typed(found, element))
    }

    /// The list that an index follows, if there is one.
    pub(in crate::text) fn indexed_list(
        &mut self,
        value: &Expr<'t>,
        trailers: &[Trailer<'t>],
    ) -> Result<Option<(Operand, usize)>> {
        let (list, used) = match trailers {
            [Trailer::Index(_), ..] => (self.sequence(value)?, 0),
            [Trailer::Call(arguments), Trailer::Index(_), ..] if self.means_builtin(value) => {
                (self.sequence_of_call(value.token, arguments)?, 1)
            }
            _ => return Ok(None),
        };
        match list {
            Some((_, Made::Iterator)) => Err(self.expects(value.token, "what has indices")),
            list => Ok(list.map(|(elements, _)| (elements, used))),
        }
    }

    /// The type of a value, which has to be a tuple whatever the grid is.
    fn certainly_tuple(
        &mut self,
        value: &Operand,
        token: Token<'t>,
        expected: &'static str,
    ) -> Result<ValueType> {
        let ty = self.certain(value, token);
        ty.filter(|ty| ty.container() == Some(ContainerKind::Tuple))
            .ok_or_else(|| self.expects(token, expected))
    }

    fn expects(&self, token: Token<'t>, expected: &'static str) -> ParseError {
        let found = described(token);
        self.error(token, ParseErrorKind::Expected { expected, found })
    }

    /// Adds a step with a generated name.
    pub(in crate::text) fn made<const N: usize>(
        &mut self,
        token: Token<'t>,
        callee: impl Into<Callee>,
        arguments: [Operand; N],
    ) -> Result<Operand> {
        let name = self.generate_name();
        self.step(token, name, callee.into(), arguments.into())
    }
}

const SURE_TO_INDEX: &str = "before `[` what is a tuple whatever the grid is, as the grid, its rows or `tuple(..)` (`first(x)` \
                             takes any)";
const SURE_TO_REVERSE: &str =
    "what is a tuple whatever the grid is, as the grid, its rows or `tuple(..)`";
