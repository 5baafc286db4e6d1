//! docs/form.md: the text between its marks, which is generated.

use anyhow::Result;
use arc_form::{plan, specialise};
use arc_text::parse_programs;

pub(super) const PAGE: &str = "docs/form.md";

/// The program that the page follows through all stages.
const EXAMPLE: &str = "\
def solve_example(I):
    x1 = objects(I, T, F, T)
    x2 = sizefilter(x1, ONE)
    x3 = merge(x2)
    x4 = shift(x3, DOWN)
    x5 = ofcolor(I, TWO)
    x6 = ofcolor(vmirror(I), TWO)
    x7 = size(intersection(x5, x6))
    O = fill(I, x7, x4)
    return O
";

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{text}```\n")
}

/// The example after each stage, as `mega-batch explain` and `coverage` print it.
pub(super) fn stages() -> Result<[(&'static str, String); 3]> {
    let form = specialise(&parse_programs(EXAMPLE).remove(0)?)?;
    let planned = plan(&form, &arc_cpu::TARGET);
    let device = gpu_kernels::encode(&form)?;
    Ok([
        ("program", block("python", EXAMPLE)),
        ("planned", block("text", &planned.show(&form).to_string())),
        ("device", block("text", &device.to_string())),
    ])
}

#[cfg(test)]
mod tests {
    use arc_form::Representation;

    #[test]
    fn the_page_names_every_representation() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let page = std::fs::read_to_string(root.unwrap().join(super::PAGE)).unwrap();
        for held in Representation::ALL {
            let row = format!("| {} |", held.name());
            assert!(page.contains(&row), "{row}");
        }
    }
}
