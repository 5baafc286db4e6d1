//! Where an object occurs on a grid, how it repeats, and the lines of one colour.
