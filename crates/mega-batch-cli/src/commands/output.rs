//! [`Destination`]: where a document goes. Whatever the command writes passes here.
//!
//! Whatever ends the process, there is the old document or the new one, whole: see
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

/// Where a document goes. Asked for before the work begins: what cannot be written should be known
/// before hours have gone into it.
pub(crate) enum Destination {
    /// The standard output.
    Stdout,
    /// What is no regular file: a pipe, a device, or something that is open already. It is written
    /// as the document is made.
    Stream(PathBuf, File),
    /// A regular file, or what is to become one.
    File {
        /// As it was asked for.
        name: PathBuf,
        /// Where it is, links followed.
        file: PathBuf,
    },
}

/// What becomes of a folder that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folders {
    /// It is missed.
    Expected,
    /// It is made when the document is written.
    Made,
}

/// How much is written to see whether a disk has room.
const TRIAL: usize = 64 << 10;

impl Destination {
    /// The place of this name; `-` is the standard output. An error says why it cannot be written.
    pub(crate) fn open(path: &Path, folders: Folders) -> anyhow::Result<Self> {
        Self::at(path, folders).with_context(|| cannot_be_written(path))
    }

    fn at(path: &Path, folders: Folders) -> anyhow::Result<Self> {
        if is_standard_output(path) {
            return Ok(Destination::Stdout);
        }
        if is_descriptor(path) {
            // Whatever it is, even a regular file, somebody has opened it as it is.
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
            Folders::Made => existing(folder_of(&file)),
        };
        try_folder(folder)?;
        Ok(Destination::File {
            name: path.to_owned(),
            file,
        })
    }

    /// The file of this name, which is to be a regular one.
    pub(crate) fn file(path: &Path) -> anyhow::Result<PathBuf> {
        match Self::open(path, Folders::Expected)? {
            Destination::File { file, .. } => Ok(file),
            _ => Err(anyhow!("expected a regular file")).with_context(|| cannot_be_written(path)),
        }
    }

    /// A folder for what has to be written before the document can be: the document's own, or for
    /// temporary files.
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

/// Whether documents can be written into this folder, or where it would be made.
pub(crate) fn try_to_make(folder: &Path) -> anyhow::Result<()> {
    try_folder(existing(folder)).with_context(|| cannot_be_written(folder))
}

/// The path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", shown(path))
}

/// The folder, or the nearest one that is there of those that it is to be in.
fn existing(folder: &Path) -> &Path {
    let mut folder = folder;
    while !folder.exists() && folder != folder_of(folder) {
        folder = folder_of(folder);
    }
    folder
}

/// Whether a file can be made in the folder, and has room.
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
        let destination = Destination::open(&file, Folders::Made).unwrap();
        assert!(names(folder.path()).is_empty());
        destination.write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let below_a_file = file.join("b.json");
        assert!(Destination::open(&below_a_file, Folders::Made).is_err());
        assert!(Destination::open(folder.path(), Folders::Made).is_err());
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
