//! The operations of the kernels, as one table; an opcode is an index into it.
//!
//! A row is one device function of `kernels/ops/`: it says which primitive the function implements, and for operands
//! in which representations. A primitive that takes a grid or a patch has a row for each, since they are represented
//! differently; the encoder takes the first row that fits. A function whose parameters do not match its row does not
//! compile.

use arc_dsl::Primitive;

use super::Representation;

/// One operation of the kernels.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The device function, in `kernels/ops/`.
    pub name: &'static str,
    /// The primitive that it implements.
    pub primitive: Primitive,
    /// The representations of the primitive's arguments, in order.
    pub takes: &'static [Representation],
    /// The representation of its result.
    pub gives: Representation,
    /// Whether the primitive returns a tuple of such values, of which the operation computes the one that the
    /// instruction names.
    pub of_tuple: bool,
    /// Whether each lane can run it on its own operands, one element of a loop per lane: its function calls nothing
    /// that all lanes must call together. See [`lane_operations`](super::lane_operations).
    pub by_lanes: bool,
}

impl Operation {
    /// Whether a value in one representation can be used, without conversion, as an argument declared with another.
    /// Primitives for containers of any kind see an object as a set of cells, so for them it cannot be used as the
    /// patch of its locations.
    pub fn admits(&self, representation: Representation, argument: Representation) -> bool {
        let sees_cells = matches!(self.primitive.family(), "containers" | "functions");
        representation == argument || (!sees_cells && representation.serves_as(argument))
    }
}

const fn row(
    name: &'static str,
    primitive: Primitive,
    takes: &'static [Representation],
    gives: Representation,
) -> Operation {
    Operation {
        name,
        primitive,
        takes,
        gives,
        of_tuple: false,
        by_lanes: are_scalars(takes) && is_scalar(gives),
    }
}

/// A row of an operation that needs nothing from other lanes, though not all of its operands are scalar.
const fn row_by_lanes(
    name: &'static str,
    primitive: Primitive,
    takes: &'static [Representation],
    gives: Representation,
) -> Operation {
    Operation {
        by_lanes: true,
        ..row(name, primitive, takes, gives)
    }
}

const fn is_scalar(representation: Representation) -> bool {
    matches!(representation, Representation::Int | Representation::Pair)
}

/// Whether there are operands and all of them are scalar. An operation on scalars alone needs nothing from other
/// lanes.
const fn are_scalars(mut takes: &[Representation]) -> bool {
    let mut all = !takes.is_empty();
    while let [first, others @ ..] = takes {
        all &= is_scalar(*first);
        takes = others;
    }
    all
}

/// A row of a primitive that returns a tuple, of which the operation computes one part.
const fn row_of_tuple(
    name: &'static str,
    primitive: Primitive,
    takes: &'static [Representation],
    gives: Representation,
) -> Operation {
    Operation {
        of_tuple: true,
        ..row(name, primitive, takes, gives)
    }
}

