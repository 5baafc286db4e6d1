//! [`Lowering`]: builds a program from the syntax tree of a function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use arc_dsl::{Callee, Dialect, Operand, Program, ProgramBuilder, Slot, Step, Value};
use arc_isa::{Primitive, ValueType};
use rustc_hash::FxBuildHasher;

use crate::error::{ParseError, ParseErrorKind};
use crate::globals::{Binding, LATE};
use crate::lexer::{Block, Token};
use crate::module::{Given, Module};
use crate::tokens::{Result, error_at};
use crate::tree::{Expr, ExprKind, Function, ParameterKind, Trailer};

/// Builds the program of a function, or a value, of one [`Block`].
pub(crate) struct Lowering<'b, 't> {
    text: &'t str,
    /// The tokens of the block.
    pub(crate) tokens: &'b [Token<'t>],
    /// The dialect in which names are looked up.
    pub(crate) dialect: Dialect,
    /// The program whose body is being lowered; `None` in its first line, and for a literal.
    pub(crate) scope: Option<Scope<'t>>,
    /// The text around the block; `None` if there is none.
    pub(crate) module: Option<&'b Module<'t>>,
    /// When names that the text binds are looked up.
    pub(crate) at: u32,
    /// When the function is defined.
    pub(crate) defined: u32,
    /// Whether the argument being lowered is a function that the callee only calls.
    pub(crate) is_only_called: bool,
    /// Whether the generator that is lowered next is iterated over by a comprehension, round by round.
    pub(crate) is_taken: bool,
    /// Whether the elements of the generator that was lowered last are late.
    pub(crate) has_late: bool,
    /// The functions that are read where they are used.
    pub(crate) open: Vec<Rc<Function<'t>>>,
    /// How many functions are being lowered within each other.
    pub(crate) depth: u32,
    /// The type of the elements with which the function that is lowered next is called.
    pub(crate) element: KnownType,
    /// The arguments for which the function is lowered.
    pub(crate) given: Given,
    /// Names in the block that a generated name must differ from; collected when the first one is needed.
    avoided: Option<HashSet<&'t str>>,
    /// A function that has to be lowered before this one can be.
    pub(crate) needs: Option<usize>,
}

/// A function or a value of a text.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// Its steps; for a value, a program without inputs.
    pub(crate) program: Program,
    /// The names of the parameters, for arguments by keyword.
    pub(crate) parameters: Vec<String>,
    pub(crate) kinds: Vec<ParameterKind>,
    /// The default of each parameter, if it has one.
    pub(crate) defaults: Vec<Option<Operand>>,
    /// The parameter that has to be a grid, if the steps are right only then.
    pub(crate) grid: Option<usize>,
    /// The type of the result.
    pub(crate) returns: KnownType,
}

