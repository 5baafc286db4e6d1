//! The PTX line by line, with the registers that its instructions read and write.

use std::fmt::{self, Write as _};

/// The PTX with `improve` applied to each function. Registers and labels are local to a function.
pub(crate) fn in_functions(image: &str, mut improve: impl FnMut(&mut Vec<Line>)) -> String {
    let mut text = String::with_capacity(image.len());
    let mut function = Vec::new();
    let mut lines = image.lines();
    loop {
        let line = lines.next();
        function.extend(line.map(|line| Line::read(line, &mut lines)));
        if line.is_none_or(|line| line == "}") {
            improve(&mut function);
            for line in function.drain(..) {
                let _ = writeln!(text, "{line}");
            }
        }
        if line.is_none() {
            return text;
        }
    }
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    Instruction(Instruction),
    Label(String),
    /// The labels of a table of branch targets, which takes several lines.
    Table(String, Vec<String>),
    /// Declarations, comments, calls with the names of their parameters.
    Other(String),
}

impl Line {
    /// Reads a line; a table continues in the lines that follow.
    fn read<'a>(line: &str, following: &mut impl Iterator<Item = &'a str>) -> Self {
        let text = line.trim();
        if let Some(name) = text.strip_suffix(": .branchtargets") {
            let mut labels = Vec::new();
            for label in following.map(str::trim) {
                labels.push(label.trim_end_matches([',', ';']).to_owned());
                if label.ends_with(';') {
                    break;
                }
            }
            return Line::Table(name.to_owned(), labels);
        }
        if let Some(label) = text.strip_suffix(':') {
            return Line::Label(label.to_owned());
        }
        match Instruction::of(text) {
            Some(instruction) => Line::Instruction(instruction),
            None => Line::Other(line.to_owned()),
        }
    }

    pub(crate) fn instruction(&self) -> Option<&Instruction> {
        match self {
            Line::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }

    pub(crate) fn instruction_mut(&mut self) -> Option<&mut Instruction> {
        match self {
            Line::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }

    /// Whether it is code, a call or a mark of a kernel's parts, rather than a label or an ignorable line.
    pub(crate) fn is_code(&self) -> bool {
        match self {
            Line::Other(text) => {
                let text = text.trim();
                !(text.is_empty()
                    || text.starts_with("//") && !text.starts_with("// arc ")
                    || text.starts_with(".pragma"))
            }
            Line::Instruction(_) => true,
            Line::Label(_) | Line::Table(..) => false,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Instruction(instruction) => write!(f, "\t{instruction}"),
            Line::Label(label) => write!(f, "{label}:"),
            Line::Table(name, labels) => {
                write!(f, "\t{name}: .branchtargets\n\t{};", labels.join(",\n\t"))
            }
            Line::Other(text) => f.write_str(text),
        }
    }
}

/// An instruction on a single line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// The predicate under which it is executed, possibly with a `!`.
    pub(crate) guard: Option<String>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<String>,
}

impl Instruction {
    /// Parses an instruction.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim().strip_suffix(';')?;
        let (guard, text) = match text.strip_prefix('@') {
            Some(guarded) => guarded.split_once(char::is_whitespace)?,
            None => ("", text),
        };
        let text = text.trim();
        let (opcode, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if !opcode.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        Some(Self {
            guard: (!guard.is_empty()).then(|| guard.to_owned()),
            opcode: opcode.to_owned(),
            operands: split(operands.trim()),
        })
    }

    /// An instruction without a predicate.
    pub(crate) fn new<const N: usize>(opcode: &str, operands: [&str; N]) -> Self {
        Self {
            guard: None,
            opcode: opcode.to_owned(),
            operands: operands.map(str::to_owned).to_vec(),
        }
    }

    /// How many operands, starting with the first, are written: stores and branches write none.
    fn results(&self) -> usize {
        let writes_none = [
            "st.", "bra", "brx", "bar", "ret", "red", "call", "trap", "exit", "membar", "fence",
        ];
        let writes = !writes_none
            .iter()
            .any(|opcode| self.opcode.starts_with(opcode));
        usize::from(writes && !self.operands.is_empty())
    }

    /// The registers that are written.
    pub(crate) fn written(&self) -> impl Iterator<Item = &str> {
        // Two results are separated by a bar.
        self.operands[..self.results()]
            .iter()
            .flat_map(|operand| registers(operand))
    }

    /// The one register that is written.
    pub(crate) fn result(&self) -> Option<&str> {
        let mut written = self.written();
        written.next().filter(|_| written.next().is_none())
    }

