//! Writes tuples and sets as literals of program text.

use std::fmt;

/// Writes `(a, b)`, `(a,)` or `()`.
pub fn write_tuple<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    let comma = if items.len() == 1 { "," } else { "" };
    f.write_str("(")?;
    write_list(f, items)?;
    f.write_str(comma)?;
    f.write_str(")")
}

/// Writes `frozenset({a, b})` or `frozenset()`.
pub(crate) fn write_set<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    if items.len() == 0 {
        return f.write_str("frozenset()");
    }
    f.write_str("frozenset({")?;
    write_list(f, items)?;
    f.write_str("})")
}

/// Writes `a, b`.
pub fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
