//! The table of what a search calls.

/// What is called: a line says what one more such call costs, the kinds of what it takes and gives,
/// and the primitives; with a star the order of the two arguments is all one. Kinds are finer than
/// types, which tell neither a colour from a number nor what a function is for. Then, by cost and kind,
/// what a search begins with, and what it begins with for each colour of the task.
pub(crate) const TABLE: &str = include_str!("calls.txt");

/// A line of the table: its cost, whether it has a star, its kinds, and what it names.
pub(crate) type Line = (usize, bool, Vec<&'static str>, Vec<&'static str>);

/// The lines of a part of the table.
pub(crate) fn lines(table: &'static str) -> Result<Vec<Line>, String> {
    let parts = |line: &'static str| {
        let (head, names) = line.split_once(": ")?;
        let (cost, kinds) = head.split_once(' ')?;
        let number = cost.trim_end_matches('*').parse().ok()?;
        let kinds = kinds.split(' ').filter(|word| *word != "->").collect();
        Some((
            number,
            cost.ends_with('*'),
            kinds,
            names.split(' ').collect(),
        ))
    };
    let line = |line| parts(line).ok_or_else(|| format!("no line of a table: {line}"));
    table.lines().map(line).collect()
}
