//! Whole searches: of tasks with a known answer, repeated, and of edge cases.

use arc_dsl::{Grid, Interpreter, Value};
use arc_tasks::builtin;

use super::*;
use crate::compose::{Greedy, Stack};
use crate::pieces::Pieces;
use crate::rank::Answers;
use crate::testing::{given, grid, program, task};

fn searcher(options: Options) -> Searcher {
    Searcher::new(Language::default(), options)
}

/// Searches a task and checks all that the documentation promises of the result.
fn searched(searcher: &mut Searcher, task: &Task) -> Found {
    let found = searcher.search(task, &mut || false);
    let tests = task.test.len();
    assert_eq!(found.answers.len(), tests);
    let mut interpreter = Interpreter::default();
    let mut run = |program, input: &Grid| {
        let value = interpreter.run(program, Value::from(input.clone()));
        value.ok()?.as_grid().map(std::borrow::Cow::into_owned)
    };
    for attempt in &found.attempts {
        assert_eq!(attempt.outputs.len(), tests);
        for (pair, output) in task.test.iter().zip(&attempt.outputs) {
            let given = run(&attempt.program, &pair.input);
            assert_eq!(given.as_ref(), Some(output), "{}", attempt.program);
        }
        let given = task.train.iter().map(|pair| {
            let given = run(&attempt.program, &pair.input).unwrap();
            let expected = pair.output.as_ref().unwrap();
            let is_sized = (given.height(), given.width()) == (expected.height(), expected.width());
            (is_sized, given == *expected)
        });
        let given: Vec<_> = given.collect();
        let right = given.iter().filter(|(_, is_right)| *is_right).count();
        let other_size = given.iter().filter(|(is_sized, _)| !is_sized).count();
        // Layers may be right although the size is not.
        let fits = attempt.fits as usize;
        assert!(
            (right..=right + other_size).contains(&fits),
            "{fits} and not {right}: {}",
            attempt.program
        );
        assert!(!attempt.layers.is_empty());
    }
    let scores = found.attempts.windows(2);
    assert!(scores.into_iter().all(|two| two[0].score >= two[1].score));
    for (test, answers) in found.answers.iter().enumerate() {
        assert!(answers.len() <= searcher.options.attempts);
        let grids: Vec<_> = found.answers_of(test).collect();
        assert_eq!(grids.len(), answers.len());
        for (place, grid) in grids.iter().enumerate() {
            assert!(!grids[..place].contains(grid), "twice the same answer");
        }
    }
    // Without test pairs no attempt is an answer.
    let answering = if task.test.is_empty() {
        0
    } else {
        found.attempts.len()
    };
    for attempt in 0..answering {
        let mut answers = found.answers.iter().flatten();
        assert!(answers.any(|answer| *answer == attempt));
    }
    found
}

/// Whether all tests have the right answer among the first `places`.
fn is_solved(found: &Found, task: &Task, places: usize) -> bool {
    let tests = task.test.iter().enumerate();
    tests.into_iter().all(|(test, pair)| {
        let mut answers = found.answers_of(test).take(places);
        answers.any(|answer| Some(answer) == pair.output.as_ref())
    })
}

#[test]
fn tasks_of_built_in_programs_are_solved_and_the_same_is_found_twice() {
    let mut searcher = searcher(Options::of_nodes(3_000));
    for id in [
        "mirrorpair",
        "pinwheel",
        "negative",
        "plugholes",
        "striplines",
        "mendmirror",
        "starburst",
    ] {
        let task = builtin::get(id).unwrap().task(1, 3, 2, 9);
        let found = searched(&mut searcher, &task);
        assert!(is_solved(&found, &task, 2), "{id}: {found:?}");
        let again = searched(&mut searcher, &task);
        assert_eq!(again.attempts, found.attempts, "{id}");
        assert_eq!(again.answers, found.answers, "{id}");
        assert_eq!(again.stopped, found.stopped, "{id}");
        assert_eq!(again.counts, found.counts, "{id}");
    }
}

