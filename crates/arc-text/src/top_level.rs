//! Processes code outside of functions: finds which names it binds, and which statements belong to no program.

use crate::beside::DslPart;
use crate::error::{ParseError, ParseErrorKind};
use crate::globals::{Binding, LATE, StarImport};
use crate::lexer::{Block, Token, TokenKind};
use crate::module::imports::Imports;
use crate::module::lowering::Lowering;
use crate::module::{DefinitionKind, Module};
use crate::names;
use crate::tokens::{Result, Tokens, told};
use std::rc::Rc;

/// Names with which code may set names of a text or a module given as strings.
const CHANGES: &str =
    "setattr delattr exec eval globals locals vars __dict__ builtins __builtins__";

/// Those that have no other purpose.
const SETS: &str = "setattr delattr exec __setattr__ __delattr__";

/// Methods that set names when called on the namespace of a text or a module.
const SETS_OF_NAMES: &str = "__setitem__ __delitem__ update setdefault pop popitem clear";

/// The reason reported for names that such a statement may have set.
const CHANGED: &str = "it may be set there";

/// At most so many names that branches of a statement import are bound again for each of its branches.
const MOST_OTHERS: usize = 100;

/// Keywords that begin a compound statement.
const COMPOUND: &[&str] = &[
    "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "match",
];

impl<'t> Module<'t> {
    /// Processes a block that does not begin with `def`.
    pub(super) fn top_level(&mut self, block: &Rc<Block<'t>>) -> Result<()> {
        let mut tokens = block.tokens.iter();
        let respelled = tokens.find(|token| token.kind == TokenKind::Respelled);
        // A decorator written like that is not a known one.
        let respelled = respelled.filter(|_| !is_main(block) && !block.tokens[1].is("@"));
        if let Some(token) = respelled {
            self.respelled(*token);
        }
        self.statements_of(block)?;
        if let Some(token) = respelled {
            let error = Tokens::new(self.text, block).respelled(*token);
            self.errors.push((block.tokens[0].start, error));
        }
        Ok(())
    }

    /// Records that Python normalises a name there, so that it is unknown what is bound.
    pub(super) fn respelled(&mut self, token: Token<'t>) {
        let why = "Python normalises a name there to another one";
        self.globals.change(token.line, why);
    }

    fn statements_of(&mut self, block: &Rc<Block<'t>>) -> Result<()> {
        let mut at = 0;
        let first = block.tokens[at];
        let tokens = Tokens::new(self.text, block);
        let top_level = |found: &str| {
            let found = found.to_owned();
            ParseErrorKind::TopLevel { found }
        };
        if !first.text.is_empty() {
            let mut tokens = tokens;
            tokens.bump();
            return Err(tokens.blame(top_level("an indented line")));
        }
        let second = block.tokens[1];
        let is_compound = COMPOUND.contains(&second.text) && second.kind == TokenKind::Name;
        // Of these, only `match` may also be a name.
        let is_compound = is_compound && (second.text != "match" || !block.tokens[2].is("="));
        if is_compound || second.is_name("class") || second.is_name("async") {
            if block.is_broken() {
                return Err(broken(self.text, block));
            }
            return self.compound(block);
        }
        at += 1;
        while block.tokens[at].kind != TokenKind::End && block.tokens[at].kind != TokenKind::Newline
        {
            at = self.simple(block, at)?;
            if block.tokens[at].is(";") {
                at += 1;
            }
        }
        let after = block.tokens.get(at + 1);
        if block.tokens[at].kind == TokenKind::Newline
            && after.is_some_and(|it| it.kind == TokenKind::Indent)
        {
            let mut tokens = Tokens::new(self.text, block);
            tokens.go_to(at + 2);
            return Err(tokens.blame(top_level("an indented line")));
        }
        Ok(())
    }