/// A function that a program defines.
#[derive(Debug, Clone)]
pub(crate) struct LocalFunction<'t> {
    pub(crate) line: u32,
    pub(crate) parsed: Rc<Parsed>,
    /// The variables of the enclosing scope that are its inputs after the parameters.
    pub(crate) captured: Rc<[&'t str]>,
    /// The names of the enclosing scope that must not be set again once it is used.
    pub(crate) frozen: Rc<[&'t str]>,
    /// Whether it is defined in a scope that encloses the current function.
    pub(crate) is_around: bool,
    /// A name that it uses and that means something else in a scope between these.
    pub(crate) hidden: Option<&'t str>,
    /// Whether its result holds a function that uses a variable of a comprehension around it.
    pub(crate) is_late: bool,
    /// The function, if it is read where it is used, for the types of its arguments there, and why it could not be read
    /// before; `parsed` has its parameters alone.
    pub(crate) unread: Option<(Rc<Function<'t>>, Option<ParseError>)>,
}

/// The type of a variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownType {
    /// The type of all its values, if there is one.
    pub(crate) ty: Option<ValueType>,
    /// From what that follows.
    pub(crate) assumes: u8,
}

/// The input is a grid.
pub(crate) const IS_GRID: u8 = 1;

/// A function is called with the elements of a container.
pub(crate) const IS_ELEMENT: u8 = 2;

impl From<Option<ValueType>> for KnownType {
    fn from(ty: Option<ValueType>) -> Self {
        Self { ty, assumes: 0 }
    }
}

impl KnownType {
    /// The type of a value that is one of two.
    pub(crate) fn and(self, other: &Self) -> Self {
        Self {
            assumes: self.assumes | other.assumes,
            ty: self.ty.filter(|ty| other.ty.as_ref() == Some(ty)),
        }
    }
}

/// Names, and lines that set them.
pub(crate) type Sets<'t> = HashMap<&'t str, u32, FxBuildHasher>;

/// A program that is being built.
pub(crate) struct Scope<'t> {
    pub(crate) builder: ProgramBuilder,
    /// The names that the program imports, with their lines.
    pub(crate) imported: HashMap<&'t str, (u32, Binding<'t>)>,
    /// The functions that it defines, and those of enclosing scopes that it uses.
    pub(crate) functions: HashMap<&'t str, LocalFunction<'t>>,
    /// The variables of the enclosing program that are inputs of it.
    pub(crate) captured: HashSet<&'t str>,
    /// Names that must not be set again, since a function on this line depends on their values.
    pub(crate) frozen: HashMap<&'t str, u32>,
    /// The types of the first variables.
    pub(crate) types: Vec<KnownType>,
    /// What variables return that are functions.
    pub(crate) results: HashMap<Slot, KnownType>,
    /// The variables that are sets in braces, or tuples with such, and the functions that return such.
    pub(crate) unhashable: HashSet<&'t str>,
    /// The variables that are lists: here the tuples of their elements.
    pub(crate) lists: HashSet<&'t str>,
    /// The variables of the comprehensions around.
    pub(crate) looped: HashSet<&'t str>,
    /// What is known to be late: variables that hold a function which uses one of these, and functions that return what
    /// does.
    pub(crate) late: HashMap<Slot, (bool, bool)>,
    /// What it is right for alone: in a program the input is a grid.
    pub(crate) assumes: u8,
    /// If it is called at once and only there, so that captured variables cannot change before: whether it relies on
    /// their types.
    pub(crate) relied: Option<bool>,
    /// Whether the captured variables have to keep their types.
    has_relied: bool,
    /// The names that it sets, each with the first line that does; after them those of the scopes around it.
    pub(crate) sets: Sets<'t>,
    /// Whether names that it sets have no value before, as in a function.
    pub(crate) is_function: bool,
    /// The number of the last generated name.
    generated: u32,
}

/// The primitives that return an integer or fail, whatever their arguments. Their signatures do not say that: `color`
/// returns whatever is in the place of a colour.
const COUNTS: &[Primitive] = &[
    Primitive::Size,
    Primitive::Height,
    Primitive::Width,
    Primitive::Numcolors,
    Primitive::Colorcount,
];

/// The primitives that return a truth value or fail, whatever their arguments. Their signatures do not say that: `both`
/// returns one of its arguments.
const COMPARES: &[Primitive] = &[
    Primitive::Equality,
    Primitive::Greater,
    Primitive::Contained,
    Primitive::Flip,
    Primitive::Even,
    Primitive::Positive,
    Primitive::Portrait,
    Primitive::Square,
];

/// Whether what a primitive returns is of the kind of the argument at this place, as in `type(container)(..)`.
fn keeps(primitive: Primitive, place: usize) -> bool {
    use Primitive as P;
    match primitive {
        P::Identity
        | P::Merge
        | P::Combine
        | P::Intersection
        | P::Difference
        | P::Sfilter
        | P::Mfilter
        | P::Toindices => place == 0,
        P::Remove | P::Insert | P::Apply | P::Mapply => place == 1,
        P::Branch => place > 0,
        P::Astuple => true,
        _ => false,
    }
}

