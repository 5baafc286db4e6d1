//! How much of a device's memory a window may take.

const GB: u64 = 1 << 30;

/// The part of the `free` bytes that windows may take: nine tenths. If little memory is free, others may need some of
/// it too: below 2 GB windows may take a half, below 1 GB a quarter.
pub(crate) fn allowance(free: u64) -> u64 {
    if free < GB {
        free / 4
    } else if free < 2 * GB {
        free / 2
    } else {
        free / 10 * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_little_is_free_less_of_it_is_taken() {
        assert_eq!(allowance(10 * GB), GB * 9);
        assert_eq!(allowance(2 * GB - 2), GB - 1);
        assert_eq!(allowance(GB - 4), GB / 4 - 1);
        assert_eq!(allowance(0), 0);
    }
}
