//! The operations of the kernels that no primitive has a row for: those on lists and on values in the
//! arena, and what stands between them and the other operations.
//!
//! A list is a word that says where its elements lie in the arena of the evaluation; of which kind
//! they are the encoder knows, and says it in the instruction where elements are compared. Opcodes go
//! on where those of [`OPERATIONS`] end.

use crate::interface::{OperationSignature, Representation};
use crate::operations::{self, OPERATIONS};

macro_rules! list_operations {
    ($($(#[doc = $about:literal])* $operation:ident = $name:ident($($takes:ident),*) -> $gives:ident;)*) => {
        /// An operation on lists, or on values in the arena.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ListOperation {
            $($(#[doc = $about])* $operation,)*
        }

        impl ListOperation {
            /// All of them, in the order of their opcodes.
            pub const ALL: &[ListOperation] = &[$(ListOperation::$operation),*];

            /// The device function, in `kernels/ops/`.
            pub fn name(self) -> &'static str {
                match self {
                    $(ListOperation::$operation => stringify!($name),)*
                }
            }

            /// How its operands are represented.
            pub fn takes(self) -> &'static [Representation] {
                match self {
                    $(ListOperation::$operation => &[$(Representation::$takes),*],)*
                }
            }

            /// How its result is.
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
    /// How much of the arena is taken.
    Mark = mark() -> Word;
    /// Gives back what was taken since a mark; the result is not written.
    Release = release(Word) -> Word;
    /// A patch into the arena.
    StorePatch = store_patch(Patch) -> Word;
    /// An object into the arena.
    StoreObject = store_object(Object) -> Word;
    /// A grid into the arena.
    StoreGrid = store_grid(Grid) -> Word;
    /// A patch out of the arena.
    LoadPatch = load_patch(Word) -> Patch;
    /// An object out of the arena.
    LoadObject = load_object(Word) -> Object;
    /// A grid out of the arena.
    LoadGrid = load_grid(Word) -> Grid;
    /// A word, as it is.
    MoveWord = move_word(Word) -> Word;
    /// The cell of a colour and a location.
    Cell = cell(Int, Pair) -> Cell;
    /// The colour of a cell.
    ColourOfCell = colour_of_cell(Cell) -> Int;
    /// The location of a cell.
    PlaceOfCell = place_of_cell(Cell) -> Pair;
    /// An integer, which has to be positive.
    PositiveCount = positive_count(Int) -> Int;
    /// What always fails.
    Fail = fail() -> Word;
    // ops/lists.cuh
    /// The locations of a patch.
    ListOfPatch = list_of_patch(Patch) -> List;
    /// The cells of an object.
    ListOfObject = list_of_object(Object) -> List;
    /// The elements of a set of objects.
    ListOfObjects = list_of_objects(Objects) -> List;
    /// The colours of a set.
    ListOfColours = list_of_colours(Colours) -> List;
    /// The rows of a grid, which are lists.
    ListOfRows = list_of_rows(Grid) -> List;
    /// So many parts of a grid; with the flag side by side.
    ListOfParts = list_of_parts(Grid, Int) -> List;
    /// The rows and columns of one colour, in no order.
    ListOfFrontiers = list_of_frontiers(Grid) -> List;
    /// The locations from one to another; with the flag from one in a direction.
    ListOfLine = list_of_line(Pair, Pair) -> List;
    /// The set of locations in a list.
    PatchOfList = patch_of_list(List) -> Patch;
    /// The set of cells in a list.
    ObjectOfList = object_of_list(List) -> Object;
    /// A grid of rows that are lists.
    GridOfList = grid_of_list(List) -> Grid;
    /// The cells of two objects that are seen where all of them are painted as one set.
    CombinePainted = combine_painted(Object, Object) -> Object;
    /// A grid with the cells of a list painted on it, each over those before.
    PaintList = paint_list(Grid, List) -> Grid;
    /// An empty list with room for as many elements as another has.
    RoomFor = room_for(List) -> List;
    /// The same for as many elements as two lists have pairs.
    RoomForPairs = room_for_pairs(List, List) -> List;
    /// The same for as many elements as the instruction says.
    Room = room() -> List;
    /// One more element of its result, which has room for it.
    Push = push(Word) -> List;
    /// More elements of its result, which has room for them: those of a column, as many as there are
    /// in either of two that a loop gave.
    PushColumn = push_column(Column, Column, Column) -> List;
    /// The same for the elements of a column that a loop gave where a column of integers is true.
    PushKept = push_kept(Column, Column) -> List;
    /// Whether there is such an element.
    AnyKept = any_kept(Column, Column) -> Int;
    /// The first such element, of which there has to be one.
    FirstKept = first_kept(Column, Column) -> Word;
    /// How many elements there are.
    SizeOfList = size_of_list(List) -> Int;
    /// The element of a number; with the flag counted from the last.
    Element = element(List) -> Word;
    /// The elements of two lists.
    JoinedLists = joined_lists(List, List) -> List;
    /// The elements of the lists in a list.
    Flattened = flattened(List) -> List;
    /// Integers from one to another in steps.
    Interval = interval(Int, Int, Int) -> List;
    /// An element so many times.
    Repeat = repeat(Word, Int) -> List;
    /// The first element of one list with the first of another, and so on; with the flag integers.
    Zipped = zipped(List, List) -> List;
    /// Each element of one list with each of another; with the flag integers.
    Product = product(List, List) -> List;
    // ops/comparing.cuh and ops/ordering.cuh
    /// Whether two elements are equal.
    EqualityOfElements = equality_of_elements(Word, Word) -> Int;
    /// Whether a key is less, or with the flag greater, than the best so far.
    Improves = improves(Word, Word) -> Int;
    /// The elements ascending, each once.
    SetOfList = set_of_list(List) -> List;
    /// The elements of one list in the order of the keys in another.
    Order = order(List, List) -> List;
    /// Whether an element is in a list.
    ContainedInList = contained_in_list(Word, List) -> Int;
    /// The most common element; with the flag the least common one.
    Commonest = commonest(List) -> Word;
    /// The elements of one list that another has; with the flag those that it has not.
    Among = among(List, List) -> List;
    /// A list without one element.
    RemoveFromList = remove_from_list(Word, List) -> List;
    /// Each element of a list once.
    DedupeList = dedupe_list(List) -> List;
    /// The greatest integer; with the flag the least one.
    OutermostInteger = outermost_integer(List) -> Int;
}

impl ListOperation {
    /// Its number in instructions.
    pub fn opcode(self) -> u16 {
        (OPERATIONS.len() + self as usize) as u16
    }

    /// The operation of this number.
    pub fn of(opcode: u16) -> Option<ListOperation> {
        let number = usize::from(opcode).checked_sub(OPERATIONS.len())?;
        ListOperation::ALL.get(number).copied()
    }
}

/// What the kernels know of all operations: these stand behind those of [`OPERATIONS`].
pub(crate) fn signatures() -> Vec<OperationSignature> {
    let signature = |operation: &ListOperation| OperationSignature {
        name: operation.name(),
        gives: operation.gives().symbol(),
        takes: operation
            .takes()
            .iter()
            .map(|taken| taken.symbol())
            .collect(),
    };
    let on_lists = ListOperation::ALL.iter().map(signature);
    let others = operations::signatures().into_iter();
    others.chain(on_lists).collect()
}
