mod growth;

use arc_dsl::generate::Generator;
use arc_dsl::{
    Callee, ErrorKind, Grid, Interpreter, Limits, Operand, Primitive as P, Program, Value,
};
use arc_text::parse_programs;

use super::{Batt, Bounds, Called, Distance, Full, NodeId, Pushed, Refused, Why};
use crate::bail_out::BailOut;

fn bounds() -> Bounds {
    Bounds {
        call: Limits::default(),
        ..Bounds::default()
    }
}

pub(super) fn grids(count: usize, seed: u64) -> Vec<Grid> {
    let mut generator = Generator::new(seed);
    let mut grids = Vec::new();
    while grids.len() < count {
        if let Value::Grid(grid) = generator.value(arc_dsl::Type::Grid) {
            grids.push((*grid).clone());
        }
    }
    grids
}

/// Adds a program call by call, and compares every call with the reference.
fn grow(batt: &mut Batt, program: &Program, inputs: &[Grid]) -> [usize; 3] {
    let interpreter = Interpreter::default();
    let mut counts = [0; 3];
    let mut nodes = vec![batt.input()];
    for step in program.steps() {
        let mut arguments = Vec::new();
        for operand in &step.arguments {
            arguments.push(match operand {
                Operand::Slot(slot) => nodes[slot.index()],
                Operand::Primitive(primitive) => batt.primitive(*primitive).unwrap(),
                Operand::Constant(constant) => batt.constant(constant.value()).unwrap(),
                Operand::Literal(value) => batt.constant(value).unwrap(),
            });
        }
        let called = match step.callee {
            Callee::Primitive(primitive) => Called::Primitive(primitive),
            Callee::Typed(primitive) => panic!("{primitive} is of the typed dialect"),
            Callee::Slot(slot) => Called::Function(nodes[slot.index()]),
        };
        let pushed = batt.push(called, &arguments).unwrap();
        let expected = |batt: &Batt, input: usize| {
            let values: Vec<_> = arguments
                .iter()
                .map(|node| batt.value(*node, input).unwrap())
                .collect();
            let called = match called {
                Called::Primitive(primitive) => Value::Primitive(primitive),
                Called::Function(node) => batt.value(node, input).unwrap(),
                Called::Defined(_) => panic!("no program calls one"),
            };
            interpreter.call(&called, &values.iter().collect::<Vec<_>>())
        };
        match pushed {
            Pushed::Failed(failed) => {
                counts[2] += 1;
                for input in 0..failed.input {
                    assert!(expected(batt, input).is_ok(), "{program}");
                }
                let kind = match expected(batt, failed.input) {
                    Ok(value) => panic!("{failed:?}, but {value}: {program}"),
                    Err(error) => error.kind,
                };
                match failed.why {
                    Why::Error(found) => assert_eq!(found, kind, "{program}"),
                    Why::BailOut(bail_out) => panic!("{bail_out}: {program}"),
                }
                return counts;
            }
            Pushed::New(node) | Pushed::Same(node) => {
                counts[usize::from(matches!(pushed, Pushed::Same(_)))] += 1;
                let shortest = batt.program(node, "f").unwrap();
                for (input, grid) in inputs.iter().enumerate() {
                    let expected = expected(batt, input).unwrap();
                    let found = batt.value(node, input).unwrap();
                    if is_function(&expected) {
                        assert!(is_function(&found));
                        continue;
                    }
                    assert_eq!(found.to_string(), expected.to_string(), "{program}");
                    let alone = Interpreter::default().run(&shortest, grid.clone());
                    assert_eq!(
                        alone.map(|value| value.to_string()),
                        Ok(expected.to_string()),
                        "{program}{shortest}"
                    );
                }
                nodes.push(node);
            }
        }
    }
    counts
}

/// Whether it is a function or contains one, which prints as its call.
pub(super) fn is_function(value: &Value) -> bool {
    match value {
        Value::Primitive(_) | Value::Function(_) | Value::Foreign(_) => true,
        _ => value
            .as_container()
            .is_some_and(|container| container.iter().any(|item| is_function(&item))),
    }
}

