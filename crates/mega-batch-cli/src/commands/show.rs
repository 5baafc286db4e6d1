//! `mega-batch show`: the grids of a task in the terminal, or as a picture.

use std::io;
use std::path::{Path, PathBuf};

use arc_dsl::Program;
use arc_tasks::{Task, TaskIds};
use arc_text::Reading;
use mega_batch::inputs::{InputError, read_programs, read_tasks};
use mega_batch::{Batch, JobResult, Mode, Options, escaped};

use crate::show::{Drawing, Paint, Picture};

use super::exit::Exit;
use super::output::Destination;
use super::terminal::{has_colours, print};
use super::{exit, note, tell};

/// Draws the grids of a task and a program's outputs, in the terminal or as a picture.
///
/// Input and expected output are drawn side by side, with a program also its output, with `><` in the cells that
/// differ. Colours are left out if the output is not a terminal, `TERM` is `dumb` or `NO_COLOR` is set; except in the
/// last case, `CLICOLOR_FORCE=1` keeps them.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The file of the task.
    task: PathBuf,

    /// The task's id, if the file holds many.
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// A file with a program to run; if there are several, the one whose name ends in the task's id.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// The name of the program in the file.
    #[arg(long, value_name = "PROGRAM", requires = "program")]
    name: Option<String>,

    /// Draw numbers instead of colours.
    #[arg(long, alias = "no-color")]
    no_colour: bool,

    /// Draw into an SVG file instead of the terminal; `-` is the standard output.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Draw into a PNG file instead of the terminal; `-` is the standard output.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// The assumed width of a terminal that does not report it.
const COLUMNS: usize = 100;

impl Show {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let files = (
            Destination::of_option(self.svg.as_ref())?,
            Destination::of_option(self.png.as_ref())?,
        );
        let mut errors = Vec::new();
        if let Some(task) = one_task(&self.task, self.id.as_deref(), &mut errors) {
            let program = self
                .program
                .as_deref()
                .and_then(|file| self.program(file, &task, &mut errors));
            tell(&errors);
            // A picture of the task alone is not what was asked for if its program is missing.
            if program.is_some() || self.program.is_none() || files.0.is_none() && files.1.is_none()
            {
                self.draw(&task, program.as_ref(), files)?;
            }
        } else {
            tell(&errors);
        }
        Ok(exit(&errors))
    }

    fn program(&self, file: &Path, task: &Task, errors: &mut Vec<InputError>) -> Option<Program> {
        let read = read_programs(&[file.to_owned()], &Reading::default());
        note(&read.notes);
        let (mut programs, found) = (read.programs, read.errors);
        let (at, message) = if let Some(name) = &self.name {
            let at = programs.iter().position(|program| program.name() == name);
            (at, format!("no program named {name} in this file"))
        } else if programs.len() == 1 && found.is_empty() {
            (Some(0), String::new())
        } else {
            let ids = TaskIds::new([task.id.as_str()]);
            let at = programs
                .iter()
                .position(|program| ids.of(program).is_some());
            let id = &task.id;
            (
                at,
                format!("no program for the task {id} in this file; --name says which to run"),
            )
        };
        let Some(at) = at else {
            // Errors in the file, if there are any and no name was asked for, say more.
            let missing = InputError::whole(file, message);
            let is_told = found.is_empty() || self.name.is_some();
            errors.extend(found);
            errors.extend(is_told.then_some(missing));
            return None;
        };
        Some(programs.swap_remove(at))
    }

    fn draw(
        &self,
        task: &Task,
        program: Option<&Program>,
        (svg, png): (Option<Destination>, Option<Destination>),
    ) -> anyhow::Result<()> {
        let (programs, tasks) = (
            program.map_or(&[][..], std::slice::from_ref),
            [task.clone()],
        );
        let mut options = Options::default();
        options.mode = Mode::Sequential;
        options.keep_outputs = true;
        let report = mega_batch::run(&Batch::all_pairs(programs, &tasks), &options)?;
        let results = report.results.first().map(|JobResult { pairs, .. }| pairs);

        let title = match program {
            None => escaped(&task.id).into_owned(),
            Some(program) => {
                let [program, task] = [program.name(), &task.id].map(escaped);
                format!("{program} on {task}")
            }
        };
        let (columns, paint) = (columns(&io::stdout().lock()), paint(self.no_colour));
        let drawings = task.pairs().enumerate().map(|(at, (id, pair))| Drawing {
            name: task.pair_name(id),
            pair,
            result: results.and_then(|results| results.get(at)),
            paint,
            columns,
        });
        let drawings: Vec<_> = drawings.collect();
        if svg.is_some() || png.is_some() {
            let picture = Picture::of(&title, &drawings);
            if let Some(svg) = svg {
                svg.write(|out| picture.write_svg(out))?;
            }
            return match png {
                Some(png) => png.write(|out| picture.write_png(out)),
                None => Ok(()),
            };
        }
        let drawings = drawings.iter().map(|drawing| format!("\n{drawing}"));
        Ok(print(format!("{title}\n{}", drawings.collect::<String>()))?)
    }
}

/// The task of this id in a file; the id may be omitted if the file holds one task.
pub(super) fn one_task(
    file: &Path,
    id: Option<&str>,
    errors: &mut Vec<InputError>,
) -> Option<Task> {
    let read = read_tasks(&[file.to_owned()], &[]);
    let (mut tasks, mut found) = (read.tasks, read.errors);
    let place = if file.is_dir() { "folder" } else { "file" };
    match id {
        None if tasks.len() > 1 => {
            let count = tasks.len();
            let message = format!("{count} tasks in this {place}; --id says which is meant");
            errors.push(InputError::whole(file, message));
            return None;
        }
        None => {}
        Some(id) => {
            tasks.retain(|task| task.id == *id);
            if tasks.is_empty() {
                let message = format!("no task {id} in this {place}");
                errors.push(InputError::whole(file, message));
            }
        }
    }
    // Errors in other tasks of the file are of no interest here.
    if let (Some(id), [_]) = (id, &*tasks) {
        found.retain(|error| is_about(error, id));
    }
    errors.extend(found);
    tasks.pop()
}

/// Whether an error concerns the task of this id, by its path.
fn is_about(error: &InputError, id: &str) -> bool {
    let rest = error.path.as_deref().and_then(|path| path.strip_prefix(id));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        || error.file.file_stem().is_some_and(|stem| stem == id)
}

/// How many columns the standard output has.
pub(super) fn columns(out: &io::StdoutLock<'_>) -> usize {
    terminal_size::terminal_size_of(out).map_or(COLUMNS, |(terminal_size::Width(columns), _)| {
        usize::from(columns)
    })
}

/// How cells are drawn on the standard output.
pub(super) fn paint(no_colour: bool) -> Paint {
    if no_colour || !has_colours() {
        Paint::Digits
    } else {
        Paint::Colours
    }
}
