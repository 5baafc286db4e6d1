//! Programs whose output is compared with an expected one before it is whole.

use arc_dsl::{Grid, Interpreter, Limit, Limits, Value};
use arc_text::parse_programs;

/// 2^60 calls, which weigh nothing.
#[test]
fn functions_that_call_each_other_without_end_reach_the_limit() {
    use std::fmt::Write as _;
    let mut text = "def solve(I):\n    x0 = compose(identity, identity)\n".to_owned();
    for at in 1..60 {
        let before = at - 1;
        writeln!(text, "    x{at} = compose(x{before}, x{before})").unwrap();
    }
    text += "    O = x59(I)\n    return O\n";
    let program = parse_programs(&text).remove(0).unwrap();
    let limits = Limits {
        max_steps: 10_000,
        ..Limits::default()
    };
    let (grid, other) = (Grid::filled(2, 2, 1), Grid::filled(3, 3, 1));
    let found = Interpreter::new(limits).run_against(&program, &grid, &other);
    assert_eq!(found.unwrap_err().limit(), Some(Limit::Steps));
}

#[test]
fn a_verdict_by_size_is_that_of_the_whole_output() {
    let ends = [
        "O = paint(upscale(I, 2), objects_of(I))",
        "O = merge(hsplit(I, 3))",
        "O = merge(hsplit(I, 2))",
        "O = merge(vsplit(I, 3))",
        "O = merge(vsplit(hconcat(I, I), 4))",
        "O = merge(repeat(dmirror(I), 3))",
        "O = merge(repeat(I, 0))",
        "O = vconcat(I, dmirror(I))",
        "O = vconcat(I, hmirror(I))",
        "O = hconcat(I, rot90(I))",
        "O = fill(I, 3, ofcolor(I, 0))",
        "O = fill(I, 300, asindices(I))",
        "O = underpaint(I, shift(asobject(I), (1, 0)))",
        "O = paint(I, frozenset())",
        "O = upscale(I, 0)",
        "O = upscale(I, 900)",
        "O = hsplit(I, 0)",
        "O = cover(canvas(0, (0, 3)), asindices(I))",
        "O = fill(first(I), 3, asindices(I))",
        "O = replace(rot90(I), 1, 2)",
        "O = fill(upscale(I, 2), 3, combine(asindices(I), ofcolor(I, 1)))",
        "O = paint(hconcat(I, I), mapply(lbind(shift, asobject(I)), ((0, 1), (1, 0))))",
        "O = cover(upscale(I, 3), recolor(2, toindices(objects_of(I))))",
        "O = underpaint(vconcat(I, I), merge(()))",
        "O = paint(rot90(I), merge((asobject(I), asobject(I))))",
        "O = fill(I, 2, merge((asindices(I), asobject(I))))",
        "O = paint(I, combine(asobject(I), asindices(I)))",
        "O = chain(dmirror, merge, rbind(repeat, 2))(I)",
        "O = fork(hconcat, identity, hmirror)(I)",
        "O = power(hmirror, 2)(I)",
        "O = paint(hconcat(I, I), argmax(objects(I, F, F, T), size))",
        "O = paint(rot90(I), argmin(objects(I, F, F, T), ulcorner))",
        "O = fill(I, 2, shift(toindices(last(objects(I, T, F, F))), (1, -1)))",
        "O = paint(I, mapply(compose(lbind(shift, first(objects(I, T, F, T))), tojvec), interval(0, 9, 3)))",
        "O = fill(upscale(I, 2), 3, mapply(rbind(shoot, (1, 1)), ofcolor(I, 1)))",
        "O = fill(I, color(first(objects(I, T, F, T))), neighbors(ulcorner(last(objects(I, T, F, F)))))",
        "O = fill(I, 3, connect(lrcorner(first(objects(I, F, F, T))), astuple(0, width(last(partition(I))))))",
        "O = paint(rot90(I), merge(order(objects(I, T, F, T), uppermost)))",
        "O = fill(I, 3, mapply(vfrontier, apply(tojvec, interval(8, 0, -3))))",
        "O = paint(I, merge(sizefilter(objects(I, T, F, T), 1)))",
        "O = cover(I, mapply(fork(combine, identity, rbind(shift, (0, 1))), objects(I, T, F, F)))",
        "O = fill(I, 1, mapply(fork(shift, toindices, compose(toivec, height)), objects(I, T, F, F)))",
        "O = paint(I, argmin(totuple(objects(I, T, F, F)), fork(subtract, leftmost, rightmost)))",
        "O = fill(I, 3, shift(shift(asindices(I), (1000000000, 0)), (1000000000, 0)))",
        "O = fill(I, 3, shoot((0, 1), (30000000, 0)))",
        "O = fill(I, add(100, mostcolor(first(partition(I)))), asindices(I))",
    ];
    let grids: Vec<Grid> = [(3, 3), (2, 5), (4, 6), (1, 7)]
        .map(|(height, width)| {
            let cells = (0..height * width).map(|at| (at * at % 4) as i8).collect();
            Grid::from_cells(height, width, cells)
        })
        .into();
    let (mut known, mut all) = (0, 0);
    for end in ends {
        let end = end.replace("objects_of(I)", "merge(objects(I, F, F, T))");
        let program = format!("def solve(I):\n    {end}\n    return O\n");
        let program = parse_programs(&program).remove(0).unwrap();
        for max_memory in [30, 90, 300, 1_000, 3_000, 8_000_000] {
            let limits = Limits {
                max_memory,
                ..Limits::default()
            };
            let mut reference = Interpreter::new(limits);
            for input in &grids {
                let result = reference.run(&program, input.clone());
                let output = result.as_ref().ok().and_then(Value::as_grid);
                let output = output.map(std::borrow::Cow::into_owned);
                for expected in grids.iter().chain(&output) {
                    let found = reference.run_against(&program, input, expected);
                    known += u32::from(found == Ok(None));
                    all += 1;
                    let found = found.map(|it| it.is_some_and(|it| it.is_grid(expected)));
                    let is_right = |value: &Value| value.is_grid(expected);
                    assert_eq!(found, result.as_ref().map(is_right).map_err(|it| *it));
                }
            }
        }
    }
    assert!(known > 400 && all > 2_500, "{known} of {all}");
}
