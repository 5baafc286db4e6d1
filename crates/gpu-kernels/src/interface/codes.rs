//! Numbers that stand for something: why the device bails out, how values are represented, how
//! sets of objects fall into elements, by what elements are compared.

use arc_dsl::Primitive;

use super::text;

/// An enumeration whose numbers the kernels know by names of their own.
macro_rules! codes {
    (
        $(#[doc = $about:literal])*
        #[derive($($derive:path),*)]
        $name:ident $(, 0 is $none:ident: $none_about:literal)? {
            $($(#[doc = $code_about:literal])* $(#[error($message:literal)])?
            $code:ident = $number:literal as $symbol:ident,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, $($derive),*)]
        #[repr(u8)]
        pub enum $name {
            $($(#[doc = $code_about])* $(#[error($message)])? $code = $number,)*
        }

        impl $name {
            /// All there are.
            pub const ALL: &[$name] = &[$($name::$code),*];

            /// Its name in the kernels.
            pub fn symbol(self) -> &'static str {
                match self {
                    $($name::$code => stringify!($symbol),)*
                }
            }

            /// What this number stands for; nothing for numbers that stand for nothing.
            pub fn of(number: u8) -> Option<$name> {
                let mut all = $name::ALL.iter().copied();
                all.find(|code| *code as u8 == number)
            }

            /// All of them as the kernels have them, each documented by `more` too.
            pub(super) fn header(more: fn($name) -> String) -> String {
                let codes = [
                    $((stringify!($none), 0, $none_about.to_owned()),)?
                    $((
                        stringify!($symbol),
                        $number,
                        [$($code_about),*].concat() + &more($name::$code),
                    ),)*
                ];
                text::enumeration(stringify!($name), &[$($about),*], &codes)
            }
        }
    };
}

codes! {
    /// Why the device gave no result; the host's reference makes the evaluation instead.
    #[derive(thiserror::Error)]
    BailOut, 0 is FITS: "There is a result." {
        /// A grid past 32 rows or columns.
        #[error("a grid past 32 rows or columns")]
        Grid = 1 as GRID_TOO_LARGE,
        /// A patch that no window of 32 x 32 holds.
        #[error("a patch past 32 rows or columns")]
        Patch = 2 as PATCH_TOO_LARGE,
        /// A coordinate of more than 16 bits.
        #[error("a coordinate past 16 bits")]
        Coordinate = 3 as COORDINATE_TOO_LARGE,
        /// An integer past the language's bound.
        #[error("an integer past the language's bound")]
        Integer = 4 as INTEGER_TOO_LARGE,
        /// A colour outside -1 to 14.
        #[error("a colour outside -1 to 14")]
        Colour = 5 as NO_SUCH_COLOUR,
        /// An object with two colours at one location.
        #[error("two colours at one location of an object")]
        TwoColours = 6 as TWO_COLOURS,
        /// The primitive fails, or gives a value that is not represented as the operation's result.
        #[error("an error, or a value of another kind")]
        Undefined = 7 as NOT_DEFINED,
        /// The image lacks an operation.
        #[error("an operation that the kernels lack")]
        Operation = 8 as NO_SUCH_OPERATION,
        /// Lists need more room than an evaluation's arena has.
        #[error("lists past the memory of an evaluation")]
        Arena = 9 as ARENA_FULL,
        /// Loops and operations on lists go on for more rounds than an evaluation may take.
        #[error("more rounds of loops than an evaluation may take")]
        Rounds = 10 as TOO_MANY_ROUNDS,
        /// The result depends on the order in which Python iterates over a set.
        #[error("the order of a set")]
        Order = 11 as SET_ORDER,
    }
}

codes! {
    /// How the device holds a value.
    #[derive()]
    Representation {
        /// An integer, a truth value or nothing.
        Int = 0 as AS_INT,
        /// A pair of integers of 16 bits each, or nothing.
        Pair = 1 as AS_PAIR,
        /// A set of colours, a bit each: bit `c` is the colour of code `c`.
        Colours = 2 as AS_COLOURS,
        /// A grid: its size, and its rows of planes one after the other.
        Grid = 3 as AS_GRID,
        /// Locations within a window: its origin, and its rows.
        Patch = 4 as AS_PATCH,
        /// Coloured locations within a window: its origin, its rows, and rows of planes.
        Object = 5 as AS_OBJECT,
        /// A set of objects of one grid, which share no location unless they are frontiers, held as
        /// the object of them all, its window at (0, 0).
        Objects = 6 as AS_OBJECTS,
        /// A truth value that the encoder knows; it is in the instruction.
        Flag = 7 as AS_FLAG,
        /// A function that the encoder knows, by which elements are compared; it is in the
        /// instruction.
        Key = 8 as AS_KEY,
        /// An element of a list that is not looked into: a scalar itself, or where a value lies in the
        /// arena.
        Word = 9 as AS_WORD,
        /// A cell, a `CellWord`.
        Cell = 10 as AS_CELL,
        /// A list in the arena, a `ListWord`.
        List = 11 as AS_LIST,
        /// A scalar a lane, each of another element of a list. Where a loop gives it, the word says how
        /// many lanes have an element, the others then have what the first has.
        Column = 12 as AS_COLUMN,
    }
}

impl Representation {
    /// Whether a value so represented lies in a word and units of the pool.
    pub const fn is_operand(self) -> bool {
        !matches!(self, Representation::Flag | Representation::Key)
    }

    /// Whether a value so represented can be taken as it lies for one represented otherwise: an
    /// object for its locations, and a set of objects for what they are merged to.
    pub(crate) fn serves_as(self, other: Representation) -> bool {
        self == other || (self == Representation::Object && other == Representation::Patch)
    }
}

codes! {
    /// What the elements of a list are, where they are compared.
    #[derive()]
    ElementKind {
        /// Integers, and truth values.
        Integer = 0 as INTEGER_ELEMENTS,
        /// Pairs of integers.
        Pair = 1 as PAIR_ELEMENTS,
        /// Cells.
        Cell = 2 as CELL_ELEMENTS,
        /// Grids.
        Grid = 3 as GRID_ELEMENTS,
        /// Sets of locations.
        Patch = 4 as PATCH_ELEMENTS,
        /// Objects.
        Object = 5 as OBJECT_ELEMENTS,
    }
}

impl ElementKind {
    /// What instructions add to the number for lists of such elements.
    pub(super) const LISTED: u8 = 16;

    /// As instructions have it for lists of such elements.
    pub fn of_lists(self) -> u8 {
        Self::LISTED + self as u8
    }
}

codes! {
    /// By what elements of a set of objects are compared.
    #[derive()]
    Key {
        /// `size`.
        Size = 0 as BY_SIZE,
        /// `height`.
        Height = 1 as BY_HEIGHT,
        /// `width`.
        Width = 2 as BY_WIDTH,
        /// `uppermost`.
        Uppermost = 3 as BY_UPPERMOST,
        /// `lowermost`.
        Lowermost = 4 as BY_LOWERMOST,
        /// `leftmost`.
        Leftmost = 5 as BY_LEFTMOST,
        /// `rightmost`.
        Rightmost = 6 as BY_RIGHTMOST,
        /// `color`.
        Color = 7 as BY_COLOR,
        /// `numcolors`.
        Numcolors = 8 as BY_NUMCOLORS,
    }
}

impl Key {
    /// The function by which elements are compared.
    pub fn function(self) -> Primitive {
        match self {
            Key::Size => Primitive::Size,
            Key::Height => Primitive::Height,
            Key::Width => Primitive::Width,
            Key::Uppermost => Primitive::Uppermost,
            Key::Lowermost => Primitive::Lowermost,
            Key::Leftmost => Primitive::Leftmost,
            Key::Rightmost => Primitive::Rightmost,
            Key::Color => Primitive::Color,
            Key::Numcolors => Primitive::Numcolors,
        }
    }

    /// The key that compares by this function.
    pub fn by(function: Primitive) -> Option<Key> {
        let mut all = Key::ALL.iter().copied();
        all.find(|key| key.function() == function)
    }
}

/// How a set of objects of one grid falls into its elements, which is known of an instruction and
/// not held with the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Structure {
    /// Connected cells.
    Connected {
        /// Of one colour.
        univalued: bool,
        /// Through corners too.
        diagonal: bool,
    },
    /// One element a colour.
    ByColour,
    /// Rows and columns, which share cells: all that can be told of such a set is what it is merged
    /// to.
    Frontiers,
}

/// Of connected cells the sum of what holds.
const CONNECTED: u32 = 0;
const UNIVALUED: u32 = 1;
const DIAGONAL: u32 = 2;
const BY_COLOUR: u32 = 4;
const FRONTIERS: u32 = 5;

impl Structure {
    /// Those of which the elements can be found again.
    pub const ALL: [Structure; 5] = [
        Structure::connected(false, false),
        Structure::connected(true, false),
        Structure::connected(false, true),
        Structure::connected(true, true),
        Structure::ByColour,
    ];

    const fn connected(univalued: bool, diagonal: bool) -> Self {
        Structure::Connected {
            univalued,
            diagonal,
        }
    }

    /// Whether the elements can be found again in the object of them all.
    pub(crate) fn can_be_found(self) -> bool {
        self != Structure::Frontiers
    }

    /// Its number in the kernels.
    pub fn number(self) -> u32 {
        match self {
            Structure::Connected {
                univalued,
                diagonal,
            } => {
                let if_set = |set: bool, bit: u32| if set { bit } else { 0 };
                CONNECTED | if_set(univalued, UNIVALUED) | if_set(diagonal, DIAGONAL)
            }
            Structure::ByColour => BY_COLOUR,
            Structure::Frontiers => FRONTIERS,
        }
    }

    /// All of them as the kernels have them.
    pub(super) fn header() -> String {
        let one_colour = "A bit: only cells of one colour connect.";
        let merged = "Rows and columns, which share cells: such a set is only merged.";
        let codes = [
            ("CONNECTED", CONNECTED, "By sides, of any colours."),
            ("UNIVALUED", UNIVALUED, one_colour),
            ("DIAGONAL", DIAGONAL, "A bit: corners connect too."),
            ("BY_COLOUR", BY_COLOUR, "One element a colour."),
            ("FRONTIERS", FRONTIERS, merged),
        ];
        let about = "How a set of objects of one grid falls into its elements.";
        let codes = codes.map(|(name, number, about)| (name, number, about.to_owned()));
        text::enumeration("Structure", &[about], &codes)
    }
}
