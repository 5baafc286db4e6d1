//! Targets that read files: what users bring, and what the engine has written: checkpoints and packed batches.

use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

use arc_dsl::Program;
use arc_tasks::{Task, builtin};
use arc_text::Reading;
use mega_batch::inputs;
use mega_batch::shards::PackedBatch;
use mega_batch::{
    Batch, Coordinator, CoordinatorError, Job, Mode, Notice, Options, PairResult, Sink,
};
use tempfile::TempDir;

/// Programs and tasks of a run that goes on.
static RUN: LazyLock<(Vec<Program>, Vec<Task>)> = LazyLock::new(|| {
    let built_in = builtin::all().iter().take(3);
    built_in
        .map(|built_in| (built_in.program().clone(), built_in.task(0, 2, 1, 10)))
        .unzip()
});

/// A folder of this thread, whose files are written over and over.
fn folder() -> TempDir {
    // Temporary folders are in memory on most machines.
    tempfile::tempdir().expect("a temporary folder")
}

/// What a run was told of what it goes on with: how many evaluations were made, and how many bytes were dropped.
#[derive(Default)]
struct Resumed(u64, u64);

impl Sink for Resumed {
    fn pair(&mut self, _: Job, _: PairResult) -> io::Result<()> {
        Ok(())
    }

    fn notice(&mut self, notice: Notice) {
        if let Notice::Resumed { finished, dropped } = notice {
            *self = Self(finished, dropped);
        }
    }
}

/// Runs the batch from a checkpoint on: what it was told, and how it ended.
fn resume(path: &Path) -> (Resumed, Result<(), CoordinatorError>) {
    let (programs, tasks) = &*RUN;
    let mut options = Options::default();
    options.mode = Mode::Sequential;
    let mut resumed = Resumed::default();
    let batch = Batch::all_pairs(programs, tasks);
    let run = Coordinator::new(&batch, &options).resume(path);
    let ended = run.run(&mut resumed).map(drop);
    (resumed, ended)
}

/// The first line of the checkpoint of the run.
static FIRST_LINE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = folder();
    let path = folder.path().join("run.checkpoint");
    let (_, ended) = resume(&path);
    ended.expect("a checkpoint in a temporary folder");
    let bytes = fs::read(path).expect("the checkpoint");
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .expect("a line")
        .to_vec()
});

/// A checkpoint of a run: nothing but what was whole is read, and the file is whole after the run.
///
/// The first byte says what of the file follows. 0: all of it. 1: what stands behind the right first line.
/// 2: entries, of each block its number of them, the number of bytes, and these; the check is made.
pub(crate) fn checkpoint(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else {
        return;
    };
    let mut bytes = Vec::new();
    if *kind > 0 {
        bytes.extend_from_slice(&FIRST_LINE);
    }
    match kind {
        0 | 1 => bytes.extend(data),
        _ => blocks(data, &mut bytes),
    }
    let folder = folder();
    let path = folder.path().join("run.checkpoint");
    fs::write(&path, &bytes).expect("a file in a temporary folder");
    let (Resumed(finished, _), ended) = resume(&path);
    if let Err(CoordinatorError::Checkpoint(_)) = ended {
        // What is of another run stays as it was.
        return assert_eq!(fs::read(&path).ok(), Some(bytes));
    }
    let (programs, tasks) = &*RUN;
    assert!(finished <= Batch::all_pairs(programs, tasks).evaluations());
    // Blocks that are whole may have other things in them: such a run ends with an error, and so does the next.
    let (Resumed(again, dropped), ended) = resume(&path);
    let is_refused = matches!(ended, Err(CoordinatorError::Checkpoint(_)));
    assert!(!is_refused, "what was made whole is refused");
    assert!(again >= finished && dropped == 0);
}

/// Blocks with the right checks.
fn blocks(mut data: &[u8], bytes: &mut Vec<u8>) {
    while let [count, length, rest @ ..] = data {
        let block = &rest[..rest.len().min(usize::from(*length))];
        data = &rest[block.len()..];
        let count = u32::from(*count).to_le_bytes();
        let mut check = crc32fast::Hasher::new();
        check.update(&count);
        check.update(block);
        bytes.extend((block.len() as u32).to_le_bytes());
        bytes.extend(count);
        bytes.extend(check.finalize().to_le_bytes());
        bytes.extend(block);
    }
}

/// A batch as bytes: its shards cover it, and it is written as it was read.
pub(crate) fn packed(data: &[u8]) {
    let batch = match PackedBatch::from_bytes(data) {
        Ok(batch) => batch,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut at = 0;
    for _ in 0..1000 {
        if at >= batch.job_count() {
            break;
        }
        let (end, _) = batch.shard(at, 10);
        assert!(end > at && end <= batch.job_count());
        at = end;
    }
    let written = batch.to_bytes();
    let again = PackedBatch::from_bytes(&written).map(|again| again.to_bytes());
    assert_eq!(again.ok(), Some(written));
}

/// A file of tasks and programs, in whatever it is packed, also as rows and as a notebook: what is wrong with it is told.
pub(crate) fn input_file(data: &[u8]) {
    let folder = folder();
    for name in ["input", "input.jsonl", "input.ipynb"] {
        let path = folder.path().join(name);
        fs::write(&path, data).expect("a file in a temporary folder");
        let paths = [path];
        let tasks = inputs::read_tasks(&paths, &[]);
        let programs = inputs::read_programs(&paths, &Reading::default());
        for told in [tasks.errors, tasks.notes, programs.errors, programs.notes].concat() {
            assert!(!told.message.is_empty() && !told.to_string().contains('\n'));
        }
    }
}
