//! [`GroupedErrors`]: errors and notes as lines, grouped by kind.

use std::fmt;

use mega_batch::escaped;
use mega_batch::inputs::InputError;

/// Up to this many errors of one kind get lines of their own.
const ALONE: usize = 3;

/// How many places are listed for one kind.
const PLACES: usize = 10;

/// Errors grouped by kind. Those of a kind differ only in place, numbers and quoted text: the first is printed with
/// its message, the next only with their places, and with their messages if these differ.
pub(super) struct GroupedErrors<'a> {
    prefix: &'static str,
    kinds: Vec<Vec<&'a InputError>>,
}

impl<'a> GroupedErrors<'a> {
    pub(super) fn new(prefix: &'static str, errors: &'a [InputError]) -> Self {
        let mut kinds: Vec<Vec<&InputError>> = Vec::new();
        let mut by_kind = std::collections::HashMap::new();
        for error in errors {
            let at = *by_kind
                .entry(kind_of(&error.message))
                .or_insert(kinds.len());
            if at == kinds.len() {
                kinds.push(Vec::new());
            }
            kinds[at].push(error);
        }
        // Errors printed one by one keep their order.
        let (many, mut few): (Vec<_>, Vec<_>) =
            kinds.into_iter().partition(|kind| kind.len() > ALONE);
        let place = |error: &InputError| errors.iter().position(|it| std::ptr::eq(it, error));
        let mut alone: Vec<Vec<_>> = few.drain(..).flatten().map(|it| vec![it]).collect();
        alone.sort_by_key(|kind| place(kind[0]));
        alone.extend(many);
        Self {
            prefix,
            kinds: alone,
        }
    }
}

/// A message without its numbers and quoted text.
fn kind_of(message: &str) -> String {
    let quoted = message.split('`').enumerate();
    let plain = quoted.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part);
    let plain: String = plain.collect::<Vec<_>>().join("`");
    plain.chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl fmt::Display for GroupedErrors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in &self.kinds {
            let (first, more) = (kind[0], &kind[1..]);
            if more.is_empty() {
                writeln!(f, "{}{first}", self.prefix)?;
                continue;
            }
            writeln!(f, "{}{first} ({} times)", self.prefix, kind.len())?;
            for error in more.iter().take(PLACES - 1) {
                write!(f, "  {}", ErrorPlace(error))?;
                if error.message != first.message {
                    write!(f, ": {}", escaped(&error.message))?;
                }
                writeln!(f)?;
            }
            if let Some(left @ 1..) = more.len().checked_sub(PLACES - 1) {
                writeln!(f, "  and {left} more")?;
            }
        }
        Ok(())
    }
}

/// The place of an error.
struct ErrorPlace<'a>(&'a InputError);

impl fmt::Display for ErrorPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InputError {
            file,
            line,
            column,
            path,
            ..
        } = self.0;
        write!(f, "{}", escaped(&file.to_string_lossy()))?;
        if let (Some(line), Some(column)) = (line, column) {
            write!(f, ":{line}:{column}")?;
        }
        match path {
            Some(path) => write!(f, ": {}", escaped(path)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_kind_are_told_once() {
        let error = |file: &str, message: &str| InputError::whole(file.as_ref(), message);
        let mut errors = vec![error("x", "first"), error("a0", "colour 200: expected `a`")];
        errors.push(error("y", "last"));
        let few = GroupedErrors::new("", &errors).to_string();
        assert_eq!(few, "x: first\na0: colour 200: expected `a`\ny: last\n");
        let next = |at| {
            error(
                &format!("a{at}"),
                if at == 1 {
                    "colour 300: expected `b`"
                } else {
                    "colour 200: expected `a`"
                },
            )
        };
        errors.extend((1..13).map(next));
        let places: Vec<String> = (2..10).map(|at| format!("  a{at}\n")).collect();
        // A message that differs is printed too.
        let places = format!("  a1: colour 300: expected `b`\n{}", places.concat());
        let expected = format!(
            "- x: first\n- y: last\n- a0: colour 200: expected `a` (13 times)\n{places}  and 3 more\n"
        );
        assert_eq!(GroupedErrors::new("- ", &errors).to_string(), expected);
    }
}
