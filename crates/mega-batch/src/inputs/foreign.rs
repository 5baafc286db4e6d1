//! [`Foreign`]: texts that may be programs in free Python.

use std::path::{Path, PathBuf};

use arc_dsl::Program;
use python_pool::Pool;

use super::completions::{Parsed, is_foreign};
use super::{InputError, ProgramsRead};

/// Texts without a program of the DSL, which may have one in free Python.
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
    /// What is wrong with it as a program of the DSL; None if it need not be one.
    pub(super) otherwise: Option<Vec<InputError>>,
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

    /// Whether what is wrong with a text may be that it is Python; `None` if there is no need to ask.
    pub(super) fn may_have(&mut self, file: &Path, text: &str, read: &[Parsed]) -> Option<bool> {
        if read.iter().any(Result::is_ok) {
            return None;
        }
        let is_foreign = is_foreign(text, read);
        // Without it, what is wrong with them is more often a slip.
        if self.pool.is_none() && is_foreign && text.contains("numpy") {
            let (_, count) = self
                .without_pool
                .get_or_insert_with(|| (file.to_owned(), 0));
            *count += 1;
        }
        let pool = self.pool?;
        // A prelude may know more names.
        (is_foreign || pool.settings().prelude.is_some()).then_some(is_foreign)
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
            match (answer, candidate.otherwise, candidate.reason) {
                (None, ..) => {
                    read.programs
                        .insert(candidate.at + added, candidate.program);
                    added += 1;
                }
                (Some(_), None, _) => {
                    empty.extend(candidate.program.source().map(PathBuf::from));
                }
                (Some(failure), Some(_), Some(place)) => read.errors.push(place.because(&failure)),
                (Some(_), Some(errors), None) => read.errors.extend(errors),
            }
        }
    }
}
