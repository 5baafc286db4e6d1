//! From the train pairs of an ARC task to attempts at its test outputs, each of them a program.

pub mod language;
