//! The nodes of an enumeration and their order, compared with small languages and exhaustive lists of expressions.

use std::collections::BTreeMap;

use arc_cpu::batt;
use arc_dsl::{Grid, Interpreter};
use arc_tasks::Task;

use super::*;
use crate::testing::{batt, given, grid, program, task};

/// An input without symmetries.
fn input() -> Grid {
    grid(&[[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 5]])
}

fn one_task() -> Task {
    let pairs = [(input(), input())];
    task(&pairs, &[grid(&[[6, 2], [0, 1]])])
}

const ENDLESS: Bounds = Bounds {
    enough: usize::MAX,
    nodes: usize::MAX,
    calls: u64::MAX,
};

/// The result of an enumeration.
#[derive(Debug, PartialEq)]
struct Enumerated {
    stopped: Stopped,
    /// Kinds, costs and expressions of the nodes.
    nodes: Vec<(String, u8, String)>,
    /// The number of nodes and of calls tried that it reports.
    counts: (usize, u64),
}

impl Enumerated {
    fn of(&self, kind: &str) -> Vec<(u8, &str)> {
        let nodes = self.nodes.iter().filter(|node| node.0 == kind);
        nodes.map(|node| (node.1, node.2.as_str())).collect()
    }
}

fn enumerated(derived: &str, table: &str, task: &Task, bounds: &Bounds) -> Enumerated {
    let mut never = || false;
    enumerated_until(derived, table, task, bounds, &mut never)
}

fn enumerated_until(
    derived: &str,
    table: &str,
    task: &Task,
    bounds: &Bounds,
    interrupted: &mut dyn FnMut() -> bool,
) -> Enumerated {
    let language = Language::parse(derived, table).unwrap();
    let mut batt = batt(task);
    let functions = language.functions().iter();
    let functions: Vec<_> = functions
        .map(|function| batt.define(function.clone()).unwrap())
        .collect();
    let mut enumeration = Enumeration::new(&language, &functions);
    enumeration.seed(&mut batt, &[2, 7]);
    let stopped = enumeration.run(&mut batt, bounds, interrupted);
    let mut nodes = Vec::new();
    for (number, name) in language.kinds().iter().enumerate() {
        let kind = [
            Kind::GRID,
            Kind::OBJECT,
            Kind::INDICES,
            Kind::COLOUR,
            Kind::NUMBER,
        ];
        let kind = kind.get(number).copied().or_else(|| {
            let rows = language.rows().iter().map(|row| row.gives);
            rows.into_iter().find(|kind| kind.index() == number)
        });
        for known in kind.into_iter().flat_map(|kind| enumeration.of(kind)) {
            let expression = enumeration.expression(known.node, 1_000);
            nodes.push((name.clone(), known.cost, expression));
        }
    }
    Enumerated {
        stopped,
        nodes,
        counts: enumeration.counts(),
    }
}

#[test]
fn the_cheapest_call_comes_first_and_what_it_gives_is_there_once() {
    let table = "[calls]\n3 grid -> grid: hmirror\n2 grid -> grid: vmirror\n[seeds]\n1 grid: I";
    let made = enumerated("", table, &one_task(), &ENDLESS);
    // Turned by both it costs 6 either way: the row that comes first is tried first.
    let expected = [
        (1, "I"),
        (3, "vmirror(I)"),
        (4, "hmirror(I)"),
        (6, "hmirror(vmirror(I))"),
    ];
    assert_eq!(made.of("grid"), expected);
    assert_eq!(made.stopped, Stopped::Exhausted);
    assert_eq!(made.counts, (4, 8));
}

#[test]
fn seeds_of_colours_are_there_for_each_colour() {
    let table =
        "[seeds]\n1 number: THREE FIVE\n[colours]\n2 colour: COLOUR\n3 number: add(COLOUR,ONE)";
    let made = enumerated("", table, &one_task(), &ENDLESS);
    assert_eq!(made.of("colour"), [(2, "2"), (2, "7")]);
    // 2 plus 1 is 3, which exists.
    let numbers = [(1, "THREE"), (1, "FIVE"), (3, "add(7,ONE)")];
    assert_eq!(made.of("number"), numbers);
}

#[test]
fn a_call_that_fails_on_a_test_input_is_none() {
    let derived = "def largest(I): return subgrid(argmax(objects(I, T, F, T), size), I)";
    let table = "[calls]\n1 grid -> grid: largest\n[seeds]\n1 grid: I";
    let pairs = [(grid(&[[0, 0, 5], [0, 5, 5]]), grid(&[[0, 5], [5, 5]]))];
    let grids = |test: Grid| {
        let made = enumerated(derived, table, &task(&pairs, &[test]), &ENDLESS);
        made.of("grid").len()
    };
    assert_eq!(grids(grid(&[[0, 3, 0]])), 2);
    // This grid has no object.
    assert_eq!(grids(grid(&[[0, 0, 0]])), 1);
}

