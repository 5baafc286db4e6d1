//! Turns switches into branch tables.
//!
//! NVRTC 12.2 compiles a switch to a tree of comparisons, eight deep for the opcodes of the kernels. `ARC_SWITCH`
//! (`kernels/arc.cuh`) leaves a comment where such a tree begins; here the tree is followed for each number, and an
//! indexed branch (`brx.idx.uni` of the PTX ISA) replaces it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};

/// The mark that the kernels write, followed by the register and the number of cases.
const MARK: &str = "// arc switch ";
/// The prefix of new labels.
const LABEL: &str = "$L_arc_switch_";

/// The PTX with a branch table for each marked switch. The kernels guarantee that the number is the same in all lanes
/// and less than the number of cases.
pub(crate) fn tabulate(image: &str) -> Result<String> {
    let lines: Vec<&str> = image.lines().collect();
    let labels: HashMap<&str, usize> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((line.trim().strip_suffix(':')?, at)))
        .collect();
    let mut edits = Edits::default();
    for (at, line) in lines.iter().enumerate() {
        if let Some(mark) = line.trim().strip_prefix(MARK) {
            let tree = Tree {
                lines: &lines,
                labels: &labels,
                mark: at,
            };
            tree.replace(mark, &mut edits)
                .with_context(|| format!("line {}: {}", at + 1, line.trim()))?;
        }
    }
    Ok(edits.applied(&lines))
}

/// The changes of lines.
#[derive(Default)]
struct Edits {
    dropped: BTreeSet<usize>,
    /// The text inserted before a line.
    inserted: HashMap<usize, String>,
    new_labels: HashMap<usize, String>,
}

impl Edits {
    /// The predicates of removed comparisons that the rest of the function still reads.
    fn still_read<'a>(&self, lines: &[&'a str], function: Range<usize>) -> BTreeSet<&'a str> {
        let gone: BTreeSet<&str> = self
            .dropped
            .range(function.clone())
            .filter_map(|at| Comparison::of(lines[*at]))
            .map(|comparison| comparison.predicate)
            .collect();
        function
            .filter(|at| !self.dropped.contains(at))
            .map(|at| lines[at])
            .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || "%_$".contains(c))))
            .filter(|word| gone.contains(word))
            .collect()
    }

    fn applied(&self, lines: &[&str]) -> String {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(label) = self.new_labels.get(&at) {
                let _ = writeln!(text, "{label}:");
            }
            if let Some(inserted) = self.inserted.get(&at) {
                text += inserted;
            }
            if !self.dropped.contains(&at) {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}

/// The comparisons after a mark.
struct Tree<'a> {
    lines: &'a [&'a str],
    labels: &'a HashMap<&'a str, usize>,
    mark: usize,
}

/// `setp` of a register and a number.
struct Comparison<'a> {
    how: &'a str,
    predicate: &'a str,
    register: &'a str,
    number: i64,
}

impl<'a> Comparison<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (opcode, operands) = line
            .trim()
            .strip_suffix(';')?
            .split_once(char::is_whitespace)?;
        let mut parts = opcode.strip_prefix("setp.")?.split('.');
        let (how, ty) = (parts.next()?, parts.next()?);
        let mut operands = operands.split(',').map(str::trim);
        let (predicate, register) = (operands.next()?, operands.next()?);
        let number = operands.next()?.parse().ok()?;
        let is_word = matches!(ty, "s32" | "u32" | "b32");
        (is_word && parts.next().is_none() && operands.next().is_none()).then_some(Self {
            how,
            predicate,
            register,
            number,
        })
    }

    fn holds_for(&self, number: i64) -> Result<bool> {
        Ok(match self.how {
            "eq" => number == self.number,
            "ne" => number != self.number,
            "lt" => number < self.number,
            "le" => number <= self.number,
            "gt" => number > self.number,
            "ge" => number >= self.number,
            other => bail!("a comparison by {other}"),
        })
    }
}

/// A branch and its predicate.
struct Branch<'a> {
    unless: bool,
    predicate: Option<&'a str>,
    target: &'a str,
}

impl<'a> Branch<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim().strip_suffix(';')?;
        let (guard, rest) = match line.strip_prefix('@') {
            Some(guarded) => {
                let (guard, rest) = guarded.split_once(char::is_whitespace)?;
                (Some(guard), rest.trim())
            }
            None => (None, line),
        };
        let (opcode, target) = rest.split_once(char::is_whitespace)?;
        let unless = guard.is_some_and(|guard| guard.starts_with('!'));
        matches!(opcode, "bra" | "bra.uni").then_some(Self {
            unless,
            predicate: guard.map(|guard| guard.trim_start_matches('!')),
            target: target.trim(),
        })
    }
}