/// All operations.
#[rustfmt::skip]
#[allow(clippy::enum_glob_use, reason = "a row is as short as its signature")]
pub const OPERATIONS: &[Operation] = {
    use Representation::*;
    &[
    // ops/arithmetic.cuh
    row("add", Primitive::Add, &[Int, Int], Int),
    row("add_pair", Primitive::Add, &[Pair, Pair], Pair),
    row("add_pair_int", Primitive::Add, &[Pair, Int], Pair),
    row("add_int_pair", Primitive::Add, &[Int, Pair], Pair),
    row("subtract", Primitive::Subtract, &[Int, Int], Int),
    row("subtract_pair", Primitive::Subtract, &[Pair, Pair], Pair),
    row("subtract_pair_int", Primitive::Subtract, &[Pair, Int], Pair),
    row("subtract_int_pair", Primitive::Subtract, &[Int, Pair], Pair),
    row("multiply", Primitive::Multiply, &[Int, Int], Int),
    row("multiply_pair", Primitive::Multiply, &[Pair, Pair], Pair),
    row("multiply_pair_int", Primitive::Multiply, &[Pair, Int], Pair),
    row("multiply_int_pair", Primitive::Multiply, &[Int, Pair], Pair),
    row("divide", Primitive::Divide, &[Int, Int], Int),
    row("divide_pair", Primitive::Divide, &[Pair, Pair], Pair),
    row("divide_pair_int", Primitive::Divide, &[Pair, Int], Pair),
    row("divide_int_pair", Primitive::Divide, &[Int, Pair], Pair),
    row("invert", Primitive::Invert, &[Int], Int),
    row("invert_pair", Primitive::Invert, &[Pair], Pair),
    row("doubled", Primitive::Double, &[Int], Int),
    row("doubled_pair", Primitive::Double, &[Pair], Pair),
    row("halve", Primitive::Halve, &[Int], Int),
    row("halve_pair", Primitive::Halve, &[Pair], Pair),
    row("increment", Primitive::Increment, &[Int], Int),
    row("increment_pair", Primitive::Increment, &[Pair], Pair),
    row("decrement", Primitive::Decrement, &[Int], Int),
    row("decrement_pair", Primitive::Decrement, &[Pair], Pair),
    row("crement", Primitive::Crement, &[Int], Int),
    row("crement_pair", Primitive::Crement, &[Pair], Pair),
    row("sign", Primitive::Sign, &[Int], Int),
    row("sign_pair", Primitive::Sign, &[Pair], Pair),
    row("even", Primitive::Even, &[Int], Int),
    row("positive", Primitive::Positive, &[Int], Int),
    row("greater", Primitive::Greater, &[Int, Int], Int),
    row("flip", Primitive::Flip, &[Int], Int),
    row("both", Primitive::Both, &[Int, Int], Int),
    row("either_int", Primitive::Either, &[Int, Int], Int),
    row("toivec", Primitive::Toivec, &[Int], Pair),
    row("tojvec", Primitive::Tojvec, &[Int], Pair),
    row("astuple", Primitive::Astuple, &[Int, Int], Pair),
    row("first_pair", Primitive::First, &[Pair], Int),
    row("last_pair", Primitive::Last, &[Pair], Int),
    row("maximum_pair", Primitive::Maximum, &[Pair], Int),
    row("minimum_pair", Primitive::Minimum, &[Pair], Int),
    row("equality", Primitive::Equality, &[Int, Int], Int),
    row("equality_pair", Primitive::Equality, &[Pair, Pair], Int),
    row("equality_grid", Primitive::Equality, &[Grid, Grid], Int),
    row("identity", Primitive::Identity, &[Grid], Grid),
    row("identity_int", Primitive::Identity, &[Int], Int),
    row("identity_pair", Primitive::Identity, &[Pair], Pair),
    row("identity_colours", Primitive::Identity, &[Colours], Colours),
    row("identity_object", Primitive::Identity, &[Object], Object),
    row("identity_patch", Primitive::Identity, &[Patch], Patch),
    row("branch", Primitive::Branch, &[Int, Grid, Grid], Grid),
    row("branch_int", Primitive::Branch, &[Int, Int, Int], Int),
    row("branch_pair", Primitive::Branch, &[Int, Pair, Pair], Pair),
    row("branch_colours", Primitive::Branch, &[Int, Colours, Colours], Colours),
    row("branch_object", Primitive::Branch, &[Int, Object, Object], Object),
    row("branch_object_patch", Primitive::Branch, &[Int, Object, Patch], Patch),
    row("branch_patch_object", Primitive::Branch, &[Int, Patch, Object], Patch),
    row("branch_patch", Primitive::Branch, &[Int, Patch, Patch], Patch),
    // ops/colours.cuh
    row("replace", Primitive::Replace, &[Grid, Int, Int], Grid),
    row("exchange", Primitive::Switch, &[Grid, Int, Int], Grid),
    row("ofcolor", Primitive::Ofcolor, &[Grid, Int], Patch),
    row("cellwise", Primitive::Cellwise, &[Grid, Grid, Int], Grid),
    row("colorcount", Primitive::Colorcount, &[Grid, Int], Int),
    row("colorcount_object", Primitive::Colorcount, &[Object, Int], Int),
    row("mostcolor", Primitive::Mostcolor, &[Grid], Int),
    row("mostcolor_object", Primitive::Mostcolor, &[Object], Int),
    row("leastcolor", Primitive::Leastcolor, &[Grid], Int),
    row("leastcolor_object", Primitive::Leastcolor, &[Object], Int),
    row("palette", Primitive::Palette, &[Grid], Colours),
    row("palette_object", Primitive::Palette, &[Object], Colours),
    row("numcolors", Primitive::Numcolors, &[Grid], Int),
    row("numcolors_object", Primitive::Numcolors, &[Object], Int),
    row("color", Primitive::Color, &[Object], Int),
    row("recolor", Primitive::Recolor, &[Int, Patch], Object),
    row("toobject", Primitive::Toobject, &[Patch, Grid], Object),
    row("first_colours", Primitive::First, &[Colours], Int),
    row("last_colours", Primitive::Last, &[Colours], Int),
    row("minimum_colours", Primitive::Minimum, &[Colours], Int),
    row("maximum_colours", Primitive::Maximum, &[Colours], Int),
    row("size_colours", Primitive::Size, &[Colours], Int),
    row_by_lanes("contained_colours", Primitive::Contained, &[Int, Colours], Int),
    row("equality_colours", Primitive::Equality, &[Colours, Colours], Int),
    row("combine_colours", Primitive::Combine, &[Colours, Colours], Colours),
    row("intersection_colours", Primitive::Intersection, &[Colours, Colours], Colours),
    row("difference_colours", Primitive::Difference, &[Colours, Colours], Colours),
    row("initset_colours", Primitive::Initset, &[Int], Colours),
    row("insert_colours", Primitive::Insert, &[Int, Colours], Colours),
    row("remove_colours", Primitive::Remove, &[Int, Colours], Colours),
    // ops/painting.cuh
    row("fill", Primitive::Fill, &[Grid, Int, Patch], Grid),
    row("paint", Primitive::Paint, &[Grid, Object], Grid),
    row("underfill", Primitive::Underfill, &[Grid, Int, Patch], Grid),
    row("underpaint", Primitive::Underpaint, &[Grid, Object], Grid),
    row("cover", Primitive::Cover, &[Grid, Patch], Grid),
    row("move", Primitive::Move, &[Grid, Object, Pair], Grid),
    // ops/transforms.cuh
    row("hmirror", Primitive::Hmirror, &[Grid], Grid),
    row("vmirror", Primitive::Vmirror, &[Grid], Grid),
    row("dmirror", Primitive::Dmirror, &[Grid], Grid),
    row("cmirror", Primitive::Cmirror, &[Grid], Grid),
    row("rot90", Primitive::Rot90, &[Grid], Grid),
    row("rot180", Primitive::Rot180, &[Grid], Grid),
    row("rot270", Primitive::Rot270, &[Grid], Grid),
    row("crop", Primitive::Crop, &[Grid, Pair, Pair], Grid),
    row("subgrid", Primitive::Subgrid, &[Patch, Grid], Grid),
    row("trim", Primitive::Trim, &[Grid], Grid),
    row("tophalf", Primitive::Tophalf, &[Grid], Grid),
    row("bottomhalf", Primitive::Bottomhalf, &[Grid], Grid),
    row("lefthalf", Primitive::Lefthalf, &[Grid], Grid),
    row("righthalf", Primitive::Righthalf, &[Grid], Grid),
    row_of_tuple("hsplit", Primitive::Hsplit, &[Grid, Int], Grid),
    row_of_tuple("vsplit", Primitive::Vsplit, &[Grid, Int], Grid),
    row("hconcat", Primitive::Hconcat, &[Grid, Grid], Grid),
    row("vconcat", Primitive::Vconcat, &[Grid, Grid], Grid),
    row("dedupe", Primitive::Dedupe, &[Grid], Grid),
    row("compress", Primitive::Compress, &[Grid], Grid),
    row("canvas", Primitive::Canvas, &[Int, Pair], Grid),
    row("asindices", Primitive::Asindices, &[Grid], Patch),
    row("asobject", Primitive::Asobject, &[Grid], Object),
    row_by_lanes("index", Primitive::Index, &[Grid, Pair], Int),
    row("height_grid", Primitive::Height, &[Grid], Int),
    row("width_grid", Primitive::Width, &[Grid], Int),
    row("shape_grid", Primitive::Shape, &[Grid], Pair),
    row("portrait_grid", Primitive::Portrait, &[Grid], Int),
    row("square_grid", Primitive::Square, &[Grid], Int),
    row("size_grid", Primitive::Size, &[Grid], Int),
    // ops/scaling.cuh
    row("hupscale", Primitive::Hupscale, &[Grid, Int], Grid),
    row("vupscale", Primitive::Vupscale, &[Grid, Int], Grid),
    row("upscale", Primitive::Upscale, &[Grid, Int], Grid),
    row("upscale_object", Primitive::Upscale, &[Object, Int], Object),
    row("downscale", Primitive::Downscale, &[Grid, Int], Grid),
    // ops/mirrors.cuh
    row("hmirror_object", Primitive::Hmirror, &[Object], Object),
    row("hmirror_patch", Primitive::Hmirror, &[Patch], Patch),
    row("vmirror_object", Primitive::Vmirror, &[Object], Object),
    row("vmirror_patch", Primitive::Vmirror, &[Patch], Patch),
    row("dmirror_object", Primitive::Dmirror, &[Object], Object),
    row("dmirror_patch", Primitive::Dmirror, &[Patch], Patch),
    row("cmirror_object", Primitive::Cmirror, &[Object], Object),
    row("cmirror_patch", Primitive::Cmirror, &[Patch], Patch),
    // ops/sets.cuh
    row("combine_object", Primitive::Combine, &[Object, Object], Object),
    row("combine", Primitive::Combine, &[Patch, Patch], Patch),
    row("intersection_object", Primitive::Intersection, &[Object, Object], Object),
    row("intersection", Primitive::Intersection, &[Patch, Patch], Patch),
    row("difference_object", Primitive::Difference, &[Object, Object], Object),
    row("difference", Primitive::Difference, &[Patch, Patch], Patch),
    row("equality_object", Primitive::Equality, &[Object, Object], Int),
    row("equality_patch", Primitive::Equality, &[Patch, Patch], Int),
    row_by_lanes("contained", Primitive::Contained, &[Pair, Patch], Int),
    row("insert", Primitive::Insert, &[Pair, Patch], Patch),
    row("remove", Primitive::Remove, &[Pair, Patch], Patch),
    row("initset", Primitive::Initset, &[Pair], Patch),
    row("size_object", Primitive::Size, &[Object], Int),
    row("size", Primitive::Size, &[Patch], Int),
    row("first", Primitive::First, &[Patch], Pair),
    row("last", Primitive::Last, &[Patch], Pair),
    row("toindices", Primitive::Toindices, &[Patch], Patch),
    // ops/extents.cuh
    row("height", Primitive::Height, &[Patch], Int),
    row("width", Primitive::Width, &[Patch], Int),
    row("shape", Primitive::Shape, &[Patch], Pair),
    row("portrait", Primitive::Portrait, &[Patch], Int),
    row("square", Primitive::Square, &[Patch], Int),
    row("vline", Primitive::Vline, &[Patch], Int),
    row("hline", Primitive::Hline, &[Patch], Int),
    row("uppermost", Primitive::Uppermost, &[Patch], Int),
    row("lowermost", Primitive::Lowermost, &[Patch], Int),
    row("leftmost", Primitive::Leftmost, &[Patch], Int),
    row("rightmost", Primitive::Rightmost, &[Patch], Int),
    row("ulcorner", Primitive::Ulcorner, &[Patch], Pair),
    row("urcorner", Primitive::Urcorner, &[Patch], Pair),
    row("llcorner", Primitive::Llcorner, &[Patch], Pair),
    row("lrcorner", Primitive::Lrcorner, &[Patch], Pair),
    row("center", Primitive::Center, &[Patch], Pair),
    row("centerofmass", Primitive::Centerofmass, &[Patch], Pair),
    row("position", Primitive::Position, &[Patch, Patch], Pair),
    // ops/relations.cuh
    row("hmatching", Primitive::Hmatching, &[Patch, Patch], Int),
    row("vmatching", Primitive::Vmatching, &[Patch, Patch], Int),
    row("manhattan", Primitive::Manhattan, &[Patch, Patch], Int),
    row("adjacent", Primitive::Adjacent, &[Patch, Patch], Int),
    row("bordering", Primitive::Bordering, &[Patch, Grid], Int),
    row("gravitate", Primitive::Gravitate, &[Patch, Patch], Pair),
    // ops/outlines.cuh
    row("dneighbors", Primitive::Dneighbors, &[Pair], Patch),
    row("ineighbors", Primitive::Ineighbors, &[Pair], Patch),
    row("neighbors", Primitive::Neighbors, &[Pair], Patch),
    row("corners", Primitive::Corners, &[Patch], Patch),
    row("connect", Primitive::Connect, &[Pair, Pair], Patch),
    row("shoot", Primitive::Shoot, &[Pair, Pair], Patch),
    row("hfrontier", Primitive::Hfrontier, &[Pair], Patch),
    row("vfrontier", Primitive::Vfrontier, &[Pair], Patch),
    row("backdrop", Primitive::Backdrop, &[Patch], Patch),
    row("delta", Primitive::Delta, &[Patch], Patch),
    row("inbox", Primitive::Inbox, &[Patch], Patch),
    row("outbox", Primitive::Outbox, &[Patch], Patch),
    row("box", Primitive::Box, &[Patch], Patch),
    row("shift_object", Primitive::Shift, &[Object, Pair], Object),
    row("shift", Primitive::Shift, &[Patch, Pair], Patch),
    row("normalize_object", Primitive::Normalize, &[Object], Object),
    row("normalize", Primitive::Normalize, &[Patch], Patch),
    // ops/components.cuh
    row("objects", Primitive::Objects, &[Grid, Flag, Flag, Flag], Objects),
    row("partition", Primitive::Partition, &[Grid], Objects),
    row("fgpartition", Primitive::Fgpartition, &[Grid], Objects),
    row("frontiers", Primitive::Frontiers, &[Grid], Objects),
    row("merge_of_objects", Primitive::Merge, &[Objects], Object),
    row("first_of_objects", Primitive::First, &[Objects], Object),
    row("last_of_objects", Primitive::Last, &[Objects], Object),
    row("size_of_objects", Primitive::Size, &[Objects], Int),
    row("sizefilter", Primitive::Sizefilter, &[Objects, Int], Objects),
    row("colorfilter", Primitive::Colorfilter, &[Objects, Int], Objects),
    row("argmax", Primitive::Argmax, &[Objects, Key], Object),
    row("argmin", Primitive::Argmin, &[Objects, Key], Object),
    row("valmax", Primitive::Valmax, &[Objects, Key], Int),
    row("valmin", Primitive::Valmin, &[Objects, Key], Int),
    row("contained_of_objects", Primitive::Contained, &[Object, Objects], Int),
    row("remove_of_objects", Primitive::Remove, &[Object, Objects], Objects),
    row("difference_of_objects", Primitive::Difference, &[Objects, Objects], Objects),
    row("combine_of_objects", Primitive::Combine, &[Objects, Objects], Objects),
    // ops/patterns.cuh
    row("occurrences", Primitive::Occurrences, &[Grid, Object], Patch),
    row("hperiod", Primitive::Hperiod, &[Object], Int),
    row("vperiod", Primitive::Vperiod, &[Object], Int),
    ]
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::constants::OPERANDS;
    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_the_arguments_of_its_primitive() {
        let mut names = HashSet::new();
        for operation in OPERATIONS {
            assert!(
                names.insert(operation.name),
                "{} comes twice",
                operation.name
            );
            let parameters = operation.primitive.parameters().len();
            assert_eq!(operation.takes.len(), parameters, "{}", operation.name);
            assert!(operation.gives.is_operand(), "{}", operation.name);
            let operands = operation
                .takes
                .iter()
                .filter(|representation| representation.is_operand());
            assert!(operands.count() <= OPERANDS as usize, "{}", operation.name);
        }
    }

    #[test]
    fn of_two_rows_of_a_primitive_the_second_is_not_hidden_by_the_first() {
        for (at, operation) in OPERATIONS.iter().enumerate() {
            for earlier in &OPERATIONS[..at] {
                let hidden =
                    earlier.primitive == operation.primitive
                        && operation.takes.iter().zip(earlier.takes).all(
                            |(representation, wanted)| earlier.admits(*representation, *wanted),
                        );
                assert!(
                    !hidden,
                    "{} is never reached: {} fits first",
                    operation.name, earlier.name
                );
            }
        }
    }
}