#[test]
fn growth_equals_the_reference() {
    let mut totals = [0; 3];
    for seed in 0..20 {
        let inputs = grids(3, seed);
        let mut batt = Batt::new(&inputs, &[], bounds());
        let mut generator = Generator::new(seed + 100);
        for round in 0..150 {
            let program = if round % 10 == 0 {
                generator.ill_typed_program(6)
            } else {
                generator.program(8)
            };
            let counts = grow(&mut batt, &program.unwrap(), &inputs);
            for (total, count) in totals.iter_mut().zip(counts) {
                *total += count;
            }
        }
        assert!(batt.len() > 100);
    }
    let [new, same, failed] = totals;
    assert!(new > 1_000 && same > 300 && failed > 300, "{totals:?}");
}

#[test]
fn the_built_in_programs_grow_to_what_they_give() {
    let mut shared = 0;
    for built_in in arc_tasks::builtin::all() {
        let side = built_in.min_side().max(12).min(built_in.max_side());
        let inputs: Vec<_> = (0..3).map(|at| built_in.input(7, at, side)).collect();
        let mut batt = Batt::new(&inputs, &[], bounds());
        let [new, _, failed] = grow(&mut batt, built_in.program(), &inputs);
        assert!(new > 0 && failed == 0, "{}", built_in.program());
        // Added again, it creates no node.
        let nodes = batt.len();
        let [_, same, _] = grow(&mut batt, built_in.program(), &inputs);
        shared += same;
        assert!(
            batt.len() - nodes < built_in.program().steps().len().max(2),
            "{}",
            built_in.program()
        );
    }
    assert!(shared > 500, "{shared}");
}

#[test]
fn functions_are_nodes() {
    let text = "
def f(I):
    x1 = objects(I, T, F, T)
    x2 = lbind(shift, x1)
    x3 = compose(size, delta)
    x4 = matcher(color, THREE)
    x5 = compose(flip, x4)
    x6 = sfilter(x1, x5)
    x7 = apply(x3, x6)
    x8 = power(hmirror, TWO)
    x9 = x8(I)
    x10 = lbind(fill, I)
    x11 = lbind(x10, TWO)
    x12 = merge(x6)
    O = x11(x12)
    return O
";
    let program = parse_programs(text).remove(0).unwrap();
    let inputs = [
        Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]]).unwrap(),
        Grid::from_rows(&[[1, 0, 4], [0, 0, 4]]).unwrap(),
    ];
    let mut batt = Batt::new(&inputs, &[], bounds());
    let counts = grow(&mut batt, &program, &inputs);
    // Mirrored twice, a grid is the input.
    assert_eq!(counts, [12, 1, 0]);
}

#[test]
fn what_the_machine_has_no_room_for_is_kept_as_the_reference_has_it() {
    let inputs = [Grid::filled(20, 20, 1), Grid::filled(2, 2, 1)];
    let mut batt = Batt::new(&inputs, &[], bounds());
    let input = batt.input();
    let wide = batt.push(P::Hconcat, &[input, input]).unwrap();
    let Pushed::New(wide) = wide else {
        panic!("{wide:?}")
    };
    assert_eq!(batt.value(wide, 0).unwrap().as_grid().unwrap().width(), 40);
    assert_eq!(batt.value(wide, 1).unwrap().as_grid().unwrap().width(), 4);
    let again = batt.push(P::Hmirror, &[wide]).unwrap();
    assert_eq!(again, Pushed::Same(wide));
    let half = batt.push(P::Lefthalf, &[wide]).unwrap();
    assert_eq!(half, Pushed::Same(input));
}

