//! The table of primitives: the one list from which everything else derives.
//!
//! A row is a documentation line, the name with its parameters and the type of its result. Its
//! function bears the same name in the module of its family and is given what
//! [`types`](crate::types) says for each parameter's type; one that disagrees with its row, and a
//! row without a documentation line, do not compile. A row marked `[cx]` gets the running
//! [`Context`] first: it calls functions, or makes values whose size its arguments set, or does more
//! work than to look at its arguments once. The enum, look-up by name, the parser's argument counts
//! and `docs/primitives.md` follow.
//!
//! A call accounts for its arguments as [work](crate::WORK_PER_STEP) before it is made, all elements
//! of each of them: see [`Reads`]. A row marked `@constant` reads a few of them, however many there
//! are.

use std::fmt;

use crate::budget::{Context, WORK_PER_STEP};
use crate::error::ErrorKind;
use crate::types::{ArcType, Returns, Type, takers};
use crate::value::Value;

pub use loops::LoopBody;

mod arithmetic;
mod colours;
mod containers;
mod extents;
mod functions;
pub(crate) mod loops;
mod objects;
mod painting;
mod patches;
mod transforms;
pub(crate) mod untyped;
#[cfg(test)]
mod work;

/// What a row becomes.
struct Row {
    name: &'static str,
    family: &'static str,
    doc: &'static str,
    parameters: &'static [(&'static str, Type)],
    returns: Type,
    /// The place of the first parameter that is a function.
    function: Option<usize>,
    run: Native,
}

