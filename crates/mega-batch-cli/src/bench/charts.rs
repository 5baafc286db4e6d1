//! The pictures of a benchmark: speed-up by size of batch, by kind, and by number of workers and GPUs.

mod axis;
mod svg;

use axis::{Axis, short_count, times};
use svg::{Anchor, COLOURS, Svg};

use super::document::{Document, Resource, Scale};
use super::plan::BenchMode;
use super::statistics::Ratio;
use super::workload::Workload;
use crate::table::thousands;

/// A picture.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) svg: String,
}

const BY_SIZE: &str = "speedup-by-size";
const BY_KIND: &str = "speedup-by-kind";
const SCALING: &str = "scaling";

/// The names of all files that there may be, with this behind the name.
pub(crate) fn files(suffix: &str) -> Vec<String> {
    [BY_SIZE, BY_KIND, SCALING]
        .map(|name| file(name, suffix))
        .to_vec()
}

fn file(name: &str, suffix: &str) -> String {
    format!("{name}{suffix}.svg")
}

/// The pictures; that of workers and GPUs where there are several.
pub(crate) fn charts(document: &Document, suffix: &str) -> Vec<Chart> {
    let mut charts = vec![by_size(document, suffix), by_kind(document, suffix)];
    charts.extend(scaling(document, suffix));
    charts
}

/// What a picture shows of a mode.
fn is_shown(mode: BenchMode) -> bool {
    // The sequential mode is the line at 1; times of the emulated device mean nothing.
    !matches!(mode, BenchMode::Sequential | BenchMode::Emulated)
}

/// The modes that charts show of what was measured.
fn shown_modes(document: &Document) -> Vec<BenchMode> {
    let modes = document.modes().into_iter();
    modes.filter(|mode| is_shown(*mode)).collect()
}

/// The number of a mode's colour and mark.
fn series(mode: BenchMode) -> usize {
    mode as usize % COLOURS
}

/// The upper left corner and the size of what is drawn within the axes.
#[derive(Debug, Clone, Copy)]
struct Plot {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Plot {
    fn right(self) -> f64 {
        self.x + self.width
    }

    fn bottom(self) -> f64 {
        self.y + self.height
    }