/// The path through the tree for a number.
struct TreePath<'a> {
    /// The line of its first branch.
    branch: usize,
    /// The line where it leaves the tree.
    target: usize,
    /// The results of its comparisons.
    predicates: HashMap<&'a str, bool>,
}

impl<'a> Tree<'a> {
    /// Replaces the tree by a table. `mark` has the register and the number of cases.
    fn replace(&self, mark: &str, edits: &mut Edits) -> Result<()> {
        let (register, count) = mark
            .split_once(" of ")
            .context("expected `of` and a number")?;
        let (register, count) = (register.trim(), count.trim().parse::<i64>()?);
        let paths = (0..count)
            .map(|number| self.follow(register, number, edits))
            .collect::<Result<Vec<_>>>()?;
        let branch = paths.first().context("expected numbers")?.branch;
        ensure!(
            paths.iter().all(|path| path.branch == branch),
            "the tree begins at several places"
        );
        let read = edits.still_read(self.lines, self.function());
        let table = format!("{LABEL}{}", edits.inserted.len());
        let (mut targets, mut detours) = (Vec::new(), String::new());
        for (number, path) in paths.iter().enumerate() {
            let label = self.label_before(path.target).map(str::to_owned);
            let label = label.unwrap_or_else(|| {
                let made = format!("{table}_target_{number}");
                edits.new_labels.entry(path.target).or_insert(made).clone()
            });
            // Predicates that the rest of the function reads are set on a detour.
            let mut said: Vec<_> = path
                .predicates
                .iter()
                .filter(|(name, _)| read.contains(*name))
                .collect();
            if said.is_empty() {
                targets.push(label);
                continue;
            }
            said.sort_unstable();
            let detour = format!("{table}_{number}");
            let _ = writeln!(detours, "\n{detour}:");
            for (predicate, holds) in said {
                let _ = writeln!(detours, "\tmov.pred \t{predicate}, {};", -i32::from(*holds));
            }
            let _ = writeln!(detours, "\tbra.uni \t{label};");
            targets.push(detour);
        }
        let text = format!(
            "\t{table}: .branchtargets\n\t{};\n\tbrx.idx.uni \t{register}, {table};\n{detours}",
            targets.join(",\n\t")
        );
        edits.inserted.insert(branch, text);
        Ok(())
    }

    /// Follows the tree for a number.
    fn follow(&self, register: &str, number: i64, edits: &mut Edits) -> Result<TreePath<'a>> {
        let mut predicates: HashMap<&'a str, bool> = HashMap::new();
        let mut first = None;
        let mut at = self.mark + 1;
        for _ in 0..self.lines.len() {
            let line = self
                .lines
                .get(at)
                .context("the file ends in the tree")?
                .trim();
            if line.starts_with("// arc part") {
                break;
            }
            if line.is_empty()
                || line.starts_with("//")
                || line.ends_with(':')
                || line.starts_with(".pragma")
            {
                at += 1;
                continue;
            }
            if let Some(comparison) =
                Comparison::of(line).filter(|found| found.register == register)
            {
                edits.dropped.insert(at);
                predicates.insert(comparison.predicate, comparison.holds_for(number)?);
                at += 1;
                continue;
            }
            let branch = Branch::of(line);
            let known = branch.as_ref().map(|branch| match branch.predicate {
                Some(predicate) => predicates.get(predicate).copied(),
                // An unconditional jump belongs to a case's body, unless the tree jumps over it.
                None => self.is_other_way(at, register).then_some(true),
            });
            match (branch, known.flatten()) {
                (Some(branch), Some(holds)) => {
                    first.get_or_insert(at);
                    edits.dropped.insert(at);
                    at = if holds == branch.unless {
                        at + 1
                    } else {
                        *self
                            .labels
                            .get(branch.target)
                            .context("a branch to nowhere")?
                    };
                }
                // Code before the first branch stays.
                _ if first.is_none() => at += 1,
                _ => break,
            }
        }
        Ok(TreePath {
            branch: first.context("expected a tree of comparisons")?,
            target: at,
            predicates,
        })
    }

    /// The lines of the function that contains the tree.
    fn function(&self) -> Range<usize> {
        let is = |bracket: &'static str| move |line: &&str| **line == *bracket;
        let begin = self.lines[..self.mark].iter().rposition(is("{"));
        let length = self.lines[self.mark..].iter().position(is("}"));
        begin.unwrap_or(0)..length.map_or(self.lines.len(), |length| self.mark + length)
    }

    /// Whether a jump directly follows a branch of the tree.
    fn is_other_way(&self, at: usize, register: &str) -> bool {
        let is_code = |line: &&str| !line.trim().is_empty();
        let before: Vec<&str> = self.lines[..at]
            .iter()
            .rev()
            .copied()
            .filter(is_code)
            .take(2)
            .collect();
        match before[..] {
            [branch, comparison] => {
                let predicate = Branch::of(branch).and_then(|branch| branch.predicate);
                Comparison::of(comparison).is_some_and(|found| {
                    found.register == register && Some(found.predicate) == predicate
                })
            }
            _ => false,
        }
    }

    /// The label of a line, if only comments are in between.
    fn label_before(&self, line: usize) -> Option<&'a str> {
        let above = self.lines[..=line].iter().rev().map(|line| line.trim());
        above
            .enumerate()
            .skip_while(|(back, line)| {
                let is_mark = line.starts_with("// arc part") && *back > 0;
                (line.is_empty() || line.starts_with("//") || *back == 0 && !line.ends_with(':'))
                    && !is_mark
            })
            .map(|(_, line)| line)
            .next()?
            .strip_suffix(':')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "\
\tmin.u32 \t%r1, %r0, 3;
\t// begin inline asm
\t// arc switch %r2 of 4
\t// end inline asm
\tmov.u32 \t%r9, 1;
\tsetp.gt.s32 \t%p1, %r2, 1;
\t@%p1 bra \t$L__BB0_5;
\tbra.uni \t$L__BB0_1;

