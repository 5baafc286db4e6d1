//! Lowers comprehensions, indices, and calls of Python's built-in functions.
//!
//! The DSL has no lists and no generators. Where only the elements of one are taken, as by `tuple(..)`, the tuple of its
//! elements gives the same.

use std::borrow::Cow;

use std::sync::LazyLock;

use arc_dsl::{Callee, Container, Dialect, MAX_INT, Operand, Program, Slot, Value};
use arc_isa::{ContainerKind, Primitive, ValueType};

use crate::error::{ParseError, ParseErrorKind};
use crate::expression::{Expression, OF_A_LIST};
use crate::lexer::Token;
use crate::module::lowering::{IS_ELEMENT, KnownType, LocalFunction, Lowering, constant};
use crate::names::{BUILTINS, is_one_of};
use crate::parse_functions;
use crate::statements::Parameter;
use crate::tokens::{Result, described, told};
use crate::tree::{Argument, Comprehension, Expr, ExprKind, StatementKind, Target, Trailer};

/// Functions of the DSL that give what Python's functions do.
static DERIVED: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let functions = parse_functions(include_str!("derived.py"));
    functions.into_iter().flatten().collect()
});

/// What Python makes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// A value of the DSL.
    Value,
    /// A list, or what has a length and indices as one: here the tuple of its elements.
    List,
    /// What can only be iterated over: here the tuple of its elements, too.
    Iterator,
}

