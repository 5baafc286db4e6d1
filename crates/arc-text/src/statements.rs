//! Lowers functions statement by statement.

use std::collections::HashSet;

use arc_dsl::{BuildError, Callee, Dialect, Operand, ProgramBuilder, Slot, TypedPrimitive, Value};
use arc_isa::{Primitive, Type, ValueType};

use crate::error::{ParseError, ParseErrorKind};
use crate::expression::{Expression, OF_A_LIST};
use crate::globals::Binding;
use crate::lexer::Token;
use crate::module::Given;
use crate::module::lowering::{IS_GRID, KnownType, Lowering, Parsed, Scope, constant};
use crate::names;
use crate::syntax::{MAX_NESTING, MOST_NESTED};
use crate::tokens::{Result, told, unusable};
use crate::tree::{
    Argument, Body, Choice, Expr, ExprKind, Function, Import, ParameterKind, ParameterTree,
    Statement, StatementKind, Target, all_names, names_set, names_used,
};

/// The maximum number of inputs of a derived operation.
const MOST_INPUTS: usize = 4;

/// A parameter of a function.
pub(super) struct Parameter<'t> {
    pub(super) token: Token<'t>,
    /// The name of the input.
    input: String,
    kind: ParameterKind,
    /// Its value if no argument is given.
    default: Option<Operand>,
}

impl<'t> Parameter<'t> {
    /// A parameter that no expression can refer to, since its text is not a name.
    pub(super) fn unnamed(token: Token<'t>) -> Self {
        Self::named(token, token.text.to_owned())
    }

    /// A parameter without a default.
    pub(super) fn named(token: Token<'t>, input: String) -> Self {
        Self {
            token,
            input,
            kind: ParameterKind::Any,
            default: None,
        }
    }
}

