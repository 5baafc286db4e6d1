//! The kernels, and what each is given.

use std::fmt::Write as _;

use super::text::{About, comment};

/// An argument of a kernel.
#[derive(Debug)]
pub enum Argument<'a, B> {
    /// Device memory, by its address.
    Buffer(&'a B),
    /// An unsigned 32-bit number.
    Number(u32),
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type in the kernels: a pointer, or a number of 32 bits.
    pub ty: &'static str,
    /// Its documentation, by lines.
    pub about: &'static [&'static str],
}

impl Parameter {
    /// Bytes of the parameter.
    pub fn bytes(self) -> usize {
        if self.ty.ends_with('*') { 8 } else { 4 }
    }
}

/// A parameter's type in the kernels and on the host, and the host's value as an argument.
macro_rules! passed {
    (how: from $ty:ident) => {
        concat!("const ", stringify!($ty), "*")
    };
    (how: to $ty:ident) => {
        concat!(stringify!($ty), "*")
    };
    (how: number) => {
        "uint32_t"
    };
    (type: $lifetime:lifetime $buffer:ident from $ty:ident) => {
        &$lifetime $buffer
    };
    (type: $lifetime:lifetime $buffer:ident to $ty:ident) => {
        &$lifetime $buffer
    };
    (type: $lifetime:lifetime $buffer:ident number) => {
        u32
    };
    (argument: $value:expr, from $ty:ident) => {
        Argument::Buffer($value)
    };
    (argument: $value:expr, to $ty:ident) => {
        Argument::Buffer($value)
    };
    (argument: $value:expr, number) => {
        Argument::Number($value)
    };
}

macro_rules! launches {
    ($(
        $(#[doc = $about:literal])*
        $kernel:ident($arguments:ident) as $symbol:ident {
            $($(#[doc = $field_about:literal])* $field:ident: $how:ident $($ty:ident)?,)*
        }
    )*) => {
        $(
            #[doc = concat!("What the kernel `", stringify!($symbol), "` is given.")]
            pub struct $arguments<'a, B> {
                $($(#[doc = $field_about])* pub $field: passed!(type: 'a B $how $($ty)?),)*
            }

            impl<'a, B> $arguments<'a, B> {
                /// In the order of the kernel's parameters.
                pub fn list(self) -> Vec<Argument<'a, B>> {
                    vec![$(passed!(argument: self.$field, $how $($ty)?)),*]
                }
            }
        )*

        /// A kernel of the image.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Entry {
            $($(#[doc = $about])* $kernel,)*
        }

        impl Entry {
            /// All there are.
            pub const ALL: &[Entry] = &[$(Entry::$kernel),*];

            /// Its name in the image.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(Entry::$kernel => stringify!($symbol),)*
                }
            }

            /// Its parameters, in order.
            pub fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Entry::$kernel => &[$(Parameter {
                        name: stringify!($field),
                        ty: passed!(how: $how $($ty)?),
                        about: &[$($field_about),*],
                    }),*],)*
                }
            }
        }

        /// All of them as the kernels have them.
        pub(super) fn header() -> String {
            [$(kernel(Entry::$kernel, &[$($about),*])),*].concat()
        }
    };
}

launches! {
    /// Runs programs on their arguments.
    Programs(ProgramsArguments) as arc_programs {
        /// The programs.
        programs: from ProgramRecord,
        /// Their instructions.
        code: from InstructionRecord,
        /// Words of their constants.
        constant_words: from uint32_t,
        /// Units of their constants, by rows.
        constant_units: from uint4,
        /// Words of arguments and of expected grids.
        words: from uint32_t,
        /// Units of arguments and of expected grids, by rows.
        units: from uint4,
        /// The pairs.
        pairs: from PairRecord,
        /// The works, those of other launches among them.
        works: from WorkRecord,
        /// The launch's first work.
        first_work: number,
        /// How many works it has.
        work_count: number,
        /// Words of results.
        result_words: to uint32_t,
        /// Units of results, by rows.
        result_units: to uint4,
        /// The verdicts, each a `VerdictByte`.
        verdicts: to uint8_t,
        /// How many works the launch's warps have taken beside their first ones: 0 before a launch and behind it.
        taken: to uint32_t,
        /// Bytes of the largest pool, a multiple of `UNIT_BYTES`.
        pool_bytes: number,
        /// How many pools a warp has, one for each evaluation side by side: from 1 to
        /// `MAX_SIDE_BY_SIDE`.
        side_by_side: number,
        /// The arenas, one a warp of the launch; none where no program of it has lists or loops.
        arenas: to uint32_t,
        /// Words of an arena.
        arena_words: number,
    }

    /// Copies memory, so that programs have something to be measured against.
    Copy(CopyArguments) as arc_copy {
        /// What is copied.
        from: from uint4,
        /// Where it goes.
        to: to uint4,
        /// How many times `ROW_BYTES` they are.
        count: number,
    }
}

/// A macro with the kernel's parameters.
fn kernel(entry: Entry, about: About<'_>) -> String {
    let mut text = comment("", about);
    for parameter in entry.parameters() {
        let name = format!("- {}:", parameter.name);
        text += &comment("", &[&[&*name], parameter.about].concat());
    }
    let parameters = entry.parameters().iter();
    let parameters: Vec<_> = parameters
        .map(|it| format!("{} {}", it.ty, it.name))
        .collect();
    let _ = writeln!(
        text,
        "#define {}_PARAMETERS \\\n    {}",
        entry.symbol().to_uppercase(),
        parameters.join(", \\\n    ")
    );
    text
}
