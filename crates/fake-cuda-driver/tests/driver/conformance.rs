//! The conformance suite on the driver's GPU.

use arc_check::conformance::suite::Extent;
use arc_check::selfcheck::device::{Checked, conformance};

use crate::support::{Case, case};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("conformance, streams when they are waited for", suite),
        case("conformance, streams at random", suite).with("progress=3"),
    ]
}

fn suite() {
    let report = conformance(Checked::Cuda, Extent::of(1, 1), || {}).unwrap();
    assert!(report.is_passed(), "{report}");
}
