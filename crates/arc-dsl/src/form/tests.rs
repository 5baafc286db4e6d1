//! The form against the interpreter.
