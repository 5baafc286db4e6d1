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
