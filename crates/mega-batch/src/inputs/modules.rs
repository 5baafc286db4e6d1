//! The modules that programs import, which lie beside them or in a folder above.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_text::{Beside, Reading, Renames, imported_modules, package_of};

use super::packed::Content;
use super::{InputError, read_text, stem, text};

/// The modules of the DSL, which contain no programs. If the first two lie beside programs, Python takes names from
/// them.
pub(super) const DSL_MODULES: &[&str] = &["dsl.py", "constants.py", "arc_types.py"];
const NAME_MODULES: &[&str] = DSL_MODULES.split_at(2).0;

/// How many folders above that of a program may hold the modules that it imports.
const MOST_ABOVE: usize = 3;

/// Folders before and after those in which Python looks for modules.
type AddedFolders = [Vec<PathBuf>; 2];

/// The modules beside files of programs, from which Python would import names.
pub(super) struct Modules {
    /// By the folder of the programs, the modules that they import, and the folders that they add.
    known: BTreeMap<(PathBuf, Vec<String>, AddedFolders), Option<Arc<Beside>>>,
    /// The texts of modules, by file; `None` for what is no readable file.
    texts: HashMap<PathBuf, Option<Arc<str>>>,
}

impl Modules {
    /// Keeps the texts of modules in archives, which are not read again.
    pub(super) fn among<'c>(packed: impl Iterator<Item = &'c Content> + Clone) -> Self {
        let own = NAME_MODULES.iter().map(|name| stem(Path::new(name)));
        let mut wanted: HashSet<String> = own.collect();
        for content in packed.clone() {
            let text = String::from_utf8_lossy(&content.bytes);
            for path in imported_modules("", &text) {
                wanted.extend(path.split('.').map(ToOwned::to_owned));
            }
        }
        let is_wanted = |file: &Path| {
            let is_package = file.ends_with("__init__.py");
            is_package || wanted.contains(&*stem(file))
        };
        let texts = packed.filter(|content| is_wanted(&content.name));
        let texts = texts.map(|Content { name, bytes }| {
            let text = text(name, bytes).ok();
            (name.clone(), text.map(Into::into))
        });
        Self {
            known: BTreeMap::new(),
            texts: texts.collect(),
        }
    }

    /// The modules that Python would import beside a file; `None` if the user passes the names of a fork.
    pub(super) fn beside(
        &mut self,
        file: &Path,
        text: &str,
        reading: &Reading,
    ) -> Option<Arc<Beside>> {
        let is_one = NAME_MODULES.iter().any(|name| file.ends_with(name));
        if reading.names != Renames::default() || is_one {
            return None;
        }
        let folder = file.parent().unwrap_or(file);
        let mut imported = imported_modules("", text);
        // Names that a text does not import are the DSL's.
        imported.extend(["dsl", "constants"].map(str::to_owned));
        let key = (folder.to_owned(), imported, added_folders(folder, text));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut found: BTreeMap<String, (String, Arc<str>)> = BTreeMap::new();
        let mut paths = key.1.clone();
        while let Some(path) = paths.pop() {
            if !found.contains_key(&path)
                && let Some((module, text)) = self.module(folder, &key.2, &path)
                && module != file
            {
                let module = module.to_string_lossy().into_owned();
                paths.extend(imported_modules(package_of(&path, &module), &text));
                found.insert(path, (module, text));
            }
        }
        let modules = found.iter();
        let modules = modules.map(|(path, (file, text))| (&**path, &**file, &**text));
        let beside = (!found.is_empty()).then(|| Arc::new(Beside::of(modules)));
        self.known.insert(key, beside.clone());
        beside
    }

    /// The file and the text of the module that programs in this folder import as `path`.
    fn module(
        &mut self,
        folder: &Path,
        [before, behind]: &AddedFolders,
        path: &str,
    ) -> Option<(PathBuf, Arc<str>)> {
        let name = path.trim_start_matches('.');
        let up = (path.len() - name.len()).saturating_sub(1);
        let folder = folder.ancestors().nth(up)?;
        let inner: PathBuf = name.split('.').collect();
        // Python may be run in a folder above.
        let above = if path.starts_with('.') { 0 } else { MOST_ABOVE };
        let mut folders: Vec<_> = folder.ancestors().take(1 + above).collect();
        if !path.starts_with('.') {
            folders.splice(..0, before.iter().map(|it| &**it));
            folders.extend(behind.iter().map(|it| &**it));
        }
        // Python may be run above the package that the folder is a part of.
        let first = name.split('.').next()?;
        let packages = folder.ancestors();
        let packages = packages.filter(|it| it.file_name().is_some_and(|it| it == first));
        folders.extend(packages.filter_map(Path::parent));
        let mut files: Vec<_> = folders
            .iter()
            .flat_map(|it| {
                let module = it.join(&inner);
                // Of both, Python takes the package.
                [module.join("__init__.py"), module.with_extension("py")]
            })
            .collect();
        // The DSL's modules may lie beside what imports them from a package.
        let last = Path::new(inner.file_name()?).with_extension("py");
        if NAME_MODULES.iter().any(|name| last == Path::new(name)) {
            files.push(folder.join(last));
        }
        files.into_iter().find_map(|file| {
            let text = self.texts.entry(file.clone()).or_insert_with(|| {
                let text = file.is_file().then(|| read_text(&file).ok());
                text.flatten().map(Into::into)
            });
            Some((file, text.clone()?))
        })
    }

    /// Notes functions that differ from the DSL's, which are used instead.
    pub(super) fn notes(&self) -> Vec<InputError> {
        let modules = self.known.values().flatten();
        let modules = modules.flat_map(|beside| beside.rewritten());
        let modules: BTreeMap<_, _> = modules.collect();
        let notes = modules.into_iter().filter_map(|(file, names)| {
            let names = list_names(names.iter().map(String::as_str))?;
            let message =
                format!("functions other than the DSL's own, which are used instead: {names}");
            Some(InputError::whole(Path::new(file), message))
        });
        notes.collect()
    }
}

/// The folders in which a text makes Python look for modules before and after its own, judging by the strings of lines
/// with `sys.path`: those of `os.path.join` are one path. They count from the folder of the text, or from one above, in
/// which Python may be run.
fn added_folders(folder: &Path, text: &str) -> AddedFolders {
    let mut added = [Vec::new(), Vec::new()];
    for line in text.lines().filter(|line| line.contains("sys.path")) {
        let parts = line.split(['"', '\'']).skip(1).step_by(2);
        let whole: PathBuf = parts.clone().collect();
        let paths = std::iter::once(whole).chain(parts.map(PathBuf::from));
        let is_first = line.replace(' ', "").contains("insert(0,");
        for path in paths.filter(|path| *path != Path::new("")) {
            let above = folder.ancestors().take(1 + MOST_ABOVE);
            added[usize::from(!is_first)].extend(above.map(|it| it.join(&path)));
        }
    }
    added
}

/// Lists the first of many names; `None` if there are none.
pub(super) fn list_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Option<String> {
    let count = names.len();
    let mut told: Vec<_> = names
        .take(MAX_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    if let Some(more @ 1..) = count.checked_sub(MAX_NAMES) {
        told.push(format!("{more} more"));
    }
    (count > 0).then(|| told.join(", "))
}

/// How many names a note lists.
pub(super) const MAX_NAMES: usize = 10;
