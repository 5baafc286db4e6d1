//! Patches mirrored more than once: of the eight ways in which one can lie, each is made once.

use rustc_hash::FxHashMap;

use arc_dsl::Primitive;
use arc_form::Id;

/// How a patch lies in its box. The upper left corner of the box is where it was, whatever the way,
/// so that two ways one after the other are one of the eight again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Way {
    /// Upside down.
    down: bool,
    /// Left to right.
    right: bool,
    /// Its rows are columns, after that.
    across: bool,
}

impl Way {
    /// The way after a mirror; nothing where the primitive is none.
    fn then(self, mirror: Primitive) -> Option<Self> {
        let Self {
            down,
            right,
            across,
        } = self;
        Some(match mirror {
            Primitive::hmirror => Self {
                down: down == across,
                right: right != across,
                across,
            },
            Primitive::vmirror => Self {
                down: down != across,
                right: right == across,
                across,
            },
            Primitive::dmirror => Self {
                across: !across,
                ..self
            },
            Primitive::cmirror => Self {
                down: !down,
                right: !right,
                across: !across,
            },
            _ => return None,
        })
    }
}

/// A patch that is another one mirrored.
#[derive(Debug, Clone, Copy)]
struct Mirrored {
    /// The slot of the other one.
    of: u32,
    way: Way,
    slot: u32,
}

/// The mirrored patches that are made where the lowering stands.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    made: Vec<Mirrored>,
    /// The slots of values that are in the slots of others.
    same: FxHashMap<Id, u32>,
}

impl Mirrors {
    /// The slot of a value.
    pub(super) fn slot(&self, id: Id) -> u32 {
        self.same.get(&id).copied().unwrap_or(id.0)
    }

    /// How many are made.
    pub(super) fn made(&self) -> usize {
        self.made.len()
    }

    /// Forgets all but the first so many: what is made in a region is not there after it.
    pub(super) fn forget(&mut self, made: usize) {
        self.made.truncate(made);
    }

    /// Whether the patch that the primitive makes of the one in the slot is there already; if so it
    /// is the value of the id. It cannot fail: all of them are where one is.
    pub(super) fn same(&mut self, primitive: Primitive, slot: u32, to: Id) -> bool {
        let known = self.made.iter().find(|one| one.slot == slot);
        let (of, way) = known.map_or((slot, Way::default()), |one| (one.of, one.way));
        let Some(way) = way.then(primitive) else {
            return false;
        };
        let found = if way == Way::default() {
            Some(of)
        } else {
            let mut made = self.made.iter();
            made.find(|one| (one.of, one.way) == (of, way))
                .map(|one| one.slot)
        };
        match found {
            Some(found) => {
                self.same.insert(to, found);
            }
            None => self.made.push(Mirrored {
                of,
                way,
                slot: to.0,
            }),
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compiled;
    use crate::ops::testing::check_text;
    use arc_dsl::parse_programs;
    use arc_form::specialise;

    #[test]
    fn ways_are_those_of_the_mirrors() {
        // A location of a box of 3 x 5, mirrored so.
        let place = |way: Way, (i, j): (i32, i32)| {
            let (i, j) = (
                if way.down { 2 - i } else { i },
                if way.right { 4 - j } else { j },
            );
            if way.across { (j, i) } else { (i, j) }
        };
        for bits in 0..8 {
            let way = Way {
                down: bits & 1 != 0,
                right: bits & 2 != 0,
                across: bits & 4 != 0,
            };
            let (height, width) = if way.across { (5, 3) } else { (3, 5) };
            let (i, j) = place(way, (0, 1));
            for (mirror, expected) in [
                (Primitive::hmirror, (height - 1 - i, j)),
                (Primitive::vmirror, (i, width - 1 - j)),
                (Primitive::dmirror, (j, i)),
                (Primitive::cmirror, (width - 1 - j, height - 1 - i)),
            ] {
                assert_eq!(
                    place(way.then(mirror).unwrap(), (0, 1)),
                    expected,
                    "{way:?} {mirror}"
                );
            }
            assert_eq!(way.then(Primitive::rot90), None);
        }
    }

    #[test]
    fn what_is_mirrored_twice_is_made_once() {
        let text = "def f(I):\n    x1 = objects(I, T, F, F)\n    x2 = first(x1)\n    \
            x3 = hmirror(x2)\n    x4 = vmirror(x3)\n    x5 = vmirror(x2)\n    x6 = hmirror(x5)\n    \
            x7 = cmirror(x6)\n    x8 = dmirror(x2)\n    x9 = combine(x7, x4)\n    \
            x10 = combine(x9, x8)\n    x11 = shift(x10, (1, 1))\n    O = paint(I, x11)\n    return O\n";
        let form = specialise(&parse_programs(text).remove(0).unwrap()).unwrap();
        // The objects, the first, hmirror, vmirror twice, dmirror, combine twice, shift, paint.
        assert_eq!(Compiled::new(&form).unwrap().len(), 10);
        assert!(check_text(text, 5, 400) > 100);
    }

    #[test]
    fn what_a_region_makes_is_not_there_after_it() {
        let text = "def f(I):\n    x1 = objects(I, F, T, F)\n    x2 = first(x1)\n    \
            x3 = rbind(equality, x2)\n    x4 = compose(x3, hmirror)\n    x5 = sfilter(x1, x4)\n    \
            x6 = hmirror(x2)\n    x7 = insert(x6, x5)\n    x8 = merge(x7)\n    O = paint(I, x8)\n    return O\n";
        assert!(check_text(text, 6, 200) > 100);
    }
}
