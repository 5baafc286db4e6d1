//! The charts of a benchmark: speed-up by batch size, by kind, and by number of workers and GPUs.

use std::io;

use anyhow::{Context as _, Result};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::document::{Document, Resource, Scale};
use super::plan::BenchMode;
use super::statistics::Ratio;
use super::workload::Workload;
use crate::table::{short, thousands};

/// A chart as an SVG file.
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

/// The names of all files that a benchmark may have, with this suffix.
pub(crate) fn files(suffix: &str) -> Vec<String> {
    [BY_SIZE, BY_KIND, SCALING]
        .map(|name| file(name, suffix))
        .to_vec()
}

fn file(name: &str, suffix: &str) -> String {
    format!("{name}{suffix}.svg")
}

/// All charts; the one of workers and GPUs only if there are several.
///
/// # Errors
/// A chart cannot be drawn.
pub(crate) fn charts(document: &Document, suffix: &str) -> Result<Vec<Chart>> {
    let mut charts = vec![by_size(document, suffix)?, by_kind(document, suffix)?];
    charts.extend(scaling(document, suffix)?);
    Ok(charts)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = std::result::Result<(), DrawingAreaErrorKind<io::Error>>;

const FONT: &str = "sans-serif";
const WIDTH: u32 = 900;
/// The height of the title and of the line below it.
const HEAD: u32 = 64;
const QUIET: RGBColor = RGBColor(0x59, 0x63, 0x6e);
const GRID: RGBColor = RGBColor(0xe4, 0xe8, 0xec);
const SERIES: [RGBColor; 6] = [
    RGBColor(0x81, 0x8b, 0x98),
    RGBColor(0x1f, 0x23, 0x28),
    RGBColor(0x09, 0x69, 0xda),
    RGBColor(0x1a, 0x7f, 0x37),
    RGBColor(0xbc, 0x4c, 0x00),
    RGBColor(0x82, 0x50, 0xdf),
];

fn colour(of: BenchMode) -> RGBColor {
    SERIES[of as usize % SERIES.len()]
}

/// Draws a chart of this size: a title, a line below it, and the body by `draw`.
fn draw_chart(
    name: &str,
    suffix: &str,
    title: String,
    below: &str,
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area) -> Drawn,
) -> Result<Chart> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (width, HEAD + height)).into_drawing_area();
    let all = || -> Drawn {
        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(HEAD);
        head.draw(&Text::new(title.as_str(), (24, 14), (FONT, 18).into_font()))?;
        let quiet = (FONT, 13).into_font().color(&QUIET);
        head.draw(&Text::new(below, (24, 40), quiet))?;
        draw(&body)?;
        area.present()
    };
    all().with_context(|| format!("{name}: the chart cannot be drawn"))?;
    drop(area);
    let file = file(name, suffix);
    Ok(Chart { file, title, svg })
}

/// Draws a legend from this position on, its entries below each other or in a row: a line and a name, dashed for the
/// base.
fn legend(
    area: &Area,
    (mut x, mut y): (i32, i32),
    is_row: bool,
    entries: &[(RGBColor, String)],
    base: &str,
) -> Drawn {
    let of_base = (SERIES[1], base.to_owned());
    for (at, (colour, name)) in entries.iter().chain([&of_base]).enumerate() {
        let ends = [(x, y), (x + 26, y)];
        if at < entries.len() {
            area.draw(&PathElement::new(ends, colour.stroke_width(2)))?;
        } else {
            for from in [x, x + 10, x + 20] {
                let dash = [(from, y), (from + 6, y)];
                area.draw(&PathElement::new(dash, colour.stroke_width(1)))?;
            }
        }
        area.draw(&Text::new(
            name.as_str(),
            (x + 34, y - 6),
            (FONT, 13).into_font(),
        ))?;
        if is_row {
            x += 62 + 8 * name.chars().count() as i32;
        } else {
            y += 24;
        }
    }
    Ok(())
}

/// Draws a line through the points, each an x value and a speed-up, with a mark that shows the middle half of its
/// turns.
fn points<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    points: &[(f64, Ratio)],
    colour: RGBColor,
) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let medians = points.iter().map(|(x, ratio)| (*x, ratio.median));
    chart.draw_series(LineSeries::new(medians.clone(), colour.stroke_width(2)))?;
    chart.draw_series(medians.map(|at| Circle::new(at, 3, colour.filled())))?;
    chart.draw_series(points.iter().map(|(x, ratio)| {
        let half = [(*x, ratio.lower_quartile), (*x, ratio.upper_quartile)];
        PathElement::new(half, colour.mix(0.5).stroke_width(1))
    }))?;
    Ok(())
}