#[test]
fn what_is_found_for_a_task_of_any_kind_is_what_it_says() {
    let mut searcher = searcher(Options::of_nodes(800));
    let mut attempts = 0;
    for program in builtin::all() {
        let found = searched(&mut searcher, &program.task(2, 4, 1, 8));
        attempts += found.attempts.len();
    }
    assert!(attempts > builtin::all().len() / 2, "{attempts}");
}

#[test]
fn what_was_searched_before_changes_nothing() {
    let tasks = ["mirrorpair", "layflat"].map(|id| builtin::get(id).unwrap().task(5, 3, 1, 8));
    let mut used = searcher(Options::of_nodes(1_000));
    searched(&mut used, &tasks[0]);
    let found = searched(&mut used, &tasks[1]);
    let fresh = searched(&mut searcher(Options::of_nodes(1_000)), &tasks[1]);
    assert_eq!(fresh.attempts, found.attempts);
}

#[test]
fn things_on_top_of_a_grid_are_found_as_layers() {
    // The grid mirrored, in its shown cells, on top of the grid itself.
    let over = |rows: [[i32; 4]; 3]| {
        let mut output = rows;
        for (row, input) in output.iter_mut().zip(rows) {
            for column in 0..4 {
                let mirrored = input[3 - column];
                row[column] = if mirrored == 0 { row[column] } else { mirrored };
            }
        }
        (grid(&rows), grid(&output))
    };
    let pairs = [
        over([[1, 0, 0, 7], [0, 2, 0, 3], [0, 4, 5, 0]]),
        over([[5, 0, 4, 1], [6, 0, 0, 0], [2, 2, 0, 0]]),
        over([[0, 3, 0, 5], [1, 0, 0, 0], [0, 0, 0, 7]]),
    ];
    let (input, expected) = over([[8, 0, 6, 0], [0, 0, 0, 2], [4, 4, 0, 0]]);
    let table = "[calls]\n1 grid -> grid: vmirror hmirror\n[seeds]\n1 grid: I";
    let language = Language::parse("", table).unwrap();
    let mut searcher = Searcher::new(language, Options::of_nodes(50));
    let found = searched(&mut searcher, &task(&pairs, &[input]));
    assert_eq!(found.answers_of(0).next(), Some(&expected));
    let best = &found.attempts[0];
    assert_eq!(best.fits, 3);
    let parts = best.layers.iter();
    let parts: Vec<_> = parts
        .map(|layer| (&*layer.part, layer.expression.as_str()))
        .collect();
    assert_eq!(parts, [("shown", "vmirror(I)"), ("all", "I")]);
    // -1 where it paints nothing; the layer below shows there.
    let top = grid(&[[-1, 6, -1, 8], [2, -1, -1, -1], [-1, -1, 4, 4]]);
    let below = grid(&[[8, -1, 6, -1], [-1, 0, 0, 2], [4, 4, -1, -1]]);
    assert_eq!(best.layers[0].paints, [top]);
    assert_eq!(best.layers[1].paints, [below]);
}

#[test]
fn what_no_layer_paints_is_black() {
    let pairs = [
        (grid(&[[3, 5, 0], [5, 3, 3]]), grid(&[[3, 0, 0], [0, 3, 3]])),
        (grid(&[[5, 5, 5], [3, 0, 5]]), grid(&[[0, 0, 0], [3, 0, 0]])),
    ];
    let task = task(&pairs, &[grid(&[[5, 3, 5], [0, 3, 0]])]);
    // No call gives a grid.
    let table = "[calls]\n1 grid colour -> indices: ofcolor\n[seeds]\n1 grid: I\n[colours]\n1 colour: COLOUR";
    let language = Language::parse("", table).unwrap();
    let found = searched(&mut Searcher::new(language, Options::of_nodes(50)), &task);
    let expected = grid(&[[0, 3, 0], [0, 3, 0]]);
    assert_eq!(found.answers_of(0).next(), Some(&expected));
    assert_eq!(found.attempts[0].fits, 2);
    assert_eq!(found.attempts[0].layers.len(), 1);
}

