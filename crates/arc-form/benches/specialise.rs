//! The cost of compiling before anything runs: programs to forms, in time per step of the form.
//!
//! `cargo bench --package arc-form --bench specialise`

#![allow(missing_docs, reason = "what criterion_group! makes has none")]

use std::hint::black_box;

use arc_form::{Specialiser, specialise};
use arc_tasks::builtin::{self, BuiltinKind};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn forms(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("specialise");
    for kind in BuiltinKind::ALL {
        let programs: Vec<_> = builtin::all()
            .iter()
            .filter(|built_in| built_in.kind() == *kind)
            .map(builtin::BuiltIn::program)
            .collect();
        let forms = programs
            .iter()
            .filter_map(|program| specialise(program).ok());
        let steps: usize = forms.map(|form| form.body.len()).sum();
        group.throughput(Throughput::Elements(steps as u64));
        let mut specialiser = Specialiser::default();
        group.bench_function(BenchmarkId::from_parameter(kind.name()), |bencher| {
            bencher.iter(|| {
                for program in &programs {
                    let _ = black_box(specialiser.specialise(black_box(program)));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, forms);
criterion_main!(benches);
