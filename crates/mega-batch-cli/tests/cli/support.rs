//! A folder of input files, and the command run in it.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder for one test; paths given to the command are relative to it.
pub(crate) struct Folder(TempDir);

/// The result of the command.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, creating its folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// The command with these words as arguments, set up for this folder.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mega-batch"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.path());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "TERM"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the command with these words as arguments.
    pub(crate) fn run(&self, arguments: &str) -> Done {
        done(self.command(arguments).output().unwrap())
    }

    /// Starts the command and kills it once it has written this many bytes of a file, or has ended. Returns the size
    /// of the file then.
    ///
    /// Waiting for a fixed time would not do: on a busy machine nothing may have been written by then.
    pub(crate) fn kill_when_written(&self, arguments: &str, file: &str, bytes: u64) -> u64 {
        let mut command = self.command(arguments);
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().unwrap();
        let written = || fs::metadata(self.path().join(file)).map_or(0, |it| it.len());
        while written() < bytes && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        written()
    }

    /// Runs the command `run` with these words as arguments and `--json -` after them.
    pub(crate) fn run_json(&self, arguments: &str) -> (Done, Value) {
        let done = self.run(&format!("run {arguments} --json -"));
        let document = serde_json::from_str(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", done.stdout, done.stderr));
        (done, document)
    }
}

pub(crate) fn done(output: Output) -> Done {
    Done {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The text of a task that asks for mirror images of rows: two training pairs, one test pair.
pub(crate) fn mirror_task() -> String {
    let pair = |a: i32, b: i32| json!({ "input": [[a, b]], "output": [[b, a]] });
    json!({ "train": [pair(1, 2), pair(0, 5)], "test": [pair(3, 4)] }).to_string()
}

/// The text of a program of this name that is right on [`mirror_task`].
pub(crate) fn mirror_program(name: &str) -> String {
    format!("def {name}(I):\n    O = vmirror(I)\n    return O\n")
}

pub(crate) fn gzipped(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

pub(crate) fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A tar archive of these files.
pub(crate) fn tarred(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}