/// Draws the line of the base.
fn base<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    ends: [(f64, f64); 2],
) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    chart.draw_series(DashedLineSeries::new(ends, 5, 4, SERIES[1].stroke_width(1)))?;
    Ok(())
}

/// The measured modes that charts show.
fn shown_modes(document: &Document) -> Vec<BenchMode> {
    let mut modes = document.modes();
    // The sequential mode is the line at 1; times of the emulated device mean nothing.
    modes.retain(|mode| !matches!(mode, BenchMode::Sequential | BenchMode::Emulated));
    modes
}

fn speedup(document: &Document, kind: Workload, size: usize, mode: BenchMode) -> Option<Ratio> {
    document.cell(kind, size, mode)?.speedup
}

/// The modes, with the number of workers or GPUs of each.
fn entries(document: &Document, modes: &[BenchMode]) -> Vec<(RGBColor, String)> {
    let named = |mode: &BenchMode| match mode {
        BenchMode::Parallel => format!("parallel, {} workers", document.plan.workers),
        BenchMode::Gpu => "one GPU".to_owned(),
        BenchMode::Gpus => format!("{} GPUs", document.environment.gpus().len()),
        mode => mode.name().to_owned(),
    };
    let entry = |mode: &BenchMode| (colour(*mode), named(mode));
    modes.iter().map(entry).collect()
}

/// A small chart for each kind, all on one scale.
fn by_size(document: &Document, suffix: &str) -> Result<Chart> {
    const COLUMNS: usize = 3;
    const HEIGHT: u32 = 200;
    let (kinds, modes) = (document.kinds(), shown_modes(document));
    let sizes = document.sizes();
    let of_kind = |kind, mode| -> Vec<(f64, Ratio)> {
        let point = |size: &usize| Some((*size as f64, speedup(document, kind, *size, mode)?));
        sizes.iter().filter_map(point).collect()
    };
    let all = kinds
        .iter()
        .flat_map(|kind| modes.iter().flat_map(|mode| of_kind(*kind, *mode)));
    let (least, most) = all.fold((1.0, 1.0), |(least, most): (f64, f64), (_, ratio)| {
        (
            least.min(ratio.lower_quartile),
            most.max(ratio.upper_quartile),
        )
    });
    // One more cell for the legend.
    let rows = (kinds.len() + 1).div_ceil(COLUMNS);
    let title = format!(
        "Speed-up by size of batch, {}",
        document.environment.folder()
    );
    let below = "times as fast as the sequential mode by evaluations of a batch, both logarithmic; marks are medians, thin \
                 lines the middle halves of turns";
    let size = (WIDTH, rows as u32 * HEIGHT);
    draw_chart(BY_SIZE, suffix, title, below, size, |area| {
        let panels = area.split_evenly((rows, COLUMNS));
        let ends = [sizes.first(), sizes.last()].map(|size| size.map_or(1.0, |size| *size as f64));
        for (kind, panel) in kinds.iter().zip(&panels) {
            let mut chart = ChartBuilder::on(panel)
                .caption(kind.name(), (FONT, 14))
                .margin(8)
                .set_label_area_size(LabelAreaPosition::Left, 42)
                .set_label_area_size(LabelAreaPosition::Bottom, 24)
                .build_cartesian_2d(
                    (ends[0] * 0.8..ends[1] * 1.25).log_scale(),
                    (least * 0.9..most * 1.1).log_scale().base(2.0),
                )?;
            chart
                .configure_mesh()
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .x_labels(5)
                .y_labels(5)
                .x_label_formatter(&|size| short_count(*size))
                .y_label_formatter(&|ratio| times(*ratio))
                .draw()?;
            base(&mut chart, [(ends[0], 1.0), (ends[1], 1.0)])?;
            for &mode in &modes {
                points(&mut chart, &of_kind(*kind, mode), colour(mode))?;
            }
        }
        let spare = &panels[kinds.len()];
        legend(
            spare,
            (50, 44),
            false,
            &entries(document, &modes),
            BenchMode::Sequential.name(),
        )
    })
}

