//! The embedded PTX, and [`Image`]: the requirements that a PTX text states.

pub use arc_kernels::PTX;

use super::Unavailable;

/// PTX text, parsed as far as needed before it is passed to a driver.
#[derive(Debug)]
pub struct Image<'a> {
    text: &'a str,
}

impl<'a> Image<'a> {
    /// The image of this text.
    pub fn new(text: &'a str) -> Self {
        Self { text }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The version of CUDA that a driver must support to read it; `None` if the text is not PTX.
    pub(super) fn needed_driver(&self) -> Option<(u32, u32)> {
        let (major, minor) = self.directive(".version")?.trim().split_once('.')?;
        cuda_of_ptx(major.parse().ok()?, minor.parse().ok()?)
    }

    /// The lowest compute capability that it runs on.
    pub(super) fn needed_capability(&self) -> Option<(u32, u32)> {
        let target = self.directive(".target")?.split(',').next()?;
        let number: u32 = target.trim().strip_prefix("sm_")?.parse().ok()?;
        Some((number / 10, number % 10))
    }

    /// The fingerprint of the interface that it was built for; `None` if it names none.
    pub fn fingerprint(&self) -> Option<u64> {
        let line = self
            .text
            .lines()
            .find(|line| line.contains(".const") && line.contains(" arc_fingerprint"))?;
        let (_, after) = line.split_once(" arc_fingerprint")?;
        let value = after.trim().strip_suffix(';')?.trim();
        if value.is_empty() {
            // The compiler omits a zero initialiser.
            return Some(0);
        }
        let number = value.strip_prefix('=')?.trim();
        // The compiler writes a value from 2^63 on as a negative number.
        number
            .parse()
            .ok()
            .or_else(|| number.parse::<i64>().ok().map(i64::cast_unsigned))
    }

    /// Fails unless it was built for the interface with this fingerprint.
    pub fn check(&self, expected: u64) -> Result<(), Unavailable> {
        let found = match self.fingerprint() {
            Some(found) if found == expected => return Ok(()),
            Some(found) => format!("{found:#018x}"),
            None => "none".to_owned(),
        };
        Err(Unavailable::StaleImage { expected, found })
    }

    /// What follows a directive on its line.
    fn directive(&self, name: &str) -> Option<&'a str> {
        let mut lines = self.text.lines();
        lines.find_map(|line| line.strip_prefix(name))
    }
}

/// The first version of CUDA that supports a version of PTX: the PTX ISA, "Release History".
fn cuda_of_ptx(major: u32, minor: u32) -> Option<(u32, u32)> {
    match (major, minor) {
        (7, minor) => Some((11, minor)),
        (8, 0..=5) => Some((12, minor)),
        (8, 6) => Some((12, 7)),
        (8, 7) => Some((12, 8)),
        (8, _) => Some((12, 9)),
        (9.., minor) => Some((major + 4, minor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
