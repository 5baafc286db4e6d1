//! [`Picture`]: a task as an SVG or PNG file, for browsers, papers and chats.

use std::fmt::Write as _;
use std::io::{self, Write};

use arc_dsl::{Grid, PALETTE};
use font8x8::{BASIC_FONTS, UnicodeFonts};

use super::{Drawing, differs};

type Colour = (u8, u8, u8);

const GROUND: Colour = (255, 255, 255);
const INK: Colour = (31, 35, 40);
const LINES: Colour = (85, 85, 85);
/// The colour of cells with none of ARC's colours.
const OTHER: Colour = (90, 90, 90);

/// Lengths, in pixels: the longest side of a grid, the largest cell, a letter, a line of text, the space around and
/// between grids.
const SIDE: usize = 360;
const CELL: usize = 24;
const LETTER: usize = 8;
const LINE: usize = 18;
const GAP: usize = 24;

/// The longest line of text, in letters.
const LETTERS: usize = 100;

/// The longest side of a grid that is drawn, and the largest height of the picture.
const LONGEST: usize = 2_000;
const HIGHEST: usize = 30_000;

/// Rectangles and text, positioned by their upper left corners, in drawing order.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    width: usize,
    height: usize,
    /// Each with its place, width and height.
    rectangles: Vec<([usize; 4], Colour)>,
    texts: Vec<(usize, usize, String)>,
}

impl Picture {
    /// The pairs of a task below each other, each with its grids side by side.
    pub(crate) fn of(title: &str, drawings: &[Drawing<'_>]) -> Self {
        let mut picture = Self::default();
        let mut y = GAP;
        picture.text(GAP, y, title);
        for (at, drawing) in drawings.iter().enumerate() {
            y += 2 * LINE;
            if y > HIGHEST {
                picture.text(GAP, y, &format!("and {} more pairs", drawings.len() - at));
                break;
            }
            let output = drawing.output();
            picture.text(GAP, y, &drawing.title(output.as_deref()));
            let expected = drawing.pair.output.as_ref();
            let input = Some(("input", &*drawing.pair.input, None));
            let expected_grid = expected.map(|grid| ("expected", grid, None));
            let output = output.as_deref().map(|grid| ("output", grid, expected));
            let (mut x, mut lowest) = (GAP, 0);
            let grids = [input, expected_grid, output].into_iter().flatten();
            for (name, grid, other) in grids {
                let mut caption = format!("{name} {}x{}", grid.height(), grid.width());
                let (mut width, mut height) = (0, 0);
                if grid.height().max(grid.width()) > LONGEST {
                    caption += ", not drawn";
                } else {
                    (width, height) = picture.grid(x, y + 2 * LINE, grid, other);
                }
                picture.text(x, y + LINE, &caption);
                x += width.max(caption.len() * LETTER) + GAP;
                lowest = lowest.max(height);
            }
            picture.width = picture.width.max(x);
            y += 2 * LINE + lowest;
        }
        picture.height = y + GAP;
        picture
    }

    fn text(&mut self, x: usize, y: usize, text: &str) {
        let mut letters: String = text.chars().take(LETTERS).collect();
        if letters.len() < text.len() {
            letters += "...";
        }
        let end = x + letters.chars().count() * LETTER + GAP;
        self.width = self.width.max(end);
        self.texts.push((x, y, letters));
    }

    /// Adds a grid, with a mark in the cells that differ from `other`. Returns its width and height.
    fn grid(&mut self, x: usize, y: usize, grid: &Grid, other: Option<&Grid>) -> (usize, usize) {
        let longer = grid.height().max(grid.width()).max(1);
        let cell = (SIDE / longer).clamp(1, CELL);
        // Between smaller cells lines would hide them.
        let line = usize::from(cell > 3);
        let (width, height) = (grid.width() * cell + line, grid.height() * cell + line);
        self.rectangles.push(([x, y, width, height], LINES));
        for (i, row) in grid.rows().enumerate() {
            let top = y + i * cell + line;
            let mut left = x + line;
            // Without lines between them, equal cells are one rectangle.
            let runs = row.chunk_by(|a, b| line == 0 && a == b);
            for run in runs {
                let place = [left, top, run.len() * cell - line, cell - line];
                self.rectangles.push((place, colour_of(run[0])));
                left += run.len() * cell;
            }
        }
        let Some(other) = other else {
            return (width, height);
        };
        let third = cell.div_ceil(3);
        for (i, row) in grid.rows().enumerate() {
            for (j, &colour) in row.iter().enumerate() {
                if differs(other, i, j, colour) {
                    let within = (cell - third) / 2 + line;
                    let place = [x + j * cell + within, y + i * cell + within, third, third];
                    self.rectangles.push((place, against(colour_of(colour))));
                }
            }
        }
        (width, height)
    }

    /// Writes it as SVG.
    pub(crate) fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let (width, height) = (self.width, self.height);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" shape-rendering=\"crispEdges\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
            hex(GROUND)
        );
        for ([x, y, width, height], colour) in &self.rectangles {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
                hex(*colour)
            );
        }
        for (x, y, letters) in &self.texts {
            let length = letters.chars().count() * LETTER;
            let letters = letters
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            let baseline = y + LETTER;
            let _ = writeln!(
                text,
                "<text x=\"{x}\" y=\"{baseline}\" textLength=\"{length}\" font-family=\"monospace\" \
                 font-size=\"13\" fill=\"{}\" xml:space=\"preserve\">{letters}</text>",
                hex(INK)
            );
        }
        text.push_str("</svg>\n");
        out.write_all(text.as_bytes())
    }

    /// Writes it as PNG.
    pub(crate) fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        let (width, height) = (self.width, self.height);
        let [r, g, b] = <[u8; 3]>::from(GROUND);
        let mut pixels = [r, g, b].repeat(width * height);
        let mut fill = |x: usize, y: usize, count: usize, colour: Colour| {
            let first = (y * width + x) * 3;
            for pixel in pixels[first..first + 3 * count].chunks_exact_mut(3) {
                pixel.copy_from_slice(&<[u8; 3]>::from(colour));
            }
        };
        for &([x, y, width, height], colour) in &self.rectangles {
            (y..y + height).for_each(|y| fill(x, y, width, colour));
        }
        for (x, y, letters) in &self.texts {
            for (at, letter) in letters.chars().enumerate() {
                let rows = BASIC_FONTS.get(letter).or_else(|| BASIC_FONTS.get('?'));
                for (i, row) in rows.unwrap_or_default().into_iter().enumerate() {
                    let set = (0..LETTER).filter(|j| row >> j & 1 == 1);
                    set.for_each(|j| fill(x + at * LETTER + j, y + i, 1, INK));
                }
            }
        }
        let side = |side: usize| u32::try_from(side).map_err(io::Error::other);
        // The encoder's own errors would hide a closed pipe.
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, side(width)?, side(height)?);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        out.write_all(&file)
    }
}