/// Whether what a primitive returns may be the argument at this place, or hold it.
pub(crate) fn holds(primitive: Primitive, place: usize) -> bool {
    use Primitive as P;
    match primitive {
        P::First
        | P::Last
        | P::Extract
        | P::Order
        | P::Argmax
        | P::Argmin
        | P::Mostcommon
        | P::Leastcommon
        | P::Other
        | P::Repeat
        | P::Initset
        | P::Totuple
        | P::Dedupe
        | P::Hmirror
        | P::Power => place == 0,
        P::Insert
        | P::Pair
        | P::Product
        | P::Combine
        | P::Both
        | P::Either
        | P::Compose
        | P::Chain
        | P::Matcher
        | P::Rbind
        | P::Lbind
        | P::Fork => true,
        P::Apply | P::Mapply => false,
        _ => keeps(primitive, place),
    }
}

/// The type of what a primitive returns for arguments of these types, if they are known, and if it is certain.
fn result_type(primitive: Primitive, arguments: Option<Vec<ValueType>>) -> Option<ValueType> {
    if COUNTS.contains(&primitive) {
        return Some(ValueType::Int);
    }
    if COMPARES.contains(&primitive) {
        return Some(ValueType::Bool);
    }
    let typed = ValueType::of_call(primitive, &arguments?);
    typed.filter(|&(_, is_sure)| is_sure).map(|(ty, _)| ty)
}

impl<'t> Scope<'t> {
    /// Whether a value holds a function that uses a variable of a comprehension around.
    pub(crate) fn is_late(&self, value: &Operand) -> bool {
        let Some(slot) = value.slot().filter(|_| !self.late.is_empty()) else {
            return false;
        };
        let mut late: Vec<(bool, bool)> = Vec::with_capacity(slot.index() + 1);
        for at in (0..=slot.index()).map(Slot::at) {
            let known = |operand: &Operand| match operand {
                Operand::Slot(slot) => late[slot.index()],
                _ => (false, false),
            };
            let (mut is_late, mut gives) = self.late.get(&at).copied().unwrap_or_default();
            if let Some(step) = self.builder.step_of(at) {
                let primitive = match step.callee {
                    Callee::Primitive(primitive) => Some(primitive),
                    Callee::Slot(slot) => {
                        is_late |= late[slot.index()].1;
                        None
                    }
                    Callee::Typed(_) => None,
                };
                for (place, argument) in step.arguments.iter().enumerate() {
                    let (argument_is, argument_gives) = known(argument);
                    if primitive.is_some_and(|it| holds(it, place)) {
                        is_late |= argument_is;
                        gives |= argument_gives;
                    }
                    is_late |= argument_gives
                        && primitive.is_some_and(|it| it.loop_function() == Some(place));
                }
                let bound = step.arguments.first().and_then(Operand::slot);
                let bound = bound.and_then(|slot| self.builder.step_of(slot));
                // What ignores its argument.
                gives |= is_late
                    && primitive == Some(Primitive::Lbind)
                    && bound
                        .is_some_and(|it| it.arguments.first() == Some(&Primitive::Branch.into()));
            }
            late.push((is_late, gives));
        }
        late[slot.index()].0
    }

    /// The type of a variable, if it is certain.
    pub(crate) fn type_of(&mut self, slot: Slot) -> &KnownType {
        for at in self.types.len()..=slot.index() {
            let step = self.builder.step_of(Slot::at(at));
            let ty = step.map_or_else(KnownType::default, |step| self.type_of_step(step));
            self.types.push(ty);
        }
        &self.types[slot.index()]
    }

    /// Sets the type of a variable.
    pub(crate) fn set_type(&mut self, slot: Slot, ty: KnownType) {
        self.type_of(slot);
        self.types[slot.index()] = ty;
    }