#[test]
fn a_list_of_grids_leaves_no_tile_behind() {
    let inputs = grids(3, 4);
    let mut batt = Batt::new(&inputs, &[], bounds());
    let input = batt.input();
    let three = batt.constant(&Value::Int(3)).unwrap();
    let identity = batt.primitive(P::Identity).unwrap();
    let mirror = batt.primitive(P::Hmirror).unwrap();
    let before = format!("{:?}", batt.machine.memory.mark());
    let mut push = |primitive: P, arguments: &[NodeId]| batt.push(primitive, arguments).unwrap();
    let parts = push(P::Vsplit, &[input, three]).node().unwrap();
    let mirrored = push(P::Apply, &[mirror, parts]).node().unwrap();
    assert_ne!(parts, mirrored);
    assert_eq!(push(P::Apply, &[identity, parts]), Pushed::Same(parts));
    assert_eq!(push(P::Apply, &[mirror, mirrored]), Pushed::Same(parts));
    let first = push(P::First, &[parts]).node().unwrap();
    assert_eq!(format!("{:?}", batt.machine.memory.mark()), before);
    for (at, grid) in inputs.iter().enumerate() {
        let grid = Value::from(grid.clone());
        let interpreter = Interpreter::default();
        let expected = interpreter.call(Value::primitive(P::Vsplit), &[&grid, &Value::Int(3)]);
        assert_eq!(batt.value(parts, at), expected);
        let expected = interpreter.call(Value::primitive(P::First), &[&expected.unwrap()]);
        assert_eq!(batt.value(first, at), expected);
    }
}

#[test]
fn what_random_growth_has_found() {
    let text = "
def after_what_cannot_be_merged(I):
    x1 = objects(I, T, F, T)
    x2 = first(x1)
    x3 = difference(x2, x2)
    x4 = astuple(x2, x3)
    O = mapply(rightmost, x4)
    return O
def booleans_in_locations(I):
    O = toindices(frozenset({(0, False), (1, True)}))
    return O
";
    let inputs = [Grid::from_rows(&[[0, 3], [5, 0]]).unwrap()];
    let mut batt = Batt::new(&inputs, &[], bounds());
    let programs = parse_programs(text).into_iter().map(Result::unwrap);
    let counts = programs.map(|program| grow(&mut batt, &program, &inputs));
    assert_eq!(counts.collect::<Vec<_>>(), [[4, 0, 1], [1, 0, 0]]);
}

#[test]
fn a_mark_forgets_what_came_later() {
    let inputs = grids(2, 9);
    let mut batt = Batt::new(&inputs, &[], bounds());
    let input = batt.input();
    let mark = batt.mark();
    let mut generator = Generator::new(5);
    let mut sizes = Vec::new();
    for _ in 0..3 {
        for _ in 0..50 {
            grow(&mut batt, &generator.program(6).unwrap(), &inputs);
        }
        assert!(batt.len() > 50);
        batt.release(mark);
        assert_eq!(batt.len(), 1);
        let mirrored = batt.push(P::Hmirror, &[input]).unwrap();
        assert_eq!(mirrored, Pushed::New(NodeId(1)));
        batt.release(mark);
        sizes.push(batt.machine.memory.mark());
    }
    assert_eq!(format!("{:?}", sizes[0]), format!("{:?}", sizes[2]));
}

#[test]
fn a_node_keeps_the_shorter_of_two_programs_unless_a_mark_would_lose_it() {
    let inputs = [Grid::from_rows(&[[1, 2], [3, 4]]).unwrap()];
    let lengths = |with_mark: bool| {
        let mut batt = Batt::new(&inputs, &[], bounds());
        let input = batt.input();
        let push = |batt: &mut Batt, primitive: P, node: NodeId| {
            batt.push(primitive, &[node]).unwrap().node().unwrap()
        };
        let a = push(&mut batt, P::Rot90, input);
        let b = push(&mut batt, P::Hmirror, a);
        let c = push(&mut batt, P::Rot90, b);
        assert_eq!(batt.length(c), 3);
        let mark = with_mark.then(|| batt.mark());
        // Half a turn and a mirror are the same as a quarter turn, a mirror and a quarter turn.
        let turned = push(&mut batt, P::Rot180, input);
        assert_eq!(push(&mut batt, P::Vmirror, turned), c);
        if let Some(mark) = mark {
            batt.release(mark);
        }
        let program = batt.program(c, "f").unwrap();
        assert_eq!(program.steps().len(), batt.length(c));
        batt.length(c)
    };
    assert_eq!([true, false].map(lengths), [3, 2]);
}