    /// Processes the statement that begins at this token; returns where it ends.
    fn simple(&mut self, block: &Rc<Block<'t>>, at: usize) -> Result<usize> {
        if block.is_broken() {
            return Err(broken(self.text, block));
        }
        let tokens = &block.tokens;
        let first = tokens[at];
        let end = end_of_statement(tokens, at);
        if first.kind == TokenKind::Text
            && tokens[at..end]
                .iter()
                .all(|token| token.kind == TokenKind::Text)
        {
            return Ok(end);
        }
        self.judge(&tokens[at..end]);
        match first.text {
            "import" | "from" if first.kind == TokenKind::Name => {
                self.import(block, at)?;
                return Ok(end);
            }
            "@" if first.kind == TokenKind::Symbol => {
                self.decorators.push((first, Rc::clone(block)));
                return Ok(end);
            }
            "pass" => return Ok(end),
            "type" if tokens[at + 1].kind == TokenKind::Name => {
                self.bind_to_other(tokens[at + 1], "it is set by `type`");
                return Ok(end);
            }
            "del" if first.kind == TokenKind::Name => {
                let deleted = &tokens[at + 1..end];
                if has_any(deleted, CHANGES) || deleted.len() > 1 && self.is_part_of_dsl(deleted) {
                    self.globals.change(first.line, CHANGED);
                }
                for token in &tokens[at + 1..end] {
                    self.bind_to_other(*token, "it is deleted");
                }
                self.pass_over(first);
                return Ok(end);
            }
            _ => {}
        }
        self.assignment(block, at, end);
        Ok(end)
    }

