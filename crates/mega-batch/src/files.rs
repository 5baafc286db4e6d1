//! Files that are replaced as a whole.
//!
//! What is written goes to a file beside the one that it is to be, is brought to the disk and renamed.
//! Whatever ends the process or fills the disk, there is the old file or the new one, whole; of several
//! processes that write one file it is the one of the last. What a process that is killed while it writes
//! leaves behind is called `.NAME.RANDOM.partial`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// The folder that a file of this name is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        None => file,
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
    }
}

/// A file of a name that no other has, gone when it is dropped.
pub fn temporary(folder: &Path, name: &OsStr) -> io::Result<NamedTempFile> {
    // File systems allow 255 bytes.
    let name: String = name.to_string_lossy().chars().take(50).collect();
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for every new file, less what the user keeps from others.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
        .prefix(&format!(".{name}."))
        .suffix(".partial")
        .tempfile_in(folder)
}

/// Puts what `write` writes in the place of a file, at once; a folder that is not there is made.
pub fn replace(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(file);
    fs::create_dir_all(folder)?;
    let mut new = temporary(folder, file.file_name().unwrap_or_default())?;
    if let Ok(old) = fs::metadata(file) {
        new.as_file().set_permissions(old.permissions())?;
    }
    let mut out = BufWriter::new(new.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    new.as_file().sync_all()?;
    new.persist(file)?;
    // The new name has to reach the disk too; some file systems cannot be asked for that.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}