impl<'t> Lowering<'_, 't> {
    /// Whether a name that nothing else is bound to is a function of Python that can be lowered here.
    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        self.scope.is_some() && self.dialect == Dialect::Public && is_one_of(BUILTINS, name)
    }

    /// A call of a function of Python that gives a value of the DSL.
    pub(crate) fn builtin(
        &mut self,
        token: Token<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Expression<'t>> {
        let (value, made) = self.call_of_builtin(token, arguments)?;
        if made == Made::Value {
            return Ok(Expression::of(value));
        }
        Err(self.expects(token, OF_A_LIST))
    }

    /// A call of a function of Python.
    fn call_of_builtin(
        &mut self,
        token: Token<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<(Operand, Made)> {
        let (mut given, mut keywords) = (Vec::new(), Vec::new());
        for Argument { keyword, value } in arguments {
            match keyword {
                Some(it) if it.text == "start" && token.text == "enumerate" => given.push(value),
                Some(keyword) => keywords.push((*keyword, value)),
                None => given.push(value),
            }
        }
        let name = token.text;
        let made = match name {
            "list" | "range" | "sorted" => Made::List,
            "enumerate" | "filter" | "iter" | "map" | "reversed" | "zip" => Made::Iterator,
            _ => Made::Value,
        };
        let value = match (name, &given[..], &keywords[..]) {
            ("sorted", [of], keywords) => self.sorted(token, of, keywords)?,
            ("min" | "max", [of], keywords) => self.extreme(token, of, keywords)?,
            ("min" | "max", [first, rest @ ..], []) => {
                let mut extreme = self.argument(first)?;
                for next in rest {
                    let next = self.argument(next)?;
                    extreme = self.derived(token, name, &[extreme, next])?;
                }
                extreme
            }
            ("frozenset" | "set", ..) => self.frozenset(token, arguments)?,
            ("tuple", [], []) => Value::tuple(Vec::new()).into(),
            ("tuple" | "list", [of], []) => self.tuple_of(of)?,
            ("abs", [of], []) => {
                let of = self.argument(of)?;
                self.derived(token, name, &[of])?
            }
            ("len" | "iter", [of], []) => {
                let (elements, made) = self.sequence(of)?;
                if made == Made::Iterator {
                    return Err(self.expects(of.token, "a container"));
                }
                self.derived(token, name, &[elements])?
            }
            ("sum", [of], []) => self.sum(token, of)?,
            ("any" | "all", [of], []) => self.decided(token, of)?,
            ("map", [function, of], []) => {
                let elements = self.tuple_of(of)?;
                let function = self.function_of_elements(function, &elements)?;
                self.made(token, Primitive::Apply, [function, elements])?
            }
            ("filter", [function, of], []) => {
                let elements = self.tuple_of(of)?;
                let function = self.key(function, &elements)?;
                self.made(token, Primitive::Sfilter, [elements, function])?
            }
            ("enumerate", [of, start @ ..], []) if start.len() < 2 => {
                let elements = self.tuple_of(of)?;
                let start = match start {
                    [start] => self.place(start)?,
                    _ => Value::Int(0).into(),
                };
                self.derived(token, name, &[elements, start])?
            }
            ("reversed", [of], []) => {
                let (elements, made) = self.sequence(of)?;
                match made {
                    Made::Iterator => return Err(self.expects(of.token, "what can be reversed")),
                    Made::List => {}
                    Made::Value => self.certainly_tuple(&elements, of.token, SURE_TO_REVERSE)?,
                }
                self.mirrored(token, elements)?
            }
            ("range", bounds, []) if (1..=3).contains(&bounds.len()) => {
                let bounds = bounds.iter().map(|bound| self.argument(bound));
                let mut bounds = bounds.collect::<Result<Vec<_>>>()?;
                if bounds.len() == 1 {
                    bounds.insert(0, Value::Int(0).into());
                }
                bounds.resize(3, Value::Int(1).into());
                let name = self.generate_name();
                self.step(token, name, Primitive::Interval.into(), bounds.into())?
            }
            // The columns of a tuple of rows.
            ("zip", [], [(star, of)]) if star.is("*") => {
                let rows = self.tuple_of(of)?;
                self.made(token, Primitive::Dmirror, [rows])?
            }
            ("next", [of, default @ ..], []) if default.len() < 2 => {
                self.next_of(token, of, default)?
            }
            ("zip", [a, b], []) => {
                given.iter().try_for_each(|it| self.is_at_once(it))?;
                let (a, b) = (self.elements(a)?, self.elements(b)?);
                self.made(token, Primitive::Pair, [a, b])?
            }
            _ => return Err(self.expects(token, "arguments as the function is supported with")),
        };
        Ok((value, made))
    }

    /// The first element that a generator gives, or what it is by default.
    fn next_of(
        &mut self,
        token: Token<'t>,
        of: &Expr<'t>,
        default: &[&Expr<'t>],
    ) -> Result<Operand> {
        let Some(it) = of.generator().filter(|it| !it.is_flat) else {
            self.is_at_once(of)?;
            let (elements, made) = self.sequence(of)?;
            if made != Made::Iterator || !default.is_empty() {
                return Err(self.expects(of.token, "`iter(..)` with one container in it"));
            }
            return self.made(token, Primitive::First, [elements]);
        };
        let (mut given, mut ty) = self.rounds(it, None)?;
        let mut name = "next";
        if let [default] = default {
            let default = self.argument(default)?;
            let of_default = self.certain(&default, token);
            ty = ty.filter(|ty| of_default.as_ref() == Some(ty));
            given.push(default);
            name = "next_or";
        }
        let found = self.derived(token, name, &given)?;
        Ok(self.typed(found, ty))
    }

    /// Checks that all elements are evaluated before the first one is taken.
    pub(super) fn is_at_once(&self, of: &Expr<'t>) -> Result<()> {
        let inner = of.without_brackets();
        match &inner.kind {
            ExprKind::Trailed(it) if self.means_builtin(&it.0) => {
                match (it.0.token.text, &it.1[..]) {
                    ("map" | "filter", _) => {}
                    ("enumerate" | "iter" | "reversed" | "zip", [Trailer::Call(given)]) => {
                        return given.iter().try_for_each(|it| self.is_at_once(&it.value));
                    }
                    _ => return Ok(()),
                }
            }
            _ if of.generator().is_none() => return Ok(()),
            _ => {}
        }
        Err(self.expects(inner.token, "a container, as `tuple(..)` with it"))
    }

    /// The call of a function that is derived.
    pub(crate) fn derived(
        &mut self,
        token: Token<'t>,
        name: &str,
        given: &[Operand],
    ) -> Result<Operand> {
        let mut functions = DERIVED.iter();
        match functions.find(|function| function.name() == name) {
            Some(function) => self.steps_of(token, function, given, Some(token.line)),
            None => Err(self.only_calls(token)),
        }
    }

    /// A value, or the tuple of the elements of what is a list or a generator in Python.
    fn sequence(&mut self, expr: &Expr<'t>) -> Result<(Operand, Made)> {
        if self.is_list(expr) {
            return Ok((self.list(expr)?, Made::List));
        }
        match &expr.kind {
            ExprKind::Paren(inner) => return self.sequence(inner),
            ExprKind::Comprehension(it) if expr.token.text == "(" => {
                return Ok((self.comprehension(it, true)?, Made::Iterator));
            }
            ExprKind::Trailed(trailed) => {
                if let (name, [Trailer::Call(arguments)]) = (&trailed.0, &trailed.1[..])
                    && self.means_builtin(name)
                {
                    return self.call_of_builtin(name.token, arguments);
                }
            }
            _ => {}
        }
        Ok((self.argument(expr)?, Made::Value))
    }

    /// Whether an expression gives a list.
    pub(crate) fn is_list(&self, expr: &Expr<'t>) -> bool {
        match &expr.kind {
            _ if self.scope.is_none() || self.dialect != Dialect::Public => false,
            ExprKind::Paren(inner) => self.is_list(inner),
            ExprKind::List(_) => true,
            ExprKind::Comprehension(_) => expr.token.text == "[",
            ExprKind::Name => {
                let scope = self.scope.as_ref();
                scope.is_some_and(|scope| scope.lists.contains(expr.token.text))
            }
            ExprKind::Trailed(trailed) => {
                let (value, trailers) = &**trailed;
                let behind = match &trailers[..] {
                    [Trailer::Call(_), behind @ ..] if self.makes_list(value) => behind,
                    all if self.is_list(value) => all,
                    _ => return false,
                };
                let is_part = |it: &Trailer<'_>| matches!(it, Trailer::Index(it) if it.1.len() > 1);
                behind.iter().all(is_part)
            }
            _ => false,
        }
    }

    /// Whether it is the name of a function of Python that makes a list.
    fn makes_list(&self, name: &Expr<'t>) -> bool {
        is_one_of("list range sorted", name.token.text) && self.means_builtin(name)
    }

    /// The tuple of the elements of a list.
    pub(crate) fn list(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.list(inner),
            ExprKind::List(elements) => {
                let elements = self.displayed_tuple(expr.token, elements)?;
                self.operand(elements)
            }
            ExprKind::Comprehension(it) => self.comprehension(it, true),
            ExprKind::Trailed(trailed) => {
                let (value, trailers) = &**trailed;
                let (mut list, parts) = match &trailers[..] {
                    [Trailer::Call(arguments), parts @ ..] if self.makes_list(value) => {
                        (self.call_of_builtin(value.token, arguments)?.0, parts)
                    }
                    parts => (self.list(value)?, parts),
                };
                for part in parts {
                    if let Trailer::Index(part) = part {
                        list = self.indexed(list, part.0, &part.1)?;
                    }
                }
                Ok(list)
            }
            _ => {
                let scope = self.scope.as_ref();
                let slot = scope.and_then(|scope| scope.builder.variable(expr.token.text));
                slot.map(Operand::Slot)
                    .ok_or_else(|| self.only_calls(expr.token))
            }
        }
    }

    /// Whether an expression is the name of a function of Python, which nothing else is bound to.
    fn means_builtin(&self, name: &Expr<'t>) -> bool {
        let text = name.token.text;
        matches!(name.kind, ExprKind::Name) && self.is_builtin(text) && !self.is_bound(text)
    }

    /// Whether the program or the text binds a name.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.scope.as_ref().is_some_and(|scope| {
            scope.builder.variable(name).is_some()
                || scope.functions.contains_key(name)
                || scope.imported.contains_key(name)
                || scope.sets.contains_key(name)
        }) || self.module.is_some_and(|module| {
            let bound = module.globals.get(self.dialect, name, self.at);
            bound.is_some() || module.ours(name) != name
        })
    }

    /// A function of Python as a value: that of one argument.
    pub(crate) fn builtin_value(&mut self, token: Token<'t>) -> Result<Expression<'t>> {
        let element = std::mem::take(&mut self.element);
        match token.text {
            "len" => return Ok(Expression::Inlined(Primitive::Size.into())),
            "set" => return Err(self.expects(token, "`frozenset`")),
            _ => {}
        }
        // A keyword is no name.
        let argument = Token {
            text: "lambda",
            ..token
        };
        let parameter = Parameter::named(argument, argument.text.to_owned());
        let arguments = [Argument {
            keyword: None,
            value: Expr {
                token: argument,
                kind: ExprKind::Name,
            },
        }];
        let function = self.local(token, vec![parameter], &[], None, |lowering| {
            if let Some(scope) = &mut lowering.scope {
                scope.set_type(Slot::at(0), element);
            }
            let made = lowering.builtin(token, &arguments)?;
            lowering.operand(made)
        });
        let function = function.map_err(|_| self.expects(token, "a function of the DSL"))?;
        Ok(Expression::Inlined(self.value_of(token, &function)?))
    }

    /// Checks that an element of a set can be hashed.
    pub(super) fn hashed(&self, element: &Expr<'t>) -> Result<()> {
        if self.is_set(element) {
            return self.fail(element.token, ParseErrorKind::Unhashable);
        }
        Ok(())
    }

    /// Checks that a value is no function of the text, nor a tuple with one: as a function of the DSL, it is no longer the
    /// same as itself and another one than any other.
    pub(super) fn is_comparable(&self, value: &Expr<'t>) -> Result<()> {
        let token = value.token;
        let is_function = match &value.kind {
            ExprKind::Lambda(_) => true,
            ExprKind::Paren(inner) => return self.is_comparable(inner),
            ExprKind::Tuple(elements) | ExprKind::List(elements) => {
                return elements.iter().try_for_each(|it| self.is_comparable(it));
            }
            ExprKind::Name => self.is_own_function(token.text),
            _ => false,
        };
        if is_function {
            let why = "whether two functions of the text are the same is not known";
            let name = told(token.text);
            return self.fail(token, ParseErrorKind::FunctionAsValue { name, why });
        }
        Ok(())
    }

    /// Checks that an argument can be hashed, if that is what a call makes of it or of what it returns.
    pub(super) fn hashed_by(&self, callee: Callee, place: usize, value: &Expr<'t>) -> Result<()> {
        let Callee::Primitive(primitive) = callee else {
            return Ok(());
        };
        match (primitive, &value.kind) {
            (Primitive::Equality, _) => self.is_comparable(value),
            (Primitive::Contained, _) if place == 0 => self.is_comparable(value),
            (Primitive::Fill | Primitive::Underfill, _) if place == 1 => self.hashed(value),
            (
                Primitive::Canvas | Primitive::Recolor | Primitive::Initset | Primitive::Insert,
                _,
            ) if place == 0 => self.hashed(value),
            (
                Primitive::Mostcommon
                | Primitive::Leastcommon
                | Primitive::Sizefilter
                | Primitive::Colorfilter
                | Primitive::Product,
                ExprKind::Tuple(elements),
            ) => elements.iter().try_for_each(|it| self.hashed(it)),
            (_, ExprKind::Name) if primitive.loop_function() == Some(place) => self.hashed(value),
            (_, ExprKind::Lambda(function)) if primitive.loop_function() == Some(place) => {
                let mut statements = function.body.statements.iter();
                statements.try_for_each(|statement| match &statement.kind {
                    StatementKind::Return(value) => self.hashed(value),
                    _ => Ok(()),
                })
            }
            _ => Ok(()),
        }
    }

    /// A container of the elements that Python iterates over.
    pub(crate) fn elements(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        Ok(self.sequence(expr)?.0)
    }

    /// The tuple of the elements that Python iterates over.
    pub(super) fn tuple_of(&mut self, expr: &Expr<'t>) -> Result<Operand> {
        let elements = self.elements(expr)?;
        self.as_tuple(expr.token, elements)
    }

    fn as_tuple(&mut self, token: Token<'t>, elements: Operand) -> Result<Operand> {
        match self.kind_of(&elements, token) {
            Some(ContainerKind::Tuple) => Ok(elements),
            _ => self.made(token, Primitive::Totuple, [elements]),
        }
    }

    /// The set of these elements, which are added one after the other.
    pub(crate) fn set_of(&mut self, token: Token<'t>, tuple: Operand) -> Result<Operand> {
        let element = self.element_type(&tuple, token);
        let set = self.derived(token, "frozenset_of", &[tuple])?;
        Ok(self.typed(set, element.map(ValueType::set_of)))
    }

    /// `frozenset()` or `set()`, or one of a container.
    pub(crate) fn frozenset(
        &mut self,
        name: Token<'t>,
        arguments: &[Argument<'t>],
    ) -> Result<Operand> {
        let expr = match arguments {
            [] => return Ok(Value::empty_set().into()),
            [argument] if argument.keyword.is_none() => &argument.value,
            [.., last] => {
                let at = last.keyword.unwrap_or(last.value.token);
                return Err(self.expects(at, "one container alone"));
            }
        };
        let token = expr.token;
        // Python copies a set into another one, which may have another order.
        if matches!(expr.kind, ExprKind::Comprehension(_)) && token.text == "{" {
            return Err(self.expects(token, "a comprehension without the braces"));
        }
        if let ExprKind::Set(set) = &expr.kind {
            return self.set(token, set, true);
        }
        match &expr.kind {
            ExprKind::Comprehension(it) => self.hashed(it.element())?,
            ExprKind::Tuple(elements) | ExprKind::List(elements) => {
                elements.iter().try_for_each(|it| self.hashed(it))?;
            }
            _ => {}
        }
        let (value, made) = self.sequence(expr)?;
        if made != Made::Value {
            return self.set_of(token, value);
        }
        let kind = self.kind_of(&value, token);
        if kind == Some(ContainerKind::Set) && (name.text == "set" || self.has_sets()) {
            return Err(self.expects(token, "the set itself, as Python copies a set"));
        }
        match (constant(&value), kind) {
            (_, Some(ContainerKind::Set)) => Ok(value),
            (Some(constant), Some(ContainerKind::Tuple)) => {
                let elements = constant
                    .as_container()
                    .into_iter()
                    .flat_map(Container::iter);
                Ok(Value::set(elements.map(Cow::into_owned)).into())
            }
            (None, Some(ContainerKind::Tuple)) => self.set_of(token, value),
            (_, None) => Err(self.expects(
                token,
                "what is a tuple or a set whatever the grid is, as `frozenset(first(I))`",
            )),
        }
    }

    /// Whether there is a set in the text that is no `frozenset` at once.
    fn has_sets(&self) -> bool {
        let mut before = [""; 2];
        self.tokens.iter().any(|token| {
            let is_set = token.text == "{" && before != ["frozenset", "("] || token.is_name("set");
            before = [before[1], token.text];
            is_set
        })
    }

    /// `sorted(of, key=.., reverse=..)`
    fn sorted(
        &mut self,
        token: Token<'t>,
        of: &Expr<'t>,
        keywords: &[(Token<'t>, &Expr<'t>)],
    ) -> Result<Operand> {
        let mut elements = self.elements(of)?;
        let (mut key, mut is_reversed) = (Primitive::Identity.into(), false);
        for (keyword, value) in keywords {
            match (keyword.text, &value.kind) {
                ("key", _) => key = self.key(value, &elements)?,
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
        keywords: &[(Token<'t>, &Expr<'t>)],
    ) -> Result<Operand> {
        let elements = self.elements(of)?;
        let (of_default, of_key) = match token.text {
            "min" => (Primitive::Minimum, Primitive::Argmin),
            _ => (Primitive::Maximum, Primitive::Argmax),
        };
        let key = match keywords {
            [] => Primitive::Identity.into(),
            [(name, key)] if name.text == "key" => self.key(key, &elements)?,
            [(name, value)] if name.text == "default" && value.token.text == "0" => {
                return self.made(token, of_default, [elements]);
            }
            [(name, _), ..] => return Err(self.expects(*name, "`key=..` or `default=0` alone")),
        };
        self.made(token, of_key, [elements, key])
    }

    /// The type of the elements of a container, if it is certain.
    pub(super) fn element_type(
        &mut self,
        elements: &Operand,
        token: Token<'t>,
    ) -> Option<ValueType> {
        self.certain(elements, token)?.element()
    }

    /// What `key=` is: a function of the elements, or `None`.
    fn key(&mut self, expr: &Expr<'t>, elements: &Operand) -> Result<Operand> {
        if matches!(expr.kind, ExprKind::Word) && expr.token.text == "None" {
            return Ok(Primitive::Identity.into());
        }
        self.function_of_elements(expr, elements)
    }

    /// A function that is only called, with the elements of a container.
    pub(crate) fn function_of_elements(
        &mut self,
        expr: &Expr<'t>,
        container: &Operand,
    ) -> Result<Operand> {
        let outer = std::mem::replace(&mut self.is_only_called, true);
        let KnownType { ty, assumes } = self.known_type(container);
        let is_one = matches!(expr.kind, ExprKind::Lambda(_) | ExprKind::Name);
        self.element = KnownType {
            ty: ty.filter(|_| is_one).and_then(|ty| ty.element()),
            assumes: assumes | IS_ELEMENT,
        };
        let function = self.argument(expr);
        self.element = KnownType::default();
        self.is_only_called = outer;
        let scope = self.scope.as_ref();
        if scope.is_some_and(|scope| scope.assumes & IS_ELEMENT != 0) {
            self.certain(container, expr.token);
        }
        function
    }

    /// `sum(of)`
    fn sum(&mut self, token: Token<'t>, of: &Expr<'t>) -> Result<Operand> {
        if let ExprKind::Comprehension(it) = &of.kind
            && matches!(it.value.kind, ExprKind::Integer(false))
            && it.value.token.text == "1"
            && of.token.text != "{"
        {
            let counted = self.comprehension(it, false)?;
            return self.derived(token, "len", &[counted]);
        }
        let elements = self.tuple_of(of)?;
        self.derived(token, "sum", &[elements])
    }

    /// `any(of)` or `all(of)`, which take no more elements than decide it.
    fn decided(&mut self, token: Token<'t>, of: &Expr<'t>) -> Result<Operand> {
        let decided = if let Some(it) = of.generator() {
            self.decided_by(token, it)?
        } else {
            self.is_at_once(of)?;
            let elements = self.tuple_of(of)?;
            self.derived(token, &format!("{}_of", token.text), &[elements])?
        };
        Ok(self.typed(decided, Some(ValueType::Bool)))
    }

    /// Whether a generator of one loop gives a value, of which Python takes no more elements than decide it.
    pub(crate) fn contained_in(
        &mut self,
        token: Token<'t>,
        value: Operand,
        it: &Comprehension<'t>,
    ) -> Result<Operand> {
        let (mut given, _) = self.rounds(it, None)?;
        let same = self.made(token, Primitive::Rbind, [Primitive::Equality.into(), value])?;
        given[2] = self.made(token, Primitive::Compose, [same, given[2].clone()])?;
        let found = self.derived(token, "any", &given)?;
        Ok(self.typed(found, Some(ValueType::Bool)))
    }

    fn decided_by(&mut self, token: Token<'t>, it: &Comprehension<'t>) -> Result<Operand> {
        let (given, _) = self.rounds(it, Some(token))?;
        self.derived(token, token.text, &given)
    }

    /// A generator that may end before its last round: the elements, its condition and its value as functions of each,
    /// and the type of its value.
    fn rounds(
        &mut self,
        it: &Comprehension<'t>,
        decides: Option<Token<'t>>,
    ) -> Result<(Vec<Operand>, Option<ValueType>)> {
        self.is_at_once(&it.container)?;
        let (elements, element, is_late) = self.taken(it)?;
        let (value, ty, _) = self.of_element(it, &it.value, element.as_ref(), is_late, decides)?;
        let condition = match &it.condition {
            Some(is_taken) => {
                self.of_element(it, is_taken, element.as_ref(), is_late, None)?
                    .0
            }
            None => self.constant_function(it.token, Value::from(true).into())?,
        };
        Ok((vec![elements, condition, value], ty))
    }

    /// The tuple of the elements of the container that a comprehension takes, their type if it is certain, and whether
    /// they are late.
    fn taken(&mut self, it: &Comprehension<'t>) -> Result<(Operand, Option<ValueType>, bool)> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return Err(self.only_calls(it.token));
        }
        let elements = match &it.container.kind {
            // Python makes a constant of it: a set to which the elements of a first one were added in its order.
            ExprKind::Set(set) if !set.1 => {
                let elements = self.displayed(&set.0)?;
                let first = Value::set(self.displayed_first(elements));
                let elements = first.as_container().into_iter().flat_map(Container::iter);
                Value::set(elements.map(Cow::into_owned)).into()
            }
            _ => {
                self.is_taken = it.container.generator().is_some();
                self.elements(&it.container)?
            }
        };
        let is_late = std::mem::take(&mut self.has_late);
        let ty = self.certain(&elements, it.token);
        let element = ty.and_then(|ty| ty.element());
        Ok((self.as_tuple(it.token, elements)?, element, is_late))
    }

    /// The tuple of the elements of a comprehension; without its value, of those of the container that it takes.
    pub(crate) fn comprehension(
        &mut self,
        it: &Comprehension<'t>,
        has_value: bool,
    ) -> Result<Operand> {
        if has_value {
            // What takes an element out of the tuple could not tell that it is no `frozenset`.
            self.hashed(it.element())?;
        }
        let is_taken = std::mem::take(&mut self.is_taken);
        let (mut elements, element, mut is_late) = self.taken(it)?;
        if let Some(condition) = &it.condition {
            let (condition, ..) =
                self.of_element(it, condition, element.as_ref(), is_late, None)?;
            elements = self.made(it.token, Primitive::Sfilter, [elements, condition])?;
        }
        let is_element = matches!(it.value.kind, ExprKind::Name)
            && matches!(it.target, Target::Name(name) if name.text == it.value.token.text);
        if !is_element && has_value {
            let (value, ty, late) =
                self.of_element(it, &it.value, element.as_ref(), is_late, None)?;
            elements = self.made(it.token, Primitive::Apply, [value, elements])?;
            if it.is_flat {
                elements = self.made(it.token, Primitive::Merge, [elements])?;
            }
            elements = self.typed(
                elements,
                if it.is_flat {
                    ty
                } else {
                    ty.map(ValueType::tuple_of)
                },
            );
            is_late = late;
        }
        self.has_late = is_late && is_taken;
        if is_late && !is_taken {
            let name = "lambda".to_owned();
            let why = "it outlives its round of the loop, and Python looks the variable of the comprehension up when the \
                       function is called; expected a function that makes it, as in `make(c) for c in ..`";
            return self.fail(
                it.value.token,
                ParseErrorKind::FunctionAsValue { name, why },
            );
        }
        Ok(elements)
    }

    /// An expression as a function of the element of a comprehension, its type if that is certain, and whether it is late,
    /// as the elements may be. A comprehension in it may be one of `any` or `all`.
    fn of_element(
        &mut self,
        it: &Comprehension<'t>,
        value: &Expr<'t>,
        element: Option<&ValueType>,
        is_late: bool,
        decides: Option<Token<'t>>,
    ) -> Result<(Operand, Option<ValueType>, bool)> {
        let mut used = Vec::new();
        value.names(&mut |name| used.push(name));
        used.retain(|name| !it.target.sets(name.text));
        let name = match it.target {
            Target::Name(name) => name,
            // No name can be equal to the word `for`.
            Target::Parts(_) => it.token,
        };
        let parameter = Parameter::named(name, self.input_name(name, 0));
        let mut ty = None;
        let function = self.local(it.token, vec![parameter], &used, None, |lowering| {
            let input = Operand::Slot(Slot::at(0));
            lowering.typed(input.clone(), element.cloned());
            if let Some(scope) = &mut lowering.scope {
                it.target.names(&mut |name| {
                    scope.looped.insert(name.text);
                });
                if is_late {
                    scope.late.insert(Slot::at(0), (true, false));
                }
            }
            if let Target::Parts(_) = it.target {
                let mut bound = Vec::new();
                let value = Expression::Inlined(input);
                lowering.unpacked(&it.target, value, it.token, &mut bound)?;
                for (name, part) in bound {
                    if let (Operand::Slot(slot), Some(scope)) = (part, &mut lowering.scope) {
                        scope.lists.remove(name.text);
                        scope.builder.alias(name.text, slot);
                    }
                }
            }
            let value = match &value.kind {
                ExprKind::Comprehension(inner) if it.is_flat => match decides {
                    Some(token) => lowering.decided_by(token, inner)?,
                    None => lowering.comprehension(inner, true)?,
                },
                _ => lowering.argument(value)?,
            };
            ty = lowering.certain(&value, it.token);
            Ok(value)
        })?;
        Ok((self.called_only(it.token, &function)?, ty, function.is_late))
    }

    fn called_only(&mut self, token: Token<'t>, function: &LocalFunction<'t>) -> Result<Operand> {
        let outer = std::mem::replace(&mut self.is_only_called, true);
        let value = self.value_of(token, function);
        self.is_only_called = outer;
        value
    }

    /// `value[index]` or `value[::-1]`
    pub(crate) fn indexed(
        &mut self,
        value: Operand,
        token: Token<'t>,
        index: &[Option<Expr<'t>>],
    ) -> Result<Operand> {
        if self.scope.is_none() || self.dialect != Dialect::Public {
            return Err(self.only_calls(token));
        }
        self.certainly_tuple(&value, token, SURE_TO_INDEX)?;
        let ty = self.certain(&value, token);
        let count = ty.as_ref().and_then(|ty| ty.items()).map(<[_]>::len);
        let element = ty.and_then(|ty| ty.element());
        let at = match index {
            [Some(at)] => at,
            [start, stop, step @ ..] => {
                let step = match step {
                    [Some(step)] => self.place(step)?,
                    _ => Value::Int(1).into(),
                };
                let Some(Value::Int(step @ (..=-1 | 1..))) = constant(&step) else {
                    let expected = "as the step of a slice an integer that is known and not 0";
                    return Err(self.expects(token, expected));
                };
                if step == -1 && start.is_none() && stop.is_none() {
                    return self.mirrored(token, value);
                }
                let (name, first, end) = match step {
                    ..0 => ("slice_back", -1, -1 - MAX_INT / 2),
                    _ => ("slice", 0, MAX_INT / 2),
                };
                let [start, stop] =
                    [(start, first), (stop, end)].map(|(bound, none)| match bound {
                        Some(bound) => self.place(bound),
                        None => Ok(Value::Int(none).into()),
                    });
                let mut part = self.derived(token, name, &[value, start?, stop?])?;
                if step.abs() > 1 {
                    part = self.derived(token, "every", &[part, Value::Int(step.abs()).into()])?;
                }
                return Ok(self.typed(part, element.map(ValueType::tuple_of)));
            }
            _ => return Err(self.expects(token, "an index, `[i:j]` or `[i:j:k]`")),
        };
        let place = self.place(at)?;
        let found = match (constant(&place), count.map(|count| count as i32)) {
            (Some(Value::Int(0)), _) => self.made(token, Primitive::First, [value])?,
            (Some(Value::Int(at)), count) if at == -1 || count == Some(at + 1) => {
                self.made(token, Primitive::Last, [value])?
            }
            _ => self.derived(token, "element", &[value, place])?,
        };
        Ok(self.typed(found, element))
    }

    /// What stands in brackets as an index.
    fn place(&mut self, at: &Expr<'t>) -> Result<Operand> {
        let place = self.argument(at)?;
        if self.certain(&place, at.token) == Some(ValueType::Int) {
            return Ok(place);
        }
        Err(self.expects(at.token, "an index that is an integer whatever the grid is"))
    }

    /// The list that an index follows, if there is one, and how many of the trailers belong to it.
    pub(crate) fn indexed_list(
        &mut self,
        value: &Expr<'t>,
        trailers: &[Trailer<'t>],
    ) -> Result<Option<(Operand, usize)>> {
        let (list, used) = match (&value.kind, trailers) {
            (ExprKind::Comprehension(_), [Trailer::Index(_), ..]) => (self.sequence(value)?, 0),
            (_, [Trailer::Index(_), ..]) if self.is_list(value) => {
                ((self.list(value)?, Made::List), 0)
            }
            (_, [Trailer::Call(arguments), Trailer::Index(_), ..]) if self.means_builtin(value) => {
                (self.call_of_builtin(value.token, arguments)?, 1)
            }
            _ => return Ok(None),
        };
        if list.1 == Made::Iterator {
            return Err(self.expects(value.token, "what has indices"));
        }
        Ok(Some((list.0, used)))
    }

    /// Checks that a value is a tuple whatever the grid is.
    fn certainly_tuple(
        &mut self,
        value: &Operand,
        token: Token<'t>,
        expected: &'static str,
    ) -> Result<()> {
        match self.kind_of(value, token) {
            Some(ContainerKind::Tuple) => Ok(()),
            _ => Err(self.expects(token, expected)),
        }
    }

    /// Whether a value is certainly a tuple or a set, maybe of functions, which have no type.
    pub(super) fn kind_of(&mut self, value: &Operand, token: Token<'t>) -> Option<ContainerKind> {
        let mut value = value.clone();
        loop {
            if let Some(ty) = self.certain(&value, token) {
                return ty.container();
            }
            let Operand::Slot(slot) = value else {
                return Some(constant(&value)?.as_container()?.kind);
            };
            let step = self.scope.as_ref()?.builder.step_of(slot)?;
            let place = match step.callee {
                Callee::Primitive(Primitive::Identity | Primitive::Combine | Primitive::Merge) => 0,
                Callee::Primitive(Primitive::Apply) => 1,
                Callee::Primitive(Primitive::Astuple | Primitive::Repeat | Primitive::Totuple) => {
                    return Some(ContainerKind::Tuple);
                }
                _ => return None,
            };
            value = step.arguments[place].clone();
        }
    }

    pub(crate) fn expects(&self, token: Token<'t>, expected: &'static str) -> ParseError {
        let found = described(token);
        self.error(token, ParseErrorKind::Expected { expected, found })
    }

    /// Adds a step with a generated name.
    pub(crate) fn made<const N: usize>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_derived_function_is_read() {
        assert_eq!(
            DERIVED.len(),
            include_str!("derived.py").matches("\ndef ").count()
        );
    }
}
