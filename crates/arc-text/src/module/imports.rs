//! What imports bind names to.

use crate::beside::{DslPart, Meaning, joined};
use crate::globals::{Binding, StarImport};
use crate::lexer::Token;
use crate::module::lowering::Lowering;
use crate::names::is_of_dsl;
use crate::tokens::told;
use crate::tree::Import;

/// The effects of an import.
#[derive(Debug, Default)]
pub(crate) struct Imports<'t> {
    pub(crate) names: Vec<(Token<'t>, Binding<'t>)>,
    pub(crate) star: Option<StarImport>,
    /// The module of a star import.
    pub(crate) module: &'t str,
}

impl<'t> Lowering<'_, 't> {
    /// What an import binds.
    pub(crate) fn imports(&self, import: &Import<'t>) -> Imports<'t> {
        let names = import.names.iter();
        let Some(path) = import.from else {
            let names = names.map(|&(path, name)| (name, Binding::Module(path.to_owned())));
            return Imports {
                names: names.collect(),
                ..Imports::default()
            };
        };
        let beside = self.module.and_then(|module| module.module_beside(path));
        let star = || beside.map_or_else(|| StarImport::of(path), |(at, _)| StarImport::Beside(at));
        Imports {
            names: names
                .map(|&(name, target)| (target, self.imported(path, name)))
                .collect(),
            star: import.is_star.then(star),
            module: path,
        }
    }

    /// What this name of a module is bound to.
    fn imported(&self, path: &'t str, name: &'t str) -> Binding<'t> {
        let beside = self.module.and_then(|module| module.module_beside(path));
        match beside.and_then(|(at, beside)| beside.meaning(at, name)) {
            Some(Meaning::Dsl) => return Binding::Dsl(name),
            Some(Meaning::Other(file, line)) => return Binding::Beside(file.clone(), *line),
            None => {}
        }
        let is_dsl = DslPart::of(path) != DslPart::Other;
        let ours = self.module.map_or(name, |module| module.ours(name));
        if is_dsl && is_of_dsl(ours) {
            return Binding::Dsl(name);
        }
        if DslPart::of(name) != DslPart::Other {
            return Binding::Module(joined(path, name));
        }
        let name = told(name);
        let path = if path.is_empty() { "." } else { path };
        Binding::Other(if is_dsl {
            format!("the DSL has no `{name}`")
        } else {
            format!(
                "`{name}` is imported from `{}`, and not defined in this file",
                told(path)
            )
        })
    }
}