/// A bar for each mode and kind, on the largest batches.
fn by_kind(document: &Document, suffix: &str) -> Result<Chart> {
    const BAR: u32 = 20;
    const BETWEEN: u32 = 16;
    const LEFT: u32 = 140;
    const TOP: u32 = 36;
    const AXIS: u32 = 34;
    let (kinds, modes) = (document.kinds(), shown_modes(document));
    let largest = document.sizes().last().copied().unwrap_or(0);
    let group = modes.len().max(1) as u32 * BAR + BETWEEN;
    let height = kinds.len() as u32 * group;
    let ratio = |kind, mode| speedup(document, kind, largest, mode);
    let all = kinds
        .iter()
        .flat_map(|kind| modes.iter().filter_map(|mode| ratio(*kind, *mode)));
    let most = all.map(|ratio| ratio.upper_quartile).fold(1.0, f64::max);
    let title = format!("Speed-up by kind, {}", document.environment.folder());
    let below = format!(
        "times as fast as the sequential mode, batches of {} evaluations; bars are medians, thin lines the middle halves \
         of turns",
        thousands(largest as u64)
    );
    let size = (WIDTH, TOP + height + AXIS);
    draw_chart(BY_KIND, suffix, title, &below, size, |area| {
        let (head, body) = area.split_vertically(TOP);
        legend(
            &head,
            (24, 12),
            true,
            &entries(document, &modes),
            BenchMode::Sequential.name(),
        )?;
        let (names, plot) = body.split_horizontally(LEFT);
        // Room for the number to the right of the longest bar.
        let mut chart = ChartBuilder::on(&plot)
            .set_label_area_size(LabelAreaPosition::Bottom, AXIS)
            .build_cartesian_2d(0.0..most * 1.12, f64::from(height)..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&|ratio| times(*ratio))
            .draw()?;
        for (at, kind) in kinds.iter().enumerate() {
            let top = at as u32 * group + BETWEEN / 2;
            let middle = (top + (group - BETWEEN) / 2) as i32;
            names.draw(&Text::new(
                kind.name(),
                (24, middle - 7),
                (FONT, 13).into_font(),
            ))?;
            for (at, &mode) in modes.iter().enumerate() {
                let Some(ratio) = ratio(*kind, mode) else {
                    continue;
                };
                let top = f64::from(top + at as u32 * BAR);
                let (bottom, middle) =
                    (top + f64::from(BAR) - 4.0, top + f64::from(BAR) / 2.0 - 2.0);
                let bar = [(0.0, top), (ratio.median, bottom)];
                chart.draw_series([Rectangle::new(bar, colour(mode).filled())])?;
                let half = [
                    (ratio.lower_quartile, middle),
                    (ratio.upper_quartile, middle),
                ];
                chart.draw_series([PathElement::new(half, BLACK)])?;
                let behind = (
                    ratio.upper_quartile.max(ratio.median) + most * 0.01,
                    top + 2.0,
                );
                let label = format!("{:.2}x", ratio.median);
                chart.draw_series([Text::new(label, behind, (FONT, 13).into_font())])?;
            }
        }
        base(&mut chart, [(1.0, 0.0), (1.0, f64::from(height))])
    })
}

/// A chart for workers and one for GPUs, if there are several.
fn scaling(document: &Document, suffix: &str) -> Result<Option<Chart>> {
    const HEIGHT: u32 = 330;
    const LEGEND: u32 = 30;
    let of = |resource: Resource| -> Vec<&Scale> {
        let scales = document.scaling.iter();
        scales.filter(|scale| scale.resource == resource).collect()
    };
    let panels = [(Resource::Workers, "workers"), (Resource::Gpus, "GPUs")];
    let mut panels = panels.map(|(resource, name)| (name, of(resource))).to_vec();
    panels.retain(|(_, scales)| !scales.is_empty());
    let Some(first) = document.scaling.first() else {
        return Ok(None);
    };
    let mut kinds = Workload::ALL.to_vec();
    kinds.retain(|kind| document.scaling.iter().any(|scale| scale.kind == *kind));
    // The first two colours are those of the reference and the base.
    let colour = |at: usize| SERIES[(2 + at) % SERIES.len()];
    let title = format!("More workers and GPUs, {}", document.environment.folder());
    let below = format!(
        "times as fast as one of them, batches of {} evaluations; marks are medians, thin lines the middle halves of turns",
        thousands(first.size as u64)
    );
    let size = (WIDTH, HEIGHT + LEGEND);
    let chart = draw_chart(SCALING, suffix, title, &below, size, |area| {
        let (body, foot) = area.split_vertically(HEIGHT);
        for ((name, scales), panel) in panels.iter().zip(body.split_evenly((1, panels.len()))) {
            let most = scales.iter().map(|scale| scale.count).max().unwrap_or(1);
            let highest = scales.iter().map(|scale| scale.speedup.upper_quartile);
            let highest = highest.fold(most as f64, f64::max);
            let mut chart = ChartBuilder::on(&panel)
                .caption(name, (FONT, 14))
                .margin(8)
                .set_label_area_size(LabelAreaPosition::Left, 42)
                .set_label_area_size(LabelAreaPosition::Bottom, 24)
                .build_cartesian_2d(0.8..most as f64 + 0.2, 0.0..highest * 1.05)?;
            chart
                .configure_mesh()
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .x_labels(most.min(16))
                .x_label_formatter(&|count| short_count(*count))
                .y_label_formatter(&|ratio| times(*ratio))
                .draw()?;
            base(&mut chart, [(1.0, 1.0), (most as f64, most as f64)])?;
            for (at, kind) in kinds.iter().enumerate() {
                let of_kind = scales.iter().filter(|scale| scale.kind == *kind);
                let of_kind = of_kind.map(|scale| (scale.count as f64, scale.speedup));
                points(&mut chart, &of_kind.collect::<Vec<_>>(), colour(at))?;
            }
        }
        let entries = kinds.iter().enumerate();
        let entries = entries.map(|(at, kind)| (colour(at), kind.name().to_owned()));
        legend(
            &foot,
            (50, 12),
            true,
            &entries.collect::<Vec<_>>(),
            "in proportion",
        )
    })?;
    Ok(Some(chart))
}