    /// The type of a step's result, of the types of its arguments.
    fn type_of_step(&self, step: &Step) -> KnownType {
        use Primitive as P;
        let primitive = match step.callee {
            Callee::Primitive(primitive) => primitive,
            Callee::Slot(slot) => return self.results.get(&slot).cloned().unwrap_or_default(),
            Callee::Typed(_) => return KnownType::default(),
        };
        let mut assumes = 0;
        let mut argument = |operand: &Operand| match operand {
            Operand::Slot(slot) => {
                let known = &self.types[slot.index()];
                assumes |= known.assumes;
                known.ty.clone()
            }
            other => constant(other)?.value_type(),
        };
        if let (Primitive::Branch, [_, yes, no]) = (primitive, &step.arguments[..]) {
            let ty = argument(yes).filter(|yes| argument(no).as_ref() == Some(yes));
            return KnownType { ty, assumes };
        }
        if let (Some(place), [a, b]) = (primitive.loop_function(), &step.arguments[..]) {
            let (function, container) = if place == 0 { (a, b) } else { (b, a) };
            let Some(container) = argument(container) else {
                return KnownType::default();
            };
            let (element, kind) = (container.element(), container.container());
            let of_value = match function {
                Operand::Slot(function) => self.results.get(function).cloned(),
                Operand::Primitive(it) => {
                    Some(result_type(*it, element.clone().map(|it| vec![it])).into())
                }
                _ => None,
            };
            let of_value = of_value.unwrap_or_default();
            let is_count = matches!(function, Operand::Primitive(it) if COUNTS.contains(it));
            let within = |ty: Option<ValueType>| Some(ValueType::container_of(kind?, ty?));
            let ty = match primitive {
                P::Argmax | P::Argmin | P::Extract => element,
                P::Order => element.map(ValueType::tuple_of),
                P::Sfilter => within(element),
                P::Mfilter => within(element.and_then(|it| it.element())),
                P::Apply => within(of_value.ty),
                P::Mapply => within(of_value.ty.and_then(|it| it.element())),
                // Of no elements the function is called with 0.
                P::Valmax | P::Valmin if is_count => of_value.ty,
                _ => None,
            };
            let assumes = assumes | of_value.assumes;
            return KnownType { ty, assumes };
        }
        let arguments = step.arguments.iter().map(&mut argument);
        let ty = result_type(primitive, arguments.collect());
        KnownType { ty, assumes }
    }

    /// Records that a decision on this line relies on the types of captured variables, which have to keep them.
    pub(crate) fn rely(&mut self, line: u32) {
        if let Some(relied) = &mut self.relied {
            *relied = true;
            return;
        }
        if !std::mem::replace(&mut self.has_relied, true) {
            for name in &self.captured {
                self.frozen.entry(name).or_insert(line);
            }
        }
    }

