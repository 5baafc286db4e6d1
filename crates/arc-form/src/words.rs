//! Values as words, for the keys of a [`Memo`](super::memo::Memo).

use arc_dsl::{Cell, Container, Grid, Loc, Value};

/// Values never start with words from this one on, which are free for other uses.
pub(super) const FREE: u32 = 10;

/// Writes the value such that exactly the values that print alike have the same words: `True` equals `1`, but
/// prints differently, and so do equal sets that are iterated in another order.
pub(super) fn write(words: &mut Vec<u32>, value: &Value) {
    match value {
        Value::Nothing => words.push(0),
        Value::Bool(b) => words.extend_from_slice(&[1, u32::from(*b)]),
        Value::Int(n) => words.extend_from_slice(&[2, n.cast_unsigned()]),
        Value::Loc(loc) => write_loc(words, *loc),
        Value::Cell(cell) => write_cell(words, *cell),
        Value::Grid(grid) => write_rows(words, grid),
        Value::Tuple(elements) => write_all(words, 5, elements.as_slice(), write),
        Value::Set(_) | Value::Indices(_) | Value::Object(_) => {
            let container = value.as_container();
            words.extend_from_slice(&[6, container.map_or(0, Container::len) as u32]);
            let elements = container.into_iter().flat_map(Container::iter);
            elements.for_each(|element| write(words, &element));
        }
        Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => {
            words.push(9);
            words.extend(value.to_string().bytes().map(u32::from));
        }
    }
}

fn write_loc(words: &mut Vec<u32>, Loc { i, j }: Loc) {
    words.extend_from_slice(&[3, i.cast_unsigned(), j.cast_unsigned()]);
}

fn write_cell(words: &mut Vec<u32>, cell: Cell) {
    words.extend_from_slice(&[4, cell.colour.cast_unsigned()]);
    write_loc(words, cell.loc);
}

/// Writes the number of elements, and each of them.
fn write_all<T>(words: &mut Vec<u32>, kind: u32, all: &[T], one: impl Fn(&mut Vec<u32>, &T)) {
    words.extend_from_slice(&[kind, all.len() as u32]);
    for item in all {
        one(words, item);
    }
}

/// A grid prints like the tuple of its rows.
fn write_rows(words: &mut Vec<u32>, grid: &Grid) {
    words.extend_from_slice(&[5, grid.height() as u32]);
    for row in grid.rows() {
        let row = row.iter().map(|colour| Value::Int(i32::from(*colour)));
        write(words, &Value::tuple(row.collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arc_dsl::generate::Generator;

    #[test]
    fn values_are_written_alike_where_they_print_alike() {
        let mut generator = Generator::new(11);
        let written: Vec<(String, Vec<u32>)> = (0..600)
            .map(|at| generator.value(arc_dsl::Type::ALL[at % arc_dsl::Type::ALL.len()]))
            .flat_map(|value| match &value {
                Value::Grid(grid) => {
                    let rows = grid.rows().map(|row| {
                        Value::tuple(row.iter().map(|n| Value::Int(i32::from(*n))).collect())
                    });
                    vec![Value::tuple(rows.collect()), value]
                }
                _ => vec![value],
            })
            .map(|value| {
                let mut words = Vec::new();
                write(&mut words, &value);
                (value.to_string(), words)
            })
            .collect();
        let mut alike = 0;
        for (a, in_words) in &written {
            for (b, others) in &written {
                assert_eq!(a == b, in_words == others, "{a} {b}");
                alike += usize::from(a == b);
            }
        }
        assert!(alike > written.len(), "{alike}");
    }
}
