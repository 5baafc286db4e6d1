//! The syntax tree of program text: expressions, statements and functions, as they are written.
//!
//! Operators of one precedence and what follows a value are lists, so that a tree is only as deep as brackets nest.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::error::ParseError;
use crate::lexer::Token;

/// An expression.
#[derive(Debug)]
pub(super) struct Expr<'t> {
    /// Its first token.
    pub(super) token: Token<'t>,
    pub(super) kind: ExprKind<'t>,
}

#[derive(Debug)]
pub(super) enum ExprKind<'t> {
    /// A name, the token.
    Name,
    /// `True`, `False` or `None`, the token.
    Word,
    /// An integer, the token, and whether a minus sign stands before it.
    Integer(bool),
    /// A string, or another value that the language does not have.
    Foreign,
    /// `*x` in brackets: the elements of `x`.
    Star(Box<Expr<'t>>),
    /// A value in brackets.
    Paren(Box<Expr<'t>>),
    /// `a, b`, with or without brackets.
    Tuple(Vec<Expr<'t>>),
    /// `[a, b]`
    List(Vec<Expr<'t>>),
    /// `{a, b}`, and whether names occur in it.
    Set(Box<(Vec<Expr<'t>>, bool)>),
    /// `value for name in container`; the token is the bracket around it.
    Comprehension(Box<Comprehension<'t>>),
    /// `-x` or `+x`: the token is the sign; with the text of `x`.
    Signed(Box<(Expr<'t>, &'t str)>),
    /// Operators of one precedence, from left to right.
    Operators(Box<Chain<'t>>),
    /// Comparisons that follow each other; that of `not in` is at `not`.
    Comparisons(Box<Chain<'t>>),
    /// Values joined by `or`, or by `and`.
    Logical(Box<Chain<'t>>),
    Not(Box<Expr<'t>>),
    /// Values, each with the condition and the `if` behind it, and the one behind the last `else`.
    Conditional(Box<(Conditions<'t>, Expr<'t>)>),
    Lambda(Rc<Function<'t>>),
    /// A value, and what follows it.
    Trailed(Box<(Expr<'t>, Trailers<'t>)>),
}

/// Values, each with the condition and the `if` behind it.
pub(super) type Conditions<'t> = Vec<([Expr<'t>; 2], Token<'t>)>;

/// Values with operators between them.
#[derive(Debug)]
pub(super) struct Chain<'t> {
    pub(super) first: Expr<'t>,
    /// The further values, each with the operator before it.
    pub(super) rest: Vec<(Token<'t>, Expr<'t>)>,
}

/// `value for names in container if condition`
#[derive(Debug)]
pub(super) struct Comprehension<'t> {
    pub(super) value: Expr<'t>,
    /// Whether the value is a comprehension, what is behind the next `for`, whose elements are those of this one.
    pub(super) is_flat: bool,
    /// The word `for`.
    pub(super) token: Token<'t>,
    pub(super) target: Target<'t>,
    pub(super) container: Expr<'t>,
    pub(super) condition: Option<Expr<'t>>,
}

impl<'t> Expr<'t> {
    /// The generator, if it is one.
    pub(super) fn generator(&self) -> Option<&Comprehension<'t>> {
        let inner = self.without_brackets();
        match &inner.kind {
            ExprKind::Comprehension(it) if inner.token.is("(") => Some(it),
            _ => None,
        }
    }
}

impl<'t> Comprehension<'t> {
    /// The value of an element.
    pub(super) fn element(&self) -> &Expr<'t> {
        match &self.value.kind {
            ExprKind::Comprehension(inner) if self.is_flat => inner.element(),
            _ => &self.value,
        }
    }
}

/// What may follow a value, in the order of the text.
pub(super) type Trailers<'t> = SmallVec<[Trailer<'t>; 1]>;

#[derive(Debug)]
pub(super) enum Trailer<'t> {
    /// `(arguments)`
    Call(Vec<Argument<'t>>),
    /// `.name`, with both tokens.
    Part(Box<[Token<'t>; 2]>),
    /// `[index]`, or a slice with what is between its colons.
    Index(Box<(Token<'t>, Vec<Option<Expr<'t>>>)>),
}

/// An argument of a call.
#[derive(Debug)]
pub(super) struct Argument<'t> {
    /// The name before `=`.
    pub(super) keyword: Option<Token<'t>>,
    pub(super) value: Expr<'t>,
}

/// A `def` or a `lambda`.
#[derive(Debug)]
pub(super) struct Function<'t> {
    /// Its name; of a `lambda`, the word itself.
    pub(super) name: Token<'t>,
    /// The token that its parameters begin with.
    pub(super) open: Token<'t>,
    pub(super) parameters: Vec<ParameterTree<'t>>,
    pub(super) body: Body<'t>,
    /// How long it is, from its parameters on.
    pub(super) bytes: usize,
}

/// A parameter of a function.
#[derive(Debug)]
pub(super) struct ParameterTree<'t> {
    pub(super) token: Token<'t>,
    pub(super) kind: ParameterKind,
    pub(super) default: Option<Expr<'t>>,
}

/// How a call gives a parameter its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Any,
    /// By its position alone: before `/`.
    Positional,
    /// By its name alone: behind `*`.
    Keyword,
}

/// The statements of a function or a branch, up to the first one that cannot be parsed.
#[derive(Debug, Default)]
pub(super) struct Body<'t> {
    pub(super) statements: Vec<Statement<'t>>,
    pub(super) error: Option<ParseError>,
}

impl Body<'_> {
    /// Whether a statement in it, or within one, cannot be parsed, which is the last one.
    pub(super) fn is_broken(&self) -> bool {
        let last = self.statements.last().map(|it| &it.kind);
        self.error.is_some()
            || match last {
                Some(StatementKind::Define(function)) => function.body.is_broken(),
                Some(StatementKind::If(it)) => {
                    it.1.is_broken() || it.0.iter().any(|choice| choice.body.is_broken())
                }
                _ => false,
            }
    }
}

/// A statement.
#[derive(Debug)]
pub(super) struct Statement<'t> {
    /// Its first token.
    pub(super) token: Token<'t>,
    pub(super) kind: StatementKind<'t>,
}

