//! [`Sampling`]: how the arguments of a primitive are drawn at random.

/// How the arguments of a primitive are drawn so that a call does something meaningful; `arc_dsl::generate` draws them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// By the types of its parameters and what they imply: some numbers are large, two patches are sometimes equal, and
    /// a function is one that accepts the elements of the container next to it.
    #[default]
    ByType,
    /// Any value, sometimes a primitive.
    AnyValue,
    /// Two values that are often equal.
    Equals,
    /// A container and a value that is often an element of it.
    Element,
    /// Two containers with elements in common.
    SharedElements,
    /// A value and a small number.
    SmallCount,
    /// A container of any kind.
    AnyContainer,
    /// A tuple of any kind.
    AnyTuple,
    /// Two containers of numbers or pairs.
    SmallContainers,
    /// A container of containers, and often the size of one of them.
    SizeOfElement,
    /// The start, stop and step of a short progression.
    Progression,
    /// A condition and two values of one kind.
    Alternatives,
    /// Two locations, mostly on one row, column or diagonal.
    StraightLine,
    /// A location and mostly one of the eight directions.
    Direction,
    /// A colour and a small size.
    SmallSize,
    /// A location and mostly a small size.
    SmallWindow,
    /// Two grids, mostly of one size.
    SameHeight,
    /// Two grids of one width.
    SameWidth,
    /// Two grids that differ in some cells.
    Twins,
    /// A grid and mostly the settings that programs use most.
    ObjectSettings,
    /// A grid and an object, mostly a small part of it.
    PartOfGrid,
    /// An object that repeats itself.
    Pattern,
    /// Anything with colours, mostly an object.
    Coloured,
}