#[test]
fn colours_that_change_from_pair_to_pair_are_renamed_and_back() {
    // The most common colour of the input fills the output.
    let pair = |a: i32, b: i32| {
        let input = grid(&[[a, a, b], [a, b, a], [a, a, a]]);
        let output = grid(&[[a, b, a], [a, a, a], [a, a, b]]);
        (input, output)
    };
    let pairs = [pair(1, 2), pair(5, 3), pair(8, 6)];
    let pairs = pairs.map(|(input, _)| {
        let most = input.cells()[0];
        let output = input
            .cells()
            .iter()
            .map(|colour| if *colour == most { 0 } else { most });
        let output = Grid::from_cells(3, 3, output.collect());
        (input, output)
    });
    let test = grid(&[[4, 4, 9], [9, 4, 4], [4, 4, 4]]);
    let expected = grid(&[[0, 0, 4], [4, 0, 0], [0, 0, 0]]);
    let task = task(&pairs, &[test]);
    // Only by name can it say which colour is replaced.
    let table = "[calls]\n1 grid colour colour -> grid: switch replace\n[seeds]\n1 grid: I\n\
                 [colours]\n1 colour: COLOUR";
    let solved = |renames| {
        let language = Language::parse("", table).unwrap();
        let mut searcher = Searcher::new(
            language,
            Options {
                renames,
                // Rules of objects find the colour by its object.
                off: vec!["objects".to_owned()],
                ..Options::of_nodes(400)
            },
        );
        let found = searched(&mut searcher, &task);
        found.answers_of(0).next() == Some(&expected) && found.attempts[0].fits == 3
    };
    assert!(solved(true));
    assert!(!solved(false));
}

#[test]
fn where_no_answer_with_renamed_colours_fits_they_are_searched_as_they_are() {
    // 5 becomes 6; sometimes there are more 5s and sometimes fewer.
    let pairs = [
        (grid(&[[5, 5, 1], [6, 1, 1]]), grid(&[[6, 6, 1], [6, 1, 1]])),
        (grid(&[[2, 2, 5], [2, 6, 6]]), grid(&[[2, 2, 6], [2, 6, 6]])),
        (grid(&[[6, 6, 3], [3, 3, 3]]), grid(&[[6, 6, 3], [3, 3, 3]])),
        (grid(&[[5, 6, 7], [7, 7, 5]]), grid(&[[6, 6, 7], [7, 7, 6]])),
        (grid(&[[8, 5, 5], [5, 6, 8]]), grid(&[[8, 6, 6], [6, 6, 8]])),
    ];
    let task = task(&pairs, &[grid(&[[4, 5, 5], [4, 6, 4]])]);
    let expected = grid(&[[4, 6, 6], [4, 6, 4]]);
    let table = "[calls]\n1 grid colour colour -> grid: replace\n[seeds]\n1 grid: I\n\
                 [colours]\n1 colour: COLOUR";
    let searched = |renames, repeats| {
        let options = Options {
            renames,
            repeats,
            grounds: false,
            ..Options::of_nodes(400)
        };
        let language = Language::parse("", table).unwrap();
        let found = searched(&mut Searcher::new(language, options), &task);
        let fits = found.attempts.iter().any(|attempt| attempt.fits == 5);
        assert!(!fits || found.answers_of(0).next() == Some(&expected));
        (fits, found.counts.passes, found.renamed)
    };
    assert_eq!(searched(true, true), (true, 2, true));
    assert_eq!(searched(true, false), (false, 1, true));
    assert_eq!(searched(false, true), (true, 1, false));
}