impl<'t> Lowering<'_, 't> {
    /// A function of the text: its name, the token at which its errors are, and itself.
    pub(super) fn function(
        &mut self,
        name: &str,
        token: Token<'t>,
        function: &Function<'t>,
    ) -> Result<Parsed> {
        let parameters = self.parameters(&function.parameters)?;
        self.fits(function.open, &parameters)?;
        self.begin(name, token.line, &parameters, &[]);
        if let Some(scope) = &mut self.scope {
            let mut set = Vec::new();
            names_set(&function.body.statements, &mut |name| set.push(name));
            scope.sets_names(&set);
            scope.is_function = true;
            let is_of_any_kind = self.module.is_some_and(|module| module.lists_all);
            scope.types = vec![KnownType::default(); parameters.len()];
            match std::mem::take(&mut self.given) {
                Given::Grid
                    if self.dialect == Dialect::Public
                        && !is_of_any_kind
                        && !parameters.is_empty() =>
                {
                    scope.types[input_of(&parameters)] = KnownType {
                        ty: Some(ValueType::Grid),
                        assumes: IS_GRID,
                    };
                }
                Given::Grid => {}
                Given::Types(types) => {
                    for (known, ty) in scope.types.iter_mut().zip(types) {
                        known.ty = ty;
                    }
                }
                Given::Nothing => return self.finish(token, Value::Nothing.into(), parameters),
            }
        }
        let Some(output) = self.body(&function.body)? else {
            let name = told(name);
            return self.fail(token, ParseErrorKind::NoReturn { name });
        };
        self.finish(token, output, parameters)
    }

    /// A value that the text sets; `element` selects an element of a tuple, with the number of elements.
    pub(super) fn value(
        &mut self,
        expr: &Expr<'t>,
        element: Option<(usize, usize)>,
    ) -> Result<Parsed> {
        self.begin("value", expr.token.line, &[], &[]);
        let expression = self.lower(expr)?;
        let output = match element {
            None => self.operand(expression)?,
            Some((at, of)) => self
                .taken_apart(expression, of, expr.token)?
                .swap_remove(at),
        };
        self.finish(expr.token, output, Vec::new())
    }

    /// Begins a function with these parameters; captured variables become additional inputs.
    pub(super) fn begin(
        &mut self,
        name: &str,
        line: u32,
        parameters: &[Parameter<'t>],
        captured: &[&'t str],
    ) {
        let inputs = parameters.iter().map(|parameter| parameter.input.clone());
        let inputs = inputs.chain(captured.iter().map(|&name| name.to_owned()));
        let mut builder = ProgramBuilder::in_dialect(self.dialect, name, inputs.collect(), line);
        for parameter in parameters {
            if parameter.input != parameter.token.text
                && let Some(slot) = builder.variable(&parameter.input)
            {
                builder.alias(parameter.token.text, slot);
            }
        }
        self.scope = Some(Scope::new(builder));
    }

    /// Ends the function, with `output` as its result.
    pub(super) fn finish(
        &mut self,
        token: Token<'t>,
        output: Operand,
        parameters: Vec<Parameter<'t>>,
    ) -> Result<Parsed> {
        let returns = self.known_type(&output);
        let Some(scope) = self.scope.take() else {
            return self.fail(token, ParseErrorKind::NotLiteral);
        };
        let needs_grid = scope.assumes & IS_GRID != 0;
        let program = scope.builder.finish(output);
        let program = program.map_err(|error| self.error(token, error.into()))?;
        let names = parameters.iter().map(|it| it.token.text.to_owned());
        Ok(Parsed {
            grid: needs_grid.then(|| input_of(&parameters)),
            program,
            returns,
            parameters: names.collect(),
            kinds: parameters.iter().map(|it| it.kind).collect(),
            defaults: parameters.into_iter().map(|it| it.default).collect(),
        })
    }

    /// Checks that the parameters are ones that a function of this text may have.
    fn fits(&self, token: Token<'t>, parameters: &[Parameter<'t>]) -> Result<()> {
        if parameters
            .first()
            .is_some_and(|input| input.token.text == "task_id")
        {
            return self.fail(token, ParseErrorKind::Batt);
        }
        let only_functions = self.module.is_some_and(|module| module.lists_all);
        if only_functions && !(1..=MOST_INPUTS).contains(&parameters.len()) {
            let kind = ParseErrorKind::Expected {
                expected: "1 to 4 parameters",
                found: parameters.len().to_string(),
            };
            return self.fail(token, kind);
        }
        Ok(())
    }

    /// The parameters of a function with their defaults.
    pub(super) fn parameters(&mut self, trees: &[ParameterTree<'t>]) -> Result<Vec<Parameter<'t>>> {
        let mut parameters = Vec::with_capacity(trees.len());
        for ParameterTree {
            token,
            kind,
            default,
        } in trees
        {
            let mut value = None;
            if let Some(default) = default {
                // Python evaluates a default where the function is defined.
                let late = self.at;
                if self.scope.is_none() {
                    self.at = self.defined;
                }
                let given = self.argument(default);
                self.at = late;
                value = Some(given?).filter(|value| !matches!(value, Operand::Slot(_)));
                if value.is_none() {
                    let expected = "a default that is known before the program runs";
                    return Err(self.expects(default.token, expected));
                }
            }
            parameters.push(Parameter {
                token: *token,
                input: self.input_name(*token, parameters.len()),
                kind: *kind,
                default: value,
            });
        }
        Ok(parameters)
    }

    /// The name of an input: that of the parameter, unless the DSL uses it.
    pub(super) fn input_name(&self, token: Token<'t>, at: usize) -> String {
        if names::owner(self.dialect, token.text).is_none() {
            return token.text.to_owned();
        }
        let is_free = |name: &String| !self.tokens.iter().any(|it| it.text == *name);
        let mut names = (at + 1..).map(|number| format!("i{number}"));
        names.find(is_free).unwrap_or_default()
    }

    /// The statements of a function; returns the output if there is a `return`.
    pub(super) fn body(&mut self, body: &Body<'t>) -> Result<Option<Operand>> {
        self.parts(&[Part::Body(&body.statements, body.error.as_ref())])
    }

    /// Statements, one part after the other; returns the output if there is a `return`.
    fn parts(&mut self, parts: &[Part<'_, 't>]) -> Result<Option<Operand>> {
        for (at, part) in parts.iter().enumerate() {
            let (statements, error) = match *part {
                Part::Body(statements, error) => (statements, error),
                Part::Choices(choices, otherwise) if part.has_return() => {
                    let output = self.returning_if(choices, otherwise, &parts[at + 1..]);
                    return output.map(Some);
                }
                Part::Choices(choices, otherwise) => {
                    self.joining_if(choices, otherwise)?;
                    continue;
                }
            };
            let mut output = None;
            for (place, statement) in statements.iter().enumerate() {
                if let StatementKind::If(branches) = &statement.kind
                    && has_return(std::slice::from_ref(statement))
                {
                    let mut rest = vec![Part::Body(&statements[place + 1..], error)];
                    rest.extend_from_slice(&parts[at + 1..]);
                    return self.returning_if(&branches.0, &branches.1, &rest).map(Some);
                }
                self.statement(statement, &mut output)?;
            }
            if let Some(error) = error {
                return Err(error.clone());
            }
            if output.is_some() {
                return Ok(output);
            }
        }
        Ok(None)
    }

    /// An `if` with a `return` in a branch; the other one goes on with the rest.
    fn returning_if(
        &mut self,
        choices: &[Choice<'t>],
        otherwise: &Body<'t>,
        rest: &[Part<'_, 't>],
    ) -> Result<Operand> {
        let Some((first, more)) = choices.split_first() else {
            return Err(self.error(self.tokens[0], ParseErrorKind::NotLiteral));
        };
        let token = first.token;
        let no_return = |lowering: &Self| {
            let expected =
                "a `return` at the end of one branch at least, and at the end of the function";
            lowering.expects(token, expected)
        };
        let (decided, last) = decided(choices, otherwise, rest);
        if decided.len() > MOST_NESTED {
            let conditions: Vec<_> = decided.iter().map(|it| &it.condition).collect();
            let parts = |at: usize| match decided.get(at) {
                Some(choice) => vec![choice.body.part()],
                None => last.clone(),
            };
            return self.looked_up(
                token,
                &conditions,
                |at, used| parts(at).iter().for_each(|part| part.names(used)),
                |lowering, at| {
                    let output = lowering.parts(&parts(at))?;
                    output.ok_or_else(|| no_return(lowering))
                },
            );
        }
        let branches = [first.body.part(), Part::behind(more, otherwise)];
        // Otherwise the rest would be lowered once for each way to it.
        if !branches.iter().any(Part::always_returns) {
            return Err(no_return(self));
        }
        if self.depth >= MAX_NESTING {
            let expected = "at most 100 branches inside each other, of which what follows an `if` with a `return` is one";
            let found = "more".to_owned();
            return self.fail(token, ParseErrorKind::Expected { expected, found });
        }
        let condition = self.argument(&first.condition)?;
        let [yes, no] = branches.map(|branch| {
            let mut parts = vec![branch];
            if !branch.always_returns() {
                parts.extend_from_slice(rest);
            }
            let mut used = Vec::new();
            for part in &parts {
                part.names(&mut |name| used.push(name));
            }
            self.lazily(token, &used, |lowering| {
                let output = lowering.parts(&parts)?;
                output.ok_or_else(|| no_return(lowering))
            })
        });
        let chosen = self.chosen(token, condition, yes?, no?, KnownType::default())?;
        self.operand(chosen)
    }

    /// An `if` whose branches set variables.
    fn joining_if(&mut self, choices: &[Choice<'t>], otherwise: &Body<'t>) -> Result<()> {
        let Some((first, more)) = choices.split_first() else {
            return Ok(());
        };
        let token = first.token;
        let parts: Vec<_> = if choices.len() > MOST_NESTED {
            let bodies = choices.iter().map(|choice| &choice.body);
            bodies.chain([otherwise]).map(Body::part).collect()
        } else {
            vec![first.body.part(), Part::behind(more, otherwise)]
        };
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        for part in &parts {
            part.names_set(&mut |name| {
                if seen.insert(name.text) {
                    all.push(name);
                }
            });
        }
        let surely: Vec<_> = parts.iter().map(Part::surely_set).collect();
        let is_set = |name: &str| {
            let variable = |scope: &Scope<'_>| scope.builder.variable(name).is_some();
            self.scope.as_ref().is_some_and(variable) || surely.iter().all(|it| it.contains(name))
        };
        let (joint, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| is_set(it.text));
        let (mut types, mut sets) = (Vec::new(), HashSet::new());
        let names = |at: usize, used: &mut dyn FnMut(Token<'t>)| {
            joint.iter().copied().for_each(&mut *used);
            parts[at].names_used(used);
        };
        let mut lower = |lowering: &mut Self, at: usize| {
            lowering.parts(&parts[at..=at])?;
            let scope = lowering.scope.iter();
            sets.extend(scope.flat_map(|scope| scope.unhashable.iter().copied()));
            let lists = lowering.scope.as_ref().map(|scope| &scope.lists);
            let mut joint_lists = joint
                .iter()
                .filter(|name| lists.is_some_and(|it| it.contains(name.text)));
            if let Some(list) = joint_lists.next() {
                return Err(lowering.expects(*list, OF_A_LIST));
            }
            lowering.joined_values(token, &joint, &mut types)
        };
        let mut rest = if choices.len() > MOST_NESTED {
            let conditions: Vec<_> = choices.iter().map(|it| &it.condition).collect();
            self.looked_up(token, &conditions, names, lower)?
        } else {
            let condition = self.argument(&first.condition)?;
            let [yes, no] = [0, 1].map(|at| {
                let mut used = Vec::new();
                names(at, &mut |name| used.push(name));
                self.lazily(token, &used, |lowering| lower(lowering, at))
            });
            let chosen = self.chosen(token, condition, yes?, no?, KnownType::default())?;
            self.operand(chosen)?
        };
        for (at, name) in joint.iter().enumerate() {
            let mut value = rest.clone();
            if at + 1 < joint.len() {
                value = self.made(token, Primitive::First, [rest.clone()])?;
                rest = self.made(token, Primitive::Last, [rest])?;
            }
            let mut others = types.iter().skip(at).step_by(joint.len());
            let ty = types[at].clone();
            let value = self.typed(value, ty.filter(|_| others.all(|it| *it == types[at])));
            self.assign(*name, Expression::of(value), token)?;
        }
        self.mark_sets(joint.iter().filter(|name| sets.contains(name.text)));
        if let Some(scope) = &mut self.scope {
            for name in others {
                let why = format!("only one branch of the `if` on line {} sets it", token.line);
                let binding = (name.line, Binding::Other(why));
                scope.imported.insert(name.text, binding);
            }
        }
        Ok(())
    }

    /// The values of these variables at the end of a branch, as pairs within pairs, and their types.
    fn joined_values(
        &mut self,
        token: Token<'t>,
        names: &[Token<'t>],
        types: &mut Vec<Option<ValueType>>,
    ) -> Result<Operand> {
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let scope = self.scope.as_ref();
            let Some(slot) = scope.and_then(|scope| scope.builder.variable(name.text)) else {
                return Err(self.expects(*name, "a branch that sets values"));
            };
            types.push(self.certain(&Operand::Slot(slot), token));
            values.push(Operand::Slot(slot));
        }
        let Some(mut joined) = values.pop() else {
            return Ok(Value::Int(0).into());
        };
        while let Some(value) = values.pop() {
            joined = self.made(token, Primitive::Astuple, [value, joined])?;
        }
        Ok(joined)
    }

    /// A statement; sets the output if it is a `return`.
    pub(super) fn statement(
        &mut self,
        statement: &Statement<'t>,
        output: &mut Option<Operand>,
    ) -> Result<()> {
        match &statement.kind {
            StatementKind::Return(value) => *output = Some(self.argument(value)?),
            StatementKind::Assign(name, value) => {
                if let ExprKind::Lambda(function) = &value.kind {
                    return self.define(*name, function);
                }
                let (is_set, is_list) = (self.is_set(value), self.is_list(value));
                let expression = if is_list {
                    Expression::Inlined(self.list(value)?)
                } else {
                    self.lower(value)?
                };
                self.assign(*name, expression, value.token)?;
                self.mark_sets(is_set.then_some(name));
                if let Some(scope) = &mut self.scope {
                    scope.lists.extend(is_list.then_some(name.text));
                }
            }
            StatementKind::AssignAll(targets, value) => {
                self.assign_all(&targets.0, &targets.1, value)?;
            }
            StatementKind::Augment(tokens, value) => {
                let target = Expr {
                    token: tokens[0],
                    kind: ExprKind::Name,
                };
                let is_set = self.is_set(&target) || self.is_set(value);
                let value = self.augmented(**tokens, value)?;
                self.assign(tokens[0], value, statement.token)?;
                self.mark_sets(is_set.then_some(&tokens[0]));
            }
            StatementKind::If(branches) => self.joining_if(&branches.0, &branches.1)?,
            StatementKind::Define(function) => self.define(function.name, function)?,
            StatementKind::Import(import) => self.local_import(statement.token, import)?,
            StatementKind::Print(printed) => self.print(statement.token, printed)?,
        }
        Ok(())
    }

    /// An import within a program, which binds names there.
    pub(super) fn local_import(&mut self, token: Token<'t>, import: &Import<'t>) -> Result<()> {
        let imports = self.imports(import);
        let hides = |star| self.module.is_some_and(|it| it.globals.may_hide(star));
        if self.scope.is_some() && imports.star.is_some_and(hides) {
            let why = "it may hide the DSL's names";
            return self.fail(token, unusable("*", token.line, why));
        }
        for (name, binding) in imports.names {
            self.sets(name)?;
            if let Some(scope) = &mut self.scope {
                scope.imported.insert(name.text, (name.line, binding));
            }
        }
        Ok(())
    }

    /// What is printed is passed over, but it may fail.
    fn print(&mut self, print: Token<'t>, printed: &[Argument<'t>]) -> Result<()> {
        let Some(scope) = &self.scope else {
            return Ok(());
        };
        if scope.builder.variable(print.text).is_some() {
            return Err(self.expects(print, "Python's `print`, which is passed over"));
        }
        for Argument { keyword, value } in printed {
            match (keyword, &value.kind) {
                (None, ExprKind::Foreign) => {}
                (None, _) => {
                    self.elements(value)?;
                }
                (Some(it), ExprKind::Foreign) if matches!(it.text, "sep" | "end") => {}
                (Some(it), ExprKind::Word)
                    if matches!(
                        (it.text, value.token.text),
                        ("sep" | "end" | "file", "None") | ("flush", "True" | "False")
                    ) => {}
                (Some(keyword), _) => {
                    let expected = "in `print(..)`, which is passed over, no names but `sep=\"..\"`, `end=\"..\"` and \
                                    `flush=True`";
                    return Err(self.expects(*keyword, expected));
                }
            }
        }
        Ok(())
    }

    /// `a = b = value` or `a, b = value`
    fn assign_all(
        &mut self,
        target: &Target<'t>,
        chained: &[Token<'t>],
        value: &Expr<'t>,
    ) -> Result<()> {
        let token = value.token;
        if let Target::Parts(parts) = target {
            if let [other, ..] = chained[..] {
                return Err(self.expects(other, "one name on each side of `=`"));
            }
            let expression = self.lower(value)?;
            let are_sets: Vec<bool> = match &value.kind {
                ExprKind::Tuple(elements) => elements.iter().map(|it| self.is_set(it)).collect(),
                _ => vec![self.is_set(value); parts.len()],
            };
            let values = self.taken_apart(expression, parts.len(), token)?;
            for ((part, value), is_set) in parts.iter().zip(values).zip(are_sets) {
                let (mut bound, mut names) = (Vec::new(), Vec::new());
                self.unpacked(part, Expression::Inlined(value), token, &mut bound)?;
                for (name, value) in bound {
                    self.assign(name, Expression::Inlined(value), token)?;
                    names.push(name);
                }
                self.mark_sets(names.iter().filter(|_| is_set));
            }
            return Ok(());
        }
        // Python assigns to chained targets from left to right.
        let is_set = self.is_set(value);
        let value = self.argument(value)?;
        let mut names = Vec::new();
        target.names(&mut |name| names.push(name));
        names.extend(chained);
        for name in &names {
            self.assign(*name, Expression::Inlined(value.clone()), token)?;
        }
        self.mark_sets(names.iter().filter(|_| is_set));
        Ok(())
    }

    /// The names of a target, each with the part of a value that it is bound to.
    pub(super) fn unpacked(
        &mut self,
        target: &Target<'t>,
        value: Expression<'t>,
        token: Token<'t>,
        bound: &mut Vec<(Token<'t>, Operand)>,
    ) -> Result<()> {
        match target {
            Target::Name(name) => bound.push((*name, self.operand(value)?)),
            Target::Parts(parts) => {
                let values = self.taken_apart(value, parts.len(), token)?;
                for (part, value) in parts.iter().zip(values) {
                    self.unpacked(part, Expression::Inlined(value), token, bound)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that a name may be set here: no function value depends on it. The name no longer refers to a function.
    pub(super) fn sets(&mut self, target: Token<'t>) -> Result<()> {
        let Some(scope) = &mut self.scope else {
            return Ok(());
        };
        if let Some(&line) = scope.frozen.get(target.text) {
            let name = told(target.text);
            return self.fail(target, ParseErrorKind::SetAgain { name, line });
        }
        if !scope.functions.is_empty() {
            scope.functions.remove(target.text);
        }
        scope.unhashable.remove(target.text);
        scope.lists.remove(target.text);
        Ok(())
    }

    pub(super) fn is_set(&self, value: &Expr<'t>) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.is_set(value))
    }

    /// Records that these variables are sets in braces, or tuples with such.
    fn mark_sets<'n>(&mut self, names: impl IntoIterator<Item = &'n Token<'t>>)
    where
        't: 'n,
    {
        if let Some(scope) = &mut self.scope {
            scope
                .unhashable
                .extend(names.into_iter().map(|name| name.text));
        }
    }

    /// Gives a variable its value.
    fn assign(
        &mut self,
        target: Token<'t>,
        expression: Expression<'t>,
        token: Token<'t>,
    ) -> Result<()> {
        self.sets(target)?;
        let is_own = self.is_own_name(target)?;
        let expression = self.with_call(expression)?;
        let only_functions = self.module.is_some_and(|module| module.lists_all);
        let (callee, arguments, token) = match expression {
            Expression::Call {
                callee,
                arguments,
                token,
            } => (callee, arguments, token),
            Expression::Inlined(Operand::Slot(slot)) => {
                self.alias(target, slot);
                return Ok(());
            }
            // The result of a function needs no step to get a name.
            Expression::Operand(Operand::Slot(slot)) if only_functions => {
                self.alias(target, slot);
                return Ok(());
            }
            Expression::Operand(operand) | Expression::Inlined(operand) => {
                let identity = match self.dialect {
                    Dialect::Public => Primitive::Identity.into(),
                    Dialect::Typed => TypedPrimitive::Identity.into(),
                };
                (identity, [operand].into(), token)
            }
            Expression::Tuple { token, .. } => {
                return self.fail(token, ParseErrorKind::NotLiteral);
            }
        };
        let name = if is_own {
            target.text.to_owned()
        } else {
            self.generate_name()
        };
        match self.step(token, name, callee, arguments)? {
            Operand::Slot(slot) if !is_own => self.alias(target, slot),
            _ => self.forget_import(target),
        }
        Ok(())
    }

    fn alias(&mut self, target: Token<'t>, slot: Slot) {
        self.forget_import(target);
        if let Some(scope) = &mut self.scope {
            scope.builder.alias(target.text, slot);
        }
    }

    pub(super) fn forget_import(&mut self, target: Token<'t>) {
        if let Some(scope) = &mut self.scope
            && !scope.imported.is_empty()
        {
            scope.imported.remove(target.text);
        }
    }

    /// Whether the program's variable can have the name that it has in the text: not if a variable already has it or
    /// the language uses it.
    pub(super) fn is_own_name(&self, target: Token<'t>) -> Result<bool> {
        let scope = self.scope.as_ref();
        let variable = scope.and_then(|scope| scope.builder.variable(target.text));
        if variable.is_some() || scope.is_some_and(|it| it.imported.contains_key(target.text)) {
            return Ok(false);
        }
        let owner = names::owner(self.dialect, target.text);
        if let Some(owner @ "literal") = owner {
            let name = told(target.text);
            return self.fail(target, ParseErrorKind::NameTaken { name, owner });
        }
        Ok(owner.is_none())
    }

    /// The elements of a value that is unpacked into this many variables.
    pub(super) fn taken_apart(
        &mut self,
        expression: Expression<'t>,
        names: usize,
        token: Token<'t>,
    ) -> Result<Vec<Operand>> {
        let found = match expression {
            Expression::Tuple { elements, .. } if elements.len() == names => return Ok(elements),
            Expression::Tuple { elements, .. } => elements.len().to_string(),
            other => {
                let value = self.operand(other)?;
                match self.elements_of(&value, names, token)? {
                    Some(elements) => return Ok(elements),
                    None => match constant(&value) {
                        Some(value) => format!("`{}`", told(&value.to_string())),
                        None => "a value whose elements are counted only when the program runs"
                            .to_owned(),
                    },
                }
            }
        };
        self.fail(token, ParseErrorKind::Unpacked { names, found })
    }

    /// The elements of a value, if it is known to have this many.
    fn elements_of(
        &mut self,
        value: &Operand,
        names: usize,
        token: Token<'t>,
    ) -> Result<Option<Vec<Operand>>> {
        let Operand::Slot(slot) = value else {
            let Some(value) = constant(value) else {
                return Ok(None);
            };
            let elements = value.as_tuple();
            let elements = elements.filter(|elements| elements.len() == names);
            let elements = elements.map(|elements| {
                let elements = elements.iter();
                elements
                    .map(|element| element.into_owned().into())
                    .collect()
            });
            return Ok(elements);
        };
        let scope = self.scope.as_ref();
        let mut is_sure = false;
        if let Some(step) = scope.and_then(|scope| scope.builder.step_of(*slot))
            && let Callee::Primitive(primitive) = step.callee
        {
            if primitive == Primitive::Astuple && names == 2 {
                return Ok(Some(step.arguments.to_vec()));
            }
            let splits = matches!(primitive, Primitive::Hsplit | Primitive::Vsplit);
            let parts = step.arguments.get(1).and_then(constant);
            is_sure = splits && parts == Some(Value::Int(names as i32))
                || names == 2 && primitive.returns() == Type::IntegerTuple;
        }
        let has_as_many = |ty: ValueType| ty.items().is_some_and(|items| items.len() == names);
        if !is_sure && !self.certain(value, token).is_some_and(has_as_many) {
            return Ok(None);
        }
        let mut elements = Vec::new();
        for at in 0..names {
            elements.push(match at {
                0 => self.made(token, Primitive::First, [value.clone()])?,
                _ if at + 1 == names => self.made(token, Primitive::Last, [value.clone()])?,
                _ => {
                    let place = Value::Int(at as i32).into();
                    self.derived(token, "element", &[value.clone(), place])?
                }
            });
        }
        Ok(Some(elements))
    }

    /// Checks that no variable has this name and the language does not use it.
    pub(super) fn check_free(&self, token: Token<'t>) -> Result<()> {
        if let Some(owner) = names::owner(self.dialect, token.text) {
            let kind = ParseErrorKind::NameTaken {
                name: told(token.text),
                owner,
            };
            return self.fail(token, kind);
        }
        let scope = self.scope.as_ref();
        match scope.and_then(|scope| scope.builder.variable(token.text)) {
            Some(_) => self.fail(token, BuildError::Reassigned(told(token.text)).into()),
            None => Ok(()),
        }
    }
}

/// A part of a body.
#[derive(Clone, Copy)]
enum Part<'a, 't> {
    /// Statements, and what is wrong behind them.
    Body(&'a [Statement<'t>], Option<&'a ParseError>),
    /// The rest of an `if`, from an `elif` on.
    Choices(&'a [Choice<'t>], &'a Body<'t>),
}

impl<'t> Body<'t> {
    fn part(&self) -> Part<'_, 't> {
        Part::Body(&self.statements, self.error.as_ref())
    }
}

impl<'a, 't> Part<'a, 't> {
    /// What is done unless the conditions before these choices are true.
    fn behind(choices: &'a [Choice<'t>], otherwise: &'a Body<'t>) -> Self {
        if choices.is_empty() {
            return otherwise.part();
        }
        Part::Choices(choices, otherwise)
    }

    /// The statements in it, branch by branch, the last one what is behind `else`.
    fn branches(self) -> impl Iterator<Item = &'a [Statement<'t>]> {
        let (choices, last) = match self {
            Part::Body(statements, _) => (&[][..], statements),
            Part::Choices(choices, otherwise) => (choices, &otherwise.statements[..]),
        };
        let bodies = choices.iter().map(|choice| &choice.body.statements[..]);
        bodies.chain([last])
    }

    fn names_used(self, found: &mut dyn FnMut(Token<'t>)) {
        if let Part::Choices(choices, _) = self {
            all_names(choices.iter().map(|it| &it.condition), found);
        }
        self.branches().for_each(|it| names_used(it, found));
    }

    fn names_set(self, found: &mut dyn FnMut(Token<'t>)) {
        self.branches().for_each(|it| names_set(it, found));
    }

    /// Passes all names that it uses or sets.
    fn names(self, found: &mut dyn FnMut(Token<'t>)) {
        self.names_used(found);
        self.names_set(found);
    }

    /// The names that it sets whichever branches it takes.
    fn surely_set(&self) -> HashSet<&'t str> {
        let sets = self.branches().map(surely_set);
        let both = |a: HashSet<&'t str>, b| a.intersection(&b).copied().collect();
        sets.reduce(both).unwrap_or_default()
    }

    fn has_return(&self) -> bool {
        self.branches().any(has_return)
    }

    fn always_returns(&self) -> bool {
        self.branches().all(always_returns)
    }
}

/// The choices that end the function, one after the other, and what is done if none is taken.
fn decided<'a, 't>(
    choices: &'a [Choice<'t>],
    otherwise: &'a Body<'t>,
    rest: &[Part<'a, 't>],
) -> (Vec<&'a Choice<'t>>, Vec<Part<'a, 't>>) {
    let mut decided = Vec::new();
    let mut parts = vec![Part::Choices(choices, otherwise)];
    parts.extend_from_slice(rest);
    // The next part is the last one.
    parts.reverse();
    while let Some(part) = parts.pop() {
        match part {
            Part::Choices([first, more @ ..], otherwise)
                if always_returns(&first.body.statements) =>
            {
                decided.push(first);
                parts.push(Part::behind(more, otherwise));
            }
            Part::Body([], None) => {}
            Part::Body([first, more @ ..], error) if let StatementKind::If(it) = &first.kind => {
                parts.push(Part::Body(more, error));
                parts.push(Part::Choices(&it.0, &it.1));
            }
            part => {
                parts.push(part);
                break;
            }
        }
    }
    parts.reverse();
    (decided, parts)
}

/// The names that statements set whichever branches they take.
fn surely_set<'t>(statements: &[Statement<'t>]) -> HashSet<&'t str> {
    let mut set = HashSet::new();
    for statement in statements {
        if let StatementKind::If(it) = &statement.kind {
            set.extend(Part::Choices(&it.0, &it.1).surely_set());
        } else {
            names_set(std::slice::from_ref(statement), &mut |name| {
                set.insert(name.text);
            });
        }
    }
    set
}

/// Whether there is a `return` among statements, or in their branches.
fn has_return(statements: &[Statement<'_>]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::If(it) => Part::Choices(&it.0, &it.1).has_return(),
        _ => false,
    })
}

/// Whether statements end with a `return`, or with an `if` both of whose branches do.
fn always_returns(statements: &[Statement<'_>]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::If(it) => Part::Choices(&it.0, &it.1).always_returns(),
        _ => false,
    })
}

/// Which parameter is the input of a program: the first, or the second of `(S, I)`.
fn input_of(parameters: &[Parameter<'_>]) -> usize {
    let mut names = parameters.iter().map(|it| it.token.text);
    usize::from(names.next() == Some("S") && names.next() == Some("I"))
}