#[test]
fn a_seed_that_fails_on_an_input_is_none() {
    let table = "[seeds]\n1 grid: I first(hsplit(I,width(first(objects(I,T,F,T)))))";
    let pairs = [(grid(&[[0, 5]]), grid(&[[0]]))];
    let grids = |test: Grid| {
        let made = enumerated("", table, &task(&pairs, &[test]), &ENDLESS);
        made.of("grid").len()
    };
    assert_eq!(grids(grid(&[[3, 0]])), 1);
    assert_eq!(grids(grid(&[[0, 0, 0, 0, 3, 3]])), 2);
    assert_eq!(grids(grid(&[[0, 0]])), 1);
}

#[test]
fn arguments_that_commute_are_tried_once() {
    let calls = |star: &str, operation: &str| {
        // The result of a call costs too much to be an argument again.
        let table = format!(
            "[calls]\n1{star} grid grid -> other: {operation}\n[seeds]\n15 grid: I vmirror(I) hmirror(I)"
        );
        let made = enumerated("", &table, &one_task(), &ENDLESS);
        (made.counts.1, made.of("other").len())
    };
    assert_eq!(calls("", "hconcat"), (9, 9));
    assert_eq!(calls("*", "hconcat"), (6, 6));
}

#[test]
fn a_node_is_there_once_for_each_kind() {
    let table = "[calls]\n1 grid -> mirror: vmirror\n2 grid -> grid: vmirror\n2 mirror -> grid: vmirror\n\
                 [seeds]\n1 grid: I";
    let made = enumerated("", table, &one_task(), &ENDLESS);
    assert_eq!(made.of("grid"), [(1, "I"), (3, "vmirror(I)")]);
    assert_eq!(made.of("mirror"), [(2, "vmirror(I)"), (4, "I")]);
    assert_eq!(made.counts.0, 4);
}

const RICH: &str = "[calls]\n1 grid -> grid: tophalf\n2 grid -> grid: vmirror dmirror\n\
                    3 grid grid -> grid: hconcat vconcat\n4 grid colour -> grid: canvas_like\n\
                    [seeds]\n1 grid: I\n[colours]\n1 colour: COLOUR";
const RICH_DERIVED: &str = "def canvas_like(I, a): return canvas(a, shape(I))";

#[test]
fn it_stops_at_so_many_nodes_and_at_so_many_calls() {
    let all = enumerated(
        RICH_DERIVED,
        RICH,
        &one_task(),
        &Bounds {
            nodes: 300,
            ..ENDLESS
        },
    );
    assert_eq!((all.counts.0, all.stopped), (300, Stopped::Nodes));
    for nodes in [3, 4, 17, 100] {
        let bounds = Bounds { nodes, ..ENDLESS };
        let made = enumerated(RICH_DERIVED, RICH, &one_task(), &bounds);
        assert_eq!((made.counts.0, made.stopped), (nodes, Stopped::Nodes));
        let fewer = made.nodes.iter().all(|node| all.nodes.contains(node));
        assert!(fewer, "{nodes} nodes are not the first ones");
    }
    for calls in [0, 1, 55, 256, 300] {
        let bounds = Bounds { calls, ..ENDLESS };
        let made = enumerated(RICH_DERIVED, RICH, &one_task(), &bounds);
        assert_eq!((made.counts.1, made.stopped), (calls, Stopped::Calls));
    }
    let bounds = Bounds {
        enough: 20,
        ..ENDLESS
    };
    let made = enumerated(RICH_DERIVED, RICH, &one_task(), &bounds);
    // The cost at which there are enough nodes is completed.
    assert!(made.counts.0 > 20 && made.stopped == Stopped::Nodes);
    let dearest = made.nodes.iter().map(|node| node.1).max().unwrap();
    let of_it = |made: &Enumerated| made.nodes.iter().filter(|node| node.1 <= dearest).count();
    assert_eq!(of_it(&made), of_it(&all));
    let cheaper = made.nodes.iter().filter(|node| node.1 < dearest).count();
    assert!(cheaper < 20);
}

#[test]
fn it_stops_when_it_is_told_to_and_when_the_batt_is_full() {
    let mut asked = 0;
    let mut interrupted = || {
        asked += 1;
        asked == 2
    };
    let made = enumerated_until(RICH_DERIVED, RICH, &one_task(), &ENDLESS, &mut interrupted);
    let expected = (Stopped::Interrupted, 2 * CALLS_A_QUESTION);
    assert_eq!((made.stopped, made.counts.1), expected);

    let table = "[calls]\n1 grid -> grid: vmirror dmirror\n2 grid grid -> grid: hconcat vconcat\n\
                 [seeds]\n1 grid: I";
    let language = Language::parse("", table);
    let language = language.unwrap();
    let inputs = [input()];
    let mut bounds = batt::Bounds::for_search();
    bounds.max_bytes = Batt::new(&inputs, &[], bounds.clone()).bytes() + 2_000_000;
    let mut batt = Batt::new(&inputs, &[], bounds);
    let mut enumeration = Enumeration::new(&language, &[]);
    enumeration.seed(&mut batt, &[]);
    let stopped = enumeration.run(&mut batt, &ENDLESS, &mut || false);
    assert_eq!(stopped, Stopped::Memory);
    let (nodes, calls) = enumeration.counts();
    assert!(nodes > 3 && calls > nodes as u64);
}