fn colour_of(colour: i8) -> Colour {
    let of_palette = usize::try_from(colour).ok().and_then(|at| PALETTE.get(at));
    *of_palette.unwrap_or(&OTHER)
}

/// Black or white, whichever is visible on this colour, by its weighted brightness.
fn against((r, g, b): Colour) -> Colour {
    if u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b) > 1275 {
        INK
    } else {
        GROUND
    }
}

fn hex((r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use arc_tasks::Pair;

    use super::*;
    use crate::show::Paint;

    fn drawing<'a>(pair: &'a Pair, result: Option<&'a mega_batch::PairResult>) -> Drawing<'a> {
        Drawing {
            name: "train[0]".into(),
            pair,
            result,
            paint: Paint::Digits,
            columns: 80,
        }
    }

    fn pixels(picture: &Picture) -> (Vec<u8>, usize) {
        let mut file = Vec::new();
        picture.write_png(&mut file).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let width = reader.next_frame(&mut pixels).unwrap().width as usize;
        (pixels, width)
    }

    #[test]
    fn cells_have_their_colours_in_both_kinds_of_files() {
        let pair = Pair::new(Grid::from_rows(&[[1, 2], [3, -4]]).unwrap(), None);
        let picture = Picture::of("a <task>", &[drawing(&pair, None)]);
        let mut svg = Vec::new();
        picture.write_svg(&mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        for colour in [1, 2, 3, -4] {
            assert!(svg.contains(&hex(colour_of(colour))), "{svg}");
        }
        assert!(svg.contains(">a &lt;task&gt;</text>") && svg.contains(">input 2x2</text>"));

        let (pixels, width) = pixels(&picture);
        assert_eq!(
            (width, pixels.len()),
            (picture.width, 3 * width * picture.height)
        );
        let cells = &picture.rectangles[1..];
        assert_eq!(cells.len(), 4);
        for (([x, y, side, height], _), colour) in cells.iter().zip([1, 2, 3, -4]) {
            let place = 3 * ((y + height - 1) * width + x + side - 1);
            assert_eq!(pixels[place..place + 3], <[u8; 3]>::from(colour_of(colour)));
        }
    }

    #[test]
    fn grids_of_any_size_are_drawn_or_named() {
        for (height, width) in [(0, 3), (30, 30), (1, 2_000), (1_000_000, 1)] {
            let pair = Pair::new(Grid::filled(height, width, 5), None);
            let picture = Picture::of("a", &[drawing(&pair, None)]);
            assert_eq!(picture.rectangles.is_empty(), height > LONGEST);
            let (pixels, _) = pixels(&picture);
            assert_eq!(pixels.len(), 3 * picture.width * picture.height);
        }
        let pair = Pair::new(Grid::filled(30, 30, 5), None);
        let all: Vec<_> = (0..1_000).map(|_| drawing(&pair, None)).collect();
        let picture = Picture::of("a", &all);
        assert!(picture.height < HIGHEST + 1_000);
        let (.., last) = picture.texts.last().unwrap();
        assert!(last.starts_with("and ") && last.ends_with(" more pairs"));
    }
}