#[test]
fn where_nothing_fits_the_most_common_colour_is_searched_as_black() {
    // The most common colour becomes 3.
    let pairs = [
        (grid(&[[5, 5, 1]]), grid(&[[3, 3, 1]])),
        (grid(&[[6, 0, 6]]), grid(&[[3, 0, 3]])),
    ];
    let task = task(&pairs, &[grid(&[[1, 7, 7]])]);
    let table = "[calls]\n1 grid colour colour -> grid: replace\n[seeds]\n1 grid: I\n\
                 1 colour: 0\n1 colour: 3";
    let searched = |grounds| {
        let options = Options {
            renames: false,
            grounds,
            off: vec!["objects".to_owned(), "cells".to_owned()],
            ..Options::of_nodes(400)
        };
        let language = Language::parse("", table).unwrap();
        let found = searched(&mut Searcher::new(language, options), &task);
        let is_right = found.answers_of(0).next() == Some(&grid(&[[1, 3, 3]]));
        (is_right, found.counts.passes, found.renamed)
    };
    assert_eq!(searched(true), (true, 2, false));
    assert_eq!(searched(false), (false, 1, false));
}

#[test]
fn an_answer_may_have_another_size_than_was_predicted() {
    // The object of most cells is cropped. All outputs but that of the test input have two rows and two columns.
    let pairs = [
        (grid(&[[5, 5, 0, 7], [5, 5, 0, 0]]), grid(&[[5, 5], [5, 5]])),
        (grid(&[[1, 0, 4, 4], [0, 0, 4, 4]]), grid(&[[4, 4], [4, 4]])),
    ];
    let task = task(&pairs, &[grid(&[[6, 0, 2, 2], [0, 2, 2, 2]])]);
    let language = Language::parse("", "[calls]\n[seeds]\n1 grid: I").unwrap();
    let found = searched(&mut Searcher::new(language, Options::of_nodes(400)), &task);
    assert_eq!(found.sizes, [(2, 2)]);
    let mut answers = found.answers_of(0);
    assert!(answers.any(|answer| *answer == grid(&[[0, 2, 2], [2, 2, 2]])));
}

#[test]
fn as_many_answers_are_given_as_are_asked_for() {
    let task = builtin::get("peel").unwrap().task(2, 2, 2, 7);
    for attempts in [0, 1, 2] {
        let mut searcher = searcher(Options {
            attempts,
            ..Options::of_nodes(1_000)
        });
        let found = searched(&mut searcher, &task);
        let most = found.answers.iter().map(Vec::len).max();
        assert_eq!(most, Some(attempts));
    }
}

#[test]
fn tasks_at_the_edge_are_searched_too() {
    let (small, large) = (grid(&[[3]]), Grid::filled(30, 30, 4));
    let mut checkered = Grid::filled(30, 30, 0);
    for (at, cell) in checkered.cells_mut().iter_mut().enumerate() {
        *cell = (at % 7) as i8;
    }
    let tasks = [
        task(&[], &[]),
        task(&[], std::slice::from_ref(&small)),
        task(&[(small.clone(), small.clone())], &[]),
        task(
            &[(small.clone(), small.clone())],
            std::slice::from_ref(&small),
        ),
        task(&[(small.clone(), large.clone())], &[grid(&[[7]])]),
        task(&[(large.clone(), small.clone())], &[checkered.clone()]),
        task(
            &[(checkered.clone(), checkered.clone())],
            std::slice::from_ref(&large),
        ),
        task(&vec![(small.clone(), grid(&[[3, 3]])); 40], &[grid(&[[5]])]),
        task(
            &[(small.clone(), grid(&[[0, 1]])), (large, checkered)],
            &[small],
        ),
    ];
    let mut searcher = searcher(Options::of_nodes(600));
    for task in &tasks {
        searched(&mut searcher, task);
    }
    let solved = [
        (3, grid(&[[3]])),
        (4, Grid::filled(30, 30, 4)),
        (7, grid(&[[5, 5]])),
    ];
    for (number, expected) in solved {
        let found = searched(&mut searcher, &tasks[number]);
        let answers: Vec<_> = found.answers_of(0).collect();
        assert!(answers.contains(&&expected), "task {number}: {answers:?}");
    }
    let mut unknown = tasks[3].clone();
    unknown.train[0].output = None;
    assert!(searched(&mut searcher, &unknown).attempts.is_empty());
}