/// The same locations, the first time in another order than the second time.
const TWO_ORDERS: &str = "
def by_filter(I):
    x1 = asobject(I)
    x2 = matcher(first, 1)
    x3 = sfilter(x1, x2)
    x4 = toindices(x3)
    O = first(x4)
    return O
def by_colour(I):
    x1 = ofcolor(I, 1)
    O = first(x1)
    return O
";

fn two_orders() -> (Vec<Grid>, Vec<Program>) {
    let inputs = [
        [[1, 0, 1], [0, 1, 0], [2, 2, 0]],
        [[1, 0, 0], [0, 0, 2], [1, 0, 1]],
    ];
    let inputs = inputs.map(|rows| Grid::from_rows(&rows).unwrap());
    let programs = parse_programs(TWO_ORDERS).into_iter().map(Result::unwrap);
    (inputs.to_vec(), programs.collect())
}

#[test]
fn equal_sets_in_different_orders_are_two_nodes() {
    let (inputs, programs) = two_orders();
    let (batt, merged) = Batt::of(&programs, &inputs, &[], bounds());
    let firsts = (0..inputs.len()).map(|at| {
        let found = merged.iter().zip(&programs).map(|(merged, program)| {
            let expected = Interpreter::default().run(program, inputs[at].clone());
            let found = batt.result(merged.as_ref().unwrap(), at);
            assert_eq!(found, expected, "{program}");
            found.unwrap()
        });
        let found: Vec<_> = found.collect();
        found[0] != found[1]
    });
    assert!(firsts.collect::<Vec<_>>().contains(&true));
}

/// A search takes equal sets as one node, which keeps the order of the first, and asks for no order.
#[test]
fn a_search_knows_sets_by_their_elements() {
    let (inputs, programs) = two_orders();
    let mut batt = Batt::new(&inputs, &[], Bounds::for_search());
    for program in &programs {
        let refused = batt.add(program);
        let is_refused = matches!(
            refused,
            Err(Refused::BailOut {
                reason: BailOut::Order,
                ..
            })
        );
        assert!(is_refused, "{refused:?}: {program}");
    }
    let text = TWO_ORDERS
        .replace("O = first(x4)", "O = identity(x4)")
        .replace("O = first(x1)", "O = identity(x1)");
    let sets = parse_programs(&text).into_iter().map(Result::unwrap);
    let sets: Vec<_> = sets
        .map(|one| batt.add(&one).unwrap().output().unwrap())
        .collect();
    assert_eq!(sets[0], sets[1], "it is no search");
    let program = batt.program(sets[0], "f").unwrap();
    let interpreter = Interpreter::default();
    let first = |value: &Value| interpreter.call(&Value::Primitive(P::First), &[value]);
    for (at, input) in inputs.iter().enumerate() {
        let expected = Interpreter::default().run(&program, input.clone()).unwrap();
        let found = batt.value(sets[0], at).unwrap();
        assert_eq!(first(&found), first(&expected), "{program}");
        assert_eq!(batt.unordered_value(sets[0], at), Ok(expected));
    }
}

/// The hashes of two objects tell which one is first, and no reference is asked; so it is where keys may be missing, and
/// none is.
#[test]
fn an_order_that_hashes_tell_needs_no_reference() {
    let rows = [[3, 0, 0], [0, 0, 4]];
    let inputs = [Grid::from_rows(&rows).unwrap()];
    let mut batt = Batt::new(&inputs, &[], bounds());
    let [yes, no] = [true, false].map(|truth| batt.constant(&Value::Bool(truth)).unwrap());
    let push = |batt: &mut Batt, called: P, arguments: &[NodeId]| {
        let pushed = batt.push(called, arguments).unwrap();
        pushed.node().unwrap()
    };
    let input = batt.input();
    let objects = push(&mut batt, P::Objects, &[input, yes, no, yes]);
    let [size, corner] = [P::Size, P::Ulcorner].map(|called| batt.primitive(called).unwrap());
    let first = push(&mut batt, P::Argmax, &[objects, size]);
    let sorted = push(&mut batt, P::Order, &[objects, corner]);
    assert_eq!(batt.counts().by_reference, 0);
    for (node, text) in [(first, "argmax(x, size)"), (sorted, "order(x, ulcorner)")] {
        let text = format!("def f(I):\n    x = objects(I, T, F, T)\n    return {text}\n");
        let program = parse_programs(&text).remove(0).unwrap();
        let expected = Interpreter::default().run(&program, inputs[0].clone());
        assert_eq!(batt.value(node, 0), expected, "{program}");
    }
}