/// A count, short: `1`, `10k`, `1M`.
fn short_count(value: f64) -> String {
    match value {
        it if it >= 1e6 => format!("{}M", short(it / 1e6, 3)),
        it if it >= 1e3 => format!("{}k", short(it / 1e3, 3)),
        it => short(it, 3),
    }
}

/// A speed-up, short: `0.5x`, `12x`.
fn times(value: f64) -> String {
    format!("{}x", short(value, 3))
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Spread;
    use super::super::targets::tests::document;
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

    /// How often this is the text of an element, which is on a line by itself.
    fn texts(chart: &Chart, text: &str) -> usize {
        chart.svg.lines().filter(|line| line.trim() == text).count()
    }

    fn colour_of(mode: BenchMode) -> String {
        let RGBColor(red, green, blue) = colour(mode);
        format!("#{red:02X}{green:02X}{blue:02X}")
    }

    #[test]
    fn every_kind_has_a_picture_and_every_shown_mode_a_line() {
        let document = document(2, 1, &MODES);
        let [by_size, by_kind] = charts(&document, "-quick").unwrap().try_into().unwrap();
        assert_eq!(by_size.file, "speedup-by-size-quick.svg");
        for kind in Workload::ALL {
            assert_eq!(
                (texts(&by_size, kind.name()), texts(&by_kind, kind.name())),
                (1, 1)
            );
        }
        let kinds = Workload::ALL.len();
        for mode in [BenchMode::Reference, BenchMode::Parallel, BenchMode::Gpu] {
            let line = format!(
                r#"<polyline fill="none" opacity="1" stroke="{}" stroke-width="2""#,
                colour_of(mode)
            );
            // One for each kind, and one in the legend.
            assert_eq!(count(&by_size, &line), kinds + 1, "{mode}");
            let bar = format!(r#"fill="{}" stroke="none""#, colour_of(mode));
            assert_eq!(
                by_kind
                    .svg
                    .lines()
                    .filter(|it| it.starts_with("<rect") && it.contains(&bar))
                    .count(),
                kinds,
                "{mode}"
            );
        }
        assert_eq!(
            (texts(&by_size, "one GPU"), texts(&by_kind, "9.00x")),
            (1, kinds)
        );
        assert_eq!(files("-quick")[..2], [by_size.file, by_kind.file]);
    }

    #[test]
    fn workers_and_gpus_have_a_picture_where_there_are_several() {
        let mut document = document(2, 2, &MODES);
        assert_eq!(charts(&document, "").unwrap().len(), 2);
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
        let charts = charts(&document, "").unwrap();
        let scaling = &charts[2];
        assert_eq!(scaling.file, "scaling.svg");
        assert_eq!(
            (
                texts(scaling, "workers"),
                texts(scaling, "GPUs"),
                texts(scaling, "in proportion")
            ),
            (1, 1, 1)
        );
        // Two marks of two kinds in two pictures.
        assert_eq!(count(scaling, "<circle"), 8);
    }

    #[test]
    fn numbers_of_axes_are_short() {
        assert_eq!(
            [1.0, 512.0, 4096.0, 1e4, 2.5e6].map(short_count),
            ["1", "512", "4.096k", "10k", "2.5M"]
        );
        assert_eq!([0.5, 1.0, 12.0].map(times), ["0.5x", "1x", "12x"]);
    }
}
