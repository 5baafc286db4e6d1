//! Kernels: operations compiled once for every CPU and once for wide vectors, and other code that depends on
//! the CPU.

use super::program::Vectors;
use crate::planes::{Misfit, Tile};
use arc_dsl::Grid;

/// Prefetches memory that is read soon, so that it is in the cache by then.
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "there is no safe way to ask for memory ahead of its use"
)]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in items.chunks((64 / size_of::<T>().max(1)).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction changes nothing but caches, whatever the address, and all CPUs of
        // the architecture have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

/// Packs a grid into a tile.
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

/// The same with AVX2, a row at a time.
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
    let cells = grid.cells();
    // The last cells of the grid, padded with zeros: a row near the end is loaded from this copy.
    let mut last = [0; 64];
    let from = if let Some(cells) = cells.last_chunk::<32>() {
        last[..32].copy_from_slice(cells);
        grid.cells().len() - 32
    } else {
        last[..cells.len()].copy_from_slice(cells);
        0
    };
    // Colours of -1 to 14 are 0 to 15 once one is added.
    let most = _mm256_set1_epi8(15);
    let mut greatest = most;
    for i in 0..height {
        let at = i * width;
        // The row and the bytes behind it: more cells, or padding.
        let row = if at + 32 <= cells.len() {
            &cells[at..at + 32]
        } else {
            &last[at - from..at - from + 32]
        };
        let words = row.as_chunks::<8>().0;
        let word = |k: usize| {
            let bytes = words.get(k).copied().unwrap_or_default();
            i64::from_le_bytes(bytes.map(|cell| cell as u8))
        };
        let row = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
        let planes = [
            _mm256_movemask_epi8(_mm256_slli_epi16::<7>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<6>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<5>(row)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<4>(row)),
        ];
        for (plane, bits) in tile.planes.iter_mut().zip(planes) {
            plane[i & 31] = bits as u32 & columns;
        }
        greatest = _mm256_max_epu8(greatest, _mm256_add_epi8(row, _mm256_set1_epi8(1)));
    }
    let wrong = !_mm256_movemask_epi8(_mm256_cmpeq_epi8(greatest, most));
    if wrong == 0 {
        Ok(())
    } else {
        Err(Misfit::Colour)
    }
}

/// The grid that a tile holds.
#[inline(always)]
#[allow(unsafe_code, reason = "code for vectors that not every CPU has")]
pub(crate) fn unpack(tile: &Tile) -> Grid {
    #[cfg(target_arch = "x86_64")]
    if Vectors::detect() == Vectors::Wide {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { unpack_wide(tile) };
    }
    tile.grid()
}

/// The same with AVX2, a row at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn unpack_wide(tile: &Tile) -> Grid {
    use std::arch::x86_64::{
        _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi64x,
        _mm256_shuffle_epi8,
    };
    let (height, width) = (tile.height as usize & 63, tile.width as usize & 63);
    // Each row is written with all its 32 columns; the next row, or nothing, overwrites the excess.
    let mut cells = [0i8; 33 * 32];
    // For each column, the byte of a plane's row that has its bit, and that bit.
    let bytes = _mm256_setr_epi64x(
        0,
        0x0101_0101_0101_0101,
        0x0202_0202_0202_0202,
        0x0303_0303_0303_0303,
    );
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    for i in 0..height {
        // All ones where the bit is set.
        let [a, b, c, d] = tile.planes.map(|plane| {
            let row = _mm256_set1_epi32(plane[i & 31].cast_signed());
            let row = _mm256_shuffle_epi8(row, bytes);
            _mm256_cmpeq_epi8(_mm256_and_si256(row, bits), bits)
        });
        // All four bits stand for -1.
        let minus_one = _mm256_and_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, d));
        let a = _mm256_and_si256(a, _mm256_set1_epi8(1));
        let b = _mm256_and_si256(b, _mm256_set1_epi8(2));
        let c = _mm256_and_si256(c, _mm256_set1_epi8(4));
        let d = _mm256_and_si256(d, _mm256_set1_epi8(8));
        let code = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        let colours = _mm256_or_si256(code, minus_one);
        let eights = [
            _mm256_extract_epi64::<0>(colours),
            _mm256_extract_epi64::<1>(colours),
            _mm256_extract_epi64::<2>(colours),
            _mm256_extract_epi64::<3>(colours),
        ];
        let Some(row) = cells.get_mut(i * width..i * width + 32) else {
            break;
        };
        for (to, eight) in row.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
            *to = eight.to_le_bytes().map(u8::cast_signed);
        }
    }
    Grid::from_cells(height, width, cells[..height * width].to_vec())
}

/// Defines kernels from bodies: `kernels! { /// Doc. NAME |m, code, step| { .. } .. }`.
///
/// A body returns a `Result<Slot, BailOut>`. A function that it calls is compiled for wide vectors only if it
/// is inlined.
///
/// A kernel that implements a primitive for arguments of any type that can be converted says so behind its
/// name, with a [`Constraint`](crate::selection::Constraint) for each argument, and with the type of its result
/// if that is not the instruction's: `NAME for Primitive(Constraint, ..) -> ResultType`. `kernels! { fn select;
/// .. }` generates the function that returns the selection of these.
macro_rules! kernels {
    (fn $select:ident; $(
        $(#[$doc:meta])* $name:ident
            $(for $primitive:ident($($want:ident),*) $(-> $gives:ident)?)?
            |$m:pat_param, $code:pat_param, $step:pat_param| $body:block
    )+) => {
        /// The kernel of a primitive that has one for arguments of any type that can be converted.
        fn $select(primitive: arc_dsl::Primitive) -> Option<crate::selection::Selection> {
            match primitive {
                $($(
                    arc_dsl::Primitive::$primitive => Some(
                        crate::selection::Selection::new(&$name, &[$(crate::selection::Constraint::$want),*])
                            $(.giving(crate::selection::ResultType::$gives))?,
                    ),
                )?)+
                _ => None,
            }
        }

        kernels! {
            $($(#[$doc])* $name |$m, $code, $step| $body)+
        }
    };
    ($($(#[$doc:meta])* $name:ident |$m:pat_param, $code:pat_param, $step:pat_param| $body:block)+) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: crate::program::Kernel = {
                use crate::bail_out::BailOut;
                use crate::machine::Machine;
                use crate::program::{Code, Kernel, Step};
                use crate::slot::Slot;

                #[inline(always)]
                #[allow(clippy::unnecessary_wraps, reason = "what every kernel gives")]
                fn body($m: &mut Machine, $code: &Code, $step: &Step) -> Result<Slot, BailOut> $body

                fn baseline(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, BailOut> {
                    body(m, code, step)
                }

                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn wide(m: &mut Machine, code: &Code, step: &Step) -> Result<Slot, BailOut> {
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
    use arc_dsl::generate::Generator;
    use arc_dsl::{Type, Value};

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
            if result.is_ok() {
                assert_eq!(packed, expected);
                assert_eq!(unpack(&packed), *grid);
            }
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