    /// Binds what an import binds; returns what of it is not the DSL's.
    pub(super) fn import(&mut self, block: &Block<'t>, at: usize) -> Result<Imports<'t>> {
        let mut tokens = Tokens::new(self.text, block);
        tokens.go_to(at);
        let first = block.tokens[at];
        let import = tokens.import()?;
        let mut imports = Lowering::within(self, block, self.dialect()).imports(&import);
        if imports.star == Some(StarImport::Unknown) {
            let module = told(imports.module);
            self.note(first, ParseErrorKind::UnknownModule { module });
        }
        self.bind_imports(first, &imports);
        let is_other = |(_, binding): &(Token<'t>, Binding<'t>)| {
            matches!(binding, Binding::Other(_) | Binding::Beside(..))
        };
        imports.names.retain(is_other);
        imports.star = imports.star.filter(|&star| self.globals.may_hide(star));
        Ok(imports)
    }

    fn bind_imports(&mut self, first: Token<'t>, imports: &Imports<'t>) {
        for (name, binding) in &imports.names {
            self.globals.bind(*name, binding.clone());
        }
        if let Some(star) = imports.star {
            self.globals.star(first.line, star);
        }
    }

    /// `a = value`, `a = b = value`, `a, b = values`, `a: type = value`; anything else belongs to no program.
    fn assignment(&mut self, block: &Rc<Block<'t>>, at: usize, end: usize) {
        let tokens = &block.tokens;
        self.bind_walrus(&tokens[at..end]);
        // What follows `lambda` are its parameters, with their defaults.
        let lambda = top(tokens, at, end).find(|&place| tokens[place].is_name("lambda"));
        let targets = top(tokens, at, lambda.unwrap_or(end));
        let equals = targets.filter(|&place| tokens[place].is("="));
        let equals: Vec<usize> = equals.collect();
        let augmented = top(tokens, at, end).find(|&place| {
            let token = tokens[place];
            token.kind == TokenKind::Symbol
                && token.text.len() > 1
                && token.text.ends_with('=')
                && !matches!(token.text, "==" | "!=" | "<=" | ">=" | ":=")
        });
        let (Some(&last), None) = (equals.last(), augmented) else {
            for token in &tokens[at..augmented.unwrap_or(at)] {
                self.bind_to_other(*token, "it is set by more than `=`");
            }
            // A type annotation alone does not bind a name.
            let is_typed = tokens[at].kind == TokenKind::Name && tokens[at + 1].is(":");
            if has_any(&tokens[at..end], CHANGES) || may_set(&tokens[at..end]) {
                self.globals.change(tokens[at].line, CHANGED);
            }
            if !is_typed {
                self.pass_over(tokens[at]);
            }
            return;
        };
        let mut from = at;
        let value = last + 1;
        if may_set(&tokens[value..end]) {
            self.globals.change(tokens[at].line, CHANGED);
        }
        // The value is evaluated before the first name is bound to it.
        self.moment = Some(self.globals.now());
        for &equal in &equals {
            self.targets(block, from, equal, value, end);
            from = equal + 1;
        }
        self.moment = None;
    }

    /// Binds the names from `at` to the `=` at `equal` to the value.
    fn targets(
        &mut self,
        block: &Rc<Block<'t>>,
        at: usize,
        equal: usize,
        value: usize,
        end: usize,
    ) {
        let tokens = &block.tokens;
        let colon = top(tokens, at, equal).find(|&place| tokens[place].is(":"));
        let names = match &tokens[at..colon.unwrap_or(equal)] {
            [open, inner @ .., close] if open.is("(") && close.is(")") => inner,
            names => names,
        };
        if let [name] = names {
            if name.kind == TokenKind::Name && !names::is_keyword(name.text) {
                let binding = self.bound_to(block, *name, value, end);
                self.globals.bind(*name, binding);
            }
            return;
        }
        let parts: Vec<_> = names.split(|token| token.is(",")).collect();
        let is_list = parts.iter().enumerate().all(|(place, part)| match part {
            [name] => name.kind == TokenKind::Name && !names::is_keyword(name.text),
            part => part.is_empty() && place + 1 == parts.len(),
        });
        if is_list {
            let parts: Vec<_> = parts.iter().filter_map(|part| part.first()).collect();
            for (place, name) in parts.iter().enumerate() {
                let element = Some((place, parts.len()));
                let kind = DefinitionKind::Value { at: value, element };
                let function = self.function(**name, kind, Rc::clone(block));
                self.globals.bind(**name, Binding::Function(function));
            }
            return;
        }
        if self.is_part_of_dsl(names) || has_any(names, CHANGES) {
            self.globals.change(tokens[at].line, CHANGED);
        }
        // `module.name = ..`, `names[0] = ..`: afterwards it is unknown what the first name means.
        if let Some(name) = names.iter().find(|token| token.kind == TokenKind::Name) {
            self.bind_to_other(*name, "a part of it is set");
        }
    }

    /// Whether the target is a part of a module of the DSL: `dsl.name`, `arc.dsl.name`, `sys.modules["dsl"].name`.
    fn is_part_of_dsl(&self, target: &[Token<'t>]) -> bool {
        let has_modules = has_any(target, "modules");
        target.iter().enumerate().any(|(place, token)| {
            let is_part = place > 0 && target[place - 1].is(".");
            let path = match token.kind {
                TokenKind::Name if is_part => token.text,
                TokenKind::Name => return self.is_module_of_dsl(*token),
                TokenKind::Text if has_modules => token.text.trim_matches(['\'', '"']),
                _ => return false,
            };
            DslPart::of(path) != DslPart::Other
        })
    }

    fn is_module_of_dsl(&self, name: Token<'t>) -> bool {
        let bound = self.globals.get(self.dialect(), name.text, LATE);
        matches!(bound, Some((_, Binding::Module(path))) if DslPart::of(&path) != DslPart::Other)
    }

    /// Records that a function may set parts of the DSL, or names of the text, when it is called.
    pub(super) fn parts_set_by(&mut self, function: &Block<'t>) {
        let tokens = &function.tokens;
        let sets = |place: &usize| {
            let [first, second, third, fourth, ..] = &tokens[*place..] else {
                return false;
            };
            match first.text {
                "setattr" | "delattr" => second.is("(") && self.is_module_of_dsl(*third),
                "globals" if fourth.is(".") => {
                    names::is_one_of(SETS_OF_NAMES, tokens[place + 4].text)
                }
                "globals" if fourth.is("[") => {
                    // Only at the beginning of a statement, so that each statement is searched once.
                    let before = &tokens[place.saturating_sub(1)];
                    if before.kind != TokenKind::Indent && !before.is(";") {
                        return false;
                    }
                    let end = end_of_statement(tokens, *place);
                    let equal = top(tokens, *place, end).find(|&at| tokens[at].is("="));
                    equal.is_some_and(|equal| tokens[equal - 1].is("]"))
                }
                _ => second.is(".") && fourth.is("=") && self.is_module_of_dsl(*first),
            }
        };
        if let Some(place) = (0..tokens.len()).find(sets) {
            self.globals
                .change(tokens[place].line, "a function sets it");
        }
    }

    /// What a name is bound to by the value at tokens `value` to `end`.
    fn bound_to(
        &mut self,
        block: &Rc<Block<'t>>,
        name: Token<'t>,
        value: usize,
        end: usize,
    ) -> Binding<'t> {
        let tokens = &block.tokens;
        match &tokens[value..end] {
            [other] if other.kind == TokenKind::Name && !names::is_keyword(other.text) => {
                let moment = self.moment.unwrap_or(LATE);
                let bound = self.globals.get(self.dialect(), other.text, moment);
                match bound {
                    Some((_, binding)) => return binding,
                    None if names::is_of_dsl(self.ours(other.text)) => {
                        return Binding::Dsl(other.text);
                    }
                    None => {}
                }
            }
            [lambda, ..] if lambda.is_name("lambda") => {
                let kind = DefinitionKind::Lambda { at: value + 1 };
                return Binding::Function(self.function(name, kind, Rc::clone(block)));
            }
            [open, .., close] if open.is("{") && close.is("}") => {
                self.table(&tokens[value + 1..end - 1]);
            }
            _ => {}
        }
        let kind = DefinitionKind::Value {
            at: value,
            element: None,
        };
        Binding::Function(self.function(name, kind, Rc::clone(block)))
    }

    /// `"id": function, ..`: a table of programs by task id.
    fn table(&mut self, tokens: &[Token<'t>]) {
        for entry in tokens.split(|token| token.is(",")) {
            let [key, colon, value @ ..] = entry else {
                continue;
            };
            if key.kind != TokenKind::Text || !colon.is(":") {
                continue;
            }
            let name = match value {
                [name] if name.kind == TokenKind::Name => name.text,
                _ => "",
            };
            let bound = self.globals.get(self.dialect(), name, LATE);
            let id = key.text.trim_matches(['\'', '"']).to_owned();
            match bound {
                Some((_, Binding::Function(at))) => self.table.push((id, at)),
                Some((_, binding @ Binding::Dsl(_))) => self.set.push((id, key.line, binding)),
                None if names::is_of_dsl(self.ours(name)) => {
                    self.set.push((id, key.line, Binding::Dsl(name)));
                }
                // It may be a table of something else.
                _ => self.pass_over(*key),
            }
        }
    }

    /// A compound statement: what it binds is known only at run time.
    fn compound(&mut self, block: &Rc<Block<'t>>) -> Result<()> {
        let tokens = &block.tokens;
        let first = tokens[1];
        if is_main(block) {
            return Ok(());
        }
        if first.is_name("class") || first.is_name("async") {
            let name = tokens
                .iter()
                .skip(2)
                .find(|token| token.kind == TokenKind::Name && !token.is_name("def"));
            if let Some(name) = name {
                self.bind_to_other(*name, format!("it is set by `{}`", first.text));
            }
            let names = tokens.iter().filter(|it| it.kind == TokenKind::Name);
            self.unread.extend(names.map(|it| it.text));
            self.decorators.clear();
            self.pass_over(first);
            return Ok(());
        }
        // Each branch of a statement is a block of its own.
        let is_branch = ["elif", "else", "except", "finally"].contains(&first.text);
        if !is_branch {
            self.other_imports.clear();
        }
        let (mut inner, mut only_imports) = (None::<usize>, true);
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at].kind == TokenKind::Indent {
                let indent = tokens[at].text.len();
                at += 1;
                // Names inside a function or a class are local to it.
                if inner.is_some_and(|outer| indent > outer) {
                    while !matches!(tokens[at].kind, TokenKind::Newline | TokenKind::End) {
                        at += 1;
                    }
                    continue;
                }
                inner = None;
            }
            let start = tokens[at];
            let end = end_of_statement(tokens, at);
            let mut place = at;
            if start.is_name("import") || start.is_name("from") {
                let others = self.import(block, at)?;
                self.other_imports.push((start, others));
            } else if start.is_name("def") || start.is_name("class") {
                only_imports = false;
                let indent = tokens[..at]
                    .iter()
                    .rev()
                    .find(|token| token.kind == TokenKind::Indent);
                inner = indent.map(|indent| indent.text.len());
                self.bind_inside(tokens[at + 1], first);
            } else {
                if COMPOUND.contains(&start.text) {
                    // The first line of a compound statement: what follows its colon is a statement, too.
                    let colon = top(tokens, at, end).find(|&place| tokens[place].is(":"));
                    place = colon.unwrap_or(end);
                } else {
                    only_imports &= start.kind != TokenKind::Name || start.is_name("pass");
                    place = end;
                }
                self.bind_in_line(&tokens[at..place], first);
                if place < end && place > at {
                    at = place + 1;
                    continue;
                }
            }
            at = end.max(place).max(at);
            if at < tokens.len() {
                at += 1;
            }
        }
        // Of the imports in several branches, Python may run only the first one.
        if is_branch {
            let others = std::mem::take(&mut self.other_imports);
            let names = |(_, imports): &(_, Imports<'_>)| {
                imports.names.len() + usize::from(imports.star.is_some())
            };
            if others.iter().map(names).sum::<usize>() > MOST_OTHERS {
                self.globals.change(first.line, CHANGED);
            } else {
                for (start, imports) in &others {
                    self.bind_imports(*start, imports);
                }
                self.other_imports = others;
            }
        }
        if !only_imports {
            self.pass_over(first);
        }
        Ok(())
    }