#[test]
fn no_more_is_done_than_may_be() {
    let task = builtin::get("pinwheel").unwrap().task(1, 3, 1, 6);
    let mut searcher = searcher(Options {
        nodes: 700,
        pieces: 50,
        stacks: 5,
        ..Options::default()
    });
    let found = searched(&mut searcher, &task);
    assert_eq!(found.counts.nodes, 700);
    assert_eq!(found.stopped, Some(Stopped::Nodes));
    assert_eq!(found.counts.pieces, 50);
    let mut asked = 0;
    let found = searcher.search(&task, &mut || {
        asked += 1;
        true
    });
    assert!(asked > 0);
    assert_eq!(found.stopped, Some(Stopped::Interrupted));
}

/// A piece that is right alone, and then the same with each other piece hidden below it.
struct WithOneBelow;

impl Composer for WithOneBelow {
    fn compose(&self, pieces: &Pieces, take: &mut dyn FnMut(Stack) -> bool) {
        let mut first = None;
        Greedy::default().compose(pieces, &mut |stack| {
            first = Some(stack);
            false
        });
        let first = first.unwrap();
        take(first.clone());
        for below in 0..pieces.all.len() as u32 {
            let mut stack = first.clone();
            stack.layers.push(below);
            stack.total += u32::from(pieces.all[below as usize].cost);
            take(stack);
        }
    }
}

/// Costs decide before all else.
struct Cheapest;

impl Ranker for Cheapest {
    fn score(&self, proposal: &Proposal) -> f64 {
        f64::from(proposal.fits) - 1_000.0 * f64::from(proposal.total)
    }

    fn of_answers(&self, score: f64, answers: &Answers<'_>) -> f64 {
        ByFit.of_answers(score, answers)
    }
}

#[test]
fn the_best_stacks_stay_where_there_are_too_many() {
    let task = builtin::get("pinwheel").unwrap().task(1, 3, 1, 6);
    let best = |stacks| {
        let options = Options {
            stacks,
            ..Options::of_nodes(700)
        };
        let searcher = Searcher::new(Language::default(), options);
        let mut searcher = searcher.with_composer(WithOneBelow).with_ranker(Cheapest);
        let found = searched(&mut searcher, &task);
        (found.counts.stacks, found.attempts[0].clone())
    };
    let ((all, best_of_all), (few, best_of_few)) = (best(100_000), best(2));
    assert_eq!(best_of_all.layers.len(), 1);
    assert!(all > 8 && few < 4, "{all} and {few} stacks");
    assert_eq!(best_of_few, best_of_all);
}

#[test]
fn colours_that_no_task_has_are_no_answer() {
    // On the test input alone a cell gets a value that is no colour.
    let pairs = [
        (grid(&[[1, 2]]), grid(&[[1, 2]])),
        (grid(&[[3, 0]]), grid(&[[3, 0]])),
    ];
    let task = task(&pairs, &[grid(&[[5, 5]])]);
    let derived = "def spoiled(I, a): return replace(I, FIVE, a)\n\n\
                   def spots(I, a): return recolor(a, ofcolor(I, FIVE))";
    let table = "[calls]\n1 grid number -> grid: spoiled\n1 grid number -> object: spots\n\
                 1 grid -> grid: vmirror\n[seeds]\n1 grid: I\n1 number: NEG_ONE TEN";
    let language = Language::parse(derived, table).unwrap();
    let mut searcher = Searcher::new(
        language,
        Options {
            renames: false,
            ..Options::of_nodes(100)
        },
    );
    let found = searched(&mut searcher, &task);
    assert_eq!(found.answers_of(0).next(), Some(&grid(&[[5, 5]])));
}

/// Proposes the input, whatever the outputs are.
struct Unchanged;

impl Proposer for Unchanged {
    fn name(&self) -> &'static str {
        "unchanged"
    }

    fn propose(&self, scene: &mut Scene<'_>, take: &mut dyn FnMut(Proposal) -> bool) {
        take(Proposal {
            layers: vec![crate::pieces::Layer::All(scene.batt.input())],
            fits: 1,
            cost: 1,
            total: 1,
            rule: Some("the input".to_owned()),
            by: self.name(),
        });
    }
}

