//! The operations of the kernels: one table; an opcode is an index into it.
//!
//! A row is one device function of `kernels/ops/` and says which primitive it is for operands
//! represented in which ways. A primitive that takes a grid or a patch has a row for each, since they
//! are held in different ways; of the rows that fit, the first is taken. A function whose parameters
//! are represented otherwise than its row says does not compile.

use arc_dsl::Primitive;

use crate::interface::{OperationSignature, Representation};

/// One operation of the kernels.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The device function, in `kernels/ops/`.
    pub name: &'static str,
    /// The primitive that it is.
    pub primitive: Primitive,
    /// How the primitive's arguments are represented, in their order.
    pub takes: &'static [Representation],
    /// How its result is.
    pub gives: Representation,
    /// Whether the primitive gives a tuple of such values, of which the instruction names one.
    pub of_tuple: bool,
}

impl Operation {
    /// Whether a value can be taken as it lies for an argument that is represented otherwise. To those
    /// primitives that are for containers of any kind an object is a set of cells: its locations do
    /// not serve instead of it.
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
    }
}

/// A row of a primitive that gives a tuple, of which the operation gives one part.
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
    row("add", Primitive::add, &[Int, Int], Int),
    row("add_pair", Primitive::add, &[Pair, Pair], Pair),
    row("add_pair_int", Primitive::add, &[Pair, Int], Pair),
    row("add_int_pair", Primitive::add, &[Int, Pair], Pair),
    row("subtract", Primitive::subtract, &[Int, Int], Int),
    row("subtract_pair", Primitive::subtract, &[Pair, Pair], Pair),
    row("subtract_pair_int", Primitive::subtract, &[Pair, Int], Pair),
    row("subtract_int_pair", Primitive::subtract, &[Int, Pair], Pair),
    row("multiply", Primitive::multiply, &[Int, Int], Int),
    row("multiply_pair", Primitive::multiply, &[Pair, Pair], Pair),
    row("multiply_pair_int", Primitive::multiply, &[Pair, Int], Pair),
    row("multiply_int_pair", Primitive::multiply, &[Int, Pair], Pair),
    row("divide", Primitive::divide, &[Int, Int], Int),
    row("divide_pair", Primitive::divide, &[Pair, Pair], Pair),
    row("divide_pair_int", Primitive::divide, &[Pair, Int], Pair),
    row("divide_int_pair", Primitive::divide, &[Int, Pair], Pair),
    row("invert", Primitive::invert, &[Int], Int),
    row("invert_pair", Primitive::invert, &[Pair], Pair),
    row("doubled", Primitive::double, &[Int], Int),
    row("doubled_pair", Primitive::double, &[Pair], Pair),
    row("halve", Primitive::halve, &[Int], Int),
    row("halve_pair", Primitive::halve, &[Pair], Pair),
    row("increment", Primitive::increment, &[Int], Int),
    row("increment_pair", Primitive::increment, &[Pair], Pair),
    row("decrement", Primitive::decrement, &[Int], Int),
    row("decrement_pair", Primitive::decrement, &[Pair], Pair),
    row("crement", Primitive::crement, &[Int], Int),
    row("crement_pair", Primitive::crement, &[Pair], Pair),
    row("sign", Primitive::sign, &[Int], Int),
    row("sign_pair", Primitive::sign, &[Pair], Pair),
    row("even", Primitive::even, &[Int], Int),
    row("positive", Primitive::positive, &[Int], Int),
    row("greater", Primitive::greater, &[Int, Int], Int),
    row("flip", Primitive::flip, &[Int], Int),
    row("both", Primitive::both, &[Int, Int], Int),
    row("either_int", Primitive::either, &[Int, Int], Int),
    row("toivec", Primitive::toivec, &[Int], Pair),
    row("tojvec", Primitive::tojvec, &[Int], Pair),
    row("astuple", Primitive::astuple, &[Int, Int], Pair),
    row("first_pair", Primitive::first, &[Pair], Int),
    row("last_pair", Primitive::last, &[Pair], Int),
    row("maximum_pair", Primitive::maximum, &[Pair], Int),
    row("minimum_pair", Primitive::minimum, &[Pair], Int),
    row("equality", Primitive::equality, &[Int, Int], Int),
    row("equality_pair", Primitive::equality, &[Pair, Pair], Int),
    row("equality_grid", Primitive::equality, &[Grid, Grid], Int),
    row("identity", Primitive::identity, &[Grid], Grid),
    row("identity_int", Primitive::identity, &[Int], Int),
    row("identity_pair", Primitive::identity, &[Pair], Pair),
    row("identity_colours", Primitive::identity, &[Colours], Colours),
    row("identity_object", Primitive::identity, &[Object], Object),
    row("identity_patch", Primitive::identity, &[Patch], Patch),
    row("branch", Primitive::branch, &[Int, Grid, Grid], Grid),
    row("branch_int", Primitive::branch, &[Int, Int, Int], Int),
    row("branch_pair", Primitive::branch, &[Int, Pair, Pair], Pair),
    row("branch_colours", Primitive::branch, &[Int, Colours, Colours], Colours),
    row("branch_object", Primitive::branch, &[Int, Object, Object], Object),
    row("branch_object_patch", Primitive::branch, &[Int, Object, Patch], Patch),
    row("branch_patch_object", Primitive::branch, &[Int, Patch, Object], Patch),
    row("branch_patch", Primitive::branch, &[Int, Patch, Patch], Patch),
    // ops/colours.cuh
    row("replace", Primitive::replace, &[Grid, Int, Int], Grid),
    row("exchange", Primitive::switch, &[Grid, Int, Int], Grid),
    row("ofcolor", Primitive::ofcolor, &[Grid, Int], Patch),
    row("cellwise", Primitive::cellwise, &[Grid, Grid, Int], Grid),
    row("colorcount", Primitive::colorcount, &[Grid, Int], Int),
    row("colorcount_object", Primitive::colorcount, &[Object, Int], Int),
    row("mostcolor", Primitive::mostcolor, &[Grid], Int),
    row("mostcolor_object", Primitive::mostcolor, &[Object], Int),
    row("leastcolor", Primitive::leastcolor, &[Grid], Int),
    row("leastcolor_object", Primitive::leastcolor, &[Object], Int),
    row("palette", Primitive::palette, &[Grid], Colours),
    row("palette_object", Primitive::palette, &[Object], Colours),
    row("numcolors", Primitive::numcolors, &[Grid], Int),
    row("numcolors_object", Primitive::numcolors, &[Object], Int),
    row("color", Primitive::color, &[Object], Int),
    row("recolor", Primitive::recolor, &[Int, Patch], Object),
    row("toobject", Primitive::toobject, &[Patch, Grid], Object),
    row("first_colours", Primitive::first, &[Colours], Int),
    row("last_colours", Primitive::last, &[Colours], Int),
    row("minimum_colours", Primitive::minimum, &[Colours], Int),
    row("maximum_colours", Primitive::maximum, &[Colours], Int),
    row("other_colours", Primitive::other, &[Colours, Int], Int),
    row("size_colours", Primitive::size, &[Colours], Int),
    row("contained_colours", Primitive::contained, &[Int, Colours], Int),
    row("equality_colours", Primitive::equality, &[Colours, Colours], Int),
    row("combine_colours", Primitive::combine, &[Colours, Colours], Colours),
    row("intersection_colours", Primitive::intersection, &[Colours, Colours], Colours),
    row("difference_colours", Primitive::difference, &[Colours, Colours], Colours),
    row("initset_colours", Primitive::initset, &[Int], Colours),
    row("insert_colours", Primitive::insert, &[Int, Colours], Colours),
    row("remove_colours", Primitive::remove, &[Int, Colours], Colours),
    // ops/painting.cuh
    row("fill", Primitive::fill, &[Grid, Int, Patch], Grid),
    row("paint", Primitive::paint, &[Grid, Object], Grid),
    row("underfill", Primitive::underfill, &[Grid, Int, Patch], Grid),
    row("underpaint", Primitive::underpaint, &[Grid, Object], Grid),
    row("cover", Primitive::cover, &[Grid, Patch], Grid),
    row("move", Primitive::r#move, &[Grid, Object, Pair], Grid),
    // ops/transforms.cuh
    row("hmirror", Primitive::hmirror, &[Grid], Grid),
    row("vmirror", Primitive::vmirror, &[Grid], Grid),
    row("dmirror", Primitive::dmirror, &[Grid], Grid),
    row("cmirror", Primitive::cmirror, &[Grid], Grid),
    row("rot90", Primitive::rot90, &[Grid], Grid),
    row("rot180", Primitive::rot180, &[Grid], Grid),
    row("rot270", Primitive::rot270, &[Grid], Grid),
    row("crop", Primitive::crop, &[Grid, Pair, Pair], Grid),
    row("subgrid", Primitive::subgrid, &[Patch, Grid], Grid),
    row("trim", Primitive::trim, &[Grid], Grid),
    row("tophalf", Primitive::tophalf, &[Grid], Grid),
    row("bottomhalf", Primitive::bottomhalf, &[Grid], Grid),
    row("lefthalf", Primitive::lefthalf, &[Grid], Grid),
    row("righthalf", Primitive::righthalf, &[Grid], Grid),
    row_of_tuple("hsplit", Primitive::hsplit, &[Grid, Int], Grid),
    row_of_tuple("vsplit", Primitive::vsplit, &[Grid, Int], Grid),
    row("hconcat", Primitive::hconcat, &[Grid, Grid], Grid),
    row("vconcat", Primitive::vconcat, &[Grid, Grid], Grid),
    row("dedupe", Primitive::dedupe, &[Grid], Grid),
    row("compress", Primitive::compress, &[Grid], Grid),
    row("canvas", Primitive::canvas, &[Int, Pair], Grid),
    row("asindices", Primitive::asindices, &[Grid], Patch),
    row("asobject", Primitive::asobject, &[Grid], Object),
    row("index", Primitive::index, &[Grid, Pair], Int),
    row("height_grid", Primitive::height, &[Grid], Int),
    row("width_grid", Primitive::width, &[Grid], Int),
    row("shape_grid", Primitive::shape, &[Grid], Pair),
    row("portrait_grid", Primitive::portrait, &[Grid], Int),
    row("square_grid", Primitive::square, &[Grid], Int),
    row("size_grid", Primitive::size, &[Grid], Int),
    // ops/scaling.cuh
    row("hupscale", Primitive::hupscale, &[Grid, Int], Grid),
    row("vupscale", Primitive::vupscale, &[Grid, Int], Grid),
    row("upscale", Primitive::upscale, &[Grid, Int], Grid),
    row("upscale_object", Primitive::upscale, &[Object, Int], Object),
    row("downscale", Primitive::downscale, &[Grid, Int], Grid),
    // ops/mirrors.cuh
    row("hmirror_object", Primitive::hmirror, &[Object], Object),
    row("hmirror_patch", Primitive::hmirror, &[Patch], Patch),
    row("vmirror_object", Primitive::vmirror, &[Object], Object),
    row("vmirror_patch", Primitive::vmirror, &[Patch], Patch),
    row("dmirror_object", Primitive::dmirror, &[Object], Object),
    row("dmirror_patch", Primitive::dmirror, &[Patch], Patch),
    row("cmirror_object", Primitive::cmirror, &[Object], Object),
    row("cmirror_patch", Primitive::cmirror, &[Patch], Patch),
    // ops/sets.cuh
    row("combine_object", Primitive::combine, &[Object, Object], Object),
    row("combine", Primitive::combine, &[Patch, Patch], Patch),
    row("intersection_object", Primitive::intersection, &[Object, Object], Object),
    row("intersection", Primitive::intersection, &[Patch, Patch], Patch),
    row("difference_object", Primitive::difference, &[Object, Object], Object),
    row("difference", Primitive::difference, &[Patch, Patch], Patch),
    row("equality_object", Primitive::equality, &[Object, Object], Int),
    row("equality_patch", Primitive::equality, &[Patch, Patch], Int),
    row("contained", Primitive::contained, &[Pair, Patch], Int),
    row("insert", Primitive::insert, &[Pair, Patch], Patch),
    row("remove", Primitive::remove, &[Pair, Patch], Patch),
    row("initset", Primitive::initset, &[Pair], Patch),
    row("size_object", Primitive::size, &[Object], Int),
    row("size", Primitive::size, &[Patch], Int),
    row("first", Primitive::first, &[Patch], Pair),
    row("last", Primitive::last, &[Patch], Pair),
    row("toindices", Primitive::toindices, &[Patch], Patch),
    // ops/extents.cuh
    row("height", Primitive::height, &[Patch], Int),
    row("width", Primitive::width, &[Patch], Int),
    row("shape", Primitive::shape, &[Patch], Pair),
    row("portrait", Primitive::portrait, &[Patch], Int),
    row("square", Primitive::square, &[Patch], Int),
    row("vline", Primitive::vline, &[Patch], Int),
    row("hline", Primitive::hline, &[Patch], Int),
    row("uppermost", Primitive::uppermost, &[Patch], Int),
    row("lowermost", Primitive::lowermost, &[Patch], Int),
    row("leftmost", Primitive::leftmost, &[Patch], Int),
    row("rightmost", Primitive::rightmost, &[Patch], Int),
    row("ulcorner", Primitive::ulcorner, &[Patch], Pair),
    row("urcorner", Primitive::urcorner, &[Patch], Pair),
    row("llcorner", Primitive::llcorner, &[Patch], Pair),
    row("lrcorner", Primitive::lrcorner, &[Patch], Pair),
    row("center", Primitive::center, &[Patch], Pair),
    row("centerofmass", Primitive::centerofmass, &[Patch], Pair),
    row("position", Primitive::position, &[Patch, Patch], Pair),
    // ops/relations.cuh
    row("hmatching", Primitive::hmatching, &[Patch, Patch], Int),
    row("vmatching", Primitive::vmatching, &[Patch, Patch], Int),
    row("manhattan", Primitive::manhattan, &[Patch, Patch], Int),
    row("adjacent", Primitive::adjacent, &[Patch, Patch], Int),
    row("bordering", Primitive::bordering, &[Patch, Grid], Int),
    row("gravitate", Primitive::gravitate, &[Patch, Patch], Pair),
    // ops/outlines.cuh
    row("dneighbors", Primitive::dneighbors, &[Pair], Patch),
    row("ineighbors", Primitive::ineighbors, &[Pair], Patch),
    row("neighbors", Primitive::neighbors, &[Pair], Patch),
    row("corners", Primitive::corners, &[Patch], Patch),
    row("connect", Primitive::connect, &[Pair, Pair], Patch),
    row("shoot", Primitive::shoot, &[Pair, Pair], Patch),
    row("hfrontier", Primitive::hfrontier, &[Pair], Patch),
    row("vfrontier", Primitive::vfrontier, &[Pair], Patch),
    row("backdrop", Primitive::backdrop, &[Patch], Patch),
    row("delta", Primitive::delta, &[Patch], Patch),
    row("inbox", Primitive::inbox, &[Patch], Patch),
    row("outbox", Primitive::outbox, &[Patch], Patch),
    row("box", Primitive::r#box, &[Patch], Patch),
    row("shift_object", Primitive::shift, &[Object, Pair], Object),
    row("shift", Primitive::shift, &[Patch, Pair], Patch),
    row("normalize_object", Primitive::normalize, &[Object], Object),
    row("normalize", Primitive::normalize, &[Patch], Patch),
    // ops/components.cuh
    row("objects", Primitive::objects, &[Grid, Flag, Flag, Flag], Objects),
    row("partition", Primitive::partition, &[Grid], Objects),
    row("fgpartition", Primitive::fgpartition, &[Grid], Objects),
    row("frontiers", Primitive::frontiers, &[Grid], Objects),
    row("merge_of_objects", Primitive::merge, &[Objects], Object),
    row("first_of_objects", Primitive::first, &[Objects], Object),
    row("last_of_objects", Primitive::last, &[Objects], Object),
    row("size_of_objects", Primitive::size, &[Objects], Int),
    row("sizefilter", Primitive::sizefilter, &[Objects, Int], Objects),
    row("colorfilter", Primitive::colorfilter, &[Objects, Int], Objects),
    row("argmax", Primitive::argmax, &[Objects, Key], Object),
    row("argmin", Primitive::argmin, &[Objects, Key], Object),
    row("valmax", Primitive::valmax, &[Objects, Key], Int),
    row("valmin", Primitive::valmin, &[Objects, Key], Int),
    row("contained_of_objects", Primitive::contained, &[Object, Objects], Int),
    row("remove_of_objects", Primitive::remove, &[Object, Objects], Objects),
    row("difference_of_objects", Primitive::difference, &[Objects, Objects], Objects),
    row("combine_of_objects", Primitive::combine, &[Objects, Objects], Objects),
    // ops/patterns.cuh
    row("occurrences", Primitive::occurrences, &[Grid, Object], Patch),
    row("hperiod", Primitive::hperiod, &[Object], Int),
    row("vperiod", Primitive::vperiod, &[Object], Int),
    ]
};

/// What the kernels know of the operations.
pub(crate) fn signatures() -> Vec<OperationSignature> {
    let signature = |operation: &Operation| {
        let operands = operation.takes.iter().filter(|taken| taken.is_operand());
        OperationSignature {
            name: operation.name,
            gives: operation.gives.symbol(),
            takes: operands.map(|taken| taken.symbol()).collect(),
        }
    };
    OPERATIONS.iter().map(signature).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::interface::constants::OPERANDS;

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
