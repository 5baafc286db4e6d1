//! What a search calls: primitives, and operations that are derived of them.

/// The derived operations, as functions of the public dialect.
pub const DERIVED: &str = concat!(
    include_str!("language/derived/grids.py"),
    "\n",
    include_str!("language/derived/lines.py"),
    "\n",
    include_str!("language/derived/areas.py"),
    "\n",
    include_str!("language/derived/symmetry.py"),
    "\n",
    include_str!("language/derived/parts.py"),
    "\n",
    include_str!("language/derived/objects.py")
);

pub mod derived;
