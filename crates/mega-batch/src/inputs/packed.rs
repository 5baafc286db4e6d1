//! Files that are compressed, or in a zip or tar archive, recognised by their first bytes. Their uncompressed size is
//! limited, so that a small file cannot fill the memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;
use zip::ZipArchive;
use zip::result::ZipError;

#[cfg(feature = "tables")]
use super::tables::json_lines;
use super::{
    DAMAGED, InputError, MAX_FILE_BYTES, ends_with_one, is_arc_id, is_archive, is_ignored,
    is_other_archive, is_other_data, note_others, other_text, read_file, stem,
};
use crate::files::{is_descriptor, is_standard_input};

/// The maximum uncompressed size of all files in an archive together.
const MAX_ARCHIVE_BYTES: u64 = 4 * MAX_FILE_BYTES;

/// Tasks and programs are not packed to less than this part of their size: what unpacks to more only fills memory.
const MOST_TIMES: u64 = 200;

/// The bytes that any file may unpack to, however small it is.
const LEAST_BYTES: u64 = 64 << 20;

/// The most memory that unpacking xz may take, in KiB: four times what its strongest setting takes.
const XZ_KIB: u32 = 256 << 10;

/// A file, or a file in an archive.
pub(super) struct Content {
    /// Its path; for a file in an archive, that of the archive and the name in it.
    pub(super) name: PathBuf,
    /// The uncompressed contents.
    pub(super) bytes: Vec<u8>,
}

/// Whether a file is an archive that contains a file with a wanted name.
pub(super) fn archive_contains(file: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
    let entries = entries(file).unwrap_or_default();
    entries.iter().any(|(name, _)| is_wanted(name))
}

/// Problems with the names in archives.
#[derive(Default)]
pub(super) struct ArchiveListing {
    /// Archives within them, and data in other forms.
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
        let (mut archives, mut others) = (Vec::new(), Vec::new());
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (name, check) in &entries {
            if name.split('/').any(is_ignored) {
                continue;
            }
            if is_wanted(name) {
                by_name.entry(name).or_default().push(*check);
            } else if is_archive(name) || is_other_archive(name) {
                archives.push(&**name);
            } else if is_other_data(name)
                || ends_with_one(name, &[".md"]) && is_arc_id(&stem(Path::new(name)))
                || ends_with_one(name, &[".txt"]) && !tells_of_others(&stem(Path::new(name)))
            {
                others.push(name.clone());
            }
        }
        self.notes.extend(note_others(file, &others));
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
                let place = place_in(file, name);
                self.errors.push(InputError::whole(&place, message));
            }
        }
    }
}

/// Whether a file of text with this name is about the others.
fn tells_of_others(stem: &str) -> bool {
    let mut words = "readme license notice requirements changelog authors".split(' ');
    words.any(|word| stem.to_ascii_lowercase().starts_with(word))
}

/// The names in an archive with the CRC-32 of their files; `None` for any other file. Those of a zip archive are in its
/// central directory: the zip reader only has the last of several entries with one name.
fn entries(file: &Path) -> Option<Vec<(String, u32)>> {
    const HEAD: usize = 46;
    // Opening a pipe would wait for its writer.
    let is_file = std::fs::metadata(file).is_ok_and(|it| it.is_file());
    let mut reader = BufReader::new(is_file.then(|| File::open(file).ok()).flatten()?);
    let mut begin = [0; 512];
    let length = reader.read(&mut begin).ok()?;
    if !begin.starts_with(b"PK") {
        // Others are not unpacked only for this.
        let is_packed = packing(&begin[..length]).is_some() && is_archive(&file.to_string_lossy());
        let may_be = is_tar(&begin) || is_packed;
        let bytes = may_be.then(|| decompressed(file, read_file(file).ok()?).ok())??;
        let entries = tar_entries(&bytes)?.into_iter();
        return Some(
            entries
                .map(|(name, bytes)| (name, crc32fast::hash(bytes)))
                .collect(),
        );
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
        let bytes = match decompressed(file, bytes) {
            Ok(bytes) => bytes,
            Err(error) => return each(Err(error)),
        };
        if is_tar(&bytes) {
            return tar_contents(file, &bytes, what, is_wanted, each);
        }
        let read = plain(file, bytes).and_then(|bytes| match other_text(file) {
            Some(found) => {
                let message = format!("expected {what}, found {found}, which is not read");
                Err(InputError::whole(file, message))
            }
            None => Ok(bytes),
        });
        return each(read.map(|bytes| Content {
            name: file.to_owned(),
            bytes,
        }));
    }
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else {
        let message = format!("broken zip archive: {DAMAGED}");
        return each(Err(InputError::whole(file, message)));
    };
    let names = (0..archive.len())
        .filter_map(|at| Some((archive.name_for_index(at)?.ok()?.into_owned(), at)));
    let (mut names, others): (Vec<_>, Vec<_>) = names
        .filter(|(name, _)| !name.split('/').any(is_ignored))
        .partition(|(name, _)| is_wanted(name));
    names.sort();
    if names.is_empty() {
        let first = others.first().map(|(name, _)| &**name);
        return each(Err(none_in(file, "zip", what, first)));
    }
    let mut left = MAX_ARCHIVE_BYTES;
    for (name, at) in names {
        let place = place_in(file, &name);
        let entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(error) => {
                let is_damaged = matches!(error, ZipError::Io(_) | ZipError::InvalidArchive(_));
                let other = "it is encrypted, or packed in a way that is not read";
                let why = if is_damaged { DAMAGED } else { other };
                each(Err(cannot(&place, why)));
                continue;
            }
        };
        let size = entry.compressed_size();
        let read = unpack(&place, entry, size, left);
        if let Ok(bytes) = &read {
            left -= bytes.len() as u64;
        }
        let is_over = read.is_err() && left < MAX_FILE_BYTES;
        let read = read.and_then(|bytes| plain(&place, decompressed(&place, bytes)?));
        each(read.map(|bytes| Content { name: place, bytes }));
        if is_over {
            return;
        }
    }
}

