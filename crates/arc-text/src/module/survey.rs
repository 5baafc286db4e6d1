//! Surveys the modules beside a text: what they bind the names of the DSL to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arc_dsl::{Dialect, Operand};
use arc_isa::Primitive;

use crate::beside::{Beside, BesideModule, Meaning, imported_modules, package_of};
use crate::globals::{Binding, LATE};
use crate::lexer::{Block, Lexer, TokenKind};
use crate::module::lowering::constant;
use crate::module::{DefinitionKind, Module, ParseState, Reading};
use crate::{names, reference, without_mark};

impl Beside {
    /// What these modules bind; each is given as the path under which the text imports it, the name of its file for
    /// errors, and its text.
    #[must_use]
    pub fn of<'m>(modules: impl IntoIterator<Item = (&'m str, &'m str, &'m str)>) -> Self {
        let modules = modules.into_iter();
        let texts: BTreeMap<_, _> = modules
            .map(|(path, file, text)| (path, (file, text)))
            .collect();
        let (mut beside, mut entered) = (Self::default(), HashSet::new());
        // What a module imports is surveyed before it.
        for &path in texts.keys() {
            let mut stack = vec![(path, false)];
            while let Some((path, is_ready)) = stack.pop() {
                let (file, text) = texts[path];
                if is_ready {
                    beside.add(path, file, text);
                } else if entered.insert(path) {
                    stack.push((path, true));
                    let imported = imported_modules(package_of(path, file), text);
                    let known = imported.iter().filter_map(|it| texts.get_key_value(&**it));
                    stack.extend(known.map(|(&path, _)| (path, false)));
                }
            }
        }
        beside
    }

    fn add(&mut self, path: &str, file: &str, text: &str) {
        let reading = Reading {
            beside: Some(Arc::new(std::mem::take(self))),
            ..Reading::default()
        };
        let mut module = Module::new(without_mark(text), &reading);
        module.package = package_of(path, file);
        let surveyed = module.surveyed(path, &file.into());
        drop(module);
        *self = reading.beside.and_then(Arc::into_inner).unwrap_or_default();
        self.modules.push(surveyed);
    }
}

impl Module<'_> {
    /// What the text, a module at this path, binds the names of the DSL to.
    fn surveyed(&mut self, path: &str, file: &Arc<str>) -> BesideModule {
        self.bind_all();
        let (mut copies, mut rewritten) = (0, Vec::new());
        for (at, function) in self.functions.iter().enumerate() {
            let Some(primitive) = Primitive::from_name(function.token.text) else {
                continue;
            };
            if function.kind != DefinitionKind::Def {
                continue;
            }
            let block = self.block(at);
            if function.refused.is_none() && reference::copied(&block.tokens) == Some(primitive) {
                copies += 1;
            } else if function.refused.is_some() || !reference::is_of_the_dsl(&block.tokens) {
                rewritten.push((at, primitive.name()));
            }
        }
        // A fork may write functions of the DSL in another way; any other module means something else by their names.
        let is_dsl = path.rsplit('.').next() == Some("dsl") || copies > rewritten.len();
        if !is_dsl {
            rewritten.clear();
        }
        for &(at, name) in &rewritten {
            self.globals.replace(at, &Binding::Dsl(name));
        }
        self.take_copies();
        let mut bound = HashMap::new();
        for &dialect in Dialect::ALL {
            for name in names::all(dialect).chain(names::BUILTINS.split(' ')) {
                if !bound.contains_key(name)
                    && let Some(meaning) = self.meaning(dialect, name, file, is_dsl)
                {
                    bound.insert(name.to_owned(), meaning);
                }
            }
        }
        rewritten.retain(|(_, name)| bound.get(*name) == Some(&Meaning::Dsl));
        let starred = self.globals.starred_others().flatten();
        let mut own: HashMap<_, _> = starred
            .map(|(name, at)| (name.clone(), at.clone()))
            .collect();
        let bindings = self.globals.all().into_iter();
        let others =
            bindings.filter(|(name, ..)| !name.starts_with('_') && !names::is_of_dsl(name));
        own.extend(others.map(|(name, line, _)| (name.to_owned(), (Arc::clone(file), line))));
        let exported = exported(self.text);
        own.retain(|name, _| exported.as_ref().is_none_or(|it| it.contains(name)));
        BesideModule {
            path: path.to_owned(),
            file: Arc::clone(file),
            names: bound,
            exported,
            own,
            rewritten: rewritten
                .iter()
                .map(|(_, name)| (*name).to_owned())
                .collect(),
        }
    }

    /// What a name of the DSL is finally bound to; `None` if it is not bound.
    fn meaning(
        &mut self,
        dialect: Dialect,
        name: &str,
        file: &Arc<str>,
        is_dsl: bool,
    ) -> Option<Meaning> {
        let Some((line, binding)) = self.globals.get(dialect, name, LATE) else {
            let is_starred = self.globals.is_starred(dialect, name);
            return is_starred.then_some(Meaning::Dsl);
        };
        let is_same = match binding {
            Binding::Beside(file, line) => return Some(Meaning::Other(file, line)),
            Binding::Dsl(of) => of == name,
            Binding::Function(at) if self.functions[at].is_value() => {
                self.read_function(at, dialect);
                let value = match self.state(at, dialect) {
                    ParseState::Read(Ok(parsed)) => constant(parsed.program.output()),
                    _ => None,
                };
                match names::known(dialect, name) {
                    Some(Operand::Constant(constant)) => value.as_ref() == Some(constant.value()),
                    _ => false,
                }
            }
            // The reference's functions of the typed dialect are not known.
            Binding::Function(_) => is_dsl && dialect == Dialect::Typed,
            Binding::Module(_) | Binding::Other(_) => false,
        };
        Some(if is_same {
            Meaning::Dsl
        } else {
            Meaning::Other(Arc::clone(file), line)
        })
    }
}

/// The names in `__all__`, if a text sets it to strings alone.
fn exported(text: &str) -> Option<HashSet<String>> {
    if !text.contains("__all__") {
        return None;
    }
    let (mut lexer, mut block, mut exported) = (Lexer::new(text), Block::default(), None);
    while lexer.next_block(&mut block) {
        if let [_, name, rest @ ..] = &block.tokens[..]
            && name.is_name("__all__")
        {
            if rest.iter().any(|token| token.kind == TokenKind::Name) {
                return None;
            }
            let names = rest.iter().filter(|token| token.kind == TokenKind::Text);
            let names = names.map(|token| token.text.trim_matches(['"', '\'']).to_owned());
            exported.get_or_insert_with(HashSet::new).extend(names);
        }
    }
    exported
}