#[derive(Debug)]
pub(super) enum StatementKind<'t> {
    Return(Expr<'t>),
    /// `name = value`
    Assign(Token<'t>, Expr<'t>),
    /// `a = b = value` or `a, b = value`, with the names before further `=`
    AssignAll(Box<(Target<'t>, Vec<Token<'t>>)>, Expr<'t>),
    /// `name += value` and similar statements, with the operator.
    Augment(Box<[Token<'t>; 2]>, Expr<'t>),
    /// `if` with its `elif`, and what is behind `else`.
    If(Box<(Vec<Choice<'t>>, Body<'t>)>),
    Define(Rc<Function<'t>>),
    Import(Box<Import<'t>>),
    /// `print`, and what is in its brackets.
    Print(Vec<Argument<'t>>),
}

/// `if` or `elif`, its condition and what is done then.
#[derive(Debug)]
pub(super) struct Choice<'t> {
    pub(super) token: Token<'t>,
    pub(super) condition: Expr<'t>,
    pub(super) body: Body<'t>,
}

/// What a value is bound to.
#[derive(Debug)]
pub(super) enum Target<'t> {
    Name(Token<'t>),
    /// It is unpacked, also into one name with a trailing comma.
    Parts(Vec<Target<'t>>),
}

impl<'t> Target<'t> {
    /// Passes the names that it sets, in the order of the text.
    pub(super) fn names(&self, found: &mut dyn FnMut(Token<'t>)) {
        match self {
            Target::Name(name) => found(*name),
            Target::Parts(parts) => parts.iter().for_each(|part| part.names(found)),
        }
    }

    /// Whether it sets this name.
    pub(super) fn sets(&self, text: &str) -> bool {
        match self {
            Target::Name(name) => name.text == text,
            Target::Parts(parts) => parts.iter().any(|part| part.sets(text)),
        }
    }
}

/// An import.
#[derive(Debug, Default)]
pub(super) struct Import<'t> {
    /// The module after `from`.
    pub(super) from: Option<&'t str>,
    /// The modules or names that are imported, and the names that they get.
    pub(super) names: Vec<(&'t str, Token<'t>)>,
    /// Whether it is a star import.
    pub(super) is_star: bool,
}

impl<'t> Expr<'t> {
    /// The expression in these brackets, if any.
    pub(super) fn without_brackets(&self) -> &Self {
        match &self.kind {
            ExprKind::Paren(inner) => inner.without_brackets(),
            _ => self,
        }
    }

    /// Passes all names that occur in the expression, in the order of the text, except those that it binds itself.
    pub(super) fn names(&self, found: &mut dyn FnMut(Token<'t>)) {
        match &self.kind {
            ExprKind::Name => found(self.token),
            ExprKind::Word | ExprKind::Integer(_) | ExprKind::Foreign => {}
            ExprKind::Paren(inner) | ExprKind::Not(inner) | ExprKind::Star(inner) => {
                inner.names(found);
            }
            ExprKind::Signed(signed) => signed.0.names(found),
            ExprKind::Tuple(elements) | ExprKind::List(elements) => all_names(elements, found),
            ExprKind::Set(set) => all_names(&set.0, found),
            ExprKind::Operators(chain)
            | ExprKind::Comparisons(chain)
            | ExprKind::Logical(chain) => {
                chain.first.names(found);
                all_names(chain.rest.iter().map(|(_, side)| side), found);
            }
            ExprKind::Conditional(parts) => {
                all_names(parts.0.iter().flat_map(|(choice, _)| choice), found);
                parts.1.names(found);
            }
            ExprKind::Lambda(function) => function.names(found),
            ExprKind::Comprehension(it) => {
                it.container.names(found);
                all_names([&it.value].into_iter().chain(&it.condition), &mut |name| {
                    if !it.target.sets(name.text) {
                        found(name);
                    }
                });
            }
            ExprKind::Trailed(trailed) => {
                trailed.0.names(found);
                for trailer in &trailed.1 {
                    match trailer {
                        Trailer::Call(given) => all_names(given.iter().map(|it| &it.value), found),
                        Trailer::Part(_) => {}
                        Trailer::Index(index) => all_names(index.1.iter().flatten(), found),
                    }
                }
            }
        }
    }
}

/// Passes all names that occur in these expressions.
pub(super) fn all_names<'e, 't: 'e>(
    expressions: impl IntoIterator<Item = &'e Expr<'t>>,
    found: &mut dyn FnMut(Token<'t>),
) {
    for expression in expressions {
        expression.names(found);
    }
}

impl<'t> Function<'t> {
    /// Passes the names that the function uses of the scope around it.
    pub(super) fn names(&self, found: &mut dyn FnMut(Token<'t>)) {
        let parameters = self.parameters.iter();
        all_names(parameters.filter_map(|it| it.default.as_ref()), found);
        let mut set: Vec<&str> = self.parameters.iter().map(|it| it.token.text).collect();
        names_set(&self.body.statements, &mut |name| set.push(name.text));
        names_used(&self.body.statements, &mut |name| {
            if !set.contains(&name.text) {
                found(name);
            }
        });
    }
}

/// Passes all names that these statements use.
pub(super) fn names_used<'t>(statements: &[Statement<'t>], found: &mut dyn FnMut(Token<'t>)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Return(value)
            | StatementKind::Assign(_, value)
            | StatementKind::AssignAll(_, value) => value.names(found),
            StatementKind::Augment(name, value) => {
                found(name[0]);
                value.names(found);
            }
            StatementKind::If(branches) => {
                for choice in &branches.0 {
                    choice.condition.names(found);
                    names_used(&choice.body.statements, found);
                }
                names_used(&branches.1.statements, found);
            }
            StatementKind::Define(function) => function.names(found),
            StatementKind::Print(printed) => all_names(printed.iter().map(|it| &it.value), found),
            StatementKind::Import(_) => {}
        }
    }
}

/// Passes all names that these statements set.
pub(super) fn names_set<'t>(statements: &[Statement<'t>], found: &mut dyn FnMut(Token<'t>)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(name, _) => found(*name),
            StatementKind::AssignAll(targets, _) => {
                targets.0.names(found);
                targets.1.iter().copied().for_each(&mut *found);
            }
            StatementKind::Augment(name, _) => found(name[0]),
            StatementKind::If(branches) => {
                for choice in &branches.0 {
                    names_set(&choice.body.statements, found);
                }
                names_set(&branches.1.statements, found);
            }
            StatementKind::Define(function) => found(function.name),
            StatementKind::Import(import) => {
                import.names.iter().for_each(|(_, name)| found(*name));
            }
            StatementKind::Return(_) | StatementKind::Print(_) => {}
        }
    }
}