/// The path of a file in an archive, whose name may lead out of it.
fn place_in(archive: &Path, name: &str) -> PathBuf {
    let parts = name
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".."));
    archive.join(parts.collect::<PathBuf>())
}

/// Reads every file in a tar archive whose name is wanted; of several with one name the last one.
fn tar_contents(
    file: &Path,
    bytes: &[u8],
    what: &str,
    is_wanted: impl Fn(&str) -> bool,
    mut each: impl FnMut(Result<Content, InputError>),
) {
    let Some(entries) = tar_entries(bytes) else {
        return each(Err(InputError::whole(file, "broken tar archive")));
    };
    let (entries, others): (BTreeMap<_, _>, BTreeMap<_, _>) = entries
        .into_iter()
        .filter(|(name, _)| !name.split('/').any(is_ignored))
        .partition(|(name, _)| is_wanted(name));
    if entries.is_empty() {
        let first = others.keys().next().map(|name| &**name);
        return each(Err(none_in(file, "tar", what, first)));
    }
    for (name, bytes) in entries {
        let place = place_in(file, &name);
        let read = decompressed(&place, bytes.to_vec()).and_then(|bytes| plain(&place, bytes));
        each(read.map(|bytes| Content { name: place, bytes }));
    }
}

/// The error that an archive has none of the wanted files; `first` is one of the others.
fn none_in(file: &Path, kind: &str, what: &str, first: Option<&str>) -> InputError {
    let found = first.map_or("which is empty".to_owned(), |name| format!("but `{name}`"));
    InputError::whole(file, format!("no {what} in this {kind} archive, {found}"))
}

/// The files in a tar archive; `None` if it is none, or ends too early.
fn tar_entries(bytes: &[u8]) -> Option<Vec<(String, &[u8])>> {
    if !is_tar(bytes) {
        return None;
    }
    let mut entries = Vec::new();
    for entry in tar::Archive::new(bytes).entries().ok()? {
        let entry = entry.ok()?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        let start = entry.raw_file_position() as usize;
        let end = start.checked_add(entry.size() as usize)?;
        entries.push((name, bytes.get(start..end)?));
    }
    Some(entries)
}

fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// The contents of a file, decompressed if necessary; not for archives.
pub(crate) fn unpacked(file: &Path) -> Result<Vec<u8>, InputError> {
    plain(file, decompressed(file, read_file(file)?)?)
}

