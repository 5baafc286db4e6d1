//! The eight symmetries of a grid or a patch.

/// A symmetry of the square, applied to a bounding box. The upper left corner of the box stays where it is, so the
/// composition of two of them is again one of the eight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Symmetry {
    /// Whether the rows are reversed.
    down: bool,
    /// Whether the columns are reversed.
    right: bool,
    /// Whether rows and columns are exchanged, after the other two.
    across: bool,
}

impl Symmetry {
    /// Unchanged.
    pub const IDENTITY: Self = Self::of(false, false, false);
    /// The first row last, as `hmirror` does.
    pub const UPSIDE_DOWN: Self = Self::of(true, false, false);
    /// The first column last, as `vmirror` does.
    pub const LEFT_TO_RIGHT: Self = Self::of(false, true, false);
    /// Rows and columns exchanged, as `dmirror` does.
    pub const DIAGONAL: Self = Self::of(false, false, true);
    /// Mirrored along the other diagonal, as `cmirror` does.
    pub const COUNTER_DIAGONAL: Self = Self::of(true, true, true);
    /// Turned clockwise, as `rot90` does.
    pub const QUARTER: Self = Self::of(true, false, true);
    /// Turned twice, as `rot180` does.
    pub const HALF: Self = Self::of(true, true, false);
    /// Turned counterclockwise, as `rot270` does.
    pub const THREE_QUARTERS: Self = Self::of(false, true, true);

    const fn of(down: bool, right: bool, across: bool) -> Self {
        Self {
            down,
            right,
            across,
        }
    }

    /// Whether rows and columns are exchanged.
    pub fn is_across(self) -> bool {
        self.across
    }

    /// This one followed by `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        // If this one exchanges rows and columns, what `next` does to rows affects the original columns.
        let (down, right) = if self.across {
            (next.right, next.down)
        } else {
            (next.down, next.right)
        };
        Self {
            down: self.down != down,
            right: self.right != right,
            across: self.across != next.across,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Symmetry; 8] = [
        Symmetry::IDENTITY,
        Symmetry::UPSIDE_DOWN,
        Symmetry::LEFT_TO_RIGHT,
        Symmetry::DIAGONAL,
        Symmetry::COUNTER_DIAGONAL,
        Symmetry::QUARTER,
        Symmetry::HALF,
        Symmetry::THREE_QUARTERS,
    ];

    /// Where a cell of a grid of this size ends up, and the new size.
    fn place(way: Symmetry, (i, j): (i32, i32), (height, width): (i32, i32)) -> [(i32, i32); 2] {
        let i = if way.down { height - 1 - i } else { i };
        let j = if way.right { width - 1 - j } else { j };
        if way.across {
            [(j, i), (width, height)]
        } else {
            [(i, j), (height, width)]
        }
    }

    #[test]
    fn one_after_the_other_is_one_of_the_eight() {
        for a in ALL {
            for b in ALL {
                let [cell, size] = place(a, (0, 1), (3, 5));
                let twice = place(b, cell, size);
                assert_eq!(twice, place(a.then(b), (0, 1), (3, 5)), "{a:?} {b:?}");
            }
        }
    }
}
