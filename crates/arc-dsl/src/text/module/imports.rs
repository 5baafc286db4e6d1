//! What imports bind names to.

use crate::text::beside::{DslPart, Meaning, joined};
use crate::text::globals::{Binding, StarImport};
use crate::text::lexer::Token;
use crate::text::module::lowering::Lowering;
use crate::text::names::is_of_dsl;
use crate::text::tokens::told;
use crate::text::tree::Import;

/// The effects of an import.
#[derive(Debug, Default)]
pub(in crate::text) struct Imports<'t> {
    pub(in crate::text) names: Vec<(Token<'t>, Binding<'t>)>,
    pub(in crate::text) star: Option<StarImport>,
    /// The module of a star import.
    pub(in crate::text) module: &'t str,
}

impl<'t> Lowering<'_, 't> {
    /// What an import binds.
    pub(in crate::text) fn imports(&self, import: &Import<'t>) -> Imports<'t> {
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