#[test]
fn what_proposers_propose_is_joined_and_each_can_be_switched_off() {
    let pairs = [
        (grid(&[[1, 0]]), grid(&[[0, 1]])),
        (grid(&[[2, 2]]), grid(&[[2, 2]])),
    ];
    let (task, test) = (task(&pairs, &[grid(&[[3, 0]])]), grid(&[[3, 0]]));
    let answers = |off: &[&str]| {
        let options = Options {
            off: off.iter().map(|name| (*name).to_owned()).collect(),
            renames: false,
            ..Options::of_nodes(400)
        };
        let mut searcher = searcher(options)
            .with_proposer(Unchanged)
            .with_proposer(Unchanged);
        let found = searched(&mut searcher, &task);
        let attempts = found.attempts.iter();
        attempts
            .map(|attempt| (attempt.outputs[0].clone(), attempt.layers[0].part == "rule"))
            .collect::<Vec<_>>()
    };
    let rules = ["cells", "objects"];
    let both = answers(&rules);
    assert!(both.contains(&(grid(&[[0, 3]]), false)), "{both:?}");
    assert!(both.contains(&(test.clone(), true)), "{both:?}");
    let stacks = answers(&[&rules[..], &["unchanged"]].concat());
    assert!(stacks.iter().all(|(_, is_rule)| !is_rule) && !stacks.is_empty());
    let own = answers(&[&rules[..], &["stacks"]].concat());
    assert_eq!(own, [(test, true)]);
    assert!(answers(&[&rules[..], &["stacks", "unchanged"]].concat()).is_empty());
}

/// A task whose outputs this expression gives for grids without a pattern, and its answer.
fn made_task(expression: &str) -> (Task, Grid) {
    let made = program(expression);
    let mut state = 1_u32;
    let mut cell = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        ((state >> 16) % 3) as i8
    };
    let inputs = (0..5).map(|_| Grid::from_cells(6, 7, (0..42).map(|_| cell()).collect()));
    let mut pairs: Vec<_> = inputs
        .map(|input| (input.clone(), given(&made, &input)))
        .collect();
    let (input, answer) = pairs.remove(2);
    (task(&pairs, &[input]), answer)
}

/// The attempts of this proposer alone.
fn attempts_by(task: &Task, by: &str) -> Vec<Attempt> {
    let off = ["stacks", "cells", "objects"].into_iter();
    let options = Options {
        off: off.filter(|name| *name != by).map(str::to_owned).collect(),
        renames: false,
        ..Options::of_nodes(2_000)
    };
    searched(&mut searcher(options), task).attempts
}

#[test]
fn a_rule_of_cells_may_be_wrong_on_one_train_pair() {
    let (mut task, answer) =
        made_task("fill(I, 4, intersection(ofcolor(I, 1), box(asindices(I))))");
    let best = &attempts_by(&task, "cells")[0];
    assert_eq!((&best.outputs[0], best.fits), (&answer, 4));
    let odd = task.train[1].output.as_mut().unwrap();
    for at in [8, 17, 29, 33] {
        odd.cells_mut()[at] = 8;
    }
    let best = &attempts_by(&task, "cells")[0];
    assert_eq!((&best.outputs[0], best.fits), (&answer, 3));
    // Of two train pairs none is left out.
    task.train.truncate(2);
    assert!(attempts_by(&task, "cells").is_empty());
}

#[test]
fn objects_are_painted_over_the_grid_nearest_to_outputs_of_other_sizes() {
    let (task, answer) = made_task(
        "fill(hconcat(I, I), 5, merge(sizefilter(colorfilter(objects(hconcat(I, I), T, T, F), 1), 1)))",
    );
    let best = &attempts_by(&task, "objects")[0];
    assert_eq!(best.outputs[0], answer);
    let rule = &best.layers[0].expression;
    assert!(rule.starts_with("of tiled(I, BLANK), pieces"), "{rule}");
}
