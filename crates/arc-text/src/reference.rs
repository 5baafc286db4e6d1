//! Copies of the reference's functions, recognised by a digest of their tokens.
//!
//! Files often include the DSL in which their programs are written. A definition that does what the engine's function
//! does need not be parsed, and most of them could not be. A copy is recognised by its text without the parts that have
//! no effect: comments, docstrings, types, layout, and the names of the function and its variables. The digests are
//! those of the reference; `cargo xtask conformance --write` writes them.

use std::collections::{HashMap, HashSet};

use arc_isa::Primitive;

use crate::lexer::{Block, Lexer, Token, TokenKind};
use crate::names::{is_keyword, is_of_dsl};

/// The digest of the reference's function for each primitive.
#[allow(clippy::unreadable_literal, reason = "hashes, written by a command")]
const DIGESTS: &[(&str, u64)] = &include!("reference/digests.in");

/// The primitive whose reference function a definition is a copy of.
pub(super) fn copied(tokens: &[Token<'_>]) -> Option<Primitive> {
    let digest = digest(tokens);
    let mut digests = DIGESTS.iter();
    let name = digests.find_map(|&(name, of)| (of == digest).then_some(name))?;
    Primitive::from_name(name)
}

/// The functions that a Python text defines, each with its digest.
#[must_use]
pub fn definition_digests(text: &str) -> Vec<(String, u64)> {
    let (mut lexer, mut block, mut digests) = (Lexer::new(text), Block::default(), Vec::new());
    while lexer.next_block(&mut block) {
        if let [_, def, name, ..] = &block.tokens[..]
            && def.is_name("def")
        {
            digests.push((name.text.to_owned(), digest(&block.tokens)));
        }
    }
    digests
}

/// Whether a definition uses nothing but its parameters, its variables and names of the DSL, so that it certainly
/// differs from the reference.
pub(super) fn is_of_the_dsl(tokens: &[Token<'_>]) -> bool {
    let (parameters, body) = header(tokens);
    let locals = locals(&parameters, &tokens[body..]);
    let mut names = tokens[body..]
        .iter()
        .filter(|token| token.kind == TokenKind::Name);
    names.all(|token| {
        matches!(token.text, "return" | "True" | "False" | "None")
            || locals.contains(token.text)
            || is_of_dsl(token.text)
    })
}

/// The FNV-1a digest of the meaningful tokens of a definition.
fn digest(tokens: &[Token<'_>]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    let (parameters, body) = header(tokens);
    let tokens = without_brackets(&tokens[body..]);
    let locals = locals(&parameters, &tokens);
    let mut numbers = HashMap::new();
    // A variable is identified by its index among those used, not by its name.
    let mut add_token = |token: &Token<'_>, add: &mut dyn FnMut(&str)| {
        if token.kind == TokenKind::Name && locals.contains(token.text) {
            let next = numbers.len();
            let number = numbers.entry(token.text.to_owned()).or_insert(next);
            add(&format!("${number}"));
        } else {
            add(token.text);
        }
    };
    for parameter in &parameters {
        add_token(parameter, &mut add);
    }
    let mut indents = vec![0];
    let mut place = 0;
    if tokens
        .first()
        .is_some_and(|token| token.kind != TokenKind::Newline)
    {
        add("\n");
        add("1");
    }
    while let Some(token) = tokens.get(place) {
        place += 1;
        match token.kind {
            TokenKind::Indent => {
                let is_documentation = |at: usize| {
                    let [Some(text), Some(end)] = [tokens.get(at), tokens.get(at + 1)] else {
                        return false;
                    };
                    text.kind == TokenKind::Text
                        && matches!(end.kind, TokenKind::Newline | TokenKind::End)
                };
                if is_documentation(place) {
                    place += 2;
                    continue;
                }
                while indents.last().is_some_and(|&last| last > token.text.len()) {
                    indents.pop();
                }
                if indents.last() != Some(&token.text.len()) {
                    indents.push(token.text.len());
                }
                add("\n");
                add(&(indents.len() - 1).to_string());
            }
            TokenKind::Newline | TokenKind::End => {}
            _ => add_token(token, &mut add),
        }
    }
    digest
}

/// The tokens in the brackets of a definition, without types and commas, and where the body begins.
fn header<'t>(tokens: &[Token<'t>]) -> (Vec<Token<'t>>, usize) {
    let (mut depth, mut in_type, mut found) = (0usize, false, Vec::new());
    for (place, token) in tokens.iter().enumerate().skip(3) {
        match token.text {
            _ if token.kind != TokenKind::Symbol => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ":" if depth == 0 => return (found, place + 1),
            ":" | "->" if depth <= 1 => in_type = true,
            "," | "=" if depth == 1 => in_type = false,
            _ => {}
        }
        if !in_type && depth == 1 && (token.kind != TokenKind::Symbol || token.is("=")) {
            found.push(*token);
        }
    }
    (found, tokens.len())
}

