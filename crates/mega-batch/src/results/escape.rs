//! Escaping of file, program and task names in messages.

use std::borrow::Cow;

/// Escapes everything that affects a terminal: control characters, including escape sequences and newlines, and
/// characters that change the direction of text become `\\n`, `\\u{1b}` and the like.
///
/// Names from outside, like those of files or task ids, are escaped before they appear in a message or a table. The
/// result is for reading only: a backslash stays as it is.
///
/// ```
/// assert_eq!(mega_batch::escaped("a\n\u{1b}[31m.json"), "a\\n\\u{1b}[31m.json");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(affects_terminal) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if affects_terminal(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal would do more than display the character.
fn affects_terminal(c: char) -> bool {
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
