//! How many locations of a set lie around a patch, or between its locations.

use crate::kernel::kernels;
use crate::planes::{outlines, sets};

kernels! {
    /// How many locations of the set `b` are on the outline around the box of `a`.
    COMMON_WITH_OUTBOX |m, _, step| {
        let (a, b) = (m.shape(step.a), m.shape(step.b));
        if a.is_empty() {
            // To make the outline fails, not to count.
            return Err(Halt::Fails);
        }
        Ok(Slot::of_int(outlines::common_with_outbox(a, b)? as i32))
    }

    /// How many locations of the set `b` are in the box of `a` and not in `a`.
    COMMON_WITH_DELTA |m, _, step| {
        let (a, b) = (m.shape(step.a), m.shape(step.b));
        Ok(Slot::of_int((outlines::common_with_box(a, b) - sets::common(a, b)) as i32))
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::check_text;

    #[test]
    fn what_lies_around_is_counted_as_in_the_reference() {
        for body in [
            "x4 = chain(size, lbind(intersection, x2), outbox)\n    O = apply(x4, x1)",
            "x4 = chain(size, rbind(intersection, x2), delta)\n    O = apply(x4, x1)",
            "x4 = rbind(intersection, x2)\n    x5 = chain(size, x4, outbox)\n    x6 = chain(size, x4, delta)\n    x7 = fork(add, x5, x6)\n    O = argmax(x1, x7)",
            "x4 = outbox(x2)\n    x5 = intersection(x3, x4)\n    O = size(x5)",
            "x4 = shift(x3, (-3, 30))\n    x5 = delta(x4)\n    x6 = intersection(x5, x3)\n    O = size(x6)",
        ] {
            let text = format!(
                "def f(I):\n    x1 = objects(I, T, F, F)\n    x2 = ofcolor(I, ZERO)\n    x3 = ofcolor(I, ONE)\n    {body}\n    return O\n"
            );
            let answered = check_text(&text, 9, 80);
            assert!(answered > 30, "{text}{answered}");
        }
    }
}
