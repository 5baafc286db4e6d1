//! [`Foreign`]: texts that may be programs in free Python.

use std::path::{Path, PathBuf};

use arc_dsl::Program;
use python_pool::Pool;

use super::entry::{Chosen, FreePython, Parsed};
use super::{InputError, ProgramsRead};

/// Texts whose program may be in free Python.
pub(super) struct Foreign<'p> {
    pool: Option<&'p Pool>,
    pub(super) candidates: Vec<Candidate>,
    /// Where the first one is, if there is no pool, and how many there are.
    without_pool: Option<(PathBuf, usize)>,
}

/// A text that may be a program in free Python.
pub(super) struct Candidate {
    /// How many programs come before it.
    pub(super) at: usize,
    pub(super) program: Program,
    /// What is read of it in the DSL; None if it need not be a program.
    pub(super) otherwise: Option<ProgramsRead>,
    /// Where to say instead what is wrong with it as Python.
    pub(super) reason: Option<InputError>,
}

impl<'p> Foreign<'p> {
    pub(super) fn new(pool: Option<&'p Pool>) -> Self {
        Self {
            pool,
            candidates: Vec::new(),
            without_pool: None,
        }
    }

    /// Whether to ask a pool for the program of a text. `is_meant` says that it has to have one.
    pub(super) fn is_asked(
        &mut self,
        file: &Path,
        text: &str,
        python: FreePython,
        is_meant: bool,
    ) -> bool {
        if let Some(pool) = self.pool {
            return python.is_asked(pool.settings().prelude.is_some());
        }
        // What is wrong with others is more often a slip.
        let is_told = is_meant && python == FreePython::Likely
            || python >= FreePython::Maybe && text.contains("numpy");
        if is_told {
            let (_, count) = self
                .without_pool
                .get_or_insert_with(|| (file.to_owned(), 0));
            *count += 1;
        }
        false
    }

    pub(super) fn has_pool(&self) -> bool {
        self.pool.is_some()
    }

    /// What runs of a text: without a pool nothing of the DSL in the place of a program in free Python.
    pub(super) fn counting(&self, mut chosen: Chosen) -> Vec<Parsed> {
        if self.pool.is_none() && chosen.python == FreePython::Likely {
            chosen.programs.retain(Result::is_err);
        }
        chosen.programs
    }

    /// Adds the programs among the candidates, and says what is wrong with the others.
    pub(super) fn finish(self, read: &mut ProgramsRead, empty: &mut Vec<PathBuf>) {
        if let Some((file, count)) = &self.without_pool {
            let more = match count {
                1 => String::new(),
                count => format!(", as may {} more", count - 1),
            };
            let note = format!(
                "may be a program in free Python{more}: these run with `--python`, `python=True`"
            );
            read.notes.push(InputError::whole(file, note));
        }
        let Some(pool) = self.pool else {
            return;
        };
        let codes = self.candidates.iter();
        let codes: Vec<_> = codes
            .filter_map(|it| it.program.python())
            .map(|code| &**code)
            .collect();
        let answers = match pool.recognise(&codes) {
            Ok(answers) => answers,
            Err(error) => {
                let source = self.candidates.first().and_then(|it| it.program.source());
                let file = Path::new(source.unwrap_or_default());
                read.errors.push(InputError::whole(file, error.to_string()));
                return;
            }
        };
        let mut added = 0;
        for (candidate, answer) in self.candidates.into_iter().zip(answers) {
            let at = candidate.at + added;
            let programs = match (answer, candidate.otherwise, candidate.reason) {
                (None, ..) => vec![candidate.program],
                (Some(_), None, _) => {
                    empty.extend(candidate.program.source().map(PathBuf::from));
                    continue;
                }
                (Some(failure), Some(mut dsl), place) => {
                    match place {
                        Some(place) if dsl.programs.is_empty() => {
                            read.errors.push(place.because(&failure));
                        }
                        _ => read.errors.append(&mut dsl.errors),
                    }
                    read.notes.append(&mut dsl.notes);
                    read.unknown.append(&mut dsl.unknown);
                    dsl.programs
                }
            };
            added += programs.len();
            read.programs.splice(at..at, programs);
        }
    }
}
