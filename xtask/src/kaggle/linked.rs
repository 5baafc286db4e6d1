//! What a binary requires of the machine that it runs on, by its dynamic linking tables.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, Sym as _};
use object::{Endianness, elf};

/// The newest version of glibc that a binary for Kaggle may require. Kaggle's image has 2.35; an older one leaves a
/// margin.
pub(super) const GLIBC: Version = Version([2, 34, 0]);

/// The dynamic linker of glibc.
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";

/// The libraries that every Linux with glibc has.
const LIBRARIES: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
];

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version([u32; 3]);

impl Version {
    /// The version in the name of a symbol version such as `GLIBC_2.34`.
    fn of(name: &str) -> Option<Self> {
        let mut parts = [0; 3];
        let mut words = name.strip_prefix("GLIBC_")?.split('.');
        for part in &mut parts {
            *part = match words.next() {
                Some(word) => word.parse().ok()?,
                None => break,
            };
        }
        words.next().is_none().then_some(Self(parts))
    }

    /// The version that a wheel for a platform such as `manylinux_2_34_x86_64` requires.
    pub(super) fn of_platform(platform: &str) -> Option<Self> {
        let version = platform.strip_prefix("manylinux_")?;
        let version = version.strip_suffix("_x86_64")?;
        Self::of(&format!("GLIBC_{}", version.replace('_', ".")))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}")?;
        if patch > 0 {
            write!(f, ".{patch}")?;
        }
        Ok(())
    }
}

/// The requirements of a binary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    /// The dynamic linker; `None` for a statically linked binary.
    linker: Option<String>,
    libraries: Vec<String>,
    /// The symbol versions, each with its symbols. Some have none.
    versions: BTreeMap<String, Vec<String>>,
}

impl Requirements {
    /// The requirements of an x86-64 ELF file.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let data = std::fs::read(path).with_context(|| shown.to_string())?;
        Self::of(&data).with_context(|| format!("{shown}: expected a program for Linux on x86-64"))
    }

    fn of(data: &[u8]) -> Result<Self> {
        let header = elf::FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        let machine = header.e_machine(endian);
        ensure!(
            machine == elf::EM_X86_64,
            "found a file for the machine with ELF's number {machine}"
        );
        let mut needs = Self::default();
        for segment in header.program_headers(endian, data)? {
            if let Some(linker) = segment.interpreter(endian, data)? {
                needs.linker = Some(text(linker));
            }
        }
        if needs.linker.is_none() {
            return Ok(needs);
        }
        let sections = header.sections(endian, data)?;
        let Some((dynamic, link)) = sections.dynamic(endian, data)? else {
            bail!("found a dynamic linker and no section for it");
        };
        let strings = sections.strings(endian, data, link)?;
        for entry in dynamic {
            if entry.tag32(endian) == Some(elf::DT_NEEDED) {
                needs.libraries.push(text(entry.string(endian, strings)?));
            }
        }
        if let Some((mut files, link)) = sections.gnu_verneed(endian, data)? {
            let strings = sections.strings(endian, data, link)?;
            while let Some((_, mut versions)) = files.next()? {
                while let Some(version) = versions.next()? {
                    let name = text(version.name(endian, strings)?);
                    needs.versions.entry(name).or_default();
                }
            }
        }
        if let Some(versions) = sections.versions(endian, data)? {
            let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
            for (index, symbol) in symbols.enumerate() {
                let version = versions.version(versions.version_index(endian, index))?;
                if let Some(version) = version
                    && let Some(of_version) = needs.versions.get_mut(&text(version.name()))
                {
                    of_version.push(text(symbol.name(endian, symbols.strings())?));
                }
            }
        }
        Ok(needs)
    }

    /// The newest required version of glibc.
    pub(super) fn newest(&self) -> Option<Version> {
        let versions = self.versions.keys();
        versions.filter_map(|name| Version::of(name)).max()
    }

    /// What a machine with at most this version of glibc lacks, one item per line.
    pub(super) fn lacking(&self, most: Version) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(linker) = self.linker.as_ref().filter(|linker| *linker != LINKER) {
            lines.push(format!(
                "expected the dynamic linker {LINKER}, found {linker}"
            ));
        }
        for library in &self.libraries {
            if !LIBRARIES.contains(&library.as_str()) {
                lines.push(format!("the library {library}"));
            }
        }
        for (name, symbols) in &self.versions {
            // A name without the prefix belongs to another library, or has no number: glibc 2.36 and newer mark
            // requirements on the dynamic linker in this way.
            let is_lacking = match Version::of(name) {
                Some(version) => version > most,
                None => name.starts_with("GLIBC_"),
            };
            if is_lacking {
                let symbols = match symbols.as_slice() {
                    [] => "by no symbol".to_owned(),
                    symbols => format!("by {}", symbols.join(", ")),
                };
                lines.push(format!("{name}, {symbols}"));
            }
        }
        lines
    }
}

