//! How much of a device's memory a window may take, and the largest batch that fits.

use crate::failure::Failure;

const GB: u64 = 1 << 30;

/// The part of the `free` bytes that windows may take: nine tenths. If little memory is free, others may need some of
/// it too: below 2 GB windows may take a half, below 1 GB a quarter.
pub fn allowance(free: u64) -> u64 {
    if free < GB {
        free / 4
    } else if free < 2 * GB {
        free / 2
    } else {
        free / 10 * 9
    }
}

/// The largest batch of at most `most` items for which `attempt` succeeds: tries 1, 2, 4 ... items until memory runs
/// out, then bisects between the last two sizes. No size is tried twice. Running out of memory is an expected outcome
/// of an attempt. `None` if not even one item fits.
///
/// Any other failure ends the search and is returned.
pub fn find_max_batch(
    most: u64,
    mut attempt: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Option<u64>, Failure> {
    let mut fits = |items| match attempt(items) {
        Ok(()) => Ok(true),
        Err(Failure::OutOfMemory) => Ok(false),
        Err(failure) => Err(failure),
    };
    let (mut good, mut next) = (0, 1.min(most));
    let mut bad = loop {
        if next == 0 {
            return Ok(None);
        }
        if !fits(next)? {
            break next;
        }
        good = next;
        if good == most {
            return Ok(Some(most));
        }
        next = good.saturating_mul(2).min(most);
    };
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok((good > 0).then_some(good))
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

    #[test]
    fn the_largest_batch_is_found() {
        for room in [0, 1, 2, 3, 7, 8, 1000, 1_000_000] {
            for most in [0, 1, 5, 8, 4096, u64::MAX] {
                let mut tried = Vec::new();
                let found = find_max_batch(most, |items| {
                    tried.push(items);
                    if items > room {
                        Err(Failure::OutOfMemory)
                    } else {
                        Ok(())
                    }
                });
                let expected = room.min(most);
                assert_eq!(found, Ok((expected > 0).then_some(expected)));
                let count = tried.len();
                tried.sort_unstable();
                tried.dedup();
                assert_eq!(tried.len(), count, "no size is tried twice");
                assert!(count <= 64, "{count} tries");
            }
        }
        let lost = Failure::Lost("gone".to_owned());
        assert_eq!(find_max_batch(9, |_| Err(lost.clone())), Err(lost));
    }
}
