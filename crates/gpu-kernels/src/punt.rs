//! [`Punt`]: why the device hands an evaluation back.

/// Why the device gave no result; the host's reference makes the evaluation instead.
///
/// The numbers are those of `Punt` in `kernels/arc.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[repr(u8)]
pub enum Punt {
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

impl Punt {
    /// All there are.
    pub const ALL: [Punt; 8] = [
        Punt::Grid,
        Punt::Patch,
        Punt::Coordinate,
        Punt::Integer,
        Punt::Colour,
        Punt::TwoColours,
        Punt::Undefined,
        Punt::Operation,
    ];

    /// The reason of a number; nothing for 0, which is none, and for numbers that stand for nothing.
    pub fn of(number: u8) -> Option<Punt> {
        Punt::ALL.into_iter().find(|punt| *punt as u8 == number)
    }
}
