use super::rewrite;
use crate::rewrite::tests::expect;
use crate::{BailOut, Evaluator, Stop, parse};
use arc_dsl::Limit;
use arc_dsl::generate::Generator;

#[test]
fn a_question_to_each_location_is_one_to_all() {
    expect(
        "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 0) @2
  v2: indices = ofcolor(v0, 3) @3
  v3: indices = sfilter(v1) @4 {v4: pair ->
    v5: indices = shift(v2, v4) @4
    v6: indices = intersection(v1, v5) @4
    v7: int = size(v6) @4
    v8: bool = positive(v7) @4
    yield v8
  }
  v9: grid = fill(v0, 4, v3) @5
  return v9
",
        "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 0) @2
  v2: indices = ofcolor(v0, 3) @3
  v3: indices = met_more_often(v1, v2, v1, 0) @4 {v4: indices, v5: indices, v6: indices, v7: int ->
    v8: indices = sfilter(v4) @4 {v9: pair ->
      v10: indices = shift(v5, v9) @4
      v11: int = size_of_intersection(v10, v6) @4 {v12: indices, v13: indices ->
        v14: indices = intersection(v12, v13) @4
        v15: int = size(v14) @4
        yield v15
      }
      v16: bool = greater(v11, v7) @4
      yield v16
    }
    yield v8
  }
  v17: grid = fill(v0, 4, v3) @5
  return v17
",
    );
}

#[test]
fn what_a_set_has_not_is_counted_by_what_it_has() {
    expect(
        "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 0) @2
  v2: indices = ofcolor(v0, 3) @3
  v3: indices = sfilter(v1) @4 {v4: pair ->
    v5: indices = shift(v2, v4) @4
    v6: indices = difference(v5, v1) @4
    v7: int = size(v6) @4
    v8: bool = greater(v7, 2) @4
    v9: indices = dneighbors(v4) @4
    v10: indices = difference(v9, v1) @4
    v11: int = size(v10) @4
    v12: int = decrement(v11) @4
    v13: bool = greater(1, v12) @4
    v14: bool = flip(v13) @4
    v15: bool = both(v8, v14) @4
    yield v15
  }
  v16: grid = fill(v0, 4, v3) @5
  return v16
",
        "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 0) @2
  v2: indices = ofcolor(v0, 3) @3
  v3: int = size(v2) @4
  v4: int = subtract(v3, 2) @4
  v5: indices = met_less_often(v1, v2, v1, v4) @4 {v6: indices, v7: indices, v8: indices, v9: int ->
    v10: indices = sfilter(v6) @4 {v11: pair ->
      v12: indices = shift(v7, v11) @4
      v13: int = size_of_intersection(v12, v8) @4 {v14: indices, v15: indices ->
        v16: indices = intersection(v14, v15) @4
        v17: int = size(v16) @4
        yield v17
      }
      v18: bool = greater(v9, v13) @4
      yield v18
    }
    yield v10
  }
  v19: indices = met_more_often(v1, frozenset({(-1, 0), (1, 0), (0, -1), (0, 1)}), v1, 2) @4 {v20: indices, v21: indices, v22: indices, v23: int ->
    v24: indices = sfilter(v20) @4 {v25: pair ->
      v26: indices = shift(v21, v25) @4
      v27: int = size_of_intersection(v26, v22) @4 {v28: indices, v29: indices ->
        v30: indices = intersection(v28, v29) @4
        v31: int = size(v30) @4
        yield v31
      }
      v32: bool = greater(v27, v23) @4
      yield v32
    }
    yield v24
  }
  v33: indices = difference(v1, v19) @4
  v34: indices = intersection(v5, v33) @4
  v35: grid = fill(v0, 4, v34) @5
  return v35
",
    );
}

#[test]
fn cells_of_a_colour_are_counted() {
    expect(
        "\
form f(v0: grid):
  v1: indices = asindices(v0) @2
  v2: int = leastcolor(v0) @3
  v3: indices = sfilter(v1) @4 {v4: pair ->
    v5: pair = add((-1, -1), v4) @4
    v6: indices = shift(frozenset({(0, 0), (0, 1), (2, 2)}), v5) @4
    v7: object = toobject(v6, v0) @4
    v8: int = colorcount(v7, v2) @4
    v9: bool = equality(v8, 2) @4
    yield v9
  }
  v10: grid = fill(v0, 4, v3) @5
  return v10
",
        "\
form f(v0: grid):
  v1: indices = asindices(v0) @2
  v2: int = leastcolor(v0) @3
  v3: indices = coloured_as_often(v1, frozenset({(-1, 0), (1, 1), (-1, -1)}), v0, v2, 2) @4 {v4: indices, v5: indices, v6: grid, v7: int, v8: int ->
    v9: indices = sfilter(v4) @4 {v10: pair ->
      v11: indices = shift(v5, v10) @4
      v12: object = toobject(v11, v6) @4
      v13: int = colorcount(v12, v7) @4
      v14: bool = equality(v13, v8) @4
      yield v14
    }
    yield v9
  }
  v15: grid = fill(v0, 4, v3) @5
  return v15
",
    );
}

