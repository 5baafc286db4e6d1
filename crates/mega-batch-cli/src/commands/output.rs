//! [`Destination`]: where a document goes. Everything that the command writes goes through here.
//!
//! However the process ends, either the old document or the complete new one is there: see
//! [`files`](mega_batch::files).

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use mega_batch::escaped;
use mega_batch::files::{
    folder_of, followed, is_descriptor, is_standard_output, names_a_folder, replace, temporary,
};
use serde::Serialize;

/// Where a document goes. Opened before the work begins, so that an error is known before hours have gone into it.
pub(crate) enum Destination {
    /// The standard output.
    Stdout,
    /// Not a regular file: a pipe, a device, or something that is open already. It is written while the document is
    /// generated.
    Stream(PathBuf, File),
    /// A regular file, which may not exist yet.
    File {
        /// The path as given.
        name: PathBuf,
        /// The path with links followed.
        file: PathBuf,
    },
}

/// What happens if the folder does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folders {
    /// It is an error.
    Expected,
    /// It is created when the document is written.
    Created,
}

/// How much is written to see whether a disk has room, in bytes.
const TRIAL: usize = 64 << 10;

impl Destination {
    /// Opens the destination of this name; `-` is the standard output. An error says why it cannot be written.
    pub(crate) fn open(path: &Path, folders: Folders) -> anyhow::Result<Self> {
        Self::at(path, folders).with_context(|| cannot_be_written(path))
    }

    /// The same for an option that may not be given; its folder has to exist.
    pub(crate) fn of_option(path: Option<&PathBuf>) -> anyhow::Result<Option<Self>> {
        path.map(|path| Self::open(path, Folders::Expected))
            .transpose()
    }

    fn at(path: &Path, folders: Folders) -> anyhow::Result<Self> {
        if is_standard_output(path) {
            return Ok(Destination::Stdout);
        }
        if is_descriptor(path) {
            // Whatever it is, even a regular file, somebody has opened it already.
            let stream = OpenOptions::new().append(true).open(path)?;
            return Ok(Destination::Stream(path.to_owned(), stream));
        }
        if names_a_folder(path) {
            return Err(anyhow!("expected a file, found the name of a folder"));
        }
        let file = followed(path)?;
        match fs::metadata(&file) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(anyhow!("expected a file, found a folder"));
            }
            Ok(metadata) => {
                let opened = OpenOptions::new().write(true).open(&file)?;
                if !metadata.is_file() {
                    return Ok(Destination::Stream(path.to_owned(), opened));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let folder = match folders {
            Folders::Expected => folder_of(&file),
            Folders::Created => existing(folder_of(&file)),
        };
        try_folder(folder)?;
        Ok(Destination::File {
            name: path.to_owned(),
            file,
        })
    }

    /// The path of a regular file of this name.
    pub(crate) fn file(path: &Path) -> anyhow::Result<PathBuf> {
        match Self::open(path, Folders::Expected)? {
            Destination::File { file, .. } => Ok(file),
            _ => Err(anyhow!("expected a regular file")).with_context(|| cannot_be_written(path)),
        }
    }

    /// The same for an option that may not be given.
    pub(crate) fn file_of_option(path: Option<&PathBuf>) -> anyhow::Result<Option<PathBuf>> {
        path.map(|path| Self::file(path)).transpose()
    }

    /// The folder for temporary files of the document: its own folder, or the system's for temporary files.
    pub(crate) fn spool(&self) -> anyhow::Result<PathBuf> {
        if let Destination::File { file, .. } = self {
            return Ok(folder_of(file).to_owned());
        }
        let folder = std::env::temp_dir();
        try_folder(&folder)
            .with_context(|| cannot_be_written(&folder))
            .context("no folder for temporary files (TMPDIR)")?;
        Ok(folder)
    }

    /// Writes the document.
    pub(crate) fn write<W: FnOnce(&mut dyn Write) -> io::Result<()>>(
        self,
        write: W,
    ) -> anyhow::Result<()> {
        let through = |out: &mut dyn Write, write: W| {
            let mut out = BufWriter::new(out);
            write(&mut out)?;
            out.flush()
        };
        match self {
            Destination::Stdout => {
                through(&mut io::stdout().lock(), write).context("standard output")
            }
            Destination::Stream(path, mut stream) => {
                through(&mut stream, write).with_context(|| cannot_be_written(&path))
            }
            Destination::File { name, file } => {
                replace(&file, write).with_context(|| cannot_be_written(&name))
            }
        }
    }
}

/// Writes a document as one line, if it goes anywhere; returns whether it is on the standard output.
pub(crate) fn write_json(
    to: Option<Destination>,
    document: &impl Serialize,
) -> anyhow::Result<bool> {
    let on_stdout = matches!(to, Some(Destination::Stdout));
    if let Some(to) = to {
        to.write(|out| {
            serde_json::to_writer(&mut *out, document)?;
            out.write_all(b"\n")
        })?;
    }
    Ok(on_stdout)
}

/// The path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", shown(path))
}

/// The folder, or its nearest existing ancestor.
fn existing(folder: &Path) -> &Path {
    let mut folder = folder;
    while !folder.exists() && folder != folder_of(folder) {
        folder = folder_of(folder);
    }
    folder
}

/// Whether a file can be created in the folder, and has room.
fn try_folder(folder: &Path) -> io::Result<()> {
    let mut file = temporary(folder, OsStr::new("trial"))?;
    file.write_all(&vec![b' '; TRIAL])?;
    file.as_file().sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, folders: Folders, text: &str) -> anyhow::Result<()> {
        let destination = Destination::open(path, folders)?;
        destination.write(|out| out.write_all(text.as_bytes()))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_document_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        write(&file, Folders::Expected, "old").unwrap();
        let destination = Destination::open(&file, Folders::Expected).unwrap();
        let failed = destination.write(|out| {
            out.write_all(&vec![b'x'; 100_000])?;
            out.flush()?;
            assert_eq!(fs::read_to_string(&file).unwrap(), "old");
            let beside = names(folder.path());
            assert_eq!(beside.len(), 2);
            assert!(beside[0].starts_with(".a.json.") && beside[0].ends_with(".partial"));
            Err(io::ErrorKind::StorageFull.into())
        });
        let error = format!("{:#}", failed.unwrap_err());
        assert!(error.contains("a.json: cannot be written: "), "{error}");
        assert_eq!(names(folder.path()), ["a.json"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        write(&file, Folders::Expected, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    #[test]
    fn folders_are_made_when_the_document_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x/y/a.json");
        assert!(Destination::open(&file, Folders::Expected).is_err());
        let destination = Destination::open(&file, Folders::Created).unwrap();
        assert!(names(folder.path()).is_empty());
        destination.write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let below_a_file = file.join("b.json");
        assert!(Destination::open(&below_a_file, Folders::Created).is_err());
        assert!(Destination::open(folder.path(), Folders::Created).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [file, link, dangling] =
            ["a.json", "link.json", "dangling.json"].map(|name| folder.path().join(name));
        symlink("a.json", &link).unwrap();
        symlink("b.json", &dangling).unwrap();
        write(&file, Folders::Expected, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write(&link, Folders::Expected, "new").unwrap();
        write(&dangling, Folders::Expected, "other").unwrap();
        assert!(link.is_symlink() && dangling.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("b.json")).unwrap(),
            "other"
        );
        assert_eq!(names(folder.path()).len(), 4);
    }
}