    /// Both axes with their lines and names.
    fn axes(self, svg: &mut Svg, x: &Axis, y: &Axis, name: fn(f64) -> String) {
        for &tick in &y.ticks {
            let at = y.at(tick);
            svg.line((self.x, at), (self.right(), at), "grid");
            svg.text((self.x - 6.0, at + 4.0), Anchor::End, "quiet", &times(tick));
        }
        for &tick in &x.ticks {
            let at = x.at(tick);
            svg.line((at, self.bottom()), (at, self.bottom() + 4.0), "axis");
            svg.text(
                (at, self.bottom() + 17.0),
                Anchor::Middle,
                "quiet",
                &name(tick),
            );
        }
        svg.line(
            (self.x, self.bottom()),
            (self.right(), self.bottom()),
            "axis",
        );
    }
}

/// The points of one line: where on the x axis, and the speed-up.
type Points = Vec<(f64, Ratio)>;

/// A line with its marks, and the quartiles of each point.
fn draw_points(svg: &mut Svg, x: &Axis, y: &Axis, points: &Points, number: usize) {
    let at = |(count, ratio): &(f64, Ratio)| (x.at(*count), y.at(ratio.median));
    let line: Vec<(f64, f64)> = points.iter().map(at).collect();
    for (count, ratio) in points {
        let at = x.at(*count);
        let class = format!("spread line{number}");
        svg.line(
            (at, y.at(ratio.lower_quartile)),
            (at, y.at(ratio.upper_quartile)),
            &class,
        );
    }
    svg.path(&line, &format!("series line{number}"));
    for point in line {
        svg.mark(point, number);
    }
}

/// One entry of a legend: a line with its mark, and the name.
fn draw_legend(svg: &mut Svg, (x, y): (f64, f64), number: usize, name: &str) {
    svg.line(
        (x, y - 4.0),
        (x + 26.0, y - 4.0),
        &format!("series line{number}"),
    );
    svg.mark((x + 13.0, y - 4.0), number);
    svg.text((x + 34.0, y), Anchor::Start, "ink", name);
}

/// The line of the sequential mode in a legend.
fn draw_legend_of_base(svg: &mut Svg, (x, y): (f64, f64), name: &str) {
    svg.line((x, y - 4.0), (x + 26.0, y - 4.0), "base dashed line1");
    svg.text((x + 34.0, y), Anchor::Start, "ink", name);
}

const MARGIN: f64 = 24.0;
const WIDTH: f64 = 900.0;

/// Title, and a line of what is shown below it.
fn draw_title(svg: &mut Svg, title: &str, below: &str) {
    svg.text((MARGIN, 32.0), Anchor::Start, "title ink", title);
    svg.text((MARGIN, 52.0), Anchor::Start, "quiet", below);
}

/// A small picture a kind, all of one scale.
fn by_size(document: &Document, suffix: &str) -> Chart {
    const COLUMNS: usize = 3;
    const PANEL: (f64, f64) = (284.0, 200.0);
    const TOP: f64 = 72.0;
    let kinds = document.kinds();
    let modes = shown_modes(document);
    let cells = || document.cells.iter().filter(|cell| is_shown(cell.mode));
    let ratios = cells().filter_map(|cell| cell.speedup);
    let ends = ratios
        .flat_map(|ratio| [ratio.lower_quartile, ratio.upper_quartile])
        .chain([1.0]);
    let ends: Vec<f64> = ends.collect();
    let sizes: Vec<f64> = document.sizes().iter().map(|size| *size as f64).collect();

    let mut svg = Svg::new();
    let title = format!(
        "Speed-up by size of batch, {}",
        document.environment.folder()
    );
    let below = "times as fast as the sequential mode, both axes logarithmic; marks are medians of \
                 turns, thin lines their middle halves";
    draw_title(&mut svg, &title, below);
    // One place more for the legend.
    let rows = (kinds.len() + 1).div_ceil(COLUMNS);
    let corner = |at: usize| {
        let (column, row) = (at % COLUMNS, at / COLUMNS);
        (MARGIN + column as f64 * PANEL.0, TOP + row as f64 * PANEL.1)
    };
    for (at, &kind) in kinds.iter().enumerate() {
        let (left, top) = corner(at);
        let plot = Plot {
            x: left + 42.0,
            y: top + 28.0,
            width: PANEL.0 - 66.0,
            height: PANEL.1 - 66.0,
        };
        svg.text(
            (plot.x, top + 16.0),
            Anchor::Start,
            "panel ink",
            kind.name(),
        );
        // Marks at the ends lie within.
        let x = Axis::logarithmic(sizes.iter().copied(), (plot.x + 8.0, plot.right() - 8.0));
        let y = Axis::logarithmic(ends.iter().copied(), (plot.bottom(), plot.y));
        plot.axes(&mut svg, &x, &y, short_count);
        svg.line(
            (plot.x, y.at(1.0)),
            (plot.right(), y.at(1.0)),
            "base dashed line1",
        );
        for &mode in &modes {
            let points = points_by_size(document, kind, mode);
            draw_points(&mut svg, &x, &y, &points, series(mode));
        }
    }
    let (left, top) = corner(kinds.len());
    let mut y = top + 44.0;
    for &mode in &modes {
        draw_legend(
            &mut svg,
            (left + 42.0, y),
            series(mode),
            &named(document, mode),
        );
        y += 24.0;
    }
    draw_legend_of_base(&mut svg, (left + 42.0, y), BenchMode::Sequential.name());
    svg.text(
        (left + 42.0, y + 28.0),
        Anchor::Start,
        "quiet",
        "across: evaluations of a batch",
    );
    let height = TOP + rows as f64 * PANEL.1 + 8.0;
    Chart {
        file: file(BY_SIZE, suffix),
        svg: svg.finish((WIDTH, height), &title),
        title,
    }
}

fn points_by_size(document: &Document, kind: Workload, mode: BenchMode) -> Points {
    let sizes = document.sizes();
    let point = |size: &usize| {
        let cell = document.cell(kind, *size, mode)?;
        Some((*size as f64, cell.speedup?))
    };
    sizes.iter().filter_map(point).collect()
}

/// A mode with the number of its workers or GPUs.
fn named(document: &Document, mode: BenchMode) -> String {
    match mode {
        BenchMode::Parallel => format!("parallel, {} workers", document.plan.workers),
        BenchMode::Gpu => "one GPU".to_owned(),
        BenchMode::Gpus => format!("{} GPUs", document.environment.gpus().len()),
        mode => mode.name().to_owned(),
    }
}

/// A bar a mode for each kind, on the largest batches.
fn by_kind(document: &Document, suffix: &str) -> Chart {
    const BAR: f64 = 15.0;
    const GAP: f64 = 5.0;
    const BETWEEN: f64 = 16.0;
    const LEFT: f64 = 140.0;
    const TOP: f64 = 108.0;
    let kinds = document.kinds();
    let modes = shown_modes(document);
    let largest = document.sizes().last().copied().unwrap_or(0);
    let ratio = |kind, mode| {
        document
            .cell(kind, largest, mode)
            .and_then(|cell| cell.speedup)
    };
    let all = kinds
        .iter()
        .flat_map(|kind| modes.iter().filter_map(|mode| ratio(*kind, *mode)));
    let ends: Vec<f64> = all.map(|ratio| ratio.upper_quartile).chain([1.0]).collect();

    let mut svg = Svg::new();
    let title = format!("Speed-up by kind, {}", document.environment.folder());
    let size = thousands(largest as u64);
    let below = format!(
        "times as fast as the sequential mode, batches of {size} evaluations; bars are \
         medians of turns, thin lines their middle halves"
    );
    draw_title(&mut svg, &title, &below);
    let mut legend = MARGIN;
    for &mode in &modes {
        svg.rectangle(
            (legend, 68.0),
            (14.0, 12.0),
            &format!("fill{}", series(mode)),
        );
        let name = named(document, mode);
        svg.text((legend + 20.0, 78.0), Anchor::Start, "ink", &name);
        legend += 52.0 + 7.0 * name.chars().count() as f64;
    }
    draw_legend_of_base(&mut svg, (legend, 78.0), BenchMode::Sequential.name());

    let group = modes.len().max(1) as f64 * (BAR + GAP) - GAP;
    let height = kinds.len() as f64 * (group + BETWEEN);
    let plot = Plot {
        x: LEFT,
        y: TOP,
        width: WIDTH - LEFT - 84.0,
        height,
    };
    let x = Axis::from_zero(ends, (plot.x, plot.right()));
    for &tick in &x.ticks {
        let at = x.at(tick);
        svg.line((at, plot.y), (at, plot.bottom()), "grid");
        svg.text(
            (at, plot.bottom() + 18.0),
            Anchor::Middle,
            "quiet",
            &times(tick),
        );
    }
    svg.line(
        (x.at(1.0), plot.y),
        (x.at(1.0), plot.bottom()),
        "base dashed line1",
    );
    let mut y = plot.y + BETWEEN / 2.0;
    for &kind in &kinds {
        svg.text(
            (plot.x - 12.0, y + group / 2.0 + 4.0),
            Anchor::End,
            "ink",
            kind.name(),
        );
        for (at, &mode) in modes.iter().enumerate() {
            let Some(ratio) = ratio(kind, mode) else {
                continue;
            };
            let top = y + at as f64 * (BAR + GAP);
            let length = x.at(ratio.median) - plot.x;
            let number = series(mode);
            svg.rectangle((plot.x, top), (length, BAR), &format!("fill{number}"));
            let middle = top + BAR / 2.0;
            let (from, to) = (x.at(ratio.lower_quartile), x.at(ratio.upper_quartile));
            svg.line((from, middle), (to, middle), "whisker");
            let label = format!("{:.2}x", ratio.median);
            let behind = to.max(plot.x + length) + 6.0;
            svg.text((behind, middle + 4.0), Anchor::Start, "ink halo", &label);
        }
        y += group + BETWEEN;
    }
    svg.line((plot.x, plot.y), (plot.x, plot.bottom()), "axis");
    Chart {
        file: file(BY_KIND, suffix),
        svg: svg.finish((WIDTH, plot.bottom() + 34.0), &title),
        title,
    }
}

/// A picture of workers and one of GPUs, where there are several.
fn scaling(document: &Document, suffix: &str) -> Option<Chart> {
    const HEIGHT: f64 = 330.0;
    const TOP: f64 = 72.0;
    let of = |resource: Resource| -> Vec<&Scale> {
        let scales = document.scaling.iter();
        scales.filter(|scale| scale.resource == resource).collect()
    };
    let panels = [Resource::Workers, Resource::Gpus].map(|resource| (resource, of(resource)));
    let panels: Vec<_> = panels
        .into_iter()
        .filter(|(_, scales)| !scales.is_empty())
        .collect();
    let size = thousands(panels.first()?.1.first()?.size as u64);

    // The title and the line below it need as much.
    let width = if panels.len() == 1 { 760.0 } else { WIDTH };
    let panel = (width - MARGIN) / panels.len() as f64;
    let mut svg = Svg::new();
    let title = format!("More workers and GPUs, {}", document.environment.folder());
    let below = format!(
        "times as fast as one of them, batches of {size} evaluations; marks are medians of \
         turns, thin lines their middle halves"
    );
    draw_title(&mut svg, &title, &below);
    for (at, (resource, scales)) in panels.iter().enumerate() {
        let left = MARGIN + at as f64 * panel;
        let plot = Plot {
            x: left + 42.0,
            y: TOP + 28.0,
            width: panel - 74.0,
            height: HEIGHT - 66.0,
        };
        let most = scales.iter().map(|scale| scale.count).max().unwrap_or(1);
        let title = match resource {
            Resource::Workers => "workers",
            Resource::Gpus => "GPUs",
        };
        svg.text((plot.x, TOP + 16.0), Anchor::Start, "panel ink", title);
        let x = Axis::counts(most, (plot.x + 10.0, plot.right() - 10.0));
        let ends = scales
            .iter()
            .map(|scale| scale.speedup.upper_quartile)
            .chain([most as f64]);
        let y = Axis::from_zero(ends, (plot.bottom(), plot.y));
        plot.axes(&mut svg, &x, &y, short_count);
        let ideal = [1.0, most as f64].map(|count| (x.at(count), y.at(count)));
        svg.path(&ideal, "base dashed line0");
        for (number, kind) in kinds_of(scales).into_iter().enumerate() {
            let of_kind = scales.iter().filter(|scale| scale.kind == kind);
            let points = of_kind
                .map(|scale| (scale.count as f64, scale.speedup))
                .collect();
            draw_points(&mut svg, &x, &y, &points, FIRST + number);
        }
    }
    let all: Vec<&Scale> = document.scaling.iter().collect();
    let y = TOP + HEIGHT + 12.0;
    let mut x = MARGIN + 42.0;
    for (number, kind) in kinds_of(&all).into_iter().enumerate() {
        draw_legend(&mut svg, (x, y), FIRST + number, kind.name());
        x += 62.0 + 7.0 * kind.name().chars().count() as f64;
    }
    svg.line((x, y - 4.0), (x + 26.0, y - 4.0), "base dashed line0");
    svg.text((x + 34.0, y), Anchor::Start, "ink", "in proportion");
    Some(Chart {
        file: file(SCALING, suffix),
        svg: svg.finish((width, y + 20.0), &title),
        title,
    })
}

/// The first colour of kinds: those before stand for what others are compared with.
const FIRST: usize = 2;

fn kinds_of(scales: &[&Scale]) -> Vec<Workload> {
    let kinds = Workload::ALL.iter().copied();
    kinds
        .filter(|kind| scales.iter().any(|scale| scale.kind == *kind))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Spread;
    use super::super::verdict::tests::document;
    use super::*;

    const MODES: [(BenchMode, f64); 4] = [
        (BenchMode::Reference, 0.3),
        (BenchMode::Sequential, 1.0),
        (BenchMode::Parallel, 1.9),
        (BenchMode::Gpu, 9.0),
    ];

    fn count(chart: &Chart, part: &str) -> usize {
        chart.svg.matches(part).count()
    }

    /// Whether every element is closed and none closes another.
    fn is_well_formed(svg: &str) -> bool {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let Some((tag, _)) = tag.split_once('>') else {
                return false;
            };
            if let Some(name) = tag.strip_prefix('/') {
                if open.pop() != Some(name) {
                    return false;
                }
            } else if !tag.ends_with('/') {
                open.extend(tag.split_whitespace().next());
            }
        }
        open.is_empty()
    }

