//! How values begin, for sorting them: most often that decides, without a look at what is behind a pointer.

use crate::patch::{Cell, Loc};
use crate::value::Value;

/// The first 64 bits of a text that compares as the values do: it has the parts of a value in their order, each as its
/// rank, and behind that an integer as its bits. The end of a container is less than any rank.
#[derive(Default)]
pub(crate) struct Beginning {
    bits: u64,
    /// How many bits there are; more if the text is longer, or goes on with what is not told.
    length: u32,
    is_unknown: bool,
}

impl Beginning {
    const RANK: u32 = 3;
    const END: u64 = 0;
    const NOTHING: u64 = 1;
    const NUMBER: u64 = 2;
    const TUPLE: u64 = 3;
    const SET: u64 = 4;
    const FUNCTION: u64 = 5;

    /// Nothing of a value that only the typed dialect has.
    pub(crate) fn of(value: &Value) -> Option<u64> {
        let mut beginning = Self::default();
        beginning.add(value);
        (!beginning.is_unknown).then_some(beginning.bits)
    }

    fn put(&mut self, bits: u64, count: u32) {
        let end = self.length + count;
        if end <= u64::BITS {
            self.bits |= bits << (u64::BITS - end);
        } else if self.length < u64::BITS {
            self.bits |= bits >> (end - u64::BITS);
        }
        self.length = end;
    }

    fn is_full(&self) -> bool {
        self.length >= u64::BITS
    }

    /// An integer: most are at most 30. Those that do not fit are where they are in the order, and end the text.
    fn integer(&mut self, n: i32) {
        const WIDTH: u32 = 8;
        const LEAST: i32 = -64;
        const MOST: i32 = LEAST + (1 << WIDTH) - 1;
        self.put(Self::NUMBER, Self::RANK);
        self.put(i64::from(n.clamp(LEAST, MOST) - LEAST) as u64, WIDTH);
        if n <= LEAST || n >= MOST {
            self.length = u64::BITS;
        }
    }

    fn loc(&mut self, loc: Loc) {
        self.put(Self::TUPLE, Self::RANK);
        self.integer(loc.i);
        self.integer(loc.j);
        self.put(Self::END, Self::RANK);
    }

    fn cell(&mut self, cell: Cell) {
        self.put(Self::TUPLE, Self::RANK);
        self.integer(cell.colour);
        self.loc(cell.loc);
        self.put(Self::END, Self::RANK);
    }

    fn all<T>(&mut self, rank: u64, elements: &[T], add: impl Fn(&mut Self, &T)) {
        self.put(rank, Self::RANK);
        for element in elements {
            if self.is_full() {
                return;
            }
            add(self, element);
        }
        self.put(Self::END, Self::RANK);
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Bool(truth) => self.integer((*truth).into()),
            Value::Int(n) => self.integer(*n),
            Value::Loc(loc) => self.loc(*loc),
            Value::Cell(cell) => self.cell(*cell),
            Value::Tuple(elements) => self.all(Self::TUPLE, elements.as_slice(), Self::add),
            Value::Indices(locs) => self.all(Self::SET, locs.as_slice(), |to, it| to.loc(*it)),
            Value::Object(cells) => self.all(Self::SET, cells.as_slice(), |to, it| to.cell(*it)),
            Value::Set(elements) => self.all(Self::SET, elements.as_slice(), Self::add),
            Value::Grid(grid) => {
                self.put(Self::TUPLE, Self::RANK);
                for row in grid.rows() {
                    if self.is_full() {
                        return;
                    }
                    self.all(Self::TUPLE, row, |to, colour| to.integer((*colour).into()));
                }
                self.put(Self::END, Self::RANK);
            }
            Value::Nothing => self.put(Self::NOTHING, Self::RANK),
            Value::Primitive(_) | Value::Function(_) => {
                self.put(Self::FUNCTION, Self::RANK);
                self.length = u64::BITS;
            }
            Value::Foreign(_) => self.is_unknown = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;
    use crate::generate::Generator;
    use crate::patch::Indices;

    #[test]
    fn values_begin_in_the_order_in_which_they_compare() {
        let mut generator = Generator::new(5);
        let mut values: Vec<Value> = (0..600)
            .map(|at| generator.value(Type::ALL[at % Type::ALL.len()]))
            .collect();
        let numbers = [i32::MIN, -65, -64, -1, 0, 190, 191, 192, i32::MAX];
        for a in numbers {
            values.extend([Value::Int(a), Value::Loc(Loc::new(7, a))]);
            values.push(Value::tuple(vec![
                Value::Loc(Loc::new(a, 7)),
                Value::Int(a),
            ]));
            values.push(Indices::new(vec![Loc::new(0, a), Loc::new(a, 0)]).into());
        }
        values.sort();
        let begins: Option<Vec<u64>> = values.iter().map(Beginning::of).collect();
        let begins = begins.unwrap();
        assert!(begins.is_sorted());
        let distinct = begins.chunk_by(|a, b| a == b).count();
        let of = values.chunk_by(|a, b| a == b).count();
        assert!(distinct > of / 2, "{distinct} of {of}");
        let pairs = values.iter().zip(&begins);
        for ((a, x), (b, y)) in pairs.clone().zip(pairs.skip(1)) {
            assert!(a != b || x == y, "{a} and {b}");
        }
    }
}
