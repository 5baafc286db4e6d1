//! The embedded PTX, and [`Image`]: the requirements that a PTX text states.

pub use arc_kernels::PTX;

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
mod tests {
    use super::*;
    use crate::interface;

    const TEXT: &str = "\
// .version 1.0
.version 8.2
.target sm_60
.address_size 64

.const .align 8 .u64 arc_fingerprint = 123;

.visible .entry arc_copy(
\t.param .u64 arc_copy_param_0,
\t.param .u64 arc_copy_param_1,
\t.param .u32 arc_copy_param_2
)
{
}
";

    fn fingerprint(line: &str) -> Option<u64> {
        Image::new(&TEXT.replace(".const .align 8 .u64 arc_fingerprint = 123;", line)).fingerprint()
    }

    #[test]
    fn versions_are_read() {
        let image = Image::new(TEXT);
        assert_eq!(image.needed_driver(), Some((12, 2)));
        assert_eq!(image.needed_capability(), Some((6, 0)));
        let newer = TEXT.replace("8.2", "8.8").replace("sm_60", "sm_120, debug");
        let newer = Image::new(&newer);
        assert_eq!(newer.needed_driver(), Some((12, 9)));
        assert_eq!(newer.needed_capability(), Some((12, 0)));
        assert_eq!(cuda_of_ptx(7, 8), Some((11, 8)));
        assert_eq!(cuda_of_ptx(8, 5), Some((12, 5)));
        assert_eq!(cuda_of_ptx(8, 7), Some((12, 8)));
        assert_eq!(cuda_of_ptx(9, 1), Some((13, 1)));
    }

    #[test]
    fn a_fingerprint_is_read_however_it_is_written() {
        assert_eq!(Image::new(TEXT).fingerprint(), Some(123));
        assert_eq!(
            fingerprint(".visible .const .align 8 .u64 arc_fingerprint = 18446744073709551615;"),
            Some(u64::MAX)
        );
        // As the compiler writes 0xfedc_ba98_7654_3210.
        assert_eq!(
            fingerprint(".const .align 8 .u64 arc_fingerprint = -81985529216486896;"),
            Some(0xfedc_ba98_7654_3210)
        );
        assert_eq!(
            fingerprint(".const .align 8 .u64 arc_fingerprint;"),
            Some(0)
        );
        assert_eq!(fingerprint(""), None);
        assert_eq!(
            fingerprint(".const .align 8 .u64 arc_fingerprint = a;"),
            None
        );
    }

    #[test]
    fn what_is_no_ptx_says_nothing() {
        let image = Image::new("ELF\n.version\n.target\n.entry arc_copy(");
        assert_eq!(image.needed_driver(), None);
        assert_eq!(image.needed_capability(), None);
        assert_eq!(image.fingerprint(), None);
    }

    #[test]
    fn the_embedded_image_is_for_the_interface_of_this_library() {
        let image = Image::new(PTX);
        assert_eq!(image.fingerprint(), Some(interface::fingerprint()));
    }

    #[test]
    fn the_embedded_image_serves_old_drivers_and_gpus() {
        let image = Image::new(PTX);
        assert_eq!(image.needed_driver(), Some((12, 2)));
        assert_eq!(image.needed_capability(), Some((6, 0)));
    }
}