/// The names of parameters, and of what the body assigns or loops over.
fn locals<'t>(parameters: &[Token<'t>], tokens: &[Token<'t>]) -> HashSet<&'t str> {
    let names = parameters
        .iter()
        .filter(|token| token.kind == TokenKind::Name);
    let mut locals: HashSet<_> = names.map(|token| token.text).collect();
    let is_name = |token: &&Token<'t>| token.kind == TokenKind::Name && !is_keyword(token.text);
    for (place, token) in tokens.iter().enumerate() {
        let rest = &tokens[place + 1..];
        let until = |end: &dyn Fn(&Token<'t>) -> bool| rest.iter().position(end).unwrap_or(0);
        let bound = if token.is_name("for") {
            until(&|token| token.is_name("in"))
        } else if token.is_name("lambda") {
            until(&|token| token.is(":"))
        } else if token.kind == TokenKind::Indent {
            let end = until(&|token| {
                !(token.kind == TokenKind::Name || token.is(",") || token.is("(") || token.is(")"))
            });
            let is_set = rest.get(end).is_some_and(|it| {
                it.kind == TokenKind::Symbol && it.text.ends_with('=') && it.text != "=="
            });
            let is_call = rest[..end]
                .windows(2)
                .any(|it| it[0].kind == TokenKind::Name && it[1].is("("));
            if is_set && !is_call { end } else { 0 }
        } else {
            0
        };
        locals.extend(rest[..bound].iter().filter(is_name).map(|token| token.text));
    }
    locals
}

/// The tokens without trailing commas, and without brackets around a whole returned or assigned expression.
fn without_brackets<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut open: Vec<(usize, bool, bool)> = Vec::new();
    let mut dropped = vec![false; tokens.len()];
    for (place, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Symbol {
            continue;
        }
        let before = place.checked_sub(1).map(|before| tokens[before]);
        match token.text {
            "(" | "[" | "{" => {
                let calls = before.is_some_and(|before| {
                    (before.kind == TokenKind::Name && !is_keyword(before.text))
                        || before.is(")")
                        || before.is("]")
                });
                open.push((place, calls || !token.is("("), false));
            }
            "," => {
                if let Some((_, _, has_comma)) = open.last_mut() {
                    *has_comma = true;
                }
            }
            ")" | "]" | "}" => {
                let Some((from, may_drop, has_comma)) = open.pop() else {
                    continue;
                };
                if may_drop && before.is_some_and(|before| before.is(",")) {
                    dropped[place - 1] = true;
                }
                let behind = from.checked_sub(1).map(|before| tokens[before]);
                let is_whole = behind.is_some_and(|it| it.is_name("return") || it.is("="));
                let ends = tokens
                    .get(place + 1)
                    .is_none_or(|it| it.kind == TokenKind::Newline);
                if is_whole && ends && !has_comma && token.is(")") && place > from + 1 {
                    let inner = &tokens[from + 1..place];
                    let mut depth = 0i32;
                    let is_generator = inner.iter().any(|token| {
                        if token.kind == TokenKind::Symbol {
                            depth += i32::from(matches!(token.text, "(" | "[" | "{"));
                            depth -= i32::from(matches!(token.text, ")" | "]" | "}"));
                        }
                        depth == 0 && token.is_name("for")
                    });
                    if !is_generator {
                        dropped[from] = true;
                        dropped[place] = true;
                    }
                }
            }
            _ => {}
        }
    }
    let kept = tokens.iter().zip(dropped).filter(|(_, dropped)| !dropped);
    kept.map(|(token, _)| *token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_of(text: &str) -> u64 {
        definition_digests(text)[0].1
    }

    const PLAIN: &str = "def f(a, b):\n    c = g(a)\n    return tuple(v for v in c if v != b)\n";

    #[test]
    fn a_copy_is_known_whatever_it_looks_like() {
        for copy in [
            "def other(x, y):\n  z = g(x)\n  return tuple(w for w in z if w != y)\n",
            "def f(\n    a: Grid,\n    b: Tuple[int, int],\n) -> Grid:\n    \"\"\" what it does \"\"\"\n\n    \
             c = g(\n        a,\n    )  # note\n    return (\n        tuple(v for v in c if v != b)\n    )\n",
            "def f(a, b):\n\tc = (g(a))\n\treturn tuple(v for v in c if v != b)",
        ] {
            assert_eq!(digest_of(copy), digest_of(PLAIN), "{copy}");
        }
        for other in [
            "def f(b, a):\n    c = g(a)\n    return tuple(v for v in c if v != b)\n",
            "def f(a, b):\n    c = h(a)\n    return tuple(v for v in c if v != b)\n",
            "def f(a, b):\n    c = g(a)\n    return list(v for v in c if v != b)\n",
            "def f(a, b):\n    c = g(a)\n    return tuple(v for v in c if v == b)\n",
            "def f(a, b):\n    c = g(a),\n    return tuple(v for v in c if v != b)\n",
            "def f(a, b):\n    c = g(b)\n    return tuple(v for v in c if v != b)\n",
            "def f(a, b=1):\n    c = g(a)\n    return tuple(v for v in c if v != b)\n",
        ] {
            assert_ne!(digest_of(other), digest_of(PLAIN), "{other}");
        }
        let nested = |indent: &str| {
            format!("def f(a):\n    if a:\n        a = b\n{indent}a = c\n    return a\n")
        };
        assert_ne!(digest_of(&nested("    ")), digest_of(&nested("        ")));
        assert_ne!(
            digest_of("def f(a): return max(a, key=b)"),
            digest_of("def f(a): return min(a, key=b)")
        );
    }

    #[test]
    fn every_primitive_of_the_reference_has_a_digest_of_its_own() {
        let mut names: Vec<_> = DIGESTS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let mut primitives: Vec<_> = Primitive::of_reference().map(Primitive::name).collect();
        primitives.sort_unstable();
        assert_eq!(names, primitives);
        let digests: HashSet<_> = DIGESTS.iter().map(|(_, digest)| digest).collect();
        assert_eq!(digests.len(), DIGESTS.len());
    }

    #[test]
    fn a_copy_stands_for_the_primitive_and_a_changed_one_does_not() {
        // Short enough that anyone might write it.
        let copy =
            "def identity(x): return x\ndef solve_a(I): return apply(identity, hsplit(I, TWO))\n";
        let program = crate::parse_programs(copy).remove(0).unwrap();
        assert!(program.to_string().contains("apply(identity, t1)"));
        let changed = copy.replace("return x", "return ONE");
        let program = crate::parse_programs(&changed).remove(0).unwrap();
        assert!(!program.to_string().contains("apply(identity, "));
    }
}