/// Bytes of a name.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |name| Version::of(name).unwrap();
        assert!(version("GLIBC_2.4") < version("GLIBC_2.34"));
        assert!(version("GLIBC_2.2.5") < version("GLIBC_2.3"));
        assert_eq!(version("GLIBC_2.34"), GLIBC);
        assert_eq!(version("GLIBC_2.2.5").to_string(), "2.2.5");
        for name in [
            "GLIBC_ABI_DT_RELR",
            "GLIBC_PRIVATE",
            "GCC_3.0",
            "GLIBC_2.2.5.1",
        ] {
            assert_eq!(Version::of(name), None, "{name}");
        }
    }

    fn needs(versions: &[(&str, &[&str])]) -> Requirements {
        let versions = versions.iter().map(|(name, symbols)| {
            let symbols = symbols.iter().map(|&symbol| symbol.to_owned());
            ((*name).to_owned(), symbols.collect())
        });
        Requirements {
            linker: Some(LINKER.to_owned()),
            libraries: vec!["libc.so.6".to_owned()],
            versions: versions.collect(),
        }
    }

    #[test]
    fn what_is_too_new_is_named_with_its_symbols() {
        let fits = needs(&[("GLIBC_2.34", &["__libc_start_main"]), ("GCC_3.0", &[])]);
        assert_eq!(fits.lacking(GLIBC), Vec::<String>::new());
        assert_eq!(fits.newest(), Some(GLIBC));
        let newer = needs(&[
            ("GLIBC_2.38", &["__isoc23_strtol", "__isoc23_sscanf"]),
            ("GLIBC_ABI_DT_RELR", &[]),
        ]);
        let expected = [
            "GLIBC_2.38, by __isoc23_strtol, __isoc23_sscanf",
            "GLIBC_ABI_DT_RELR, by no symbol",
        ];
        assert_eq!(newer.lacking(GLIBC), expected);
    }

    #[test]
    fn another_linker_and_unknown_libraries_are_named() {
        let mut other = needs(&[]);
        other.linker = Some("/lib/ld-musl-x86_64.so.1".to_owned());
        other.libraries.push("libcuda.so.1".to_owned());
        let expected = [
            "expected the dynamic linker /lib64/ld-linux-x86-64.so.2, found /lib/ld-musl-x86_64.so.1",
            "the library libcuda.so.1",
        ];
        assert_eq!(other.lacking(GLIBC), expected);
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
    fn what_this_test_itself_needs_is_read() {
        let needs = Requirements::of_file(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(needs.linker.as_deref(), Some(LINKER));
        assert!(needs.libraries.iter().any(|library| library == "libc.so.6"));
        let of_start = needs
            .versions
            .iter()
            .find(|(_, symbols)| symbols.iter().any(|symbol| symbol == "__libc_start_main"));
        let (version, _) = of_start.expect("every program has a beginning");
        assert!(Version::of(version).is_some_and(|version| Some(version) <= needs.newest()));
        // A very old glibc has none of it.
        let lacking = needs.lacking(Version([2, 2, 0]));
        assert!(
            lacking
                .iter()
                .any(|line| line.contains("__libc_start_main")),
            "{lacking:?}"
        );
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        assert!(Requirements::of(b"#!/bin/sh\n").is_err());
        assert!(Requirements::of(b"").is_err());
        assert!(Requirements::of(b"\x7fELF\x02\x01\x01").is_err());
    }
}
