//! The table of primitives: the one list from which everything else is derived.
//!
//! A row is a documentation line, then the name with its parameters and the type of its result, and in braces whatever
//! else is known about it: fields of [`Facts`](crate::Facts). Fields that are not listed have their values in
//! [`Facts::PLAIN`](crate::Facts::PLAIN). Families are in the order in which documents list them.
//!
//! Marks say how the reference calls its function. `[cx]` passes the running context: the function calls other
//! functions, builds values whose size depends on its arguments, or does more work than reading its arguments once.
//! `[values]`: it takes its arguments as they are, of whatever types.
//! `@constant`: it reads only a few elements of its arguments, however many there are, and is charged only for these.
//! `@of_set`: an `Object` has to be a set, since Python takes a tuple of cells for something else.

/// Passes all rows of the table to the macro of this name, for example to count them:
///
/// ```
/// macro_rules! count {
///     ($(
///         $(#[doc = $family_doc:literal])+
///         $family:ident {
///             $(
///                 #[doc = $doc:literal]
///                 $name:ident $([$cx:ident])? $(@$mark:ident)? ($($parameter:ident: $type:ident),*) -> $returns:ident
///                     $({ $($facts:tt)* })?;
///             )+
///         }
///     )+) => {
///         const COUNT: usize = [$($(stringify!($name)),+),+].len();
///     };
/// }
/// arc_isa::for_each_primitive!(count);
/// assert_eq!(COUNT, arc_isa::Primitive::ALL.len());
/// ```
#[macro_export]
macro_rules! for_each_primitive {
    ($make:ident) => {
        $make! {
        /// Integers, pairs of integers and truth values.
        arithmetic {
            /// `a + b`; pairs add by component, an integer counts for both components.
            add[values](a: Numerical, b: Numerical) -> Numerical { is_near: true, result: Some(rules::of_numbers) };
            /// `a - b`; pairs subtract by component, an integer counts for both components.
            subtract[values](a: Numerical, b: Numerical) -> Numerical { is_near: true, result: Some(rules::of_numbers) };
            /// `a * b`; pairs multiply by component, an integer counts for both components.
            multiply[values](a: Numerical, b: Numerical) -> Numerical { result: Some(rules::of_numbers) };
            /// `a / b` rounded down; pairs divide by component. Error: division by zero.
            divide[values](a: Numerical, b: Numerical) -> Numerical { result: Some(rules::of_numbers) };
            /// `-n`, by component for a pair.
            invert[values](n: Numerical) -> Numerical { is_near: true, result: Some(rules::of_number) };
            /// Whether `n` is a multiple of two.
            even[values](n: Integer) -> Boolean { is_total: of_numbers };
            /// `2 n`, by component for a pair.
            double[values](n: Numerical) -> Numerical { result: Some(rules::of_number) };
            /// `n / 2` rounded down, by component for a pair.
            halve[values](n: Numerical) -> Numerical { is_near: true, result: Some(rules::of_number) };
            /// `x + 1`, by component for a pair.
            increment[values](x: Numerical) -> Numerical { is_near: true, result: Some(rules::of_number) };
            /// `x - 1`, by component for a pair.
            decrement[values](x: Numerical) -> Numerical { is_near: true, result: Some(rules::of_number) };
            /// One step away from zero; zero stays. By component for a pair.
            crement[values](x: Numerical) -> Numerical { is_near: true, result: Some(rules::of_number) };
            /// -1, 0 or 1 as `x` is negative, zero or positive. By component for a pair.
            sign[values](x: Numerical) -> Numerical { is_total: of_integer, is_near: true, result: Some(rules::of_number) };
            /// Whether `x` is greater than zero.
            positive[values](x: Integer) -> Boolean { is_total: of_numbers };
            /// Whether `a` is greater than `b`.
            greater[values](a: Integer, b: Integer) -> Boolean { is_total: of_numbers };
            /// Not `b`.
            flip[values](b: Boolean) -> Boolean { is_total: always };
            /// `b` if `a` is true, otherwise `a`: of truth values, whether both are true.
            both[values](a: Any, b: Any) -> Any { is_total: always, result: Some(rules::either_of_first) };
            /// `a` if it is true, otherwise `b`: of truth values, whether one is true.
            either[values](a: Any, b: Any) -> Any { is_total: always, result: Some(rules::either_of_first) };
            /// The pair `(i, 0)`: `i` rows down.
            toivec[values](i: Integer) -> IntegerTuple { is_total: of_integer };
            /// The pair `(0, j)`: `j` columns to the right.
            tojvec[values](j: Integer) -> IntegerTuple { is_total: of_integer };
            /// The largest element, 0 if there is none. Error: elements that have no order.
            maximum[values](container: IntegerSet) -> Any { result: Some(rules::extremum) };
            /// The smallest element, 0 if there is none. Error: elements that have no order.
            minimum[values](container: IntegerSet) -> Any { result: Some(rules::extremum) };
        }

        /// Tuples, sets and their elements.
        containers {
            /// `x` itself.
            identity@constant (x: Any) -> Any {
                uses: &[Use::Passed],
                is_total: always,
                result: Some(rules::like_first),
                sampling: Sampling::AnyValue,
            };
            /// Whether `a` and `b` are equal.
            equality(a: Any, b: Any) -> Boolean { is_total: always, sampling: Sampling::Equals };
            /// Whether `value` is an element of `container`.
            contained(value: Any, container: Container) -> Boolean {
                is_total: of_container_behind,
                sampling: Sampling::Element,
            };
            /// The elements of `a`, then those of `b`, in a container of the kind of `a`.
            combine[cx](a: Container, b: Container) -> Container {
                uses: &[Use::Joined, Use::Joined],
                elements: Elements::Joined,
                size: Size::Sum,
                result: Some(rules::combined),
                sampling: Sampling::SharedElements,
            };
            /// The elements that both sets have.
            intersection[cx](a: FrozenSet, b: FrozenSet) -> FrozenSet {
                uses: &[Use::Cells, Use::Cells],
                result: Some(rules::common),
                sampling: Sampling::SharedElements,
            };
            /// The elements of `a` that `b` lacks, in a container of the kind of `a`.
            difference[cx](a: Container, b: Container) -> Container {
                uses: &[Use::Cells, Use::Cells],
                result: Some(rules::some_of_first),
                sampling: Sampling::SharedElements,
            };
            /// The tuple without repeated elements.
            dedupe[cx](tup: Tuple) -> Tuple { result: Some(rules::some_of_first) };
            /// `num` times `item`; empty if `num` is not positive.
            repeat[cx]@constant (item: Any, num: Integer) -> Tuple {
                size: Size::Told,
                result: Some(rules::repeated),
                sampling: Sampling::SmallCount,
            };
            /// Number of elements; of a grid, of its rows.
            size@constant (container: Container) -> Integer {
                uses: &[Use::Counted],
                is_total: of_container,
                sampling: Sampling::AnyContainer,
            };
            /// The elements of the elements, in a container of the outer kind. Error: an element that is no container.
            merge[cx](containers: ContainerContainer) -> Container {
                uses: &[Use::Each],
                elements: Elements::Joined,
                size: Size::Sum,
                result: Some(rules::merged_container),
            };
            /// The most common element; of several, the first in the set of all. Error: empty.
            mostcommon[cx](container: Tuple) -> Any {
                result: Some(rules::element_of_first),
                sampling: Sampling::AnyTuple,
            };
            /// The least common element; of several, the first in the set of all. Error: empty.
            leastcommon[cx](container: Tuple) -> Any {
                result: Some(rules::element_of_first),
                sampling: Sampling::AnyTuple,
            };
            /// The set of `value` alone.
            initset@constant (value: Any) -> FrozenSet {
                uses: &[Use::Passed],
                is_total: of_plain_values,
                result: Some(rules::set_of_one),
            };
            /// The elements as a tuple.
            totuple[cx](container: Container) -> Tuple {
                uses: &[Use::Cells],
                result: Some(rules::as_tuple),
                sampling: Sampling::AnyContainer,
            };
            /// The first element. Error: empty.
            first@constant (container: Container) -> Any {
                is_total: of_known_length,
                result: Some(rules::first_element),
                sampling: Sampling::AnyContainer,
            };
            /// The last element. Error: empty.
            last@constant (container: Container) -> Any {
                is_total: of_known_length,
                result: Some(rules::last_element),
                sampling: Sampling::AnyContainer,
            };
            /// The set with `value` in it.
            insert[cx](value: Any, container: FrozenSet) -> FrozenSet {
                uses: &[Use::Passed, Use::Joined],
                elements: Elements::Joined,
                size: Size::Sum,
                result: Some(rules::inserted),
                sampling: Sampling::Element,
            };
            /// The container without the elements that equal `value`.
            remove(value: Any, container: Container) -> Container {
                uses: &[Use::Whole, Use::Cells],
                result: Some(rules::some_of_second),
                sampling: Sampling::Element,
            };
            /// The first element that differs from `value`. Error: there is none.
            other[cx](container: Container, value: Any) -> Any {
                result: Some(rules::element_of_first),
                sampling: Sampling::Element,
            };
            /// The integers from `start` on, before `stop`, `step` apart. Error: a step of zero.
            interval[cx](start: Integer, stop: Integer, step: Integer) -> Tuple {
                size: Size::Told,
                result: Some(rules::integers),
                sampling: Sampling::Progression,
            };
            /// The tuple `(a, b)`.
            astuple@constant (a: Any, b: Any) -> Tuple {
                uses: &[Use::Passed, Use::Passed],
                is_total: of_integer_and_number,
                result: Some(rules::tuple_of_arguments),
            };
            /// All tuples of an element of `a` and one of `b`.
            product[cx](a: Container, b: Container) -> FrozenSet {
                elements: Elements::Made,
                size: Size::Product,
                result: Some(rules::set_of_pairs),
                sampling: Sampling::SmallContainers,
            };
            /// The tuples of elements at the same index, up to the shorter length.
            pair[cx](a: Container, b: Container) -> TupleTuple {
                elements: Elements::Made,
                result: Some(rules::tuple_of_pairs),
            };
            /// `a` where the condition is true, otherwise `b`.
            branch@constant (condition: Boolean, a: Any, b: Any) -> Any {
                uses: &[Use::Whole, Use::Passed, Use::Passed],
                is_total: always,
                result: Some(rules::either_of_last),
                sampling: Sampling::Alternatives,
            };
            /// The elements that are containers of `n` elements. Error: an element that is no container.
            sizefilter[values](container: Container, n: Integer) -> FrozenSet {
                uses: &[Use::Some],
                elements: Elements::Some,
                result: Some(rules::set_of_elements),
                sampling: Sampling::SizeOfElement,
            };
        }

        /// Functions as values, and containers taken through functions.
        functions {
            /// The function `x -> outer(inner(x))`.
            compose[values]@constant (outer: Callable, inner: Callable) -> Callable;
            /// The function `x -> h(g(f(x)))`.
            chain[values]@constant (h: Callable, g: Callable, f: Callable) -> Callable;
            /// The function `x -> function(x) == target`.
            matcher[values]@constant (function: Callable, target: Any) -> Callable;
            /// `function` with its last argument fixed.
            rbind@constant (function: Callable, fixed: Any) -> Callable;
            /// `function` with its first argument fixed.
            lbind@constant (function: Callable, fixed: Any) -> Callable;
            /// `function` applied `n` times over. Error: `n` less than one or more than 998.
            power[values]@constant (function: Callable, n: Integer) -> Callable;
            /// The function `x -> outer(a(x), b(x))`.
            fork[values]@constant (outer: Callable, a: Callable, b: Callable) -> Callable;
            /// The results of `function` for each element, in a container of the same kind.
            apply[cx](function: Callable, container: Container) -> Container {
                uses: &[Use::Each],
                body: Some(Body::Collected),
                elements: Elements::Made,
            };
            /// The results of each of the functions for `value`, in a container of the functions' kind.
            rapply[cx](functions: Container, value: Any) -> Container;
            /// [`apply`](Primitive::Apply), then [`merge`](Primitive::Merge).
            mapply[cx](function: Callable, container: ContainerContainer) -> Container {
                uses: &[Use::Each],
                body: Some(Body::Merged),
                elements: Elements::Joined,
                size: Size::Sum,
            };
            /// The results of `function` for the elements at the same index of two containers.
            papply[cx](function: Callable, a: Container, b: Container) -> Tuple {
                body: Some(Body::Collected),
                elements: Elements::Made,
            };
            /// [`papply`](Primitive::Papply), then [`merge`](Primitive::Merge).
            mpapply[cx](function: Callable, a: Container, b: Container) -> Tuple {
                body: Some(Body::Merged),
                elements: Elements::Joined,
                size: Size::Sum,
            };
            /// The set of the results of `function` for every element of `a` with every one of `b`.
            prapply[cx](function: Callable, a: Container, b: Container) -> FrozenSet {
                uses: &[Use::Each, Use::Each],
                body: Some(Body::Collected),
                elements: Elements::Made,
                size: Size::Product,
            };
            /// The elements for which the condition holds, in a container of the same kind.
            sfilter[cx](container: Container, condition: Callable) -> Container {
                uses: &[Use::Some],
                body: Some(Body::Tested),
                elements: Elements::Some,
            };
            /// [`sfilter`](Primitive::Sfilter), then [`merge`](Primitive::Merge).
            mfilter[cx](container: Container, function: Callable) -> Container {
                uses: &[Use::Each],
                body: Some(Body::Tested),
                elements: Elements::Joined,
                size: Size::Sum,
            };
            /// The first element for which the condition holds. Error: there is none.
            extract[cx](container: Container, condition: Callable) -> Any { body: Some(Body::Tested) };
            /// The elements as a tuple ascending by key; equal keys keep their order. Error: keys that have no order.
            order[cx](container: Container, compfunc: Callable) -> Tuple { body: Some(Body::Tested) };
            /// The key of the element with the largest key; of an empty container, of 0. Error: keys that have no order.
            valmax[cx](container: Container, compfunc: Callable) -> Any { uses: &[Use::Key], body: Some(Body::Tested) };
            /// The key of the element with the smallest key; of an empty container, of 0. Error: keys that have no order.
            valmin[cx](container: Container, compfunc: Callable) -> Any { uses: &[Use::Key], body: Some(Body::Tested) };
            /// The first element with the largest key. Errors: empty; keys that have no order.
            argmax[cx](container: Container, compfunc: Callable) -> Any {
                uses: &[Use::Outermost],
                body: Some(Body::Tested),
            };
            /// The first element with the smallest key. Errors: empty; keys that have no order.
            argmin[cx](container: Container, compfunc: Callable) -> Any {
                uses: &[Use::Outermost],
                body: Some(Body::Tested),
            };
        }

        /// Colours of grids and objects.
        colours {
            /// The colour of most cells; of several, the first in the set of all. Error: no cells.
            mostcolor(element: Element) -> Integer;
            /// The colour of fewest cells, of those that occur; of several, the first in the set of all. Error: no cells.
            leastcolor(element: Element) -> Integer;
            /// Number of cells that have the colour.
            colorcount(element: Element, value: Integer) -> Integer;
            /// The objects whose first cell has the colour. Error: an empty object.
            colorfilter[values](objs: Objects, value: Integer) -> Objects {
                uses: &[Use::Some],
                elements: Elements::Some,
                result: Some(rules::set_of_elements),
            };
            /// The set of colours that occur.
            palette(element: Element) -> IntegerSet { result: Some(rules::colours) };
            /// How many colours occur.
            numcolors(element: Element) -> Integer;
            /// The colour of the object's first cell. Error: empty.
            color@constant (obj: Container) -> Any { result: Some(rules::colour), sampling: Sampling::Coloured };
            /// The grid with one colour replaced by another.
            replace(grid: Grid, replacee: Integer, replacer: Integer) -> Grid;
            /// The grid with two colours exchanged.
            switch(grid: Grid, a: Integer, b: Integer) -> Grid;
            /// The cells in which two grids agree, elsewhere `fallback`; as large as `a`. Error: `b` smaller than `a`.
            cellwise(a: Grid, b: Grid, fallback: Integer) -> Grid { sampling: Sampling::Twins };
            /// The colour at a location; nothing off the grid. Error: a grid without rows.
            index[values]@constant (grid: Grid, loc: IntegerTuple) -> Any { result: Some(rules::maybe_integer) };
        }

        /// Size and place of grids and patches, in cells.
        extents {
            /// Number of rows, of a patch those of its bounding box.
            height[values]@constant (piece: Piece) -> Integer { is_total: of_grid };
            /// Number of columns, of a patch those of its bounding box.
            width[values]@constant (piece: Piece) -> Integer { is_total: of_grid };
            /// The pair of height and width.
            shape[values]@constant (piece: Piece) -> IntegerTuple { is_total: of_grid };
            /// Whether it is higher than wide.
            portrait[values]@constant (piece: Piece) -> Boolean { is_total: of_grid };
            /// Whether it is a grid as high as wide, or a patch that fills such a bounding box.
            square[values]@constant (piece: Piece) -> Boolean;
            /// Whether the patch is one column without gaps.
            vline[values](patch: Patch) -> Boolean;
            /// Whether the patch is one row without gaps.
            hline[values](patch: Patch) -> Boolean;
            /// The smallest row of the patch. Error: empty.
            uppermost[values](patch: Patch) -> Integer;
            /// The largest row of the patch. Error: empty.
            lowermost[values](patch: Patch) -> Integer;
            /// The smallest column of the patch. Error: empty.
            leftmost[values](patch: Patch) -> Integer;
            /// The largest column of the patch. Error: empty.
            rightmost[values](patch: Patch) -> Integer;
            /// Upper left corner of the bounding box; the empty tuple for an empty patch.
            ulcorner[values](patch: Patch) -> IntegerTuple { result: Some(rules::maybe_pair) };
            /// Upper right corner of the bounding box; the empty tuple for an empty patch.
            urcorner[values](patch: Patch) -> IntegerTuple { result: Some(rules::maybe_pair) };
            /// Lower left corner of the bounding box; the empty tuple for an empty patch.
            llcorner[values](patch: Patch) -> IntegerTuple { result: Some(rules::maybe_pair) };
            /// Lower right corner of the bounding box; the empty tuple for an empty patch.
            lrcorner[values](patch: Patch) -> IntegerTuple { result: Some(rules::maybe_pair) };
            /// The middle of the bounding box, rounded down and to the right. Error: empty.
            center[values](patch: Patch) -> IntegerTuple;
            /// The mean location, rounded down; the empty tuple for an empty patch.
            centerofmass[values](patch: Patch) -> IntegerTuple { result: Some(rules::maybe_pair) };
            /// The direction from the centre of `a` to that of `b`, as signs; a component is 0 if they share a row or a column. Error: empty.
            position[values](a: Patch, b: Patch) -> IntegerTuple;
            /// Whether some row has cells of both patches.
            hmatching[cx](a: Patch, b: Patch) -> Boolean;
            /// Whether some column has cells of both patches.
            vmatching[cx](a: Patch, b: Patch) -> Boolean;
            /// Fewest steps along rows and columns from a cell of `a` to one of `b`. Error: empty.
            manhattan[cx](a: Patch, b: Patch) -> Integer;
            /// Whether the patches are one step apart. Error: empty.
            adjacent[cx](a: Patch, b: Patch) -> Boolean;
            /// Whether the patch's bounding box reaches an edge of the grid. Errors: an empty patch; a grid without rows.
            bordering[values]@constant (patch: Patch, grid: Grid) -> Boolean;
            /// The move of `source` until it is adjacent to `destination`, 42 steps at most. Error: empty.
            gravitate[values](source: Patch, destination: Patch) -> IntegerTuple;
            /// The number of columns after which an object repeats; its width if it never does.
            hperiod[values](obj: Object) -> Integer { sampling: Sampling::Pattern };
            /// The number of rows after which an object repeats; its height if it never does.
            vperiod[values](obj: Object) -> Integer { sampling: Sampling::Pattern };
        }

        /// Patches made of patches, locations and grids.
        patches {
            /// All locations of the grid.
            asindices(grid: Grid) -> Indices;
            /// The locations that have the colour.
            ofcolor(grid: Grid, value: Integer) -> Indices;
            /// The patch without its colours.
            toindices(patch: Patch) -> Indices { uses: &[Use::CellsOfSet], result: Some(rules::locations) };
            /// The patch in one colour.
            recolor(value: Integer, patch: Patch) -> Object { uses: &[Use::Whole, Use::Cells] };
            /// The patch moved by `directions`: rows down, columns to the right.
            shift(patch: Patch, directions: IntegerTuple) -> Patch { uses: &[Use::Moved], result: Some(rules::moved) };
            /// The patch moved so that its bounding box starts at the origin.
            normalize(patch: Patch) -> Patch { result: Some(rules::moved) };
            /// The four locations beside a location.
            dneighbors[values](loc: IntegerTuple) -> Indices;
            /// The four locations diagonal to a location.
            ineighbors[values](loc: IntegerTuple) -> Indices;
            /// The eight locations around a location.
            neighbors[values](loc: IntegerTuple) -> Indices;
            /// The cells of the grid that lie under the patch. Error: a grid without rows.
            toobject@constant (patch: Patch, grid: Grid) -> Object { uses: &[Use::OnGrid] };
            /// All cells of the grid.
            asobject(grid: Grid) -> Object;
            /// The four corners of the bounding box.
            corners[values](patch: Patch) -> Indices { result: Some(rules::checked_locations) };
            /// The line from `a` to `b`, both included, if it is straight or diagonal; otherwise nothing.
            connect[cx](a: IntegerTuple, b: IntegerTuple) -> Indices {
                size: Size::Far,
                sampling: Sampling::StraightLine,
            };
            /// The line from `start`, 42 steps of `direction` long.
            shoot[cx](start: IntegerTuple, direction: IntegerTuple) -> Indices {
                size: Size::Far,
                sampling: Sampling::Direction,
            };
            /// The column of a location, rows 0 to 29.
            vfrontier[values](location: IntegerTuple) -> Indices { size: Size::Far };
            /// The row of a location, columns 0 to 29.
            hfrontier[values](location: IntegerTuple) -> Indices { size: Size::Far };
            /// All locations of the bounding box.
            backdrop[cx](patch: Patch) -> Indices { size: Size::Far };
            /// The locations of the bounding box that are not in the patch.
            delta[cx](patch: Patch) -> Indices { size: Size::Far };
            /// The outline one step inside the bounding box. Error: empty.
            inbox[values](patch: Patch) -> Indices { size: Size::Far };
            /// The outline one step outside the bounding box. Error: empty.
            outbox[values](patch: Patch) -> Indices { size: Size::Far };
            /// The outline of the bounding box.
            r#box[values](patch: Patch) -> Indices { size: Size::Far, result: Some(rules::checked_locations) };
        }

        /// Objects and patterns found on grids.
        objects {
            /// The connected objects: of one colour or of any, through corners too or not, without the background (the most common colour) or with it. Error: a grid without rows.
            objects[cx](grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> Objects {
                sampling: Sampling::ObjectSettings,
            };
            /// One object a colour: all cells that have it.
            partition(grid: Grid) -> Objects;
            /// One object a colour but the most common one. Error: a grid without cells.
            fgpartition(grid: Grid) -> Objects;
            /// Where the object occurs on the grid, by the upper left corners of its bounding box. Error: a grid without rows.
            occurrences[cx]@of_set (grid: Grid, obj: Object) -> Indices {
                result: Some(rules::of_set), sampling: Sampling::PartOfGrid
            };
            /// The rows and columns of one colour, as objects. Error: a grid without rows.
            frontiers[cx](grid: Grid) -> Objects;
            /// The grid without the rows and columns of one colour.
            compress(grid: Grid) -> Grid;
        }

        /// Grids with patches painted on them.
        painting {
            /// A grid of one colour, of height and width `dimensions`.
            canvas[cx]@constant (value: Integer, dimensions: IntegerTuple) -> Grid {
                size: Size::Told,
                sampling: Sampling::SmallSize,
            };
            /// The grid with the patch's locations in one colour. Error: a grid without rows.
            fill(grid: Grid, value: Integer, patch: Patch) -> Grid { uses: &[Use::Whole, Use::Whole, Use::OVER] };
            /// The grid with the object on it; of several colours at a location, the last. Error: a grid without rows.
            paint(grid: Grid, obj: Object) -> Grid { uses: &[Use::Whole, Use::OBJECT_OVER] };
            /// [`fill`](Primitive::Fill), but only where the background (the most common colour) is. Error: a grid without rows.
            underfill(grid: Grid, value: Integer, patch: Patch) -> Grid { uses: &[Use::Whole, Use::Whole, Use::OVER] };
            /// [`paint`](Primitive::Paint), but only where the background (the most common colour) is. Error: a grid without rows.
            underpaint(grid: Grid, obj: Object) -> Grid { uses: &[Use::Whole, Use::OBJECT_UNDER] };
            /// The grid with the patch's locations in the background colour. Error: a grid without cells.
            cover(grid: Grid, patch: Patch) -> Grid { uses: &[Use::Whole, Use::OVER] };
            /// The grid with the object covered and painted again `offset` away. Error: a grid without cells.
            r#move(grid: Grid, obj: Object, offset: IntegerTuple) -> Grid;
        }

        /// Grids and objects turned, cut, joined and scaled.
        transforms {
            /// A quarter turn clockwise.
            rot90[values](grid: Grid) -> Grid { is_total: of_grid };
            /// A half turn.
            rot180[values](grid: Grid) -> Grid { is_total: of_grid };
            /// A quarter turn anticlockwise.
            rot270[values](grid: Grid) -> Grid { is_total: of_grid };
            /// Upside down. Error: an empty patch.
            hmirror[values](piece: Piece) -> Piece {
                is_total: of_grid,
                result: Some(rules::mirrored),
            };
            /// Left and right exchanged. Error: an empty patch.
            vmirror[values](piece: Piece) -> Piece {
                is_total: of_grid,
                result: Some(rules::mirrored),
            };
            /// Rows and columns exchanged: mirrored along the diagonal. Error: an empty patch.
            dmirror[values](piece: Piece) -> Piece {
                is_total: of_grid,
                result: Some(rules::mirrored),
            };
            /// Mirrored along the counterdiagonal. Error: an empty patch.
            cmirror[values](piece: Piece) -> Piece {
                is_total: of_grid,
                result: Some(rules::mirrored),
            };
            /// The cells from `start` on, `dims` rows and columns; cut off at the edges, negative starts count from the end.
            crop[values]@constant (grid: Grid, start: IntegerTuple, dims: IntegerTuple) -> Grid {
                sampling: Sampling::SmallWindow,
            };
            /// The part of the grid that the patch's bounding box covers. Error: empty.
            subgrid[values]@constant (patch: Patch, grid: Grid) -> Grid;
            /// The grid without its outermost rows and columns.
            trim[values](grid: Grid) -> Grid;
            /// The upper half; a middle row belongs to neither.
            tophalf[values](grid: Grid) -> Grid;
            /// The lower half; a middle row belongs to neither.
            bottomhalf[values](grid: Grid) -> Grid;
            /// The left half; a middle column belongs to neither.
            lefthalf[values](grid: Grid) -> Grid;
            /// The right half; a middle column belongs to neither.
            righthalf[values](grid: Grid) -> Grid;
            /// `n` grids side by side; remaining columns are left out between them. Errors: division by zero; a grid without rows.
            hsplit[values](grid: Grid, n: Integer) -> Tuple { result: Some(rules::grids) };
            /// `n` grids one below the other; remaining rows are left out between them. Errors: division by zero; a grid without rows.
            vsplit[values](grid: Grid, n: Integer) -> Tuple { result: Some(rules::grids) };
            /// The two grids side by side, as high as the lower one.
            hconcat[cx](a: Grid, b: Grid) -> Grid { size: Size::Sum, sampling: Sampling::SameHeight };
            /// The two grids one above the other; a tuple of rows if their widths differ.
            vconcat[cx](a: Grid, b: Grid) -> Grid {
                size: Size::Sum,
                result: Some(rules::checked_grid),
                sampling: Sampling::SameWidth,
            };
            /// Each cell `factor` columns wide.
            hupscale[cx](grid: Grid, factor: Integer) -> Grid { size: Size::Told };
            /// Each cell `factor` rows high.
            vupscale[cx](grid: Grid, factor: Integer) -> Grid { size: Size::Told };
            /// Each cell `factor` rows high and columns wide; an object keeps its upper left corner.
            upscale[cx](element: Element, factor: Integer) -> Element { size: Size::Told, result: Some(rules::upscaled) };
            /// Every `factor`-th row and column. Errors: division by zero; a grid without rows.
            downscale[values](grid: Grid, factor: Integer) -> Grid;
        }
        }
    };
}
