//! Files compressed with gzip or in a zip archive, recognised by their first bytes. Their uncompressed size is
//! limited, so that a small file cannot fill the memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::{InputError, MAX_FILE_BYTES, is_archive, is_ignored, read_file};
use crate::files::{is_descriptor, is_standard_input};

/// The maximum uncompressed size of all files in an archive together.
const MAX_ARCHIVE_BYTES: u64 = 4 * MAX_FILE_BYTES;

/// A file, or a file in an archive.
pub(super) struct Content {
    /// Its path; for a file in an archive, that of the archive and the name in it.
    pub(super) name: PathBuf,
    /// The uncompressed contents.
    pub(super) bytes: Vec<u8>,
}

/// Whether a file is an archive that contains a file with a wanted name; unpacks nothing.
pub(super) fn archive_contains(file: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
    let is_file = std::fs::metadata(file).is_ok_and(|it| it.is_file());
    let archive = is_file.then(|| File::open(file).ok()).flatten();
    let archive = archive.and_then(|it| ZipArchive::new(BufReader::new(it)).ok());
    archive.is_some_and(|archive| {
        let mut names = archive.file_names().filter_map(Result::ok);
        names.any(|name| is_wanted(&name))
    })
}

/// Problems with the names in archives, found without unpacking.
#[derive(Default)]
pub(super) struct ArchiveListing {
    /// Archives within them.
    pub(super) notes: Vec<InputError>,
    /// Names that occur several times with different contents, of which only one is read.
    pub(super) errors: Vec<InputError>,
}

impl ArchiveListing {
    /// Checks the archives among the paths. Ignores contents whose names are not wanted.
    pub(super) fn of_named<'p>(
        paths: impl IntoIterator<Item = &'p PathBuf>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let mut all = Self::default();
        for path in paths {
            // Open file descriptors can be read only once.
            if !is_standard_input(path) && !is_descriptor(path) {
                all.add(path, &is_wanted);
            }
        }
        all
    }

    /// Checks a file, if it is an archive. Reading it reports errors.
    pub(super) fn add(&mut self, file: &Path, is_wanted: impl Fn(&str) -> bool) {
        let Some(entries) = entries(file) else {
            return;
        };
        let mut archives = Vec::new();
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (name, check) in &entries {
            if name.split('/').any(is_ignored) {
                continue;
            }
            if is_wanted(name) {
                by_name.entry(name).or_default().push(*check);
            } else if is_archive(name) {
                archives.push(&**name);
            }
        }
        if let [first, more @ ..] = archives.as_slice() {
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!("archives within archives are not read: {first}{more}");
            self.notes.push(InputError::whole(file, message));
        }
        for (name, checks) in by_name {
            if checks.iter().any(|check| *check != checks[0]) {
                let message = format!(
                    "{} files of this name in the archive, which differ: expected one, the last one is read",
                    checks.len()
                );
                let place = file.join(name.trim_start_matches('/'));
                self.errors.push(InputError::whole(&place, message));
            }
        }
    }
}

/// The names in a zip archive with their CRC-32, from its central directory; `None` for any other file. The zip
/// reader only has the last of several entries with one name.
fn entries(file: &Path) -> Option<Vec<(String, u32)>> {
    const HEAD: usize = 46;
    // Opening a pipe would wait for its writer.
    let is_file = std::fs::metadata(file).is_ok_and(|it| it.is_file());
    let mut reader = BufReader::new(is_file.then(|| File::open(file).ok()).flatten()?);
    let mut begin = [0; 2];
    reader.read_exact(&mut begin).ok()?;
    if begin != *b"PK" {
        return None;
    }
    let archive = ZipArchive::new(reader).ok()?;
    let start = archive.central_directory_start();
    let mut reader = archive.into_inner();
    reader.seek(SeekFrom::Start(start)).ok()?;
    let mut entries = Vec::new();
    let mut head = [0; HEAD];
    while reader.read_exact(&mut head).is_ok() && head.starts_with(b"PK\x01\x02") {
        let length = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let check = u32::from_le_bytes([head[16], head[17], head[18], head[19]]);
        let mut name = vec![0; length(28)];
        reader.read_exact(&mut name).ok()?;
        reader
            .seek_relative((length(30) + length(32)) as i64)
            .ok()?;
        entries.push((String::from_utf8_lossy(&name).into_owned(), check));
    }
    Some(entries)
}