$L__BB0_5:
\tsetp.eq.s32 \t%p2, %r2, 2;
\t@%p2 bra \t$L__BB0_6;

\tst.global.u32 \t[%rd1], %r3;
\tbra.uni \t$L__BB0_9;

$L__BB0_1:
\tsetp.eq.s32 \t%p3, %r2, 0;
\t@%p3 bra \t$L__BB0_7;
\tbra.uni \t$L__BB0_9;

$L__BB0_6:
\tst.global.u32 \t[%rd1], %r4;
\tbra.uni \t$L__BB0_9;

$L__BB0_7:
\t// begin inline asm
\t// arc part operation
\t// end inline asm
\tbra.uni \t$L__BB0_9;

$L__BB0_9:
\tret;
";

    #[test]
    fn a_tree_becomes_a_table() {
        let made = tabulate(IMAGE).expect("a tree");
        assert_eq!(
            made,
            "\
\tmin.u32 \t%r1, %r0, 3;
\t// begin inline asm
\t// arc switch %r2 of 4
\t// end inline asm
\tmov.u32 \t%r9, 1;
\t$L_arc_switch_0: .branchtargets
\t$L__BB0_7,
\t$L__BB0_9,
\t$L__BB0_6,
\t$L_arc_switch_0_target_3;
\tbrx.idx.uni \t%r2, $L_arc_switch_0;

$L__BB0_5:

$L_arc_switch_0_target_3:
\tst.global.u32 \t[%rd1], %r3;
\tbra.uni \t$L__BB0_9;

$L__BB0_1:

$L__BB0_6:
\tst.global.u32 \t[%rd1], %r4;
\tbra.uni \t$L__BB0_9;

$L__BB0_7:
\t// begin inline asm
\t// arc part operation
\t// end inline asm
\tbra.uni \t$L__BB0_9;

$L__BB0_9:
\tret;
"
        );
    }

    #[test]
    fn what_others_read_of_the_tree_is_said_on_the_way() {
        let image = IMAGE.replace("\tret;", "\t@%p2 ret;");
        let made = tabulate(&image).expect("a tree");
        assert!(made.contains(
            "\
\t$L_arc_switch_0: .branchtargets
\t$L__BB0_7,
\t$L__BB0_9,
\t$L_arc_switch_0_2,
\t$L_arc_switch_0_3;
\tbrx.idx.uni \t%r2, $L_arc_switch_0;

$L_arc_switch_0_2:
\tmov.pred \t%p2, -1;
\tbra.uni \t$L__BB0_6;

$L_arc_switch_0_3:
\tmov.pred \t%p2, 0;
\tbra.uni \t$L_arc_switch_0_target_3;

$L__BB0_5:
"
        ));
    }

    #[test]
    fn no_tree_is_an_error() {
        let error = tabulate("\t// arc switch %r2 of 2\n\tret;\n").expect_err("no tree");
        assert_eq!(
            format!("{error:#}"),
            "line 1: // arc switch %r2 of 2: the file ends in the tree"
        );
    }

    #[test]
    fn other_images_stay() {
        assert_eq!(tabulate("\tret;\n").expect("no switch"), "\tret;\n");
    }
}
