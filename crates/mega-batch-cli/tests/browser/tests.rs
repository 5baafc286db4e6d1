//! What a reader of the report sees and does.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::chromium::{Page, Result};
use super::sample::{HOSTILE, document};

type Test = fn(&Path) -> Result<()>;

pub(crate) const ALL: [(&str, Test); 6] = [
    (
        "a_page_opens_at_every_width_and_in_both_schemes_without_a_complaint",
        opens_everywhere,
    ),
    (
        "grids_are_drawn_as_they_come_into_view_in_their_colours",
        grids_are_drawn,
    ),
    ("tasks_are_chosen_by_click_and_by_words", tasks_are_chosen),
    (
        "a_task_opens_by_the_keyboard_and_marks_wrong_cells",
        a_task_opens,
    ),
    (
        "without_a_script_the_figures_stand_there",
        works_without_a_script,
    ),
    ("four_hundred_tasks_open_at_once", many_tasks),
];

/// A document, its page, and the folder of both.
struct Report {
    document: Value,
    address: String,
    bytes: u64,
    _folder: TempDir,
}

impl Report {
    fn of(document: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        std::fs::write(folder.path().join("result.json"), document.to_string()).unwrap();
        let done = Command::new(env!("CARGO_BIN_EXE_mega-batch"))
            .args(["report", "result.json", "--html", "page.html"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        Self {
            document,
            address: format!("file://{}", page.display()),
            bytes: std::fs::metadata(page).unwrap().len(),
            _folder: folder,
        }
    }

    /// Its tasks.
    fn tasks(&self) -> &[Value] {
        self.document["by_task"].as_array().unwrap()
    }
}

/// An error with this message unless the condition holds.
fn ensure(holds: bool, what: impl Into<String>) -> Result<()> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// The lowest contrast between a visible text and its background, and which text.
const CONTRAST: &str = r"(() => {
    const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const found = channels(getComputedStyle(e).backgroundColor);
            if (found.length < 4 || found[3] === 1) return found;
        }
        return [255, 255, 255];
    };
    let least = [99, ''];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        const text = texts.currentNode.textContent.trim();
        if (!text || !element.checkVisibility() || element.closest('svg, script, option')) continue;
        const [a, b] = [light(channels(getComputedStyle(element).color)), light(behind(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < least[0]) least = [ratio, text.slice(0, 40) + ' in ' + element.outerHTML.slice(0, 80)];
    }
    return least;
})()";

fn opens_everywhere(program: &Path) -> Result<()> {
    let mut bare = document(20);
    for member in ["by_task", "slowest_programs", "backend"] {
        bare.as_object_mut().unwrap().remove(member);
    }
    let mut long = document(20);
    // Names that have no place to wrap.
    for task in long["by_task"].as_array_mut().unwrap() {
        task["task"] = json!(format!(
            "{}{}",
            task["task"].as_str().unwrap(),
            "x".repeat(250)
        ));
        for best in task["best"].as_array_mut().unwrap() {
            best["program"] = json!("p".repeat(250));
        }
    }
    long["input_errors"][0]["message"] = json!("m".repeat(250));
    let mut page = Page::open(program)?;
    for (document, what) in [(document(20), "full"), (bare, "bare"), (long, "long names")] {
        let report = Report::of(document);
        let mut grounds = Vec::new();
        for (width, scheme) in [
            (1280, "light"),
            (1280, "dark"),
            (390, "light"),
            (390, "dark"),
        ] {
            let at = format!("{what}, {width} points, {scheme}");
            page.resize(width, 844)?;
            page.prefer(scheme)?;
            page.go(&report.address)?;
            // Some tasks are open, to show everything that they have.
            page.evaluate(
                "document.querySelectorAll('details').forEach((details, at) => { if (at < 12) details.open = true; })",
            )?;
            if what != "bare" {
                page.wait_for("document.querySelectorAll('.pairs canvas').length > 20")?;
            }
            let complaints = page.complaints()?;
            ensure(complaints.is_empty(), format!("{at}: {complaints:#?}"))?;
            let widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")?;
            ensure(
                widths[0].as_f64() <= widths[1].as_f64(),
                format!(
                    "{at}: the page is {} wide, the window {}",
                    widths[0], widths[1]
                ),
            )?;
            let contrast = page.evaluate(CONTRAST)?;
            let least = contrast[0].as_f64().unwrap();
            ensure(
                (4.5..99.0).contains(&least),
                format!("{at}: contrast {contrast}"),
            )?;
            grounds.push(page.evaluate("getComputedStyle(document.body).backgroundColor")?);
            let hostile = page.evaluate(
                "document.images.length + document.querySelectorAll('[onerror]').length",
            )?;
            ensure(hostile == 0, format!("{at}: a name became markup"))?;
        }
        ensure(
            grounds[0] == grounds[2] && grounds[1] == grounds[3] && grounds[0] != grounds[1],
            format!("{what}: {grounds:?}"),
        )?;
    }
    Ok(())
}