/// The ways of compressing a file.
enum Packing {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

/// How a file is compressed, by its first bytes.
fn packing(bytes: &[u8]) -> Option<Packing> {
    Some(match bytes {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Packing::Bzip2,
        _ if skippable(bytes).is_some() => Packing::Zstd,
        _ => return None,
    })
}

/// The bytes behind a frame of zstd that holds nothing.
fn skippable(bytes: &[u8]) -> Option<&[u8]> {
    let [0x50..=0x5f, 0x2a, 0x4d, 0x18, length @ ..] = bytes else {
        return None;
    };
    let (length, rest) = length.split_first_chunk()?;
    rest.get(u32::from_le_bytes(*length) as usize..)
}

fn decompressed(file: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    let size = bytes.len() as u64;
    let whole = |packed: &mut dyn Read| unpack(file, packed, size, MAX_FILE_BYTES);
    match packing(&bytes) {
        None => Ok(bytes),
        Some(Packing::Gzip) => whole(&mut MultiGzDecoder::new(&*bytes)),
        Some(Packing::Xz) => whole(&mut XzReader::new_mem_limit(&*bytes, true, XZ_KIB)),
        Some(Packing::Bzip2) => whole(&mut MultiBzDecoder::new(&*bytes)),
        Some(Packing::Zstd) => {
            let (mut rest, mut all) = (&*bytes, Vec::new());
            // The decoder reads one frame.
            while !rest.is_empty() {
                if let Some(behind) = skippable(rest) {
                    rest = behind;
                    continue;
                }
                let frame = StreamingDecoder::new(&mut rest);
                let frame = frame.map_err(|_| cannot(file, DAMAGED))?;
                let left = MAX_FILE_BYTES - all.len() as u64;
                all.append(&mut unpack(file, frame, size, left)?);
            }
            Ok(all)
        }
    }
}

#[cfg(not(feature = "tables"))]
fn json_lines(_: Vec<u8>) -> Result<Vec<u8>, String> {
    Err("this build lacks the feature `tables`, which reads them".to_owned())
}

/// Refuses what is neither text nor a table nor compressed once. The rows of a table become lines of JSON.
fn plain(file: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    let other = match &*bytes {
        _ if is_tar(&bytes) => "a tar archive, which has to be unpacked first",
        _ if packing(&bytes).is_some() => "a file that is packed twice",
        [b'P', b'K', 3, 4, ..] => "a zip archive, which has to be unpacked first",
        [b'P', b'A', b'R', b'1', ..]
        | [b'A', b'R', b'R', b'O', b'W', b'1', ..]
        | [0xff, 0xff, 0xff, 0xff, ..] => {
            return json_lines(bytes).map_err(|error| {
                InputError::whole(
                    file,
                    format!("cannot be read as a table of Parquet or Arrow: {error}"),
                )
            });
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "an array of NumPy",
        [0x89, b'H', b'D', b'F', ..] => "an HDF5 file",
        [0x80, 2..=5, ..] => "a pickle of Python",
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => "a 7z archive, which has to be unpacked first",
        [b'R', b'a', b'r', b'!', 0x1a, ..] => "a rar archive, which has to be unpacked first",
        [b'P', b'A', b'R', b'E', ..] => "an encrypted table of Parquet",
        [b'F', b'E', b'A', b'1', ..] => "a table of the first version of Feather",
        [b'O', b'b', b'j', 1, ..] => "a table of Avro",
        [0x04, 0x22, 0x4d, 0x18, ..] => "a file packed with lz4",
        [0x1f, 0x9d, ..] => "a file packed with compress",
        [0x5d, 0, 0, ..] => "a file packed with lzma, without the frame of xz",
        _ if ends_with_one(&file.to_string_lossy(), &[".br"]) => "a file packed with brotli",
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        [0x89, b'P', b'N', b'G', ..] => "a picture",
        _ if bytes.starts_with(b"SQLite format 3") => "a database of SQLite",
        _ if bytes.starts_with(b"<!DOCTYPE") || bytes.starts_with(b"<html") => "a web page",
        _ if bytes.starts_with(b"version https://git-lfs") => {
            "a pointer of Git LFS in the place of the file, which `git lfs pull` fetches"
        }
        _ => return Ok(bytes),
    };
    let message =
        format!("expected text, as it is or packed with gzip, xz, zstd or bzip2, found {other}");
    Err(InputError::whole(file, message))
}

/// Reads everything, up to `most` bytes, the maximum size of a file, and what `size` packed bytes may hold.
fn unpack(file: &Path, packed: impl Read, size: u64, most: u64) -> Result<Vec<u8>, InputError> {
    let likely = LEAST_BYTES.max(size.saturating_mul(MOST_TIMES));
    let most = most.min(MAX_FILE_BYTES).min(likely);
    let mut bytes = Vec::new();
    let read = packed.take(most + 1).read_to_end(&mut bytes);
    match read {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            Err(cannot(file, "it takes too much memory"))
        }
        Err(_) => Err(cannot(file, DAMAGED)),
        Ok(read) if read as u64 > most => {
            let message = format!("unpacks to more than {most} bytes: expected {most} at most");
            Err(InputError::whole(file, message))
        }
        Ok(_) => Ok(bytes),
    }
}

fn cannot(file: &Path, why: &str) -> InputError {
    InputError::whole(file, format!("cannot be unpacked: {why}"))
}
