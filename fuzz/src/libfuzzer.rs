//! One of the [targets](mega_batch_fuzz::TARGETS) under libFuzzer: the one that `FUZZ_TARGET` names.

#![no_main]

use std::process::exit;
use std::sync::OnceLock;

use mega_batch_fuzz::{Target, target};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let Some(chosen) = target(&name) else {
            eprintln!("FUZZ_TARGET: expected the name of a target, found `{name}`");
            exit(2);
        };
        CHOSEN.get_or_init(|| chosen);
    },
    |data: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.run)(data);
        }
    }
);
