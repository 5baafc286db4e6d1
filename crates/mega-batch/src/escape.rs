//! Names of files, programs and tasks as messages show them.

use std::borrow::Cow;

/// The text without anything that a terminal would obey: control characters, escape sequences and
/// newlines among them, and what turns the direction of text become `\\n`, `\\u{1b}` and the like.
///
/// Whatever comes from outside, as the name of a file or a task's id, passes here on its way into a
/// message or a table. It is for reading: a backslash stays as it is.
///
/// ```
/// assert_eq!(mega_batch::escaped("a\n\u{1b}[31m.json"), "a\\n\\u{1b}[31m.json");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something else with it than to show it.
fn is_obeyed(c: char) -> bool {
    let breaks_lines = matches!(c, '\u{2028}' | '\u{2029}');
    let turns_text = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c);
    c.is_control() || breaks_lines || turns_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped_and_all_else_is_not() {
        let plain = "caf\u{e9} \u{65e5}\u{672c} a\\b 'c' \"d\" \u{1f600}";
        assert!(matches!(escaped(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(
            escaped("\x1b[2J\r\n\t\0\x7f\u{9b}1m"),
            "\\u{1b}[2J\\r\\n\\t\\u{0}\\u{7f}\\u{9b}1m"
        );
        assert_eq!(
            escaped("gpj.\u{202e}exe\u{2028}"),
            "gpj.\\u{202e}exe\\u{2028}"
        );
    }
}