/// The colours in the middle of the cells of a figure's canvas, row by row.
fn colours(page: &mut Page, canvas: &str, rows: usize, columns: usize) -> Result<Value> {
    page.evaluate(&format!(
        "(() => {{ const canvas = {canvas}; const context = canvas.getContext('2d'); \
         const [h, w] = [canvas.height / {rows}, canvas.width / {columns}]; \
         return Array.from({{length: {rows}}}, (_, i) => Array.from({{length: {columns}}}, (_, j) => \
         [...context.getImageData(Math.floor((j + 0.3) * w), Math.floor((i + 0.3) * h), 1, 1).data.slice(0, 3)])); \
         }})()"
    ))
}

fn grids_are_drawn(program: &Path) -> Result<()> {
    let report = Report::of(document(200));
    let mut page = Page::open(program)?;
    page.resize(1280, 800)?;
    page.go(&report.address)?;
    let drawn = "document.querySelectorAll('.preview canvas').length";
    let last = "document.querySelector('[data-at=\"199\"]')";
    let before = page.evaluate(drawn)?;
    ensure(
        before.as_u64() < Some(200),
        format!("{before} grids are drawn unseen"),
    )?;
    ensure(
        page.evaluate(&format!("{last}.querySelector('canvas') === null"))? == true,
        "the last task is drawn unseen",
    )?;
    page.evaluate(&format!("{last}.scrollIntoView()"))?;
    page.wait_for(&format!("{last}.querySelector('canvas') !== null"))?;
    let palette = arc_dsl::PALETTE.map(|(r, g, b)| json!([r, g, b]));
    for (at, task) in report.tasks().iter().enumerate().take(12) {
        let card = format!("document.querySelector('[data-at=\"{at}\"]')");
        page.evaluate(&format!("{card}.scrollIntoView()"))?;
        let canvas = format!("{card}.querySelector('.preview canvas')");
        page.wait_for(&format!("{canvas} !== null"))?;
        let input: Vec<Vec<usize>> =
            serde_json::from_value(task["test"][0]["input"].clone()).unwrap();
        let expected: Vec<Vec<_>> = input
            .iter()
            .map(|row| row.iter().map(|&colour| &palette[colour]).collect())
            .collect();
        let found = colours(&mut page, &canvas, input.len(), input[0].len())?;
        ensure(
            found == json!(expected),
            format!("task {at}: {found} for {input:?}"),
        )?;
    }
    Ok(())
}