/// The order of a set is found from the sets before it.
#[test]
fn an_order_at_the_end_of_a_long_chain_is_past_a_limit() {
    let inputs = [Grid::from_rows(&[[1, 0, 1], [0, 1, 0]]).unwrap()];
    let mut batt = Batt::new(&inputs, &[], bounds());
    let input = batt.input();
    let one = batt.constant(&Value::Int(1)).unwrap();
    let ways = [1, -1].map(|by| Value::Loc(arc_dsl::Loc::new(0, by)));
    let ways = ways.map(|way| batt.constant(&way).unwrap());
    let cells = batt.push(P::Ofcolor, &[input, one]).unwrap();
    let mut last = cells.node().unwrap();
    let mut is_found = true;
    for at in 0..20_000 {
        let shifted = batt.push(P::Shift, &[last, ways[at % 2]]).unwrap();
        last = shifted.node().unwrap();
        if at == 40 || at == 19_999 {
            let first = batt.push(P::First, &[last]).unwrap();
            assert_eq!(first.node().is_some(), is_found, "{first:?}");
            is_found = false;
        }
    }
}

#[test]
fn targets_tell_how_far_a_node_is() {
    let grid = |rows: &[[i32; 2]]| Grid::from_rows(rows).unwrap();
    let inputs = [
        grid(&[[1, 2], [3, 4]]),
        grid(&[[5, 6], [7, 8]]),
        grid(&[[1, 1]]),
    ];
    let targets = [Some(grid(&[[2, 1], [4, 3]])), Some(grid(&[[6, 5], [8, 7]]))];
    let mut batt = Batt::new(&inputs, &targets, bounds());
    let input = batt.input();
    assert_eq!(batt.distance(input, 0), Some(Distance::Cells(4)));
    assert_eq!(batt.distance(input, 2), None);
    let half = batt.push(P::Lefthalf, &[input]).unwrap().node().unwrap();
    assert_eq!(batt.distance(half, 0), Some(Distance::Size));
    let mirrored = batt.push(P::Vmirror, &[input]).unwrap().node().unwrap();
    assert!(batt.is_solution(mirrored) && !batt.is_solution(half));
}

#[test]
fn bounds_end_a_call_and_a_batt() {
    let inputs = [Grid::filled(30, 30, 1)];
    let mut batt = Batt::new(
        &inputs,
        &[],
        Bounds {
            max_bytes: 2 << 20,
            call: Limits {
                max_steps: 100,
                ..Limits::default()
            },
            ..Bounds::default()
        },
    );
    let input = batt.input();
    let cells = batt.push(P::Asindices, &[input]).unwrap().node().unwrap();
    let function = batt.primitive(P::Vfrontier).unwrap();
    let Pushed::Failed(failed) = batt.push(P::Apply, &[function, cells]).unwrap() else {
        panic!("it took more than 100 steps");
    };
    assert!(
        matches!(failed.why, Why::Error(ErrorKind::Limit(_))),
        "{failed:?}"
    );
    let mut colour = 0;
    let full = loop {
        colour += 1;
        let n = batt.constant(&Value::Int(colour)).unwrap_or(input);
        let grid = batt.constant(&Value::Loc(arc_dsl::Loc::new(
            1 + colour % 30,
            1 + colour / 30,
        )));
        let made = grid.and_then(|size| batt.push(P::Canvas, &[n, size]));
        if let Err(full) = made {
            break full;
        }
        assert!(colour < 10_000_000);
    };
    assert!(full.bytes <= 2 << 20 && batt.bytes() <= 2 << 20, "{full}");
}

