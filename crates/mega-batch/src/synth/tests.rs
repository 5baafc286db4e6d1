//! Tests of [`Synthesis`].

use std::sync::Arc;

use arc_dsl::{Grid, Interpreter};
use arc_tasks::builtin;
use arc_text::parse_programs;

use super::*;

fn made(settings: Settings, count: usize) -> (Vec<Made>, SynthCounts) {
    let mut synthesis = Synthesis::new(settings).unwrap();
    let mut all = Vec::new();
    while all.len() < count
        && let Some(made) = synthesis.next_task(&mut || false).unwrap()
    {
        all.push(*made);
    }
    (all, *synthesis.counts())
}

fn programs(text: &str) -> Vec<Program> {
    parse_programs(text)
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn programs_give_the_outputs_of_their_tasks_within_the_bounds() {
    let (all, counts) = made(Settings::default(), 150);
    let mut interpreter = Interpreter::default();
    for made in &all {
        assert_eq!((made.task.train.len(), made.task.test.len()), (3, 1));
        assert_eq!(made.program.task_id(), made.task.id);
        for (_, pair) in made.task.pairs() {
            let output = interpreter
                .run(&made.program, Arc::clone(&pair.input))
                .unwrap();
            let expected = pair.output.as_ref().unwrap();
            assert_eq!(output.as_grid().unwrap().as_ref(), expected);
            assert!(expected.height().max(expected.width()) <= 30);
            assert!(expected.cells().iter().all(|cell| (0..10).contains(cell)));
        }
    }
    let dropped: u64 = Dropped::ALL
        .iter()
        .map(|reason| counts.dropped(*reason))
        .sum();
    assert_eq!(counts.candidates, counts.made + dropped);
    assert_eq!(counts.made, 150);
    for recipe in &Recipe::ALL[1..] {
        assert!(all.iter().any(|made| made.recipe == *recipe), "{recipe:?}");
    }
}

#[test]
fn the_same_is_made_by_any_number_of_workers() {
    let of = |workers| {
        let mut settings = Settings {
            seed: 3,
            workers: NonZeroUsize::new(workers),
            ..Settings::default()
        };
        settings.filters.easy_nodes = 50;
        made(settings, 60)
    };
    let alone = of(1);
    assert_eq!(alone, of(3));
    let other = Settings {
        seed: 4,
        ..Settings::default()
    };
    assert_ne!(alone.0[0], made(other, 1).0[0]);
}

#[test]
fn shards_make_the_candidates_of_the_whole_between_them() {
    let of = |shard, count| {
        let mut settings = Settings {
            shard,
            ..Settings::default()
        };
        settings.filters.duplicates = false;
        made(settings, count).0
    };
    let mut parts = [of((0, 2), 60), of((1, 2), 60)].concat();
    parts.sort_by_key(|made| made.number);
    let whole = of((0, 1), 60);
    assert_eq!(parts[..60], whole);
}

/// A change to filters, or to settings.
type Change<T> = fn(&mut T);

#[test]
fn each_filter_drops_what_it_says_and_only_where_it_is_wanted() {
    let base = |text: &str| Settings {
        programs: programs(text),
        recipes: vec![Recipe::Program],
        ..Settings::default()
    };
    let count = |settings: Settings, reason| {
        let (all, counts) = made(settings, 3);
        (all.len(), counts.dropped(reason))
    };
    let cases: [(&str, Dropped, Change<Filters>); 5] = [
        ("def f(I):\n return identity(I)", Dropped::Identity, |of| {
            of.identity = false;
        }),
        (
            "def f(I):\n return canvas(THREE, TWO_BY_TWO)",
            Dropped::Constant,
            |of| of.constant = false,
        ),
        (
            "def f(I):\n return upscale(I, SEVEN)",
            Dropped::TooLarge,
            |of| of.max_side = None,
        ),
        (
            "def f(I):\n x1 = asindices(I)\n return fill(I, NEG_ONE, x1)",
            Dropped::Foreign,
            |of| of.foreign = false,
        ),
        ("def f(I):\n return rot90(I)", Dropped::Duplicate, |of| {
            of.duplicates = false;
        }),
    ];
    for (text, reason, allow) in cases {
        let text = text.replace("TWO_BY_TWO", "(2, 3)");
        let mut settings = base(&text);
        settings.filters.duplicates = reason == Dropped::Duplicate;
        settings.filters.constant &= reason != Dropped::Foreign;
        let (found, dropped) = count(settings.clone(), reason);
        let most = usize::from(reason == Dropped::Duplicate);
        assert!(
            found <= most + usize::from(reason == Dropped::TooLarge) * 3,
            "{reason:?}"
        );
        assert!(dropped > 0, "{reason:?}");
        allow(&mut settings.filters);
        assert_eq!(count(settings, reason), (3, 0), "{reason:?}");
    }
}

#[test]
fn what_a_search_of_few_nodes_solves_is_easy() {
    let mut settings = Settings {
        programs: programs("def f(I):\n return vmirror(I)"),
        recipes: vec![Recipe::Program],
        ..Settings::default()
    };
    settings.filters.duplicates = false;
    settings.filters.easy_nodes = 300;
    settings.scene_side = 6;
    let mut synthesis = Synthesis::new(settings).unwrap();
    synthesis.generate(&mut || false).unwrap();
    let easy = synthesis.waiting.iter();
    let easy = easy
        .filter(|outcome| **outcome == Err(Dropped::Easy))
        .count();
    assert!(easy * 10 > synthesis.waiting.len() * 8, "{easy}");
}

#[test]
fn inputs_are_those_of_tasks_where_that_is_wanted() {
    let task = builtin::all()[3].task(1, 4, 2, 9);
    let mut settings = Settings {
        programs: programs("def solve_other(I):\n x1 = rot90(I)\n return hconcat(x1, x1)"),
        tasks: vec![task.clone()],
        inputs: Inputs::Tasks,
        recipes: vec![Recipe::Variation, Recipe::Program],
        ..Settings::default()
    };
    settings.filters.duplicates = false;
    let (all, _) = made(settings, 5);
    let known: Vec<Grid> = task
        .pairs()
        .flat_map(|(_, pair)| Symmetry::ALL.map(|symmetry| symmetry.of(&pair.input)))
        .collect();
    assert_eq!(all.len(), 5);
    for made in all {
        assert!(
            made.task
                .pairs()
                .all(|(_, pair)| known.contains(&pair.input))
        );
    }
}

#[test]
fn what_is_exhausted_or_interrupted_ends() {
    let settings = Settings {
        programs: programs("def f(I):\n return rot90(I)"),
        recipes: vec![Recipe::Program],
        ..Settings::default()
    };
    let (all, counts) = made(settings.clone(), 10);
    assert_eq!((all.len(), counts.candidates), (1, PATIENCE + 1));
    assert!(counts.dropped(Dropped::Duplicate) > PATIENCE * 9 / 10);

    let mut synthesis = Synthesis::new(settings).unwrap();
    assert_eq!(synthesis.next_task(&mut || true), Err(Interrupted));
    let first = synthesis.next_task(&mut || false).unwrap();
    assert_eq!(first.as_deref(), Some(&all[0]));
}

#[test]
fn settings_that_make_nothing_say_why() {
    let error = |change: Change<Settings>| {
        let mut settings = Settings::default();
        change(&mut settings);
        Synthesis::new(settings)
            .err()
            .map(|error| error.to_string())
    };
    let cases: [(Change<Settings>, &str); 6] = [
        (|it| it.programs.clear(), "programs: expected one or more"),
        (|it| it.recipes.clear(), "kinds: expected one or more"),
        (
            |it| it.inputs = Inputs::Tasks,
            "inputs: \"tasks\" needs tasks with pairs",
        ),
        (
            |it| it.train = 0,
            "train, test: expected 1 to 1000 pairs together, one of them for training, found 1",
        ),
        (
            |it| it.shard = (2, 2),
            "shard: expected a part from 0 to before 2, found 2",
        ),
        (
            |it| it.filters.max_side = Some(0),
            "max_side: expected 1 or more",
        ),
    ];
    for (change, text) in cases {
        assert_eq!(error(change).as_deref(), Some(text));
    }
    assert_eq!(error(|_| ()), None);
}