    /// Whether an expression gives a set in braces, which Python cannot hash, or a tuple with one.
    pub(crate) fn is_set(&self, expr: &Expr<'t>) -> bool {
        match &expr.kind {
            ExprKind::Set(_) => true,
            ExprKind::Comprehension(_) => expr.token.text == "{",
            ExprKind::Name => self.unhashable.contains(expr.token.text),
            ExprKind::Paren(inner) => self.is_set(inner),
            ExprKind::Tuple(elements) => elements.iter().any(|it| self.is_set(it)),
            ExprKind::Conditional(parts) => {
                let mut values = parts.0.iter().map(|([value, _], _)| value);
                values.any(|it| self.is_set(it)) || self.is_set(&parts.1)
            }
            ExprKind::Logical(chain) => {
                self.is_set(&chain.first) || chain.rest.iter().any(|(_, it)| self.is_set(it))
            }
            ExprKind::Trailed(trailed) => {
                let name = trailed.0.token.text;
                match (Primitive::from_name(name), &trailed.1[..]) {
                    (None, [Trailer::Call(_)]) if name == "set" => true,
                    (_, [Trailer::Call(_)]) if self.functions.contains_key(name) => {
                        self.unhashable.contains(name)
                    }
                    (Some(primitive), [Trailer::Call(given)]) => given
                        .iter()
                        .enumerate()
                        .any(|(place, it)| keeps(primitive, place) && self.is_set(&it.value)),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Records that these names are set.
    pub(crate) fn sets_names(&mut self, names: &[Token<'t>]) {
        // The names come in the order of the text, and the first line that sets a name counts.
        let names = names.iter().rev();
        self.sets.extend(names.map(|name| (name.text, name.line)));
    }

    /// A program with nothing but its first line.
    pub(crate) fn new(builder: ProgramBuilder) -> Self {
        Self {
            builder,
            imported: HashMap::new(),
            functions: HashMap::new(),
            captured: HashSet::new(),
            frozen: HashMap::new(),
            types: Vec::new(),
            results: HashMap::new(),
            unhashable: HashSet::new(),
            lists: HashSet::new(),
            looped: HashSet::new(),
            late: HashMap::new(),
            assumes: 0,
            relied: None,
            has_relied: false,
            sets: Sets::default(),
            is_function: false,
            generated: 0,
        }
    }
}

impl<'b, 't> Lowering<'b, 't> {
    /// Of text that stands alone, in this dialect.
    pub(crate) fn new(text: &'t str, block: &'b Block<'t>, dialect: Dialect) -> Self {
        Self {
            text,
            tokens: &block.tokens,
            dialect,
            scope: None,
            module: None,
            at: LATE,
            defined: LATE,
            is_only_called: false,
            is_taken: false,
            has_late: false,
            open: Vec::new(),
            depth: 0,
            element: KnownType::default(),
            given: Given::Grid,
            avoided: None,
            needs: None,
        }
    }

    /// Of a block of a text.
    pub(crate) fn within(module: &'b Module<'t>, block: &'b Block<'t>, dialect: Dialect) -> Self {
        Self {
            module: Some(module),
            ..Self::new(module.text, block, dialect)
        }
    }

    pub(crate) fn error(&self, token: Token<'t>, kind: ParseErrorKind) -> ParseError {
        error_at(self.text, token, kind)
    }

    /// Fails with an error of this kind at a token.
    pub(crate) fn fail<T>(&self, token: Token<'t>, kind: ParseErrorKind) -> Result<T> {
        Err(self.error(token, kind))
    }

    /// Adds a step to the program.
    pub(crate) fn step(
        &mut self,
        token: Token<'t>,
        name: String,
        callee: Callee,
        arguments: Box<[Operand]>,
    ) -> Result<Operand> {
        match &mut self.scope {
            Some(scope) => scope
                .builder
                .step(token.line, name, callee, arguments)
                .map_err(|error| self.error(token, error.into())),
            None => self.fail(token, ParseErrorKind::NotLiteral),
        }
    }

    /// The type of a value, if it is certain; what follows from it holds from the token on.
    pub(crate) fn certain(&mut self, operand: &Operand, token: Token<'t>) -> Option<ValueType> {
        let Operand::Slot(slot) = operand else {
            return constant(operand)?.value_type();
        };
        let scope = self.scope.as_mut()?;
        let KnownType { ty, assumes } = scope.type_of(*slot).clone();
        if ty.is_some() {
            scope.assumes |= assumes;
            scope.rely(token.line);
        }
        ty
    }

    /// The type of a value, without relying on it.
    pub(crate) fn known_type(&mut self, operand: &Operand) -> KnownType {
        match (operand, &mut self.scope) {
            (Operand::Slot(slot), Some(scope)) => scope.type_of(*slot).clone(),
            _ => KnownType {
                ty: constant(operand).and_then(|it| it.value_type()),
                assumes: 0,
            },
        }
    }

    /// A value of a type, if one is given.
    pub(crate) fn typed(&mut self, value: Operand, known: impl Into<KnownType>) -> Operand {
        let known = known.into();
        if let (Operand::Slot(slot), Some(scope), Some(_)) = (&value, &mut self.scope, &known.ty) {
            scope.set_type(*slot, known);
        }
        value
    }

    /// A name that the program's text does not contain.
    pub(crate) fn generate_name(&mut self) -> String {
        let Some(scope) = &mut self.scope else {
            return String::new();
        };
        let avoided = self.avoided.get_or_insert_with(|| {
            let tokens = self.tokens.iter();
            tokens
                .map(|token| token.text)
                .filter(|text| text.starts_with('t'))
                .collect()
        });
        loop {
            scope.generated += 1;
            let name = format!("t{}", scope.generated);
            if !avoided.contains(name.as_str()) && scope.builder.variable(&name).is_none() {
                return name;
            }
        }
    }
}

/// The value of an operand, if it is known before the program runs.
pub(crate) fn constant(operand: &Operand) -> Option<Value> {
    match operand {
        Operand::Slot(_) => None,
        Operand::Primitive(primitive) => Some(Value::primitive(*primitive).clone()),
        Operand::Constant(constant) => Some(constant.value().clone()),
        Operand::Literal(value) => Some(value.clone()),
    }
}
