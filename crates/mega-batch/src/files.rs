//! Atomic replacement of files.
//!
//! Data is written to a temporary file in the same folder, synced to the disk and renamed. So there is always either
//! the old file or the new one, complete, whatever ends the process or fills the disk; if several processes write one
//! file, the last one wins. A process that is killed while it writes leaves a file `.NAME.RANDOM.partial`.
//!
//! Symbolic links are kept, and their targets are replaced. The new file gets the permissions of the old one, and its
//! owner and group if the user may set these. Other hard links to the old file keep the old content: what they share
//! cannot be replaced atomically.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::results::escape::escaped;

/// The folder that a file of this name is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        None => file,
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
    }
}

/// Creates a temporary file with a unique name; it is removed when it is dropped.
pub fn temporary(folder: &Path, name: &OsStr) -> io::Result<NamedTempFile> {
    // File systems allow 255 bytes.
    let name: String = name.to_string_lossy().chars().take(50).collect();
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file, limited by the user's umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let made = builder
        .prefix(&format!(".{name}."))
        .suffix(".partial")
        .tempfile_in(folder);
    made.map_err(|error| {
        // Remove the name of the temporary file from the error: the user does not know it.
        let inner = error.get_ref().and_then(std::error::Error::source);
        let inner = inner.and_then(|inner| inner.downcast_ref::<io::Error>());
        let code = inner.and_then(io::Error::raw_os_error);
        of_folder(code.map_or(error, io::Error::from_raw_os_error), folder)
    })
}

/// Improves the message of an error in a folder if the folder does not exist.
pub fn of_folder(error: io::Error, folder: &Path) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound || folder.exists() {
        return error;
    }
    let folder = escaped(&folder.to_string_lossy()).into_owned();
    io::Error::new(error.kind(), format!("there is no folder {folder}"))
}

/// Resolves links, even if their target does not exist.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => followed(&folder_of(path).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        result => result,
    }
}

/// Replaces a file atomically by what `write` writes; creates missing folders.
///
/// # Errors
/// The name is that of a folder, a pipe or a device, the user may not write the file, or writing fails. The old file
/// is unchanged then.
pub fn replace(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = followed(file)?;
    let Some(name) = file.file_name().filter(|_| !names_a_folder(&file)) else {
        return Err(io::Error::other(
            "expected a file, found the name of a folder",
        ));
    };
    let old = existing(&file)?;
    let folder = folder_of(&file);
    fs::create_dir_all(folder)?;
    let mut new = temporary(folder, name)?;
    if let Some(old) = old {
        copy_permissions(new.as_file(), &old)?;
    }
    let mut out = BufWriter::new(new.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    new.as_file().sync_all()?;
    new.persist(&file)?;
    // The new name has to reach the disk too; some file systems do not support that.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Whether the path is a name of the standard input.
pub fn is_standard_input(path: &Path) -> bool {
    is_one_of(path, &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
}

/// Whether the path is a name of the standard output.
pub fn is_standard_output(path: &Path) -> bool {
    is_one_of(path, &["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
}

/// Whether the path names an open file descriptor, as shells use for `<(..)`.
pub fn is_descriptor(path: &Path) -> bool {
    let of_process = path.parent();
    of_process.is_some_and(|folder| is_one_of(folder, &["/dev/fd", "/proc/self/fd"]))
        || is_one_of(path, &["/dev/stdin", "/dev/stdout", "/dev/stderr"])
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.as_os_str() == *name)
}

/// Whether the path can only be a folder.
pub fn names_a_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The file to be replaced, if it exists.
fn existing(file: &Path) -> io::Result<Option<Metadata>> {
    let found = match fs::metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if found.is_dir() {
        return Err(io::Error::other("expected a file, found a folder"));
    }
    if !found.is_file() {
        return Err(io::Error::other("expected a regular file"));
    }
    // Renaming would ignore that the old file is read-only.
    OpenOptions::new().write(true).open(file)?;
    Ok(Some(found))
}

/// Gives a file the permissions of another, and its owner if the user may.
fn copy_permissions(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let is = new.metadata()?;
        if (is.uid(), is.gid()) != (old.uid(), old.gid()) {
            // Only a privileged user may; other users own what they write.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    new.set_permissions(old.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        replace(path, |out| out.write_all(text.as_bytes()))
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_folder_is_no_file_that_can_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let error = |path: &Path| write(path, "new").unwrap_err().to_string();
        assert_eq!(error(&inner), "expected a file, found a folder");
        let named = folder.path().join("not_there/");
        assert_eq!(error(&named), "expected a file, found the name of a folder");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(Path::new(""), "new").is_err());
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        }

        #[test]
        fn what_links_lead_to_is_replaced_and_they_stay() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::create_dir(at("other")).unwrap();
            write(&at("other/file"), "old").unwrap();
            symlink("other/file", at("link")).unwrap();
            symlink("link", at("link_to_link")).unwrap();
            write(&at("link_to_link"), "new").unwrap();
            assert_eq!(read(&at("other/file")), "new");
            assert!(at("link").is_symlink() && at("link_to_link").is_symlink());
            // The temporary file was created in the folder of its target, and is gone.
            assert_eq!(fs::read_dir(at("other")).unwrap().count(), 1);

            symlink("other/to_come", at("dangling")).unwrap();
            symlink("dangling", at("link_to_dangling")).unwrap();
            write(&at("link_to_dangling"), "first").unwrap();
            assert!(at("dangling").is_symlink() && at("link_to_dangling").is_symlink());
            assert_eq!(read(&at("other/to_come")), "first");

            symlink(at("other"), at("link_to_folder")).unwrap();
            let error = write(&at("link_to_folder"), "new").unwrap_err();
            assert_eq!(error.to_string(), "expected a file, found a folder");
            symlink("loop", at("loop")).unwrap();
            assert!(write(&at("loop"), "new").is_err());
        }

        #[test]
        fn permissions_stay_and_a_new_file_has_those_of_any_new_file() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("plain"), "").unwrap();
            write(&at("new"), "new").unwrap();
            assert_eq!(mode(&at("new")), mode(&at("plain")));
            for wanted in [0o600, 0o644, 0o664, 0o755] {
                fs::set_permissions(at("new"), fs::Permissions::from_mode(wanted)).unwrap();
                write(&at("new"), "newer").unwrap();
                assert_eq!(mode(&at("new")), wanted);
            }
        }

        #[test]
        fn what_may_not_be_written_is_not_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
            // A privileged user may write it all the same.
            let may = OpenOptions::new().write(true).open(&file).is_ok();
            let written = write(&file, "new");
            assert_eq!(written.is_ok(), may);
            assert_eq!(read(&file), if may { "new" } else { "old" });
            assert_eq!(mode(&file), 0o444);
        }

        #[test]
        fn a_device_stays_what_it_is() {
            let error = write(Path::new("/dev/null"), "new").unwrap_err();
            assert_eq!(error.to_string(), "expected a regular file");
        }

        #[test]
        fn another_hard_link_keeps_what_it_had() {
            let folder = tempfile::tempdir().unwrap();
            let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
            write(&file, "old").unwrap();
            fs::hard_link(&file, &other).unwrap();
            write(&file, "new").unwrap();
            assert_eq!((read(&file), read(&other)), ("new".into(), "old".into()));
        }
    }
}