fn tasks_are_chosen(program: &Path) -> Result<()> {
    let report = Report::of(document(40));
    let of_state = |state: &str| {
        let tasks = report.tasks().iter();
        tasks.filter(|task| task["state"] == state).count()
    };
    let visible =
        "[...document.querySelectorAll('.task')].filter(task => task.checkVisibility()).length";
    let mut page = Page::open(program)?;
    page.resize(1280, 800)?;
    page.go(&report.address)?;
    ensure(page.evaluate(visible)? == 40, "not all tasks are shown")?;
    for state in ["solved", "unsolved", "untried"] {
        page.click(&format!("#filters label:has([value={state}]) span"))?;
        let (found, expected) = (page.evaluate(visible)?, of_state(state));
        ensure(
            found == expected && expected > 0,
            format!("{found} of {expected} {state}"),
        )?;
        let told = page.evaluate("document.getElementById('shown').textContent")?;
        ensure(told == format!("{expected} of 40 tasks"), format!("{told}"))?;
        ensure(
            page.evaluate(&format!(
                "[...document.querySelectorAll('.task')].every(task => task.hidden === (task.dataset.state !== '{state}'))"
            ))? == true,
            format!("other tasks than {state} ones"),
        )?;
    }
    page.click("#filters label:has([value='']) span")?;
    // Words of an id, of a program, and of a name with markup characters.
    let program_name = report.tasks()[5]["best"][0]["program"]
        .as_str()
        .unwrap()
        .to_owned();
    for (words, least) in [
        ("3c6ef372", 1),
        (program_name.as_str(), 1),
        ("SOLVERS & more", 20),
        (HOSTILE.trim_end_matches('\u{202e}'), 1),
    ] {
        page.click("#filters [type=search]")?;
        page.evaluate("document.querySelector('#filters [type=search]').select()")?;
        page.write(words)?;
        let found = page.evaluate(visible)?.as_u64().unwrap();
        ensure(
            (least..40).contains(&found),
            format!("{found} tasks for {words}"),
        )?;
    }
    page.evaluate("document.querySelector('#filters [type=search]').select()")?;
    page.write("no such task")?;
    ensure(
        page.evaluate(visible)? == 0,
        "tasks for words that none has",
    )?;
    let nothing = page.evaluate("document.getElementById('nothing').checkVisibility()")?;
    ensure(nothing == true, "nobody says that there is no such task")?;
    page.evaluate("document.querySelector('#filters [type=search]').select()")?;
    page.press("Backspace", 8, "")?;
    ensure(page.evaluate(visible)? == 40, "not all tasks are back")?;
    let choose = |name: &str, value: &str| {
        format!(
            "(() => {{ const select = document.querySelector('#filters [name={name}]'); select.value = '{value}'; \
             select.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )
    };
    page.evaluate(&choose("order", "low"))?;
    let scores = page.evaluate(
        "[...document.querySelectorAll('.task')].map(task => Number(task.dataset.score))",
    )?;
    let scores: Vec<f64> = serde_json::from_value(scores).unwrap();
    ensure(
        scores.is_sorted() && scores[0] < scores[39],
        format!("{scores:?}"),
    )?;
    page.evaluate(&choose("outcome", "error"))?;
    let failed = report.document["results"].as_array().unwrap().iter();
    let failed = failed.filter(|result| result["pairs"].to_string().contains("\"error\","));
    let failed: std::collections::HashSet<_> =
        failed.map(|result| result["task"].as_str()).collect();
    let found = page.evaluate(visible)?;
    ensure(
        found == failed.len() && !failed.is_empty(),
        format!("{found} of {} tasks with errors", failed.len()),
    )?;
    let complaints = page.complaints()?;
    ensure(complaints.is_empty(), format!("{complaints:#?}"))
}

fn a_task_opens(program: &Path) -> Result<()> {
    let mut document = document(3);
    let cells = json!([[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    let mut wrong = cells.clone();
    wrong[1][2] = json!(9);
    document["by_task"] = json!([{"task": "a", "state": "unsolved",
        "train": [{"input": cells, "output": cells}], "test": [{"input": cells, "output": cells}],
        "best": [{"program": "p", "train_right": 0, "train_cells_right": 8, "train_cells": 9,
            "train": [wrong], "test": [null]},
            {"program": "q", "train_right": 0, "train_cells_right": 0, "train_cells": 9,
            "train": [[[10, -1]]], "test": [cells]}],
        "attempts": [[cells, [[0]]]]}]);
    let report = Report::of(document);
    let mut page = Page::open(program)?;
    page.resize(390, 844)?;
    page.go(&report.address)?;
    page.evaluate("document.querySelector('.task summary').focus()")?;
    page.press("Enter", 13, "\r")?;
    page.wait_for("document.querySelectorAll('.pair').length === 2")?;
    let told = page
        .evaluate("[...document.querySelectorAll('.pairs .grid')].map(grid => grid.innerText)")?;
    ensure(
        told == json!([
            "input 3×3",
            "expected 3×3",
            "#1 3×3\n✗ 1 cell wrong",
            "#2 1×2\n✗ 1×2, not 3×3",
            "input 3×3",
            "expected 3×3",
            "no grid\n#1",
            "#2 3×3\n✓ right",
            "attempt 1 3×3\n✓ right",
            "attempt 2 1×1\n✗ 1×1, not 3×3"
        ]),
        format!("{told:#}"),
    )?;
    let label = page.evaluate("document.querySelectorAll('.pairs canvas')[2].ariaLabel")?;
    ensure(
        label == "#1, 3 rows by 3 columns, 1 cell wrong",
        format!("{label}"),
    )?;
    // Only the wrong cell is marked.
    let marked = |canvas: usize| {
        format!(
            "(() => {{ const canvas = document.querySelectorAll('.pairs canvas')[{canvas}]; \
             const context = canvas.getContext('2d'); const side = canvas.width / 3; \
             return Array.from({{length: 9}}, (_, at) => {{ \
             const x = Math.floor((at % 3 + 0.48) * side), y = Math.floor((Math.floor(at / 3) + 0.48) * side); \
             return context.getImageData(x, y, 1, 1).data.slice(0, 3).every(part => part === 255); }}); }})()"
        )
    };
    let marks = page.evaluate(&marked(2))?;
    let expected: Vec<bool> = (0..9).map(|at| at == 5).collect();
    ensure(marks == json!(expected), format!("{marks}"))?;
    let none = page.evaluate(&marked(1))?;
    ensure(none == json!(vec![false; 9]), format!("{none}"))?;
    // A link to a task opens it.
    page.go("about:blank")?;
    page.go(&format!("{}#task-a", report.address))?;
    page.wait_for("document.querySelector('#task-a details').open")?;
    let complaints = page.complaints()?;
    ensure(complaints.is_empty(), format!("{complaints:#?}"))
}

fn works_without_a_script(program: &Path) -> Result<()> {
    let report = Report::of(document(20));
    let mut page = Page::open(program)?;
    page.call(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    )?;
    page.go(&report.address)?;
    for (selector, part) in [
        (".figures", "Tasks solved"),
        (".charts", "Evaluations by outcome"),
        ("#slowest", "Slowest programs"),
        ("#devices", "90% busy"),
        (".task .score", "of cells"),
        ("noscript", "drawn by a script"),
    ] {
        let shown = format!(
            "(() => {{ const found = document.querySelector('{selector}'); \
             return found.checkVisibility() && found.textContent.includes('{part}'); }})()"
        );
        ensure(page.evaluate(&shown)? == true, format!("no {part}"))?;
    }
    let filters = page.evaluate("document.getElementById('filters').checkVisibility()")?;
    ensure(filters == false, "filters are shown that do nothing")
}

fn many_tasks(program: &Path) -> Result<()> {
    let report = Report::of(document(400));
    ensure(report.bytes < 5_000_000, format!("{} bytes", report.bytes))?;
    let mut page = Page::open(program)?;
    page.resize(390, 844)?;
    page.go(&report.address)?;
    page.wait_for("document.querySelectorAll('.task').length === 400")?;
    // Scrolling loads all grids, however many there are.
    page.evaluate("document.querySelector('[data-at=\"399\"]').scrollIntoView()")?;
    page.wait_for("document.querySelector('[data-at=\"399\"] canvas') !== null")?;
    let complaints = page.complaints()?;
    ensure(complaints.is_empty(), format!("{complaints:#?}"))
}
