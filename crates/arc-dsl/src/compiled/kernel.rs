//! [`Kernel`]: an operation compiled once for every CPU and once for wide vectors.
//!
//! It is the one module of the crate with `unsafe` in it: calling code that is compiled for vectors
//! that not every CPU has.

use super::halt::Halt;
use super::machine::Machine;
use super::program::{Code, Step};
use super::slot::Slot;
use crate::grid::Grid;
use crate::planes::{Misfit, Tile};

/// What runs a step.
pub(crate) type Baseline = fn(&mut Machine, &Code, &Step) -> Result<Slot, Halt>;

/// The same, compiled for vectors of 256 bits: called only where the CPU has them.
pub(crate) type Wide = unsafe fn(&mut Machine, &Code, &Step) -> Result<Slot, Halt>;

/// An operation on slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// For every CPU.
    pub(crate) baseline: Baseline,
    /// For AVX2 with bit manipulation; the same as `baseline` on other machines.
    pub(crate) wide: Wide,
}

/// Which of a kernel's two versions runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// What every CPU of the architecture has.
    Baseline,
    /// 256 bits: x86-64 with AVX2 and the bit manipulation instructions.
    Wide,
}

impl Vectors {
    /// The widest that this CPU has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Vectors::Wide;
        }
        Vectors::Baseline
    }
}

/// A kernel's version, chosen: it may be called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run(Wide);

impl Run {
    /// The version that this CPU can run.
    pub(crate) fn new(kernel: &Kernel, vectors: Vectors) -> Self {
        match vectors {
            Vectors::Wide if Vectors::detect() == Vectors::Wide => Self(kernel.wide),
            _ => Self(kernel.baseline),
        }
    }

    /// Runs the step.
    #[inline(always)]
    #[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
    pub(crate) fn call(self, m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
        // SAFETY: `new` is the only constructor, and takes a version that needs vectors only after
        // it has found that the CPU has them. Nothing else about these functions is unsafe.
        unsafe { (self.0)(m, code, step) }
    }
}

/// Puts a grid into a tile.
#[inline(always)]
#[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
pub(crate) fn pack(tile: &mut Tile, grid: &Grid) -> Result<(), Misfit> {
    #[cfg(target_arch = "x86_64")]
    if Vectors::detect() == Vectors::Wide {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { pack_wide(tile, grid) };
    }
    tile.set(grid)
}

/// The same, a row at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn pack_wide(tile: &mut Tile, grid: &Grid) -> Result<(), Misfit> {
    use std::arch::x86_64::{
        _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_max_epu8, _mm256_movemask_epi8,
        _mm256_set_epi64x, _mm256_set1_epi8, _mm256_slli_epi16,
    };
    let (height, width) = (grid.height(), grid.width());
    if height > 32 || width > 32 {
        return Err(Misfit::Grid);
    }
    *tile = Tile {
        height: height as u32,
        width: width as u32,
        ..Tile::default()
    };
    let columns = tile.columns();
    let (cells, mut wrong) = (grid.cells(), 0);
    for i in 0..height {
        let at = i * width;
        // The row and what follows it, or nothing behind the last cells.
        let mut row = [0; 32];
        match cells.get(at..at + 32) {
            Some(cells) => row.copy_from_slice(cells),
            None => row
                .iter_mut()
                .zip(&cells[at..])
                .for_each(|(to, from)| *to = *from),
        }
        let word = |k: usize| {
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(&row[8 * k..]) {
                *to = *from as u8;
            }
            i64::from_le_bytes(bytes)
        };
        let row = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
        let planes = [
            _mm256_movemask_epi8(_mm256_slli_epi16::<7>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<6>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<5>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<4>(row)),
        ];
        for (plane, bits) in tile.planes.iter_mut().zip(planes) {
            plane[i] = bits as u32 & columns;
        }
        // Colours of -1 to 14 are 0 to 15 once one is added.
        let most = _mm256_set1_epi8(15);
        let shifted = _mm256_add_epi8(row, _mm256_set1_epi8(1));
        let right = _mm256_cmpeq_epi8(_mm256_max_epu8(shifted, most), most);
        wrong |= !(_mm256_movemask_epi8(right) as u32) & columns;
    }
    if wrong == 0 {
        Ok(())
    } else {
        Err(Misfit::Colour)
    }
}

/// Makes kernels of bodies: `kernels! { /// Doc. NAME |m, code, step| { .. } .. }`.
///
/// A body gives a `Result<Slot, Halt>`. What it calls is compiled for wide vectors where it is
/// inlined.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident |$m:pat_param, $code:pat_param, $step:pat_param| $body:block)+) => {
        $(
            $(#[$doc])*
            pub(in crate::compiled) static $name: crate::compiled::kernel::Kernel = {
                use crate::compiled::kernel::Kernel;
                use crate::compiled::halt::Halt;
use crate::compiled::machine::Machine;
                use crate::compiled::program::{Code, Step};
                use crate::compiled::slot::Slot;

                #[inline(always)]
                #[allow(clippy::unnecessary_wraps, reason = "what every kernel gives")]
                fn body($m: &mut Machine, $code: &Code, $step: &Step) -> Result<Slot, Halt> $body

                fn baseline(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
                    body(m, code, step)
                }

                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn wide(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, Halt> {
                    body(m, code, step)
                }

                Kernel {
                    baseline,
                    #[cfg(target_arch = "x86_64")]
                    wide,
                    #[cfg(not(target_arch = "x86_64"))]
                    wide: baseline,
                }
            };
        )+
    };
}
pub(crate) use kernels;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::{Type, Value};

    #[test]
    fn a_grid_is_packed_as_it_is_cell_by_cell() {
        let mut generator = Generator::new(2);
        let (mut packed, mut expected) = (Tile::default(), Tile::default());
        for _ in 0..500 {
            let Value::Grid(grid) = generator.value(Type::Grid) else {
                continue;
            };
            let result = pack(&mut packed, &grid);
            assert_eq!(result, expected.set(&grid));
            assert!(result.is_err() || packed == expected);
        }
        for (colour, result) in [
            (-2, Err(Misfit::Colour)),
            (-1, Ok(())),
            (15, Err(Misfit::Colour)),
        ] {
            let mut grid = Grid::filled(5, 7, 3);
            grid.cells_mut()[34] = colour;
            assert_eq!(pack(&mut packed, &grid), result);
        }
        assert_eq!(
            pack(&mut packed, &Grid::filled(33, 1, 0)),
            Err(Misfit::Grid)
        );
    }
}