    /// Binds names that are set within an expression.
    fn bind_walrus(&mut self, tokens: &[Token<'t>]) {
        for pair in tokens.windows(2) {
            if pair[1].is(":=") {
                self.bind_to_other(pair[0], "it is set by `:=`");
            }
        }
    }

    /// Binds the names that a line inside of a compound statement sets.
    fn bind_in_line(&mut self, line: &[Token<'t>], statement: Token<'t>) {
        self.bind_walrus(line);
        let equal = top(line, 0, line.len()).find(|&place| line[place].is("="));
        let target = &line[..equal.unwrap_or(0)];
        let is_part = target.len() > 1 && self.is_part_of_dsl(target);
        if is_part || may_set(line) || has_any(target, CHANGES) {
            self.globals.change(statement.line, CHANGED);
        }
        if line.first().is_some_and(|token| token.is_name("case")) {
            // A pattern binds all its names except classes and dotted names.
            let pattern = line.iter().take_while(|token| !token.is(":"));
            let names = pattern
                .skip(1)
                .filter(|token| !names::is_keyword(token.text));
            for name in names.copied().collect::<Vec<_>>() {
                self.bind_inside(name, statement);
            }
        }
        let last = line.iter().rposition(|token| {
            token.kind == TokenKind::Symbol
                && token.text.ends_with('=')
                && !matches!(token.text, "==" | "!=" | "<=" | ">=")
        });
        let in_for = line.first().is_some_and(|token| token.is_name("for"));
        let until_in = line.iter().position(|token| token.is_name("in"));
        for (place, token) in line.iter().enumerate() {
            if token.kind != TokenKind::Name || names::is_keyword(token.text) {
                continue;
            }
            let before = place.checked_sub(1).map(|place| line[place]);
            let is_set = last.is_some_and(|last| place < last)
                && !before.is_some_and(|before| before.is("."));
            let is_as = before.is_some_and(|before| before.is_name("as"));
            if is_set || is_as || (in_for && until_in.is_some_and(|until| place < until)) {
                self.bind_inside(*token, statement);
            }
        }
    }

    fn bind_inside(&mut self, name: Token<'t>, statement: Token<'t>) {
        self.bind_to_other(name, format!("it is set inside of `{}`", statement.text));
    }

    /// Binds a name, if the token is one, to something that programs cannot use.
    pub(super) fn bind_to_other(&mut self, name: Token<'t>, why: impl Into<String>) {
        if name.kind == TokenKind::Name {
            let other = Binding::Other(why.into());
            self.globals.bind(name, other);
        }
    }
}

/// Whether a statement is the `if __name__ == ..` block of a file.
fn is_main(block: &Block<'_>) -> bool {
    let (first, rest) = (block.tokens[1], block.tokens.iter().skip(2));
    first.is_name("if") && rest.take(3).any(|token| token.is_name("__name__"))
}

/// Whether one of these words occurs as a name.
fn has_any(tokens: &[Token<'_>], words: &str) -> bool {
    tokens
        .iter()
        .any(|token| token.kind == TokenKind::Name && names::is_one_of(words, token.text))
}

/// Whether evaluating a value may set names of a text or a module.
fn may_set(tokens: &[Token<'_>]) -> bool {
    has_any(tokens, SETS) || (has_any(tokens, CHANGES) && has_any(tokens, SETS_OF_NAMES))
}

/// The indices of the tokens outside of brackets.
fn top<'a>(tokens: &'a [Token<'_>], at: usize, end: usize) -> impl Iterator<Item = usize> + 'a {
    let mut depth = 0usize;
    (at..end).filter(move |&place| {
        let token = tokens[place];
        match token.text {
            _ if token.kind != TokenKind::Symbol => depth == 0,
            "(" | "[" | "{" => {
                depth += 1;
                false
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        }
    })
}

/// Where a statement ends: at a semicolon or at the end of the line.
fn end_of_statement(tokens: &[Token<'_>], at: usize) -> usize {
    let end = tokens[at..].iter().position(Token::ends_statement);
    end.map_or(tokens.len() - 1, |end| at + end)
}

/// The error for a block that ends inside a string or a bracket.
fn broken(text: &str, block: &Block<'_>) -> ParseError {
    let mut tokens = Tokens::new(text, block);
    tokens.go_to(block.tokens.len() - 1);
    let open = block
        .tokens
        .iter()
        .position(|token| token.kind == TokenKind::OpenText);
    if let Some(open) = open {
        tokens.go_to(open);
    }
    tokens.unexpected("the end of the statement")
}
