//! The table of the typed dialect's primitives: a row has the name with its parameters, the default that a failing call
//! returns, and how a call is evaluated.

use std::fmt;

/// Expands a macro with all rows.
macro_rules! for_each_typed_primitive {
    ($expand:ident) => {
        $expand! {
            containers {
                // Numbers and truth values.
                add(a, b) -> Tuple = own arithmetic(P::Add, 0): "`add` of the public dialect; an empty tuple counts as 0.";
                subtract(a, b) -> Tuple = own arithmetic(P::Subtract, 0): "`subtract` of the public dialect; an empty tuple counts as 0.";
                multiply(a, b) -> Tuple = own arithmetic(P::Multiply, 1): "`multiply` of the public dialect; an empty tuple counts as 1.";
                divide(a, b) -> Tuple = own arithmetic(P::Divide, 1): "`divide` of the public dialect; an empty tuple counts as 1.";
                invert(n) -> Tuple = public invert;
                even(n) -> False = public even;
                double(n) -> Tuple = public double;
                halve(n) -> Tuple = public halve;
                increment(x) -> Tuple = public increment;
                decrement(x) -> Tuple = public decrement;
                crement(x) -> Tuple = public crement;
                sign(x) -> Tuple = public sign;
                positive(x) -> False = own greater(&Value::Int(0)): "Whether `x` is greater than zero.";
                greater(a, b) -> False = own greater: "Whether `a` is greater than `b`; nothing is greater or less than `nan`.";
                flip(b) -> False = public flip;
                both(a, b) -> False = public both;
                either(a, b) -> False = public either;
                toivec(i) -> Tuple = public toivec;
                tojvec(j) -> Tuple = public tojvec;
                maximum(container) -> Zero = own outermost(Greater): "The largest element, 0 if there is none; `nan` is neither more nor less.";
                minimum(container) -> Zero = own outermost(Less): "The smallest element, 0 if there is none.";
                // Containers.
                identity(x) -> Tuple = public identity;
                equality(a, b) -> False = own equality: "Whether `a` and `b` are equal; `nan` equals nothing.";
                contained(value, container) -> False = public contained;
                combine(a, b) -> Tuple = public combine;
                combine_t(a, b) -> Tuple = own combine_t: "Both tuples, one after the other.";
                combine_f(a, b) -> Set = own combine_f: "The elements of both sets.";
                intersection(a, b) -> Set = public intersection;
                difference(a, b) -> Set = public difference;
                difference_tuple(a, b) as difference_t -> Tuple = public difference;
                dedupe(tup) -> Tuple = public dedupe;
                repeat(item, num) -> Tuple = public repeat;
                size(container) as size_t, size_f -> Zero = public size;
                merge(containers) as merge_t, merge_f -> Tuple = public merge;
                mostcommon(container) as mostcommon_t -> Tuple = public mostcommon;
                mostcommon_f(container) -> Tuple = public mostcommon(as_tuple(container)): "`mostcommon` of the elements as a tuple.";
                leastcommon(container) as leastcommon_t -> Tuple = public leastcommon;
                leastcommon_f(container) -> Tuple = public leastcommon(as_tuple(container)): "`leastcommon` of the elements as a tuple.";
                initset(value) -> Set = public initset;
                insert(value, container) -> Set = public insert;
                totuple(container) -> Tuple = public totuple;
                first(container) -> Tuple = own first: "The first element, or `None`.";
                first_t(container) -> Tuple = own item_at(0): "The first element of a tuple, or the empty tuple.";
                first_f(container) -> Tuple = own at_end(false): "The first element, or the empty set.";
                second(container) -> Tuple = own second: "The second element, `None` if there is only one.";
                last(container) -> Tuple = own at_end(true) unless has_no_elements(container): "The last element, or the empty tuple.";
                last_t(container) -> Tuple = own item_at(-1): "The last element of a tuple, or the empty tuple.";
                last_f(container) -> Tuple = own at_end(true): "The last element, or the empty set.";
                remove(value, container) -> Tuple = own remove: "The container without the elements that equal `value`.";
                remove_t(value, container) -> Tuple = own remove_t: "The elements that differ from `value`, as a tuple.";
                remove_f(value, container) -> Set = same remove;
                other(container, value) -> Tuple = calls first(remove(value, container)): "The first element that differs from `value`, or `None`.";
                other_t(container, value) -> Tuple = own other_t: "The first element that differs from `value`, or the empty tuple.";
                other_f(container, value) -> Tuple = own other_f: "The first element that differs from `value`, or the empty set.";
                interval(start, stop, step) -> Tuple = public interval;
                astuple(a, b) -> Tuple = public astuple;
                ascell(ij, c) -> Tuple = own ascell: "The cell of a location and a colour.";
                astriple(i, j, c) -> Tuple = own astriple: "The tuple `(i, j, c)`.";
                toij(c) -> Tuple = own toij: "The first two elements of a cell: its location.";
                celltuple(a, b) -> Tuple = own celltuple: "The cells of the locations and colours at the same index.";
                product(a, b) -> Set = public product;
                pair(a, b) -> Tuple = public pair;
                branch(condition, a, b) as c_branch -> Tuple = public branch;
                sizefilter(container, n) -> Set = public sizefilter;
                sizefilter_t(container, n) -> Tuple = own sizefilter_t: "The elements that have `n` elements, as a tuple.";
                // Functions.
                compose(outer, inner) -> Function = public compose;
                chain(h, g, f) -> Function = public chain;
                matcher(function, target) -> Function = public matcher;
                rbind(function, fixed) -> Function = public rbind;
                lbind(function, fixed) -> Function = public lbind;
                power(function, n) -> Function = own power: "`function` applied `n` times over. With `n` less than one or more than 498, a function that fails when it is called.";
                fork(outer, a, b) -> Function = public fork;
                apply(function, container) -> Tuple = public apply;
                apply_t(function, container) -> Tuple = public apply(function, as_tuple(container)): "`apply` on the elements as a tuple.";
                apply_f(function, container) -> Set = public apply;
                rapply(functions, value) -> Tuple = public rapply;
                rapply_t(functions, value) -> Tuple = public rapply(as_tuple(functions), value): "`rapply` of the functions as a tuple.";
                rapply_f(functions, value) -> Set = public rapply;
                mapply(function, container) -> Set = calls merge(apply(function, container)): "`apply`, then `merge`.";
                mapply_t(function, container) -> Tuple = calls merge_t(apply_t(function, container)): "`apply_t`, then `merge_t`.";
                mapply_f(function, container) -> Set = calls merge_f(apply_f(function, container)): "`apply_f`, then `merge_f`.";
                papply(function, a, b) -> Tuple = public papply;
                mpapply(function, a, b) -> Tuple = calls merge_t(papply(function, a, b)): "`papply`, then `merge_t`.";
                prapply(function, a, b) -> Set = public prapply;
                sfilter(container, condition) -> Tuple = public sfilter;
                sfilter_t(container, condition) -> Tuple = public sfilter(as_tuple(container), condition): "`sfilter` of the elements as a tuple.";
                sfilter_f(container, condition) -> Set = own sfilter_f: "`sfilter` of the elements as a set.";
                mfilter(container, function) -> Set = calls merge_f(sfilter(container, function)): "`sfilter`, then `merge_f`.";
                mfilter_t(container, function) -> Set = same sfilter_f;
                mfilter_f(container, function) -> Set = same mfilter;
                extract(container, condition) -> Tuple = own extract: "The first element that satisfies the condition, or the empty set.";
                order(container, compfunc) -> Tuple = own order: "The elements in ascending order of the function; of themselves by `None`.";
                valmax(container, compfunc) as valmax_t, valmax_f -> Zero = own outermost_key(Greater): "The largest result of the function for an element; for an empty container its result for 0.";
                valmin(container, compfunc) as valmin_t, valmin_f -> Zero = own outermost_key(Less): "The smallest result of the function for an element; for an empty container its result for 0.";
                argmax(container, compfunc) as argmax_t, argmax_f -> Tuple = own with_outermost_key(Greater): "The first element with the largest result of the function; `nan` is neither more nor less.";
                argmin(container, compfunc) as argmin_t, argmin_f -> Tuple = own with_outermost_key(Less): "The first element with the smallest result of the function.";
                make_all_dsl_safe(module) -> Tuple = own nothing: "`None`, as the project's own wrapper returns for a value.";
            }

            samples {
                // Elements by rank.
                get_nth_t(container, rank) -> Tuple = own get_nth_t: "The element of a tuple at `rank`, counted from 0, or from -1 backwards; `nan` if there is none.";
                get_nth_f(container, rank) -> Tuple = own get_nth_f: "The element at `rank`, counted from 0, or from -1 backwards; the empty set past the end.";
                get_nth_by_key_t(container, rank, key) -> Tuple = optional get_nth_by_key_t: "The element at `rank` in ascending order of `key`, without one of the elements; `None` of an empty container.";
                get_nth_by_key_f(container, rank, key) -> Tuple = optional get_nth_by_key_f: "The same, `None` past the end, and the first for a negative `rank`.";
                get_rank(container, rank) -> Zero = own get_rank: "The element at `rank` in descending order, or 0.";
                get_arg_rank(container, compfunc, rank) -> Tuple = own get_arg_rank(None): "The element at `rank` in descending order of the function, or an empty container of the same kind.";
                get_arg_rank_t(container, compfunc, rank) -> Tuple = own get_arg_rank(Some(ContainerKind::Tuple)): "The same, or the empty tuple.";
                get_arg_rank_f(container, compfunc, rank) -> Tuple = own get_arg_rank(Some(ContainerKind::Set)): "The same, or the empty set.";
                get_val_rank(container, compfunc, rank) as get_val_rank_t, get_val_rank_f -> Tuple = own get_val_rank: "The function's result at `rank`, ascending, or its result for 0.";
                get_common_rank(container, rank) as get_common_rank_t -> Tuple = own get_common_rank(ContainerKind::Tuple): "The element of a tuple at `rank` in ascending order of how often it occurs, or the empty tuple.";
                get_common_rank_f(container, rank) -> Tuple = own get_common_rank(ContainerKind::Set): "The same of any container, or the empty set.";
                get_color_rank_t(grid, rank) -> Zero = own get_color_rank(grids::colours, ContainerKind::Tuple): "The colour at `rank` in descending order of how many cells have it, or the empty tuple.";
                get_color_rank_f(obj, rank) -> Zero = own get_color_rank(patches::colours, ContainerKind::Set): "The same of an object, or the empty set.";
                // Common properties of train pairs.
                dedupe_pair_tuple(S) -> Tuple = own dedupe_pair_tuple: "The pairs whose elements differ.";
                c_iz(S, function) -> Tuple = own of_one_side(true): "The function's results for inputs that it returns for no output.";
                c_zo(S, function) -> Tuple = own of_one_side(false): "The function's results for outputs that it returns for no input.";
                c_iz_n(S, function, pick) -> Zero = own picked(T::CIz): "`pick` of `c_iz`.";
                c_zo_n(S, function, pick) -> Zero = own picked(T::CZo): "`pick` of `c_zo`.";
                a_mr(S) -> Tuple = own a_mr: "The first number with which `mir_rot_t` turns all inputs into their outputs, or `None`.";
            }

            patches {
                // Locations.
                toindices(patch) -> Set = own toindices: "The locations of cells; of locations themselves.";
                toindices_i(indices) -> Set = public identity;
                toindices_o(obj) -> Set = own toindices_o: "The locations of cells.";
                recolor_i(color, indices) -> Set = own recolor(Indices): "The locations as cells of the colour.";
                recolor_o(color, obj) -> Set = own recolor(Object): "The cells in the colour.";
                shift(patch, directions) -> Set = own shift: "The patch moved; by the empty tuple, the patch.";
                normalize_t(piece) -> Tuple = public identity;
                normalize(indices) -> Set = own normalized(T::Uppermost, T::Leftmost): "The patch moved to the origin.";
                normalize_i(indices) -> Set = own normalized(T::UppermostI, T::LeftmostI): "The locations moved to the origin.";
                normalize_o(obj) -> Set = own normalized(T::UppermostO, T::LeftmostO): "The object moved to the origin.";
                dneighbors(loc) -> Set = public dneighbors(loc) unless is_no_location(loc): "The four locations beside a location; none of the empty tuple.";
                ineighbors(loc) -> Set = public ineighbors(loc) unless is_no_location(loc): "The four locations diagonal to a location; none of the empty tuple.";
                neighbors(loc) -> Set = own neighbors: "The eight locations around a location; none of the empty tuple.";
                // Boxes and lines.
                backdrop(patch) -> Set = public backdrop(opposite_corners(patch)) unless has_no_elements(patch): "All locations of the bounding box.";
                delta(patch) -> Set = own delta unless has_no_elements(patch): "The locations of the bounding box that are not in the patch.";
                r#box(patch) -> Set = public r#box(opposite_corners(patch)) unless is_empty(patch): "The outline of the bounding box.";
                inbox(patch) -> Set = public inbox(reach(patch)) unless is_empty(patch): "The outline one further inside.";
                outbox(patch) -> Set = public outbox(reach(patch)) unless is_empty(patch): "The outline one further outside.";
                connect(a, b) -> Set = public connect(a, b) unless is_empty_tuple(a, b): "`connect` of the public dialect; nothing for the empty tuple.";
                shoot(start, direction) -> Set = public shoot(start, direction) unless is_empty(start, direction): "`shoot` of the public dialect; nothing for what is empty.";
                vfrontier(location) -> Set = public vfrontier;
                hfrontier(location) -> Set = public hfrontier(location) unless is_empty_tuple(location): "`hfrontier` of the public dialect; nothing for the empty tuple.";
                // Two patches.
                hmatching(a, b) -> False = own matching(true): "Whether both have cells in a row.";
                vmatching(a, b) -> False = own matching(false): "Whether both have cells in a column.";
                manhattan(a, b) -> Zero = own manhattan: "The least distance; `inf` from nothing.";
                adjacent(a, b) -> False = own adjacent: "Whether it is 1.";
                bordering(patch, grid) -> False = own bordering: "Whether the patch touches the border of the grid.";
                gravitate(source, destination) -> Tuple = own gravitate: "The way of `source` until it is beside `destination`; `source` if that is empty.";
                // Mirrored.
                hmirror_f(patch) -> Set = own hmirror(Patch): "Mirrored up to down.";
                hmirror_i(indices) -> Set = own hmirror(Indices): "The same of locations.";
                hmirror_o(obj) -> Set = own hmirror(Object): "The same of an object.";
                vmirror_f(patch) -> Set = own vmirror(Patch): "Mirrored left to right.";
                vmirror_i(indices) -> Set = own vmirror(Indices): "The same of locations.";
                vmirror_o(obj) -> Set = own vmirror(Object): "The same of an object.";
                dmirror_f(patch) -> Set = own dmirror(Patch): "Mirrored along the diagonal.";
                dmirror_i(indices) -> Set = own dmirror(Indices): "The same of locations.";
                dmirror_o(obj) -> Set = own dmirror(Object): "The same of an object.";
                cmirror_f(patch) -> Set = calls vmirror_f(dmirror_f(vmirror_f(patch))): "Mirrored along the counterdiagonal.";
                cmirror_i(indices) -> Set = same cmirror_f;
                cmirror_o(obj) -> Set = same cmirror_f;
                mir_rot_f(patch, r#type) -> Tuple = own by_number(&[T::HmirrorF, T::DmirrorF, T::VmirrorF, T::CmirrorF], |_, piece| Ok(piece.clone())): "By number: `hmirror_f`, `dmirror_f`, `vmirror_f`, `cmirror_f`, else the patch.";
                upscale_f(obj, factor) -> Set = own upscale_f: "Each cell as a square of `factor` rows.";
                hperiod(obj) -> Zero = own period(T::WidthF, P::Hperiod): "The number of columns after which the object repeats.";
                vperiod(obj) -> Zero = own period(T::HeightF, P::Vperiod): "The number of rows after which the object repeats.";
                // Colours.
                palette_f(element) as p_f -> Set = own palette_f: "The colours of an object.";
                p_o(obj) -> Set = public totuple(palette_f(obj)): "The colours as a tuple.";
                numcolors_f(obj) -> Zero = own numcolors(T::PaletteF): "How many there are.";
                mostcolor_f(obj) -> Zero = own commonest(patches::colours, true): "The colour of most cells; `nan` of nothing.";
                leastcolor_f(obj) -> Zero = own commonest(patches::colours, false): "The colour of fewest cells; `nan` of nothing.";
                colorcount_f(obj, color) -> Zero = own colorcount_f: "How many cells have the colour.";
                color(obj) -> Zero = own color: "The colour of the first cell; `-inf` of nothing.";
                colorfilter(objs, color) -> Set = own colorfilter: "The objects whose first cell has the colour.";
                colorfilter_t(objs, color) -> Tuple = own colorfilter_t: "The same of tuples, as a tuple.";
            }

            extents {
                // Extents.
                uppermost(patch) -> Zero = own extreme(Patch, true, Less): "The first row; `nan` of nothing.";
                uppermost_i(indices) -> Zero = own extreme(Indices, true, Less): "The same of locations.";
                uppermost_o(obj) -> Zero = own extreme(Object, true, Less): "The same of an object.";
                lowermost(patch) -> Zero = own extreme(Patch, true, Greater): "The last row; `nan` of nothing.";
                lowermost_i(indices) -> Zero = own extreme(Indices, true, Greater): "The same of locations.";
                lowermost_o(obj) -> Zero = own extreme(Object, true, Greater): "The same of an object.";
                leftmost(patch) -> Zero = own extreme(Patch, false, Less): "The first column; `nan` of nothing.";
                leftmost_i(indices) -> Zero = own extreme(Indices, false, Less): "The same of locations.";
                leftmost_o(obj) -> Zero = own extreme(Object, false, Less): "The same of an object.";
                rightmost(patch) -> Zero = own extreme(Patch, false, Greater): "The last column; `nan` of nothing.";
                rightmost_i(indices) -> Zero = own extreme_of_some(Indices, false, Greater): "The last column of locations.";
                rightmost_o(obj) -> Zero = own extreme_of_some(Object, false, Greater): "The last column of an object.";
                col_row(patch, r#type) -> Tuple = own by_number(&[T::Lowermost, T::Uppermost, T::Leftmost, T::Rightmost], containers::nothing): "By number: `lowermost`, `uppermost`, `leftmost`, `rightmost`, else `None`.";
                height_f(piece) -> Zero = own extent(T::Lowermost, T::Uppermost): "Rows from the first to the last.";
                height_i(piece) -> Zero = own extent(T::LowermostI, T::UppermostI): "The same of locations.";
                height_o(piece) -> Zero = own extent(T::LowermostO, T::UppermostO): "The same of an object.";
                width_f(piece) -> Zero = own extent(T::Rightmost, T::Leftmost): "Columns from the first to the last.";
                width_i(piece) -> Zero = own extent(T::RightmostI, T::LeftmostI): "The same of locations.";
                width_o(piece) -> Zero = own extent(T::RightmostO, T::LeftmostO): "The same of an object.";
                shape_f(patch) -> Tuple = own shape(T::HeightF, T::WidthF): "Height and width.";
                portrait_f(patch) -> False = own portrait(T::HeightF, T::WidthF): "Whether it is higher than wide.";
                square_f(patch) -> False = own square_f: "Whether it fills a square.";
                vline_i(patch) -> False = own line(T::HeightI, T::WidthI): "Whether locations form a vertical line.";
                vline_o(patch) -> False = own line(T::HeightO, T::WidthO): "Whether an object forms a vertical line.";
                hline_i(patch) -> False = own line(T::WidthI, T::HeightI): "Whether locations form a horizontal line.";
                hline_o(patch) -> False = own line(T::WidthO, T::HeightO): "Whether an object forms a horizontal line.";
                ulcorner(patch) -> Tuple = own corner_of(Patch, [Less, Less]): "First row, first column; of nothing the empty tuple.";
                ulcorner_i(indices) -> Tuple = own corner_of(Indices, [Less, Less]): "The same of locations.";
                ulcorner_o(obj) -> Tuple = own corner_of(Object, [Less, Less]): "The same of an object.";
                urcorner(patch) -> Tuple = own corner_of(Patch, [Less, Greater]): "First row, last column; of nothing the empty tuple.";
                urcorner_i(indices) -> Tuple = own corner_of(Indices, [Less, Greater]): "The same of locations.";
                urcorner_o(obj) -> Tuple = own corner_of(Object, [Less, Greater]): "The same of an object.";
                llcorner(patch) -> Tuple = own corner_of(Patch, [Greater, Less]): "Last row, first column; of nothing the empty tuple.";
                llcorner_i(indices) -> Tuple = own corner_of(Indices, [Greater, Less]): "The same of locations.";
                llcorner_o(obj) -> Tuple = own corner_of(Object, [Greater, Less]): "The same of an object.";
                lrcorner(patch) -> Tuple = own corner_of(Patch, [Greater, Greater]): "Last row, last column; of nothing the empty tuple.";
                lrcorner_i(indices) -> Tuple = own corner_of(Indices, [Greater, Greater]): "The same of locations.";
                lrcorner_o(obj) -> Tuple = own corner_of(Object, [Greater, Greater]): "The same of an object.";
                corner(patch, r#type) -> Tuple = own by_number(&[T::Ulcorner, T::Urcorner, T::Llcorner, T::Lrcorner], |cx, patch| call(cx, T::Ulcorner, &[patch])): "By number: `ulcorner`, `urcorner`, `llcorner`, `lrcorner`, else `ulcorner`.";
                corners(patch) -> Set = own corners: "The set of all four.";
                center(patch) -> Tuple = own center: "The middle; of nothing the empty tuple.";
                centerofmass(patch) -> Tuple = own centerofmass: "The mean location, rounded down.";
                position(a, b) -> Tuple = own position: "The direction from `a` to `b`.";
            }

            grids {
                // Measures and colours.
                height_t(piece) -> Zero = public size;
                width_t(piece) -> Zero = own width_t: "The length of the first row.";
                shape_t(grid) -> Tuple = own shape(T::HeightT, T::WidthT): "Height and width.";
                portrait_t(grid) -> False = own portrait(T::HeightT, T::WidthT): "Whether it is higher than wide.";
                square_t(grid) -> False = own square_t: "Whether it is as high as wide.";
                is_no_grid(x) -> Tuple = own is_no_grid: "Whether it is anything but a tuple of tuples of integers.";
                palette_t(element) -> Set = own palette_t: "The colours of a grid.";
                p_g(grid) -> Set = public totuple(palette_t(grid)): "The colours as a tuple.";
                numcolors_t(grid) -> Zero = own numcolors(T::PaletteT): "How many there are.";
                mostcolor_t(grid) -> Zero = own commonest(grids::colours, true): "The colour of most cells; `nan` of nothing.";
                leastcolor_t(grid) -> Zero = own commonest(grids::colours, false): "The colour of fewest cells; `nan` of nothing.";
                colorcount_t(grid, color) -> Zero = own colorcount_t: "How many cells have the colour.";
                f_ofcolor(grid, color) -> Set = public ofcolor;
                asindices(grid) -> Set = public asindices;
                asobject(grid) -> Set = own asobject: "The cells of a grid; nothing of anything else.";
                index(grid, loc) -> Zero = own index: "The colour at a location; `-inf` off the grid.";
                canvas(color, dimensions) -> Tuple = public canvas;
                // The whole grid.
                rot90(grid) -> Tuple = public rot90;
                rot180(grid) -> Tuple = public rot180;
                rot270(grid) -> Tuple = public rot270;
                hmirror_t(grid) -> Tuple = own of_tuple(P::Hmirror): "`hmirror` of the public dialect, of a tuple.";
                vmirror_t(grid) -> Tuple = public vmirror(as_tuple(grid)): "`vmirror` of the public dialect, of the elements as a tuple.";
                dmirror_t(grid) -> Tuple = public dmirror(as_tuple(grid)): "`dmirror` of the public dialect, of the elements as a tuple.";
                cmirror_t(grid) -> Tuple = own of_tuple(P::Cmirror): "`cmirror` of the public dialect, of a tuple.";
                mir_rot_t(grid, r#type) -> Tuple = own by_number(&[T::HmirrorT, T::DmirrorT, T::VmirrorT, T::CmirrorT, T::Rot90, T::Rot180, T::Rot270], |_, piece| Ok(piece.clone())): "By number: `hmirror_t`, `dmirror_t`, `vmirror_t`, `cmirror_t`, `rot90`, `rot180`, `rot270`, else the grid.";
                hupscale(grid, factor) -> Tuple = public hupscale;
                vupscale(grid, factor) -> Tuple = public vupscale;
                upscale_t(grid, factor) -> Tuple = public upscale(as_tuple(grid), factor): "`upscale` of the public dialect, of the elements as a tuple.";
                downscale(grid, factor) -> Tuple = own downscale: "`downscale` of the public dialect; by `inf` the first cell.";
                hconcat(a, b) -> Tuple = public hconcat;
                vconcat(a, b) -> Tuple = own vconcat: "`a + b`: of tuples one behind the other.";
                trim(grid) -> Tuple = public trim;
                tophalf(grid) -> Tuple = public tophalf;
                bottomhalf(grid) -> Tuple = public bottomhalf;
                lefthalf(grid) -> Tuple = public lefthalf;
                righthalf(grid) -> Tuple = public righthalf;
                replace(grid, replacee, replacer) -> Tuple = public replace;
                switch(grid, a, b) -> Tuple = public switch;
                compress(grid) -> Tuple = public compress(as_tuple(grid)): "`compress` of the public dialect, of the elements as a tuple.";
                crop(grid, start, dims) -> Tuple = own crop: "The part of a grid if all of it lies on the grid, otherwise the empty tuple.";
                subgrid(patch, grid) -> Tuple = own subgrid unless is_empty(patch): "`crop` to the patch.";
                hsplit(grid, n) -> Tuple = own split(true): "`n` parts side by side, each by `crop`.";
                vsplit(grid, n) -> Tuple = own split(false): "`n` parts one below the other, each by `crop`.";
                cellwise(a, b, fallback) -> Tuple = own cellwise: "The cells in which two grids agree, elsewhere `fallback`, also off the second one.";
            }

            objects {
                // Objects of a grid.
                objects(grid, univalued, diagonal, without_bg) -> Set = own objects(ContainerKind::Set) unless is_empty_tuple(grid): "`objects` of the public dialect.";
                objects_t(grid, univalued, diagonal, without_bg) as objects_g -> Tuple = own objects(ContainerKind::Tuple) unless is_empty_tuple(grid): "The same as tuples, each in the order in which it is flooded.";
                o_g(grid, r#type) -> Tuple = own by_bits(T::Objects): "`objects` with the bits of the number as its flags, `None` past 7.";
                o_g_t(grid, r#type) as o_g_tuple -> Tuple = own by_bits(T::ObjectsT): "`objects_t` with the bits of the number as its flags, `None` past 7.";
                partition(grid) -> Set = own partition: "`partition` of the public dialect.";
                fgpartition(grid) -> Set = own fgpartition: "`fgpartition` of the public dialect.";
                frontiers(grid) -> Set = own frontiers: "`frontiers` of the public dialect.";
                occurrences(grid, obj) -> Set = own occurrences: "`occurrences` of the public dialect.";
                toobject(patch, grid) -> Set = own toobject: "`toobject` of the public dialect.";
                // Painting.
                fill(grid, color, patch) -> Tuple = own fill: "`fill` of the public dialect.";
                underfill(grid, color, patch) -> Tuple = own underfill: "`underfill` of the public dialect.";
                paint(grid, obj) -> Tuple = own paint: "`paint` of the public dialect.";
                underpaint(grid, obj) -> Tuple = own underpaint: "`underpaint` of the public dialect.";
                cover(grid, patch) -> Tuple = calls fill(grid, mostcolor_t(grid), toindices(patch)): "`fill` with the colour of most cells.";
                r#move(grid, obj, offset) -> Tuple = calls paint(cover(grid, obj), shift(obj, offset)): "`cover`, then `paint` of the object moved.";
            }
        }
    };
}

pub(super) use for_each_typed_primitive;

/// A primitive as text names it.
struct Names {
    name: &'static str,
    family: &'static str,
    parameters: &'static [&'static str],
}

macro_rules! names {
    ($family:ident $name:ident ($($parameter:ident),*)) => {
        Names {
            name: strip_raw(stringify!($name)),
            family: stringify!($family),
            parameters: &[$(strip_raw(stringify!($parameter))),*],
        }
    };
}

macro_rules! primitives {
    ($(
        $family:ident {
            $(
                $name:ident $parameters:tt $(as $($alias:ident),+)? -> $default:ident = $how:ident $target:ident $(($($given:tt)*))?
                    $(unless $check:ident ($($checked:ident),+))? $(: $doc:literal)?;
            )+
        }
    )+) => {
        pastey::paste! {
            /// A primitive of the typed dialect: its [name](TypedPrimitive::name) with capitals.
            ///
            /// Each has the type of its default, and what evaluates it: a primitive of the `public` dialect, the `same`
            /// as another row, a row that it `calls`, or its `own` function.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            #[repr(u16)]
            pub enum TypedPrimitive {
                $($(
                    #[doc = concat!(
                        "`", stringify!($name), stringify!($parameters), " -> ",
                        stringify!($default), "`, ", stringify!($how), " `", stringify!($target), "`. " $(, $doc)?
                    )]
                    [<$name:camel>],
                    $($(#[doc = concat!("The same as `", stringify!($name), "`.")] [<$alias:camel>],)+)?
                )+)+
            }

            static TABLE: &[Names] = &[$($(
                names!($family $name $parameters),
                $($(names!($family $alias $parameters),)+)?
            )+)+];

            impl TypedPrimitive {
                /// All primitives of the dialect, by family, in the order of the table.
                pub const ALL: &'static [TypedPrimitive] =
                    &[$($(TypedPrimitive::[<$name:camel>], $($(TypedPrimitive::[<$alias:camel>],)+)?)+)+];
            }
        }
    };
}

for_each_typed_primitive!(primitives);

/// The name without the prefix of a raw identifier (`r#box`).
const fn strip_raw(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

impl TypedPrimitive {
    fn names(self) -> &'static Names {
        &TABLE[self as usize]
    }

    /// The name that program text uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names().name
    }

    /// Its family.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.names().family
    }

    /// The names of its parameters.
    #[must_use]
    pub fn parameters(self) -> &'static [&'static str] {
        self.names().parameters
    }
}

impl fmt::Display for TypedPrimitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