#[test]
fn the_same_is_made_twice() {
    let bounds = Bounds {
        nodes: 500,
        ..ENDLESS
    };
    let made = || enumerated(RICH_DERIVED, RICH, &one_task(), &bounds);
    assert_eq!(made(), made());
}

/// All expressions of a small language by their costs, each evaluated by the reference.
fn slowly(most: u8, inputs: &[Grid]) -> BTreeMap<Vec<String>, u8> {
    let mut expressions: Vec<Vec<String>> = vec![Vec::new(); usize::from(most) + 1];
    expressions[1].push("I".to_owned());
    for cost in 2..=usize::from(most) {
        let mut more = Vec::new();
        for (operation, own) in [("hmirror", 1), ("vmirror", 2), ("dmirror", 2)] {
            if let Some(left) = cost.checked_sub(own) {
                more.extend(
                    expressions[left]
                        .iter()
                        .map(|a| format!("{operation}({a})")),
                );
            }
        }
        for left in 1..cost.saturating_sub(3) {
            for a in &expressions[left] {
                let right = expressions[cost - 3 - left].iter();
                more.extend(right.map(|b| format!("vconcat({a}, {b})")));
            }
        }
        expressions[cost] = more;
    }
    let mut least = BTreeMap::new();
    for (cost, expressions) in expressions.iter().enumerate() {
        for expression in expressions {
            let program = program(expression);
            let grids = inputs.iter().map(|input| {
                let value = Interpreter::default().run(&program, input.clone());
                Some(value.ok()?.as_grid()?.to_string())
            });
            // An expression that fails on an input is dropped, such as `vconcat` of grids of different widths.
            if let Some(grids) = grids.collect() {
                least.entry(grids).or_insert(cost as u8);
            }
        }
    }
    least
}

#[test]
fn every_value_is_there_at_the_cost_of_its_cheapest_expression() {
    let table = "[calls]\n1 grid -> grid: hmirror\n2 grid -> grid: vmirror dmirror\n\
                 3 grid grid -> grid: vconcat\n[seeds]\n1 grid: I";
    let most = 8;
    let task = one_task();
    let inputs: Vec<_> = task
        .pairs()
        .map(|(_, pair)| (*pair.input).clone())
        .collect();
    let made = enumerated(
        "",
        table,
        &task,
        &Bounds {
            calls: 3_000,
            ..ENDLESS
        },
    );
    assert!(made.nodes.iter().any(|node| node.1 > most), "too few calls");
    let made = made.nodes.iter().filter(|node| node.1 <= most);
    let made: BTreeMap<Vec<String>, u8> = made
        .map(|(_, cost, expression)| {
            let program = program(expression);
            let grids = inputs
                .iter()
                .map(|input| given(&program, input).to_string());
            (grids.collect(), *cost)
        })
        .collect();
    let slowly = slowly(most, &inputs);
    assert!(slowly.len() > 20, "{} values", slowly.len());
    assert_eq!(made, slowly);
}

#[test]
fn by_size_a_value_costs_the_calls_of_its_expression() {
    let language = Language::default().by_size();
    let mut batt = batt(&one_task());
    let functions = language.functions().iter();
    let functions: Vec<_> = functions
        .map(|function| batt.define(function.clone()).unwrap())
        .collect();
    let mut enumeration = Enumeration::new(&language, &functions);
    enumeration.seed(&mut batt, &[1, 2]);
    let bounds = Bounds {
        nodes: 3_000,
        ..ENDLESS
    };
    enumeration.run(&mut batt, &bounds, &mut || false);
    let mut costs = BTreeMap::<u8, usize>::new();
    for place in 0..language.kinds().len() {
        let kind = language.kind_at(place).unwrap();
        for Known { node, cost } in enumeration.of(kind) {
            *costs.entry(cost).or_default() += 1;
            // A value of several kinds has the expression of the first.
            let calls = enumeration.expression(node, 1_000).matches('(').count();
            assert!(calls <= usize::from(cost), "{calls} {cost}");
        }
    }
    assert!(
        costs[&0] > 2 && costs[&1] > 50 && costs[&2] > 500,
        "{costs:?}"
    );
    assert!(language.kind_at(language.kinds().len()).is_none());
}
