//! Sizes of sections in an assembled kernel, which is an ELF file.

/// The bytes of section `wanted` of a 64-bit little-endian ELF file; `None` if there is none.
///
/// The layout is that of the System V ABI, chapters "ELF Header" and "Sections".
pub(crate) fn section_size(file: &[u8], wanted: &str) -> Option<u64> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = number(file, 0x28, 8)?;
    let header_size = number(file, 0x3a, 2)?;
    let count = number(file, 0x3c, 2)?;
    let of_names = number(file, 0x3e, 2)?;
    let header = |index: u64| usize::try_from(headers + index * header_size).ok();
    let names = number(file, header(of_names)? + 0x18, 8)?;
    (0..count).find_map(|index| {
        let at = header(index)?;
        let name = usize::try_from(names + number(file, at, 4)?).ok()?;
        let name = file.get(name..)?.split(|byte| *byte == 0).next()?;
        (name == wanted.as_bytes()).then(|| number(file, at + 0x20, 8))?
    })
}

/// The little-endian number of `bytes` bytes at `at`.
fn number(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(bytes)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sections: the names, and `.text.a` of 0x123 bytes.
    fn file() -> Vec<u8> {
        let names = b"\0.names\0.text.a\0";
        let mut file = vec![0_u8; 64 + names.len() + 2 * 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[64..64 + names.len()].copy_from_slice(names);
        let headers = 64 + names.len();
        file[0x28] = headers as u8;
        file[0x3a] = 64;
        file[0x3c] = 2;
        file[headers] = 1;
        file[headers + 0x18] = 64;
        file[headers + 64] = 8;
        file[headers + 64 + 0x20..][..2].copy_from_slice(&[0x23, 0x01]);
        file
    }

    #[test]
    fn a_section_is_found_by_its_name() {
        assert_eq!(section_size(&file(), ".text.a"), Some(0x123));
        assert_eq!(section_size(&file(), ".text"), None);
    }

    #[test]
    fn what_is_no_elf_file_or_cut_short_has_none() {
        let file = file();
        for length in 0..file.len() - 64 {
            assert_eq!(section_size(&file[..length], ".text.a"), None, "{length}");
        }
        assert_eq!(section_size(b"PK\x03\x04 and more", ".text.a"), None);
    }
}