/// Reads a file, decompressed if necessary; for an archive, every file whose name is wanted. `what` describes these
/// in errors.
pub(super) fn contents(
    file: &Path,
    what: &str,
    is_wanted: impl Fn(&str) -> bool,
    mut each: impl FnMut(Result<Content, InputError>),
) {
    let bytes = match read_file(file) {
        Ok(bytes) => bytes,
        Err(error) => return each(Err(error)),
    };
    if !bytes.starts_with(b"PK\x03\x04") && !bytes.starts_with(b"PK\x05\x06") {
        return each(gunzipped(file, bytes).map(|bytes| Content {
            name: file.to_owned(),
            bytes,
        }));
    }
    let broken = |error: &zip::result::ZipError| {
        InputError::whole(file, format!("broken zip archive: {error}"))
    };
    let mut archive = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) => archive,
        Err(error) => return each(Err(broken(&error))),
    };
    let mut names: Vec<_> = (0..archive.len())
        .filter_map(|at| Some((archive.name_for_index(at)?.ok()?.into_owned(), at)))
        .filter(|(name, _)| !name.split('/').any(is_ignored) && is_wanted(name))
        .collect();
    names.sort();
    if names.is_empty() {
        let message = format!("no {what} in this zip archive");
        return each(Err(InputError::whole(file, message)));
    }
    let mut left = MAX_ARCHIVE_BYTES;
    for (name, at) in names {
        let place = file.join(name.trim_start_matches('/'));
        let entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(error) => {
                let message = format!("cannot be unpacked: {error}");
                each(Err(InputError::whole(&place, message)));
                continue;
            }
        };
        let read = unpack(&place, entry, left);
        if let Ok(bytes) = &read {
            left -= bytes.len() as u64;
        }
        let is_over = read.is_err() && left < MAX_FILE_BYTES;
        let read = read.and_then(|bytes| gunzipped(&place, bytes));
        each(read.map(|bytes| Content { name: place, bytes }));
        if is_over {
            return;
        }
    }
}

/// The contents of a file, decompressed if necessary; not for archives.
pub(crate) fn unpacked(file: &Path) -> Result<Vec<u8>, InputError> {
    gunzipped(file, read_file(file)?)
}

fn gunzipped(file: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        unpack(file, MultiGzDecoder::new(&*bytes), MAX_FILE_BYTES)?
    } else {
        bytes
    };
    let other = match &*bytes {
        _ if bytes.get(257..262) == Some(b"ustar") => {
            "a tar archive, which has to be unpacked first"
        }
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'B', b'Z', b'h', ..] => "a file that is packed with bzip2",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "a file that is packed with xz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a file that is packed with zstd",
        [b'P', b'A', b'R', b'1', ..] => "a Parquet file",
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => "a 7z archive, which has to be unpacked first",
        [b'R', b'a', b'r', b'!', 0x1a, ..] => "a rar archive, which has to be unpacked first",
        _ => return Ok(bytes),
    };
    let message = format!("expected text, as it is or packed with gzip, found {other}");
    Err(InputError::whole(file, message))
}

/// Reads everything, up to `most` bytes and the maximum size of a file.
fn unpack(file: &Path, packed: impl Read, most: u64) -> Result<Vec<u8>, InputError> {
    let most = most.min(MAX_FILE_BYTES);
    let mut bytes = Vec::new();
    let read = packed.take(most + 1).read_to_end(&mut bytes);
    let message = match read {
        Err(error) => format!("cannot be unpacked: {error}"),
        Ok(read) if read as u64 > most => {
            format!("unpacks to more than {most} bytes: expected {most} at most")
        }
        Ok(_) => return Ok(bytes),
    };
    Err(InputError::whole(file, message))
}