    #[test]
    fn every_kind_has_a_picture_and_every_shown_mode_a_line() {
        let document = document(2, 1, &MODES);
        let [by_size, by_kind] = charts(&document, "-quick").try_into().unwrap();
        assert_eq!(by_size.file, "speedup-by-size-quick.svg");
        assert!(is_well_formed(&by_size.svg) && is_well_formed(&by_kind.svg));
        let kinds = Workload::ALL.len();
        assert_eq!(count(&by_size, r#"class="panel ink""#), kinds);
        // A line for each kind, and one in the legend.
        for mode in [BenchMode::Reference, BenchMode::Parallel, BenchMode::Gpu] {
            let class = format!(r#"class="series line{}""#, series(mode));
            assert_eq!(count(&by_size, &class), kinds + 1, "{mode}");
            let class = format!(r#"class="fill{}""#, series(mode));
            assert_eq!(count(&by_kind, &class), kinds + 1, "{mode}");
        }
        assert!(by_size.svg.contains(">one GPU<") && by_kind.svg.contains(">9.00x<"));
        assert_eq!(files("-quick")[..2], [by_size.file, by_kind.file]);
    }

    #[test]
    fn workers_and_gpus_have_a_picture_where_there_are_several() {
        let mut document = document(2, 2, &MODES);
        assert_eq!(charts(&document, "").len(), 2);
        for resource in [Resource::Workers, Resource::Gpus] {
            for kind in [Workload::WholePrograms, Workload::Batt] {
                document.scaling.extend([1, 2].map(|count| Scale {
                    kind,
                    size: 10_000,
                    resource,
                    count,
                    seconds: Spread::of(&[1.0]).unwrap(),
                    speedup: Ratio {
                        median: count as f64,
                        lower_quartile: 1.0,
                        upper_quartile: 2.0,
                        least: 1.0,
                        greatest: 2.0,
                    },
                }));
            }
        }
        let charts = charts(&document, "");
        let scaling = &charts[2];
        assert_eq!(
            (scaling.file.as_str(), count(scaling, "panel ink")),
            ("scaling.svg", 2)
        );
        // Two kinds in two pictures, and in the legend.
        assert_eq!(count(scaling, r#"class="series line2""#), 3);
        assert!(is_well_formed(&scaling.svg), "{}", scaling.svg);
    }
}
