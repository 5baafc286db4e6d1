//! The operations of the kernels that are not in the table of primitives: those on lists and on values in the
//! arena, and the conversions between lists and other values.
//!
//! A list is a word that says where its elements lie in the arena of the evaluation. The encoder knows the type of the
//! elements, and puts it into the instruction if that compares elements. The opcodes follow those of [`OPERATIONS`].

use super::Representation;
use super::operations::OPERATIONS;

macro_rules! list_operations {
    ($($(#[doc = $doc:literal])* $operation:ident = $name:ident($($takes:ident),*) -> $gives:ident;)*) => {
        /// An operation on lists, or on values in the arena.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ListOperation {
            $($(#[doc = $doc])* $operation,)*
        }

        impl ListOperation {
            /// All operations, in the order of their opcodes.
            pub const ALL: &[ListOperation] = &[$(ListOperation::$operation),*];

            /// The device function, in `kernels/ops/`.
            pub fn name(self) -> &'static str {
                match self {
                    $(ListOperation::$operation => stringify!($name),)*
                }
            }

            /// The representations of its operands.
            pub fn takes(self) -> &'static [Representation] {
                match self {
                    $(ListOperation::$operation => &[$(Representation::$takes),*],)*
                }
            }

            /// The representation of its result.
            pub fn gives(self) -> Representation {
                match self {
                    $(ListOperation::$operation => Representation::$gives,)*
                }
            }
        }
    };
}

list_operations! {
    // ops/arena.cuh
    /// How much of the arena is in use.
    Mark = mark() -> Word;
    /// Frees what was allocated since a mark; the result is not written.
    Release = release(Word) -> Word;
    /// Stores a patch in the arena.
    StorePatch = store_patch(Patch) -> Word;
    /// Stores an object in the arena.
    StoreObject = store_object(Object) -> Word;
    /// Stores a grid in the arena.
    StoreGrid = store_grid(Grid) -> Word;
    /// Loads a patch from the arena.
    LoadPatch = load_patch(Word) -> Patch;
    /// Loads an object from the arena.
    LoadObject = load_object(Word) -> Object;
    /// Loads a grid from the arena.
    LoadGrid = load_grid(Word) -> Grid;
    /// Copies a word.
    MoveWord = move_word(Word) -> Word;
    /// The cell with a colour and a location.
    Cell = cell(Int, Pair) -> Cell;
    /// The colour of a cell.
    ColourOfCell = colour_of_cell(Cell) -> Int;
    /// The location of a cell.
    PlaceOfCell = place_of_cell(Cell) -> Pair;
    /// Returns an integer, and bails out unless it is positive.
    PositiveCount = positive_count(Int) -> Int;
    /// Returns an integer, and bails out if it is greater than one.
    AtMostOne = at_most_one(Int) -> Int;
    /// Always bails out.
    Fail = fail() -> Word;
    // ops/lists.cuh
    /// The locations of a patch.
    ListOfPatch = list_of_patch(Patch) -> List;
    /// The cells of an object.
    ListOfObject = list_of_object(Object) -> List;
    /// The elements of a set of objects, ascending.
    ListOfObjects = list_of_objects(Objects) -> List;
    /// The colours of a set, ascending.
    ListOfColours = list_of_colours(Colours) -> List;
    /// The rows of a grid, each a list.
    ListOfRows = list_of_rows(Grid) -> List;
    /// A grid split into a number of parts; with the flag, parts side by side.
    ListOfParts = list_of_parts(Grid, Int) -> List;
    /// The rows and columns of a single colour, unordered.
    ListOfFrontiers = list_of_frontiers(Grid) -> List;
    /// The locations on the line from one location to another; with the flag, from a location in a direction.
    ListOfLine = list_of_line(Pair, Pair) -> List;
    /// The set of locations in a list.
    PatchOfList = patch_of_list(List) -> Patch;
    /// The set of cells in a list.
    ObjectOfList = object_of_list(List) -> Object;
    /// The grid whose rows are the elements of a list, each a list.
    GridOfList = grid_of_list(List) -> Grid;
    /// A grid with the cells of a list painted on it in order, later ones over earlier ones.
    PaintList = paint_list(Grid, List) -> Grid;
    /// An empty list with room for as many elements as another list has.
    RoomFor = room_for(List) -> List;
    /// An empty list with room for one element per pair of elements of two lists.
    RoomForPairs = room_for_pairs(List, List) -> List;
    /// An empty list with room for as many elements as the instruction says.
    Room = room() -> List;
    /// Appends an element to the result, which must have room for it.
    Push = push(Word) -> List;
    /// Appends the elements of the first column to the result, which must have room for them: as many as the
    /// shorter of the other two columns has, which come from loop heads.
    PushColumn = push_column(Column, Column, Column) -> List;
    /// Appends those elements of a column from a loop head for which a column of integers is true.
    PushKept = push_kept(Column, Column) -> List;
    /// Whether [`PushKept`](Self::PushKept) would append any element.
    AnyKept = any_kept(Column, Column) -> Int;
    /// The first element that [`PushKept`](Self::PushKept) would append; there must be one.
    FirstKept = first_kept(Column, Column) -> Word;
    /// The number of elements.
    SizeOfList = size_of_list(List) -> Int;
    /// The element at an index; with the flag, counted from the last.
    Element = element(List) -> Word;
    /// The elements of two lists.
    JoinedLists = joined_lists(List, List) -> List;
    /// The elements of the lists in a list; with the flag, bails out if one of these has several.
    Flattened = flattened(List) -> List;
    /// The integers from the first operand up to the second, which is excluded, with the third as step.
    Interval = interval(Int, Int, Int) -> List;
    /// An element repeated a number of times.
    Repeat = repeat(Word, Int) -> List;
    /// The pairs of elements at the same index of two lists; with the flag, pairs of integers.
    Zipped = zipped(List, List) -> List;
    /// The pairs of each element of one list with each of another; with the flag, pairs of integers.
    Product = product(List, List) -> List;
    // ops/comparing.cuh and ops/ordering.cuh
    /// Whether two elements are equal.
    EqualityOfElements = equality_of_elements(Word, Word) -> Int;
    /// Whether a key is less than the best so far; with the flag, greater.
    Improves = improves(Word, Word) -> Int;
    /// The elements in ascending order without duplicates.
    SetOfList = set_of_list(List) -> List;
    /// The elements of one list in the order of the keys in another, which are scalars; with the flag, bails out if two
    /// keys are equal.
    Order = order(List, List) -> List;
    /// Whether an element is in a list.
    ContainedInList = contained_in_list(Word, List) -> Int;
    /// The most common element; with the flag, the least common one. Bails out if there are several.
    Commonest = commonest(List) -> Word;
    /// The elements of one list that are in another; with the flag, those that are not.
    Among = among(List, List) -> List;
    /// A list without one element.
    RemoveFromList = remove_from_list(Word, List) -> List;
    /// The elements of a list without duplicates.
    DedupeList = dedupe_list(List) -> List;
    /// The greatest integer; with the flag, the least.
    OutermostInteger = outermost_integer(List) -> Int;
}

impl ListOperation {
    /// Its opcode.
    pub fn opcode(self) -> u16 {
        (OPERATIONS.len() + self as usize) as u16
    }

    /// The operation with this opcode.
    pub fn of(opcode: u16) -> Option<ListOperation> {
        let number = usize::from(opcode).checked_sub(OPERATIONS.len())?;
        ListOperation::ALL.get(number).copied()
    }
}