/// The place of the first parameter that is a function. Found once, since compiling asks for it
/// several times a step.
const fn place_of_function(parameters: &[(&str, Type)]) -> Option<usize> {
    let mut at = 0;
    while at < parameters.len() {
        if matches!(parameters[at].1, Type::Callable) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A primitive's function behind its checks: as many arguments as it has parameters, each of its
/// type.
pub(crate) type Native = fn(&mut Context<'_>, &[&Value]) -> Result<Value, ErrorKind>;

/// What of an argument a call looks at, and accounts for before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// A few elements at most.
    Nothing,
    /// All of it.
    All,
    /// A few elements, of which the first row of a grid is made to be one.
    Row,
    /// All of what is no grid, to make a grid of it or to find where it lies; a few cells of a grid.
    AllButGrids,
}

impl Reads {
    /// What is read by a primitive of an argument of this type.
    const fn whole(ty: Type) -> Self {
        match ty {
            Type::Boolean
            | Type::Integer
            | Type::IntegerTuple
            | Type::Numerical
            | Type::Callable => Reads::Nothing,
            _ => Reads::All,
        }
    }

    /// The same where the primitive is marked `@constant`.
    ///
    /// Patches are read all the same: what is wanted of them is where they lie.
    const fn constant(ty: Type) -> Self {
        match ty {
            Type::Any => Reads::Nothing,
            Type::IntegerSet
            | Type::Objects
            | Type::Container
            | Type::ContainerContainer
            | Type::Tuple
            | Type::TupleTuple
            | Type::FrozenSet => Reads::Row,
            Type::Grid | Type::Element | Type::Piece => Reads::AllButGrids,
            _ => Reads::whole(ty),
        }
    }

    /// How many elements that is of this argument.
    #[inline]
    fn of(self, argument: &Value) -> u64 {
        match (self, argument) {
            (Reads::Row, Value::Grid(grid)) => grid.width() as u64,
            (Reads::Nothing | Reads::Row, _) | (Reads::AllButGrids, Value::Grid(_)) => 0,
            (Reads::All | Reads::AllButGrids, _) => u64::from(argument.work()),
        }
    }
}

/// What a row's mark stands for.
macro_rules! reads {
    () => {
        Reads::whole
    };
    (constant) => {
        Reads::constant
    };
}

macro_rules! primitives {
    ($(
        $(#[doc = $family_doc:literal])+
        $family:ident {
            $(
                #[doc = $doc:literal]
                $name:ident $([$cx:ident])? $(@$reads:ident)? ($($parameter:ident: $type:ident),*) -> $returns:ident;
            )+
        }
    )+) => {
        pastey::paste! {
        /// A primitive of the DSL: its [name](Primitive::name) with a capital.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        #[repr(u8)]
        pub enum Primitive {
            $($(#[doc = $doc] [<$name:camel>],)+)+
        }

        static TABLE: &[Row] = &[$($(
            Row {
                name: strip_raw(stringify!($name)),
                family: stringify!($family),
                doc: $doc,
                parameters: &[$((stringify!($parameter), <takers::$type as ArcType>::TYPE)),*],
                returns: <takers::$returns as ArcType>::TYPE,
                function: place_of_function(
                    &[$((stringify!($parameter), <takers::$type as ArcType>::TYPE)),*],
                ),
                run: |context, arguments| {
                    const READS: fn(Type) -> Reads = reads!($($reads)?);
                    let [$($parameter),*] = arguments else {
                        return Err(wrong_count(
                            [$(stringify!($parameter)),*].len(),
                            arguments.len(),
                        ));
                    };
                    let work = 0 $(+ READS(<takers::$type as ArcType>::TYPE).of($parameter))*;
                    // What is less than a step takes less time than to count it.
                    if work >= WORK_PER_STEP {
                        context.work(work)?;
                    }
                    let mut at = 0;
                    $(
                        let Some($parameter) = <takers::$type as ArcType>::hold($parameter) else {
                            let mismatch = mismatch(at, <takers::$type as ArcType>::TYPE, $parameter);
                            return untyped::call(context, Primitive::[<$name:camel>], arguments, mismatch);
                        };
                        at += 1;
                    )*
                    let _ = at;
                    $(let $cx = &mut *context;)?
                    let result = $family::$name(
                        $($cx,)? $(<takers::$type as ArcType>::lend(&$parameter)),*
                    );
                    let result = Returns::<takers::$returns>::into_value(result, context);
                    $(
                        let $cx = context;
                        let result = $cx.settle(Primitive::[<$name:camel>], result);
                    )?
                    result
                },
            },
        )+)+];

        /// Each primitive as a value, for operands to point at.
        static VALUES: &[Value] = &[$($(Value::Primitive(Primitive::[<$name:camel>]),)+)+];

        impl Primitive {
            /// All primitives, by family, in the order of the table.
            pub const ALL: &'static [Primitive] = &[$($(Primitive::[<$name:camel>]),+),+];

            /// The families in the order of the table, each with what it holds.
            pub const FAMILIES: &'static [(&'static str, &'static str)] =
                &[$((stringify!($family), concat!($($family_doc),+))),+];
        }
        }
    };
}

/// The name without the mark of a raw identifier (`r#box`).
const fn strip_raw(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

#[cold]
fn mismatch(argument: u8, expected: Type, found: &Value) -> ErrorKind {
    ErrorKind::Type {
        argument,
        expected,
        found: found.kind(),
    }
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> ErrorKind {
    ErrorKind::ArgumentCount {
        expected: expected as u8,
        found: found as u8,
    }
}

primitives! {
    /// Integers, pairs of integers and truth values.
    arithmetic {
        /// `a + b`; pairs add by component, an integer counts for both components.
        add(a: Numerical, b: Numerical) -> Numerical;
        /// `a - b`; pairs subtract by component, an integer counts for both components.
        subtract(a: Numerical, b: Numerical) -> Numerical;
        /// `a * b`; pairs multiply by component, an integer counts for both components.
        multiply(a: Numerical, b: Numerical) -> Numerical;
        /// `a / b` rounded down; pairs divide by component. Error: division by zero.
        divide(a: Numerical, b: Numerical) -> Numerical;
        /// `-n`, by component for a pair.
        invert(n: Numerical) -> Numerical;
        /// Whether `n` is a multiple of two.
        even(n: Integer) -> Boolean;
        /// `2 n`, by component for a pair.
        double(n: Numerical) -> Numerical;
        /// `n / 2` rounded down, by component for a pair.
        halve(n: Numerical) -> Numerical;
        /// `x + 1`, by component for a pair.
        increment(x: Numerical) -> Numerical;
        /// `x - 1`, by component for a pair.
        decrement(x: Numerical) -> Numerical;
        /// One step away from zero; zero stays. By component for a pair.
        crement(x: Numerical) -> Numerical;
        /// -1, 0 or 1 as `x` is negative, zero or positive. By component for a pair.
        sign(x: Numerical) -> Numerical;
        /// Whether `x` is greater than zero.
        positive(x: Integer) -> Boolean;
        /// Whether `a` is greater than `b`.
        greater(a: Integer, b: Integer) -> Boolean;
        /// Not `b`.
        flip(b: Boolean) -> Boolean;
        /// `b` where `a` is true, otherwise `a`: whether both are, of truth values.
        both(a: Any, b: Any) -> Any;
        /// `a` where it is true, otherwise `b`: whether one is, of truth values.
        either(a: Any, b: Any) -> Any;
        /// The pair `(i, 0)`: `i` rows down.
        toivec(i: Integer) -> IntegerTuple;
        /// The pair `(0, j)`: `j` columns to the right.
        tojvec(j: Integer) -> IntegerTuple;
        /// The largest element, 0 where there is none. Error: elements that have no order.
        maximum(container: IntegerSet) -> Any;
        /// The smallest element, 0 where there is none. Error: elements that have no order.
        minimum(container: IntegerSet) -> Any;
    }

    /// Tuples, sets and their elements.
    containers {
        /// `x` itself.
        identity@constant (x: Any) -> Any;
        /// Whether `a` and `b` are equal.
        equality(a: Any, b: Any) -> Boolean;
        /// Whether `value` is an element of `container`.
        contained(value: Any, container: Container) -> Boolean;
        /// The elements of `a`, then those of `b`, in a container of the kind of `a`.
        combine[cx](a: Container, b: Container) -> Container;
        /// The elements that both sets have.
        intersection[cx](a: FrozenSet, b: FrozenSet) -> FrozenSet;
        /// The elements of `a` that `b` lacks, in a container of the kind of `a`.
        difference[cx](a: Container, b: Container) -> Container;
        /// The tuple without elements that stood in it before.
        dedupe[cx](tup: Tuple) -> Tuple;
        /// `num` times `item`; empty where `num` is not positive.
        repeat[cx]@constant (item: Any, num: Integer) -> Tuple;
        /// Number of elements; of a grid, of its rows.
        size@constant (container: Container) -> Integer;
        /// The elements of the elements, in a container of the outer kind. Error: an element that is no container.
        merge[cx](containers: ContainerContainer) -> Container;
        /// The element that a tuple has most often; of several, the smallest. Error: empty.
        mostcommon[cx](container: Tuple) -> Any;
        /// The element that a tuple has least often; of several, the smallest. Error: empty.
        leastcommon[cx](container: Tuple) -> Any;
        /// The set of `value` alone.
        initset@constant (value: Any) -> FrozenSet;
        /// The elements as a tuple, a set's in canonical order.
        totuple[cx](container: Container) -> Tuple;
        /// The first element; a set's smallest. Error: empty.
        first@constant (container: Container) -> Any;
        /// The last element; a set's largest. Error: empty.
        last@constant (container: Container) -> Any;
        /// The set with `value` in it.
        insert[cx](value: Any, container: FrozenSet) -> FrozenSet;
        /// The container without the elements that equal `value`.
        remove(value: Any, container: Container) -> Container;
        /// The first element that differs from `value`. Error: there is none.
        other(container: Container, value: Any) -> Any;
        /// The integers from `start` on, before `stop`, `step` apart. Error: a step of zero.
        interval[cx](start: Integer, stop: Integer, step: Integer) -> Tuple;
        /// The tuple `(a, b)`.
        astuple@constant (a: Any, b: Any) -> Tuple;
        /// All tuples of an element of `a` and one of `b`.
        product[cx](a: Container, b: Container) -> FrozenSet;
        /// The tuples of elements that stand at the same place, up to the shorter length.
        pair[cx](a: Container, b: Container) -> TupleTuple;
        /// `a` where the condition is true, otherwise `b`.
        branch@constant (condition: Boolean, a: Any, b: Any) -> Any;
        /// The elements that are containers of `n` elements. Error: an element that is no container.
        sizefilter[cx](container: Container, n: Integer) -> FrozenSet;
    }

    /// Functions as values, and containers taken through functions.
    functions {
        /// The function `x -> outer(inner(x))`.
        compose@constant (outer: Callable, inner: Callable) -> Callable;
        /// The function `x -> h(g(f(x)))`.
        chain@constant (h: Callable, g: Callable, f: Callable) -> Callable;
        /// The function `x -> function(x) == target`.
        matcher@constant (function: Callable, target: Any) -> Callable;
        /// `function` with its last argument fixed.
        rbind@constant (function: Callable, fixed: Any) -> Callable;
        /// `function` with its first argument fixed.
        lbind@constant (function: Callable, fixed: Any) -> Callable;
        /// `function` applied `n` times over. Error: `n` less than one.
        power@constant (function: Callable, n: Integer) -> Callable;
        /// The function `x -> outer(a(x), b(x))`.
        fork@constant (outer: Callable, a: Callable, b: Callable) -> Callable;
        /// The results of `function` for each element, in a container of the same kind.
        apply[cx](function: Callable, container: Container) -> Container;
        /// The results of each of the functions for `value`, in a container of the functions' kind.
        rapply[cx](functions: Container, value: Any) -> Container;
        /// [`apply`](Primitive::Apply), then [`merge`](Primitive::Merge).
        mapply[cx](function: Callable, container: ContainerContainer) -> Container;
        /// The results of `function` for the elements at the same place of two containers.
        papply[cx](function: Callable, a: Container, b: Container) -> Tuple;
        /// [`papply`](Primitive::Papply), then [`merge`](Primitive::Merge).
        mpapply[cx](function: Callable, a: Container, b: Container) -> Tuple;
        /// The set of the results of `function` for every element of `a` with every one of `b`.
        prapply[cx](function: Callable, a: Container, b: Container) -> FrozenSet;
        /// The elements for which the condition holds, in a container of the same kind.
        sfilter[cx](container: Container, condition: Callable) -> Container;
        /// [`sfilter`](Primitive::Sfilter), then [`merge`](Primitive::Merge).
        mfilter[cx](container: Container, function: Callable) -> Container;
        /// The first element for which the condition holds. Error: there is none.
        extract[cx](container: Container, condition: Callable) -> Any;
        /// The elements as a tuple ascending by key; equal keys keep their order. Error: keys that have no order.
        order[cx](container: Container, compfunc: Callable) -> Tuple;
        /// The key of the element with the largest key; of an empty container, of 0. Error: keys that have no order.
        valmax[cx](container: Container, compfunc: Callable) -> Any;
        /// The key of the element with the smallest key; of an empty container, of 0. Error: keys that have no order.
        valmin[cx](container: Container, compfunc: Callable) -> Any;
        /// The first element with the largest key. Errors: empty; keys that have no order.
        argmax[cx](container: Container, compfunc: Callable) -> Any;
        /// The first element with the smallest key. Errors: empty; keys that have no order.
        argmin[cx](container: Container, compfunc: Callable) -> Any;
    }

    /// Colours of grids and objects.
    colours {
        /// The colour of most cells; of several, the smallest. Error: no cells.
        mostcolor(element: Element) -> Integer;
        /// The colour of fewest cells, of those that occur; of several, the smallest. Error: no cells.
        leastcolor(element: Element) -> Integer;
        /// Number of cells that have the colour.
        colorcount(element: Element, value: Integer) -> Integer;
        /// The objects whose first cell has the colour. Error: an empty object.
        colorfilter[cx](objs: Objects, value: Integer) -> Objects;
        /// The set of colours that occur.
        palette(element: Element) -> IntegerSet;
        /// How many colours occur.
        numcolors(element: Element) -> Integer;
        /// The colour of the object's first cell. Error: empty.
        color@constant (obj: Container) -> Any;
        /// The grid with one colour replaced by another.
        replace(grid: Grid, replacee: Integer, replacer: Integer) -> Grid;
        /// The grid with two colours exchanged.
        switch(grid: Grid, a: Integer, b: Integer) -> Grid;
        /// The cells in which two grids agree, elsewhere `fallback`; as large as `a`. Error: `b` smaller than `a`.
        cellwise(a: Grid, b: Grid, fallback: Integer) -> Grid;
        /// The colour at a location; nothing off the grid. Error: a grid without rows.
        index@constant (grid: Grid, loc: IntegerTuple) -> Any;
    }

    /// Size and place of grids and patches, in cells.
    extents {
        /// Number of rows, of a patch those of its bounding box.
        height@constant (piece: Piece) -> Integer;
        /// Number of columns, of a patch those of its bounding box.
        width@constant (piece: Piece) -> Integer;
        /// The pair of height and width.
        shape@constant (piece: Piece) -> IntegerTuple;
        /// Whether it is higher than wide.
        portrait@constant (piece: Piece) -> Boolean;
        /// Whether it is a grid as high as wide, or a patch that fills such a bounding box.
        square@constant (piece: Piece) -> Boolean;
        /// Whether the patch is one column without gaps.
        vline(patch: Patch) -> Boolean;
        /// Whether the patch is one row without gaps.
        hline(patch: Patch) -> Boolean;
        /// The smallest row of the patch. Error: empty.
        uppermost(patch: Patch) -> Integer;
        /// The largest row of the patch. Error: empty.
        lowermost(patch: Patch) -> Integer;
        /// The smallest column of the patch. Error: empty.
        leftmost(patch: Patch) -> Integer;
        /// The largest column of the patch. Error: empty.
        rightmost(patch: Patch) -> Integer;
        /// Upper left corner of the bounding box; the empty tuple for an empty patch.
        ulcorner(patch: Patch) -> IntegerTuple;
        /// Upper right corner of the bounding box; the empty tuple for an empty patch.
        urcorner(patch: Patch) -> IntegerTuple;
        /// Lower left corner of the bounding box; the empty tuple for an empty patch.
        llcorner(patch: Patch) -> IntegerTuple;
        /// Lower right corner of the bounding box; the empty tuple for an empty patch.
        lrcorner(patch: Patch) -> IntegerTuple;
        /// The middle of the bounding box, rounded down and to the right. Error: empty.
        center(patch: Patch) -> IntegerTuple;
        /// The mean location, rounded down; the empty tuple for an empty patch.
        centerofmass(patch: Patch) -> IntegerTuple;
        /// Signs of the way from the centre of `a` to that of `b`; one component is 0 where they share a row or a column. Error: empty.
        position(a: Patch, b: Patch) -> IntegerTuple;
        /// Whether some row has cells of both patches.
        hmatching[cx](a: Patch, b: Patch) -> Boolean;
        /// Whether some column has cells of both patches.
        vmatching[cx](a: Patch, b: Patch) -> Boolean;
        /// Fewest steps along rows and columns from a cell of `a` to one of `b`. Error: empty.
        manhattan[cx](a: Patch, b: Patch) -> Integer;
        /// Whether the patches are one step apart. Error: empty.
        adjacent[cx](a: Patch, b: Patch) -> Boolean;
        /// Whether the patch's bounding box reaches an edge of the grid. Errors: an empty patch; a grid without rows.
        bordering@constant (patch: Patch, grid: Grid) -> Boolean;
        /// The way that `source` goes until it is adjacent to `destination`, 42 steps at most. Error: empty.
        gravitate[cx](source: Patch, destination: Patch) -> IntegerTuple;
        /// After how many columns an object repeats; its width where it never does.
        hperiod[cx](obj: Object) -> Integer;
        /// After how many rows an object repeats; its height where it never does.
        vperiod[cx](obj: Object) -> Integer;
    }

    /// Patches made of patches, locations and grids.
    patches {
        /// All locations of the grid.
        asindices(grid: Grid) -> Indices;
        /// The locations that have the colour.
        ofcolor(grid: Grid, value: Integer) -> Indices;
        /// The patch without its colours.
        toindices(patch: Patch) -> Indices;
        /// The patch in one colour.
        recolor(value: Integer, patch: Patch) -> Object;
        /// The patch moved by `directions`: rows down, columns to the right.
        shift(patch: Patch, directions: IntegerTuple) -> Patch;
        /// The patch moved so that its bounding box starts at the origin.
        normalize(patch: Patch) -> Patch;
        /// The four locations beside a location.
        dneighbors(loc: IntegerTuple) -> Indices;
        /// The four locations diagonal to a location.
        ineighbors(loc: IntegerTuple) -> Indices;
        /// The eight locations around a location.
        neighbors(loc: IntegerTuple) -> Indices;
        /// The cells of the grid that lie under the patch. Error: a grid without rows.
        toobject@constant (patch: Patch, grid: Grid) -> Object;
        /// All cells of the grid.
        asobject(grid: Grid) -> Object;
        /// The four corners of the bounding box.
        corners(patch: Patch) -> Indices;
        /// The line from `a` to `b`, both included, where it is straight or diagonal; otherwise nothing.
        connect[cx](a: IntegerTuple, b: IntegerTuple) -> Indices;
        /// The line from `start`, 42 steps of `direction` long.
        shoot[cx](start: IntegerTuple, direction: IntegerTuple) -> Indices;
        /// The column of a location, rows 0 to 29.
        vfrontier(location: IntegerTuple) -> Indices;
        /// The row of a location, columns 0 to 29.
        hfrontier(location: IntegerTuple) -> Indices;
        /// All locations of the bounding box.
        backdrop[cx](patch: Patch) -> Indices;
        /// The locations of the bounding box that are not in the patch.
        delta[cx](patch: Patch) -> Indices;
        /// The outline one step inside the bounding box. Error: empty.
        inbox[cx](patch: Patch) -> Indices;
        /// The outline one step outside the bounding box. Error: empty.
        outbox[cx](patch: Patch) -> Indices;
        /// The outline of the bounding box.
        r#box[cx](patch: Patch) -> Indices;
    }

    /// Objects and patterns found on grids.
    objects {
        /// The connected objects: of one colour or of any, through corners too or not, without the background (the most common colour) or with it. Error: a grid without rows.
        objects[cx](grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> Objects;
        /// One object a colour: all cells that have it.
        partition(grid: Grid) -> Objects;
        /// One object a colour but the most common one. Error: a grid without cells.
        fgpartition(grid: Grid) -> Objects;
        /// Where the object occurs on the grid, by the upper left corners of its bounding box. Error: a grid without rows.
        occurrences[cx](grid: Grid, obj: Object) -> Indices;
        /// The rows and columns of one colour, as objects. Error: a grid without rows.
        frontiers[cx](grid: Grid) -> Objects;
        /// The grid without the rows and columns of one colour.
        compress(grid: Grid) -> Grid;
    }

    /// Grids with patches painted on them.
    painting {
        /// A grid of one colour, of height and width `dimensions`.
        canvas[cx]@constant (value: Integer, dimensions: IntegerTuple) -> Grid;
        /// The grid with the patch's locations in one colour. Error: a grid without rows.
        fill(grid: Grid, value: Integer, patch: Patch) -> Grid;
        /// The grid with the object on it; of several colours at a location, the last. Error: a grid without rows.
        paint(grid: Grid, obj: Object) -> Grid;
        /// [`fill`](Primitive::Fill), but only where the background (the most common colour) is. Error: a grid without rows.
        underfill(grid: Grid, value: Integer, patch: Patch) -> Grid;
        /// [`paint`](Primitive::Paint), but only where the background (the most common colour) is. Error: a grid without rows.
        underpaint(grid: Grid, obj: Object) -> Grid;
        /// The grid with the patch's locations in the background colour. Error: a grid without cells.
        cover(grid: Grid, patch: Patch) -> Grid;
        /// The grid with the object covered and painted again `offset` away. Error: a grid without cells.
        r#move(grid: Grid, obj: Object, offset: IntegerTuple) -> Grid;
    }

    /// Grids and objects turned, cut, joined and scaled.
    transforms {
        /// A quarter turn clockwise.
        rot90(grid: Grid) -> Grid;
        /// A half turn.
        rot180(grid: Grid) -> Grid;
        /// A quarter turn anticlockwise.
        rot270(grid: Grid) -> Grid;
        /// Upside down. Error: an empty patch.
        hmirror(piece: Piece) -> Piece;
        /// Left and right exchanged. Error: an empty patch.
        vmirror(piece: Piece) -> Piece;
        /// Rows and columns exchanged: mirrored along the diagonal. Error: an empty patch.
        dmirror(piece: Piece) -> Piece;
        /// Mirrored along the counterdiagonal. Error: an empty patch.
        cmirror(piece: Piece) -> Piece;
        /// The cells from `start` on, `dims` rows and columns; cut off at the edges, negative starts count from the end.
        crop@constant (grid: Grid, start: IntegerTuple, dims: IntegerTuple) -> Grid;
        /// The part of the grid that the patch's bounding box covers. Error: empty.
        subgrid@constant (patch: Patch, grid: Grid) -> Grid;
        /// The grid without its outermost rows and columns.
        trim(grid: Grid) -> Grid;
        /// The upper half; a middle row belongs to neither.
        tophalf(grid: Grid) -> Grid;
        /// The lower half; a middle row belongs to neither.
        bottomhalf(grid: Grid) -> Grid;
        /// The left half; a middle column belongs to neither.
        lefthalf(grid: Grid) -> Grid;
        /// The right half; a middle column belongs to neither.
        righthalf(grid: Grid) -> Grid;
        /// `n` grids side by side; what is over is left between them. Errors: division by zero; a grid without rows.
        hsplit[cx](grid: Grid, n: Integer) -> Tuple;
        /// `n` grids one below the other; what is over is left between them. Errors: division by zero; a grid without rows.
        vsplit[cx](grid: Grid, n: Integer) -> Tuple;
        /// The two grids side by side, as high as the lower one.
        hconcat[cx](a: Grid, b: Grid) -> Grid;
        /// The two grids one above the other; a tuple of rows where their widths differ.
        vconcat[cx](a: Grid, b: Grid) -> Grid;
        /// Each cell `factor` columns wide.
        hupscale[cx](grid: Grid, factor: Integer) -> Grid;
        /// Each cell `factor` rows high.
        vupscale[cx](grid: Grid, factor: Integer) -> Grid;
        /// Each cell `factor` rows high and columns wide; an object keeps its upper left corner.
        upscale[cx](element: Element, factor: Integer) -> Element;
        /// Every `factor`-th row and column. Errors: division by zero; a grid without rows.
        downscale(grid: Grid, factor: Integer) -> Grid;
    }
}

impl Primitive {
    /// Those that the Python reference does not have: nothing but tests of their own says what they
    /// give, and no built-in program calls them, since Python is asked what these give.
    pub const EXTENSIONS: &'static [Primitive] = &[];

    /// Those that the Python reference has.
    pub fn of_reference() -> impl Iterator<Item = Primitive> {
        let all = Self::ALL.iter().copied();
        all.filter(|primitive| !Self::EXTENSIONS.contains(primitive))
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name that program text uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The primitive of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|primitive| primitive.name() == name)
    }

    /// The family that it belongs to: the module that holds its function.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.row().family
    }

    /// What it does, in a line.
    #[must_use]
    pub fn doc(self) -> &'static str {
        self.row().doc.trim()
    }

    /// Its parameters in order: name and type.
    #[must_use]
    pub fn parameters(self) -> &'static [(&'static str, Type)] {
        self.row().parameters
    }

    /// The names of its parameters, separated by commas, as error messages use them.
    pub(crate) fn parameter_names(self) -> String {
        let names: Vec<_> = self.parameters().iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// The type of its result.
    #[must_use]
    pub fn returns(self) -> Type {
        self.row().returns
    }

    /// The primitive as a value.
    #[must_use]
    pub fn value(self) -> &'static Value {
        &VALUES[self as usize]
    }

    /// Whether no parameter is a function, so that a call is an instruction without regions.
    #[must_use]
    pub fn is_first_order(self) -> bool {
        let row = self.row();
        row.returns != Type::Callable && row.function.is_none() && self != Primitive::Rapply
    }

    /// The place of the function among the parameters of a primitive that becomes a loop.
    #[must_use]
    pub fn loop_function(self) -> Option<usize> {
        let row = self.row();
        row.function.filter(|_| row.returns != Type::Callable)
    }

    pub(crate) fn native(self) -> Native {
        self.row().run
    }
}

/// The name.
impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the families' tests share.
#[cfg(test)]
mod testing {
    use super::*;
    use crate::Interpreter;
    use crate::patch::{Indices, Loc};

    /// The result of one call.
    pub(super) fn call(primitive: Primitive, arguments: &[&Value]) -> Result<Value, ErrorKind> {
        let result = Interpreter::default().call(primitive.value(), arguments);
        result.map_err(|error| error.kind)
    }

    /// A tuple of integers.
    pub(super) fn ints(values: &[i32]) -> Value {
        Value::tuple(values.iter().map(|&n| Value::Int(n)).collect())
    }

    /// A pair of integers.
    pub(super) fn at(i: i32, j: i32) -> Value {
        Loc::new(i, j).into()
    }

    /// A set of locations.
    pub(super) fn locs(locs: &[(i32, i32)]) -> Value {
        locs.iter()
            .map(|&(i, j)| Loc::new(i, j))
            .collect::<Indices>()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_160_of_the_reference_each_with_its_own_name_and_a_sentence() {
        assert_eq!(Primitive::of_reference().count(), 160);
        let names: HashSet<_> = Primitive::ALL.iter().map(|p| p.name()).collect();
        assert_eq!(names.len(), Primitive::ALL.len());
        for &primitive in Primitive::ALL {
            assert_eq!(Primitive::from_name(primitive.name()), Some(primitive));
            assert!(
                primitive.doc().ends_with('.'),
                "{primitive}: {}",
                primitive.doc()
            );
            assert!((1..=4).contains(&primitive.parameters().len()));
        }
        assert_eq!(Primitive::Box.name(), "box");
        assert_eq!(Primitive::from_name("nothing"), None);
    }
}