    /// The registers that are read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &str> {
        let operands = self.sources().iter().chain(&self.guard);
        operands.flat_map(|operand| registers(operand))
    }

    /// The operands that are read.
    pub(crate) fn sources(&self) -> &[String] {
        &self.operands[self.results()..]
    }

    pub(crate) fn sources_mut(&mut self) -> &mut [String] {
        let results = self.results();
        &mut self.operands[results..]
    }

    /// Whether writing registers is its only effect. Collectives have another one: they synchronise lanes.
    pub(crate) fn is_pure(&self) -> bool {
        let more = ["shfl", "vote", "atom", "activemask", "ld.volatile"];
        self.results() > 0 && !more.iter().any(|opcode| self.opcode.starts_with(opcode))
    }

    /// The target of a branch.
    pub(crate) fn target(&self) -> Option<&str> {
        let is_branch = matches!(self.opcode.as_str(), "bra" | "bra.uni");
        Some(self.operands.first().filter(|_| is_branch)?)
    }

    /// Whether the next line is unreachable from it.
    pub(crate) fn ends(&self) -> bool {
        let opcodes = [
            "bra",
            "bra.uni",
            "ret",
            "ret.uni",
            "exit",
            "trap",
            "brx.idx",
            "brx.idx.uni",
        ];
        self.guard.is_none() && opcodes.contains(&self.opcode.as_str())
    }

    /// Whether it ends a block.
    pub(crate) fn ends_block(&self) -> bool {
        self.target().is_some() || self.ends()
    }

    /// Whether it copies a register to itself.
    pub(crate) fn is_self_copy(&self) -> bool {
        self.moved().is_some_and(|(to, from)| to == from)
    }

    /// The destination and the number or register of a move of a word.
    pub(crate) fn moved(&self) -> Option<(&str, &str)> {
        let mut parts = self.opcode.strip_prefix("mov.")?.chars();
        let is_integer = parts.next().is_some_and(|kind| "usb".contains(kind));
        match &self.operands[..] {
            [to, from] if is_integer && self.guard.is_none() && is_register(to) => {
                (is_register(from) || is_number(from)).then_some((to, from))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "@{guard} ")?;
        }
        f.write_str(&self.opcode)?;
        if !self.operands.is_empty() {
            write!(f, " \t{}", self.operands.join(", "))?;
        }
        f.write_str(";")
    }
}

/// The registers in a text.
pub(crate) fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "%.".contains(c)))
        .filter(|word| word.starts_with('%'))
}

/// Whether it is exactly a register. Special registers do not count: not every instruction can read them.
pub(crate) fn is_register(operand: &str) -> bool {
    operand.starts_with('%')
        && operand.chars().skip(1).all(|c| c.is_ascii_alphanumeric())
        && operand.ends_with(|c: char| c.is_ascii_digit())
}

/// The text with a register replaced by another operand.
pub(crate) fn replaced(text: &str, register: &str, by: &str) -> String {
    let mut made = String::with_capacity(text.len() + by.len());
    let mut rest = text;
    while let Some(at) = rest.find(register) {
        let (before, after) = rest.split_at(at);
        let after = &after[register.len()..];
        made += before;
        // Otherwise it is the beginning of a longer name.
        let is_all = !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        made += if is_all { by } else { register };
        rest = after;
    }
    made + rest
}

/// The instructions among lines.
pub(crate) fn instructions(lines: &[Line]) -> impl Iterator<Item = &Instruction> {
    lines.iter().filter_map(Line::instruction)
}

/// Whether it is a number.
pub(crate) fn is_number(operand: &str) -> bool {
    operand
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit())
}

/// The operands, split at commas outside of brackets.
fn split(operands: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut begin, mut depth) = (0, 0);
    for (at, c) in operands.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(operands[begin..at].trim().to_owned());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !operands.is_empty() {
        all.push(operands[begin..].trim().to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_written_as_it_is_read() {
        let image = "\
.visible .entry arc_copy(
\t.param .u64 arc_copy_param_0
)
{
\t.reg .pred \t%p<3>;
\tld.param.u64 \t%rd1, [arc_copy_param_0];
$L__BB1_1:
\t.pragma \"nounroll\";
\t$L_arc_switch_0: .branchtargets
\t$L__BB1_1,
\t$L__BB1_2;
\t@!%p1 brx.idx.uni \t%r1, $L_arc_switch_0;
\tcall.uni (retval0), 
\tf, 
\t(
\tparam0
\t);
\tst.shared.v2.u32 \t[%r1+8], {%r2, %r3};
$L__BB1_2:
\tret;

}
\t// the end
";
        assert_eq!(in_functions(image, |_| {}), image);
    }

    #[test]
    fn registers_are_read_and_written() {
        for (text, written, read) in [
            (
                "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;",
                &["%r1", "%p1"][..],
                &["%r2"][..],
            ),
            (
                "ld.shared.v2.u32 {%r1, %r2}, [%r3+4];",
                &["%r1", "%r2"],
                &["%r3"],
            ),
            (
                "st.shared.v2.u32 [%r3+4], {%r1, %r2};",
                &[],
                &["%r3", "%r1", "%r2"],
            ),
            ("mov.b64 %rd1, {%r1, %r2};", &["%rd1"], &["%r1", "%r2"]),
            ("@!%p1 bra $L;", &[], &["%p1"]),
            ("mov.u32 %r1, %tid.x;", &["%r1"], &["%tid.x"]),
            ("ret;", &[], &[]),
        ] {
            let instruction = Instruction::of(text).expect("an instruction");
            assert_eq!(instruction.written().collect::<Vec<_>>(), written);
            assert_eq!(instruction.read().collect::<Vec<_>>(), read);
        }
    }

    #[test]
    fn names_are_replaced_as_a_whole() {
        assert_eq!(replaced("{%r1, %r11, %r1}", "%r1", "5"), "{5, %r11, 5}");
    }
}
