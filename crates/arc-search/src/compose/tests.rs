//! The stacks of the greedy composer, compared with layers painted over each other cell by cell.

use arc_cpu::Batt;
use arc_dsl::{Cell, Grid, Loc, Object, Value};
use arc_tasks::Task;
use proptest::prelude::*;

use super::*;
use crate::enumerate::Enumeration;
use crate::language::{Kind, Language};
use crate::pieces::Frame;
use crate::testing::{batt, grid, grids, node, painted, task};

/// Colour, row and column of each cell, and what the object costs.
type CellsAndCost<'a> = (&'a [(i32, i32, i32)], u8);

/// The pieces of these expressions, each with its cost, and of these objects.
fn pieces(task: &Task, expressions: &[(&str, u8)], objects: &[CellsAndCost<'_>]) -> (Batt, Pieces) {
    let language = Language::parse("", "").unwrap();
    let mut batt = batt(task);
    let mut enumeration = Enumeration::new(&language, &[]);
    for (expression, cost) in expressions {
        let node = match *expression {
            "I" => batt.input(),
            _ => node(&mut batt, expression),
        };
        enumeration.add(node, Kind::GRID, *cost, expression);
    }
    for (cells, cost) in objects {
        let cells = cells.iter().map(|(colour, i, j)| Cell {
            colour: *colour,
            loc: Loc::new(*i, *j),
        });
        let object = Value::from(cells.collect::<Object>());
        let node = batt.constant(&object).unwrap();
        enumeration.add(node, Kind::OBJECT, *cost, "object");
    }
    let sizes = task.train.iter().map(|pair| {
        let output = pair.output.as_ref().unwrap();
        (output.height(), output.width())
    });
    let frame = Frame::new(sizes.collect(), task.train.len());
    let pieces = Pieces::of(&batt, &enumeration, task, frame, usize::MAX, true);
    (batt, pieces)
}

fn composed(composer: &Greedy, pieces: &Pieces) -> Vec<Stack> {
    let mut stacks = Vec::new();
    composer.compose(pieces, &mut |stack| {
        stacks.push(stack);
        true
    });
    stacks
}

/// On which train pairs a stack is right, painted from the bottom to the top.
fn slowly(batt: &Batt, pieces: &Pieces, task: &Task, layers: &[u32]) -> Vec<bool> {
    let is_right = |(input, pair): (usize, &arc_tasks::Pair)| {
        let size = pieces.frame.sizes[input];
        let mut canvas = Grid::filled(size.0, size.1, 0);
        for layer in layers.iter().rev() {
            let layer = pieces.all[*layer as usize].layer;
            let cells = painted(batt, layer, input, size).unwrap();
            for (cell, colour) in canvas.cells_mut().iter_mut().zip(cells) {
                *cell = colour.unwrap_or(*cell);
            }
        }
        pair.output.as_ref() == Some(&canvas)
    };
    task.train.iter().enumerate().map(is_right).collect()
}

/// Checks every claim of a stack.
fn check(batt: &Batt, pieces: &Pieces, task: &Task, stack: &Stack) {
    let right = slowly(batt, pieces, task, &stack.layers);
    let count = right.iter().filter(|right| **right).count();
    assert_eq!(stack.fits as usize, count, "{stack:?}");
    assert!(stack.fits > 0);
    let costs = stack.layers.iter();
    let costs: Vec<u8> = costs
        .map(|piece| pieces.all[*piece as usize].cost)
        .collect();
    assert_eq!(Some(stack.cost), costs.iter().copied().max());
    assert_eq!(
        stack.total,
        costs.iter().map(|cost| u32::from(*cost)).sum::<u32>()
    );
}

proptest! {
    /// Targets are painted from the objects, some with additional cells: stacks are right on all pairs, on some and
    /// on none.
    #[test]
    fn stacks_are_right_on_as_many_pairs_as_they_say(
        inputs in prop::collection::vec((grids(4, 5, 0..4), 0..3_usize, any::<u16>()), 1..5),
        objects in prop::collection::vec(
            (prop::collection::btree_map((0..4_i32, 0..5_i32), 0..4_i32, 1..12), 1..6_u8),
            1..6,
        ),
        composer in (1..5_usize, 1..6_u32, any::<bool>()),
    ) {
        let train: Vec<_> = inputs.iter().map(|(input, kind, spoiled)| {
            let mut target = match kind {
                0 => input.clone(),
                1 => Grid::filled(4, 5, 0),
                _ => Grid::from_cells(4, 5, input.cells().iter().map(|c| c % 2).collect()),
            };
            for (cells, _) in &objects {
                for ((i, j), colour) in cells {
                    target.cells_mut()[(i * 5 + j) as usize] = *colour as i8;
                }
            }
            if spoiled % 5 == 0 {
                target.cells_mut()[usize::from(spoiled / 5) % 20] = 3;
            }
            (input.clone(), target)
        }).collect();
        let task = task(&train, &[]);
        let objects: Vec<(Vec<_>, u8)> = objects.iter().map(|(cells, cost)| {
            (cells.iter().map(|((i, j), colour)| (*colour, *i, *j)).collect(), *cost)
        }).collect();
        let objects: Vec<CellsAndCost<'_>> = objects.iter().map(|(cells, cost)| (&**cells, *cost)).collect();
        let expressions = [("I", 1), ("vmirror(I)", 3), ("replace(I, 3, 1)", 4)];
        let (batt, pieces) = pieces(&task, &expressions, &objects);
        let greedy = Greedy { layers: composer.0, pairs: composer.1, all_pairs: composer.2, growth: 1.3 };
        for stack in composed(&greedy, &pieces) {
            check(&batt, &pieces, &task, &stack);
            prop_assert!(stack.layers.len() <= greedy.layers);
        }
        // Every single piece that is right is among them.
        for piece in 0..pieces.all.len() as u32 {
            let right = slowly(&batt, &pieces, &task, &[piece]);
            if matches!(pieces.all[piece as usize].layer, Layer::All(_)) && !right.contains(&false) {
                let stacks = composed(&greedy, &pieces);
                prop_assert!(stacks.iter().any(|stack| stack.layers == [piece]));
            }
        }
    }
}

/// A task whose only output is painted by these objects, which cost the same.
fn one_pair(output: Grid) -> Task {
    task(&[(grid(&[[9]]), output)], &[])
}

#[test]
fn the_piece_that_paints_most_lies_on_top() {
    let task = one_pair(grid(&[[1, 1, 1, 2, 2]]));
    let small: CellsAndCost<'_> = (&[(2, 0, 3), (2, 0, 4)], 2);
    let large: CellsAndCost<'_> = (&[(1, 0, 0), (1, 0, 1), (1, 0, 2)], 2);
    let (_, pieces) = pieces(&task, &[], &[small, large]);
    let stacks = composed(&Greedy::default(), &pieces);
    assert_eq!(
        stacks,
        [Stack {
            layers: vec![1, 0],
            fits: 1,
            cost: 2,
            total: 4
        }]
    );
}

#[test]
fn what_lies_on_top_hides_what_is_wrong_below() {
    let task = one_pair(grid(&[[1, 1, 5, 1]]));
    let below: CellsAndCost<'_> = (&[(1, 0, 0), (1, 0, 1), (1, 0, 2), (1, 0, 3)], 1);
    let (_, alone) = pieces(&task, &[], &[below]);
    assert_eq!(composed(&Greedy::default(), &alone), []);
    let (_, both) = pieces(&task, &[], &[below, (&[(5, 0, 2)], 4)]);
    let stacks = composed(&Greedy::default(), &both);
    let layers: Vec<_> = stacks.iter().map(|stack| stack.layers.as_slice()).collect();
    assert_eq!(layers, [[1, 0]]);
}

#[test]
fn cells_that_nobody_paints_are_black() {
    let object: CellsAndCost<'_> = (&[(4, 0, 1)], 1);
    let fits = |output: Grid| {
        let task = one_pair(output);
        let (_, pieces) = pieces(&task, &[], &[object]);
        composed(&Greedy::default(), &pieces).len()
    };
    assert_eq!(fits(grid(&[[0, 4, 0]])), 1);
    assert_eq!(fits(grid(&[[0, 4, 3]])), 0);
}

#[test]
fn stacks_have_no_more_layers_than_they_may() {
    let task = one_pair(grid(&[[1, 2, 3, 4]]));
    let cells: Vec<_> = (0..4).map(|at| [(at + 1, 0, at)]).collect();
    let objects: Vec<CellsAndCost<'_>> = cells.iter().map(|cell| (&cell[..], 1)).collect();
    let (_, pieces) = pieces(&task, &[], &objects);
    let count = |layers| {
        let greedy = Greedy {
            layers,
            ..Greedy::default()
        };
        composed(&greedy, &pieces).len()
    };
    assert_eq!([count(0), count(3), count(4), count(9)], [0, 0, 1, 1]);
}

/// Pieces that are right on only one of these pairs and wrong on the others.
fn fitting(pairs: usize, right: usize) -> Task {
    let train = (0..pairs).map(|pair| {
        let colour = if pair == right { 1 } else { 2 };
        (grid(&[[9]]), grid(&[[colour, colour]]))
    });
    task(&train.collect::<Vec<_>>(), &[])
}

#[test]
fn what_fits_some_pairs_alone_is_handed_on_where_it_is_asked_for() {
    let object: CellsAndCost<'_> = (&[(1, 0, 0), (1, 0, 1)], 1);
    let count = |right, greedy: &Greedy| {
        let task = fitting(4, right);
        let (batt, pieces) = pieces(&task, &[], &[object]);
        let stacks = composed(greedy, &pieces);
        for stack in &stacks {
            check(&batt, &pieces, &task, stack);
        }
        stacks.len()
    };
    let some = Greedy::default();
    assert_eq!(count(2, &some), 1);
    let all = Greedy {
        all_pairs: true,
        ..Greedy::default()
    };
    assert_eq!(count(2, &all), 0);
    let first_two = Greedy {
        pairs: 2,
        ..Greedy::default()
    };
    assert_eq!((count(1, &first_two), count(2, &first_two)), (1, 0));
}

#[test]
fn subsets_are_all_of_them_first_and_then_those_of_the_first_pairs() {
    let greedy = Greedy {
        pairs: 2,
        ..Greedy::default()
    };
    assert_eq!(greedy.subsets(1), [1]);
    assert_eq!(greedy.subsets(2), [3, 1, 2]);
    assert_eq!(greedy.subsets(3), [7, 1, 2, 3]);
    assert_eq!(greedy.subsets(40)[0], !0);
}

#[test]
fn stages_end_where_costs_do_and_there_are_enough_more_pieces() {
    let task = one_pair(grid(&[[1, 2, 3, 4]]));
    let cells: Vec<_> = (0..4).map(|at| [(at + 1, 0, at)]).collect();
    let objects = cells.iter().zip([1, 1, 2, 3]);
    let objects: Vec<CellsAndCost<'_>> = objects.map(|(cell, cost)| (&cell[..], cost)).collect();
    let (_, pieces) = pieces(&task, &[], &objects);
    let stages = |growth| {
        let greedy = Greedy {
            growth,
            ..Greedy::default()
        };
        greedy.stages(&pieces)
    };
    assert_eq!(stages(1.0), [2, 3, 4]);
    assert_eq!(stages(1.6), [2, 4]);
    assert_eq!(stages(100.0), [2, 4]);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let task = one_pair(grid(&[[1, 0]]));
    let (_, pieces) = pieces(
        &task,
        &[],
        &[(&[(1, 0, 0)], 1), (&[(1, 0, 0), (0, 0, 1)], 5)],
    );
    let all = composed(&Greedy::default(), &pieces).len();
    assert_eq!(all, 2);
    let mut taken = 0;
    Greedy::default().compose(&pieces, &mut |_| {
        taken += 1;
        false
    });
    assert_eq!(taken, 1);
}

#[test]
fn there_may_be_more_pairs_than_a_word_has_bits() {
    let object: CellsAndCost<'_> = (&[(1, 0, 0), (1, 0, 1)], 1);
    for (pairs, wrong) in [(31, 30), (32, 31), (33, 32), (40, 36), (70, 64)] {
        // Right on all pairs but one; the pairs from the 32nd on share a bit.
        let train = (0..pairs).map(|pair| {
            let colour = if pair == wrong { 2 } else { 1 };
            (grid(&[[9]]), grid(&[[colour, colour]]))
        });
        let task = task(&train.collect::<Vec<_>>(), &[]);
        let (batt, pieces) = pieces(&task, &[], &[object]);
        let mut canvas = Canvas::new(&pieces);
        assert!(canvas.is_clean(0, 1), "{pairs} pairs");
        assert!(!canvas.is_clean(0, !0), "{pairs} pairs");
        canvas.covered.fill(!0);
        assert!(canvas.is_clean(0, !0), "{pairs} pairs");
        let stacks = composed(&Greedy::default(), &pieces);
        assert!(!stacks.is_empty());
        for stack in stacks {
            check(&batt, &pieces, &task, &stack);
        }
    }
}