fn until_full(batt: &mut Batt, step: impl Fn(&mut Batt, i32) -> Result<(), Full>) -> i32 {
    (0..1_000_000).find(|at| step(batt, *at).is_err()).unwrap()
}

/// Memory that one task has left reserved must not decide how many nodes the next one can have.
#[test]
fn a_batt_that_begins_anew_is_full_where_a_new_one_is() {
    let bounds = Bounds {
        max_bytes: 4 << 20,
        ..Bounds::default()
    };
    let inputs = [Grid::filled(30, 30, 1), Grid::filled(3, 3, 2)];
    let loc = |at: i32| Value::Loc(arc_dsl::Loc::new(1 + at % 30, 1 + at / 30 % 30));
    // Grids fill other pools than sets of places do.
    let grids = |batt: &mut Batt, at: i32| {
        let colour = batt.constant(&Value::Int(at))?;
        let size = batt.constant(&loc(at))?;
        batt.push(P::Canvas, &[colour, size]).map(drop)
    };
    let places = |batt: &mut Batt, at: i32| {
        let input = batt.input();
        let cells = batt.push(P::Asindices, &[input])?.node().unwrap();
        let by = batt.constant(&Value::Loc(arc_dsl::Loc::new(at % 300, at / 300)))?;
        batt.push(P::Shift, &[cells, by]).map(drop)
    };
    let fresh = || Batt::new(&inputs, &[], bounds.clone());
    let mut used = fresh();
    for _ in 0..2 {
        assert_eq!(
            until_full(&mut used, grids),
            until_full(&mut fresh(), grids)
        );
        used.restart(&inputs, &[]);
        assert_eq!(
            until_full(&mut used, places),
            until_full(&mut fresh(), places)
        );
        assert!(used.bytes() <= 4 << 20, "{}", used.bytes());
        used.restart(&inputs, &[]);
    }
}

/// A defined function is one call, whichever call takes it, and a program contains its steps.
#[test]
fn a_function_is_one_call() {
    let text = "
def shown(g):
    return difference(asobject(g), toobject(ofcolor(g, 0), g))
def over(a, b):
    return paint(b, shown(a))
def each(f, g):
    x = f(g)
    return hconcat(x, g)
def too_wide(g):
    x = hconcat(g, g)
    y = hconcat(x, x)
    z = hconcat(y, y)
    return hconcat(z, z)
";
    let functions: Vec<_> = arc_text::parse_functions(text)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let inputs = grids(3, 11);
    let mut batt = Batt::new(&inputs, &[], Bounds::default());
    let given = functions
        .iter()
        .map(|function| batt.define(function.clone()).unwrap());
    let given: Vec<_> = given.collect();
    // Functions stay defined.
    batt.restart(&inputs, &[]);
    let input = batt.input();
    let mirrored = batt.push(P::Vmirror, &[input]).unwrap().node().unwrap();
    let mirror = batt.primitive(P::Hmirror).unwrap();
    let mut interpreter = Interpreter::default();
    for (number, arguments) in [
        (0, vec![input]),
        (1, vec![input, mirrored]),
        (2, vec![mirror, input]),
        (3, vec![input]),
    ] {
        let before = batt.len();
        let node = batt
            .push(given[number], &arguments)
            .unwrap()
            .node()
            .unwrap();
        assert!(batt.len() <= before + 1);
        assert_eq!(
            batt.push(given[number], &arguments).unwrap(),
            Pushed::Same(node)
        );
        let program = batt.program(node, "solve").unwrap();
        assert_eq!(parse_programs(&program.to_string()), [Ok(program.clone())]);
        for (at, grid) in inputs.iter().enumerate() {
            let values = arguments.iter().map(|node| batt.value(*node, at).unwrap());
            let expected = interpreter.run_on(&functions[number], values.collect::<Vec<_>>());
            assert_eq!(batt.value(node, at), expected);
            assert_eq!(interpreter.run(&program, grid.clone()), expected);
        }
    }
    // The reference evaluates grids past 32 columns.
    assert!(batt.counts().by_reference > 0);
    assert!(matches!(
        batt.push(given[1], &[input]).unwrap(),
        Pushed::Failed(_)
    ));
}
