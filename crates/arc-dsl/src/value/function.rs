//! [`Function`]: a function value created by `compose`, `fork`, `lbind` and similar primitives.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::value::Value;

/// A function created at run time.
///
/// Two of them are equal if they are the same function, as in Python, in whichever thread they were created. The `id`
/// identifies a function, and orders the functions of one thread by age.
#[derive(Debug)]
pub struct Function {
    id: u64,
    kind: FunctionKind,
    weight: u32,
    depth: u16,
    parameters: u8,
}

/// How a [`Function`] is composed. All parts that are called are callable values.
#[derive(Debug)]
pub enum FunctionKind {
    /// `x -> outer(inner(x))`
    Compose {
        /// Applied last.
        outer: Value,
        /// Applied first.
        inner: Value,
    },
    /// `x -> h(g(f(x)))`
    Chain {
        /// Applied last.
        h: Value,
        /// Applied second.
        g: Value,
        /// Applied first.
        f: Value,
    },
    /// `x -> outer(a(x), b(x))`
    Fork {
        /// Applied to both results.
        outer: Value,
        /// Gives the first argument of `outer`.
        a: Value,
        /// Gives the second argument of `outer`.
        b: Value,
    },
    /// `x -> function(x) == target`
    Matcher {
        /// Applied to the argument.
        function: Value,
        /// What its result is compared with.
        target: Value,
    },
    /// `function` with its first parameter fixed.
    LBind {
        /// The function that is bound.
        function: Value,
        /// Its first argument.
        fixed: Value,
        /// How many parameters remain.
        parameters: u8,
    },
    /// `function` with its last parameter fixed.
    RBind {
        /// The function that is bound.
        function: Value,
        /// Its last argument.
        fixed: Value,
        /// How many parameters remain.
        parameters: u8,
    },
    /// `function` applied `n` times, `n` at least 2.
    Power {
        /// Applied over and over.
        function: Value,
        /// How often.
        n: i32,
    },
}

/// How many ids a thread reserves at once.
const IDS_AT_ONCE: u64 = 1 << 20;

/// An id that no other function of the process has, larger than the earlier ids of this thread.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        /// The next id of the thread, and the end of the ids that it has reserved.
        static TAKEN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }
    TAKEN.with(|taken| {
        let (mut next, mut end) = taken.get();
        if next == end {
            next = NEXT.fetch_add(IDS_AT_ONCE, Relaxed);
            end = next + IDS_AT_ONCE;
        }
        taken.set((next + 1, end));
        next
    })
}

/// The weight of a function without its parts: the value that refers to it, and the function itself.
const FUNCTION_WEIGHT: u32 = 7;

// Checks that a weight never stands for less memory than is held: the value, two reference counts and the function,
// whose parts are counted separately. There is at least one part.
const _: () = assert!(16 + 16 + size_of::<Function>() <= 16 * (FUNCTION_WEIGHT as usize + 1));

impl Function {
    pub(crate) fn new(kind: FunctionKind) -> Self {
        let (mut weight, mut depth) = (FUNCTION_WEIGHT, 0);
        for part in kind.parts().into_iter().flatten() {
            weight = weight.saturating_add(part.weight());
            depth = depth.max(part.depth());
        }
        let depth = depth.saturating_add(1);
        let parameters = match kind {
            FunctionKind::LBind { parameters, .. } | FunctionKind::RBind { parameters, .. } => {
                parameters
            }
            _ => 1,
        };
        Self {
            id: next_id(),
            kind,
            weight,
            depth,
            parameters,
        }
    }

    /// How it is composed.
    #[must_use]
    pub fn kind(&self) -> &FunctionKind {
        &self.kind
    }

    /// Identifies the function; within one thread, later functions have larger ids.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn weight(&self) -> u32 {
        self.weight
    }

    pub(crate) fn depth(&self) -> u16 {
        self.depth
    }

    /// How many arguments it takes.
    #[must_use]
    pub fn parameters(&self) -> u8 {
        self.parameters
    }
}

impl FunctionKind {
    /// The values that it is composed of.
    fn parts(&self) -> [Option<&Value>; 3] {
        match self {
            FunctionKind::Compose { outer, inner } => [Some(outer), Some(inner), None],
            FunctionKind::Chain { h, g, f } => [Some(h), Some(g), Some(f)],
            FunctionKind::Fork { outer, a, b } => [Some(outer), Some(a), Some(b)],
            FunctionKind::Matcher { function, target } => [Some(function), Some(target), None],
            FunctionKind::LBind {
                function, fixed, ..
            }
            | FunctionKind::RBind {
                function, fixed, ..
            } => [Some(function), Some(fixed), None],
            FunctionKind::Power { function, .. } => [Some(function), None, None],
        }
    }
}

/// The expression that creates the function.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.kind {
            FunctionKind::Compose { .. } => "compose",
            FunctionKind::Chain { .. } => "chain",
            FunctionKind::Fork { .. } => "fork",
            FunctionKind::Matcher { .. } => "matcher",
            FunctionKind::LBind { .. } => "lbind",
            FunctionKind::RBind { .. } => "rbind",
            FunctionKind::Power { function, n } => return write!(f, "power({function}, {n})"),
        };
        write!(f, "{name}(")?;
        for (at, part) in self.kind.parts().into_iter().flatten().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            part.fmt(f)?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Interpreter, Primitive, Value};

    #[test]
    fn a_function_is_itself_wherever_it_was_made() {
        let interpreter = Interpreter::default();
        let matcher = |target: i32| {
            let arguments = [Value::primitive(Primitive::Color), &Value::Int(target)];
            interpreter
                .call(Value::primitive(Primitive::Matcher), &arguments)
                .unwrap()
        };
        let (three, four) = (matcher(3), matcher(4));
        assert_ne!(three, four);
        assert_ne!(three, matcher(3));
        assert_eq!(three, three.clone());
        let equal = interpreter.call(Value::primitive(Primitive::Equality), &[&three, &four]);
        assert_eq!(equal, Ok(Value::Bool(false)));
        let both = Value::set([three.clone(), four, three]);
        assert_eq!(both.as_container().unwrap().len(), 2);
        // A function created by another thread is a different one, too.
        let elsewhere = std::thread::spawn(move || {
            let arguments = [Value::primitive(Primitive::Color), &Value::Int(3)];
            let interpreter = Interpreter::default();
            interpreter
                .call(Value::primitive(Primitive::Matcher), &arguments)
                .unwrap()
        });
        assert_ne!(matcher(3), elsewhere.join().unwrap());
    }
}
