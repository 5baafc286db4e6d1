//! [`BailOut`]: why the device bails out of an evaluation.

/// Why the device gave no result; the host's reference makes the evaluation instead.
///
/// The numbers are those of `BailOut` in `kernels/arc.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[repr(u8)]
pub enum BailOut {
    /// A grid past 32 rows or columns.
    #[error("a grid past 32 rows or columns")]
    Grid = 1,
    /// A patch that no window of 32 x 32 holds.
    #[error("a patch past 32 rows or columns")]
    Patch = 2,
    /// A coordinate of more than 16 bits.
    #[error("a coordinate past 16 bits")]
    Coordinate = 3,
    /// An integer past the language's bound.
    #[error("an integer past the language's bound")]
    Integer = 4,
    /// A colour outside -1 to 14.
    #[error("a colour outside -1 to 14")]
    Colour = 5,
    /// An object with two colours at one location.
    #[error("two colours at one location of an object")]
    TwoColours = 6,
    /// The primitive fails, or gives a value of a kind that the operation does not make.
    #[error("an error, or a value of another kind")]
    Undefined = 7,
    /// The image lacks an operation.
    #[error("an operation that the kernels lack")]
    Operation = 8,
}

impl BailOut {
    /// All there are.
    pub const ALL: [BailOut; 8] = [
        BailOut::Grid,
        BailOut::Patch,
        BailOut::Coordinate,
        BailOut::Integer,
        BailOut::Colour,
        BailOut::TwoColours,
        BailOut::Undefined,
        BailOut::Operation,
    ];

    /// The reason of a number; nothing for 0, which is none, and for numbers that stand for nothing.
    pub fn of(number: u8) -> Option<BailOut> {
        BailOut::ALL
            .into_iter()
            .find(|bail_out| *bail_out as u8 == number)
    }
}