#[test]
fn a_filter_that_nothing_uses_is_made_all_the_same() {
    let text = "\
def f(I):
    x1 = asindices(I)
    x2 = lbind(intersection, x1)
    x3 = chain(positive, size, compose(x2, neighbors))
    x4 = chain(lbind(equality, FOUR), size, compose(x2, dneighbors))
    x5 = fork(either, x3, fork(both, x3, x4))
    x6 = sfilter(x1, x5)
    return I
";
    let program = arc_text::parse_programs(text).remove(0).unwrap();
    let form = crate::specialise(&program).unwrap().to_string();
    // What is asked twice is evaluated once.
    let count = |name: &str| form.matches(&format!(" = {name}(")).count();
    assert_eq!(
        (count("met_more_often"), count("met_as_often")),
        (1, 1),
        "{form}"
    );
    assert_eq!((count("difference"), count("combine")), (1, 1), "{form}");
}

#[test]
fn the_rest_of_a_pattern_passes_where_it_did() {
    let (mut before, mut after) = (Evaluator::default(), Evaluator::default());
    let mut generator = Generator::new(5);
    let grids: Vec<_> = (0..20)
        .map(|_| generator.value(arc_dsl::Type::Grid))
        .collect();
    let (mut seen, mut met) = ([0, 0], 0);
    for (call, numbers) in [
        ("equality", [0, 1]),
        ("greater", [0, 1]),
        ("greater", [1, 0]),
    ] {
        for number in -1..7 {
            let compared = numbers.map(|at| ["v7", &number.to_string()][at].to_owned());
            for moved in ["shift(v2, v4)", "neighbors(v4)"] {
                let compared = compared.join(", ");
                let form = parse(&format!(
                    "\
form f(v0: grid):
  v1: indices = asindices(v0) @2
  v2: indices = ofcolor(v0, 3) @3
  v3: indices = sfilter(v1) @4 {{v4: pair ->
    v5: indices = {moved} @4
    v6: indices = difference(v5, v2) @4
    v7: int = size(v6) @4
    v8: bool = {call}({compared}) @4
    yield v8
  }}
  return v3
"
                ));
                let form = form.unwrap();
                let mut rewritten = form.clone();
                rewrite(&mut rewritten);
                assert_ne!(form, rewritten);
                for grid in &grids {
                    let grid = grid.as_grid().unwrap();
                    let passing = before.run(&form, &grid);
                    match after.run(&rewritten, &grid) {
                        // A pattern that meets itself may meet an equal one.
                        Err(Stop::BailOut(BailOut::Limit(Limit::Memory))) => met += 1,
                        found => assert_eq!(found, passing, "{form}{grid}"),
                    }
                    let passing = passing.unwrap();
                    let none = passing.as_container().unwrap().is_empty();
                    seen[usize::from(none)] += 1;
                }
            }
        }
    }
    let [some, none] = seen;
    assert!(some > 100 && none > 100 && met < 100, "{some} {none} {met}");
}

#[test]
fn filters_that_ask_more_stay_as_they_are() {
    let expect_same = |lines: &[&str]| {
        let body = lines.join("\n    ");
        let form = format!(
            "\
form f(v0: grid):
  v1: indices = ofcolor(v0, 0) @2
  v2: int = height(v0) @3
  v3: indices = sfilter(v1) @4 {{v4: pair ->
    {body}
  }}
  v16: grid = fill(v0, 4, v3) @5
  return v16
"
        );
        let parsed = parse(&form).unwrap();
        let mut rewritten = parsed.clone();
        rewrite(&mut rewritten);
        assert_eq!(rewritten, parsed);
    };
    // A pattern that depends on the location.
    expect_same(&[
        "v5: indices = initset(v4) @4",
        "v6: indices = shift(v5, v4) @4",
        "v7: indices = intersection(v6, v1) @4",
        "v8: int = size(v7) @4",
        "v9: bool = positive(v8) @4",
        "yield v9",
    ]);
    // A result that may fail and is not used.
    expect_same(&[
        "v5: indices = dneighbors(v4) @4",
        "v6: indices = intersection(v5, v1) @4",
        "v7: int = size(v6) @4",
        "v8: bool = positive(v7) @4",
        "v9: indices = neighbors(v4) @4",
        "yield v8",
    ]);
    // Which of two errors comes first depends on the order.
    expect_same(&[
        "v5: indices = shift(v1, v4) @4",
        "v6: object = toobject(v5, v0) @4",
        "v7: int = colorcount(v6, 3) @4",
        "v8: bool = positive(v7) @4",
        "v9: indices = intersection(v5, v1) @4",
        "v10: int = size(v9) @4",
        "v11: bool = positive(v10) @4",
        "v12: bool = both(v8, v11) @4",
        "yield v12",
    ]);
    // The moved location exceeds the bound although no cell of the pattern does.
    expect_same(&[
        "v5: pair = add(v4, (2, 0)) @4",
        "v6: indices = shift(frozenset({(-1, 0)}), v5) @4",
        "v7: indices = intersection(v6, v1) @4",
        "v8: int = size(v7) @4",
        "v9: bool = positive(v8) @4",
        "yield v9",
    ]);
    // The number that remains may exceed the bound.
    expect_same(&[
        "v5: indices = shift(v1, v4) @4",
        "v6: indices = difference(v5, v1) @4",
        "v7: int = size(v6) @4",
        "v8: bool = equality(v7, v2) @4",
        "yield v8",
    ]);
}
