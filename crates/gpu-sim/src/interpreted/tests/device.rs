//! The device: what it accepts, refuses and counts.

use super::*;

#[test]
fn kernels_come_to_an_end() {
    fails(
        "LOOP:\n\tadd.s32 %r3, %r2, 1;\n\tbra.uni LOOP;",
        2,
        0,
        "more than 10000 instructions",
    );
    fails(
        "\tmov.u32 %r4, 0;\n\tdiv.u32 %r3, %r2, %r4;",
        1,
        0,
        "division by zero",
    );
    fails("\ttrap;", 0, 0, "a trap");
}

#[test]
fn what_is_not_known_is_named() {
    let text = kernel(
        "\tfrobnicate.b32 %r3, %r2;\n\tadd.f32 %r3, %r2, %r2;\n\tfrobnicate.b32 %r3, %r3;\n\tadd.s32 %r3, %r77, 1;",
    );
    let error = Module::parse(&text).unwrap_err().to_string();
    let lines = [BODY, BODY + 1, BODY + 3];
    assert_eq!(
        error,
        format!(
            "line {}: unknown instruction frobnicate.b32 of 2 operands; \
             line {}: unknown instruction add.f32 of 3 operands; \
             line {}: unknown instruction add.s32 of 3 operands",
            lines[0], lines[1], lines[2]
        )
    );
    for (text, named) in [
        (kernel("\tbra NOWHERE;"), "no label NOWHERE"),
        (kernel("\t.reg .f32 %f<3>;"), "registers .f32 %f < 3 >"),
        (kernel("\tcall.uni other;"), "no function other"),
        (kernel("").replace(".const", ".surface"), ".surface"),
        (kernel("{"), "the end of a function is missing"),
        (
            kernel("").replace("\tret;\n", ""),
            "a function without a return at its end",
        ),
    ] {
        let error = Module::parse(&text).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn recursion_is_refused() {
    let function =
        ".func one()\n{\n\tcall.uni two;\n\tret;\n}\n.func two()\n{\n\tcall.uni one;\n\tret;\n}\n";
    let text = kernel("").replace(".visible .entry", &format!("{function}.visible .entry"));
    let error = Module::parse(&text).unwrap_err().to_string();
    assert!(error.contains("recursion"), "{error}");
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let device = device(&kernel("\tmov.u32 %r3, 1;"));
    let buffer = device.allocate(128).unwrap();
    let launch = |threads, shared_bytes, arguments| Launch {
        entry: Entry::Copy,
        blocks: 1,
        threads,
        shared_bytes,
        arguments,
    };
    let arguments = || {
        vec![
            Argument::Buffer(&buffer),
            Argument::Buffer(&buffer),
            Argument::Number(1),
        ]
    };
    for launch in [
        launch(31, 0, arguments()),
        launch(0, 0, arguments()),
        launch(32, 1 << 20, arguments()),
        launch(32, 0, vec![Argument::Number(1)]),
        Launch {
            entry: Entry::Programs,
            ..launch(32, 0, arguments())
        },
    ] {
        let refused = device.launch(&launch);
        assert!(
            matches!(refused, Err(DeviceError::Launch { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn memory_is_counted_and_bounded() {
    let interpretation = Interpretation {
        bytes: 1000,
        ..Interpretation::default()
    };
    let device = open::interpreted(0, &interpretation).unwrap();
    let stream = device.new_stream().unwrap();
    let first = device.allocate(600).unwrap();
    let full = stream.allocate(500).unwrap_err();
    let expected = DeviceError::OutOfMemory {
        requested: 500,
        free: 400,
        total: 1000,
    };
    assert_eq!(full, expected);
    drop(first);
    let mut second = stream.allocate(500).unwrap();
    assert_eq!(device.memory().unwrap().free, 500);
    let past = device.upload(&[1; 3], &mut second, 498);
    assert!(matches!(
        past,
        Err(DeviceError::PastEnd { length: 500, .. })
    ));
}

#[test]
fn the_embedded_image_is_known() {
    let device = open::interpreted(0, &Interpretation::default()).unwrap();
    for entry in Entry::ALL {
        let bytes = entry.parameters().iter().map(|one| one.bytes() as u32);
        let found = device.module().parameters(entry.symbol());
        assert_eq!(found, Some(bytes.collect()), "{entry:?}");
    }
    let broken = PTX.replacen("popc.b32", "popc.q32", 1);
    let line = 1 + broken
        .lines()
        .position(|line| line.contains("popc.q32"))
        .unwrap();
    let error = Module::parse(&broken).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("line {line}: unknown instruction popc.q32 of 2 operands")
    );
}

#[test]
fn what_is_executed_is_counted_by_line() {
    let text = kernel(
        "\tadd.s32 %r3, %r2, 1; // a comment
\tmul.wide.u32 %rd9, %r3, 4;
\tsetp.lt.u32 %p1, %r1, 4;
\t@%p1 bra OUT;
\tadd.s32 %r3, %r3, 1;
OUT:
\tst.global.u32 [%rd4], %r3;",
    );
    let device = device(&text);
    launch_copy(&device, &[0; 32], 32, 0).unwrap();
    let counts = device.take_counts();
    assert_eq!(counts.issued(), 15);
    let lines = counts.lines(device.module());
    assert_eq!(lines.map(|(_, count)| count).sum::<u64>(), 15);
    assert_eq!(device.take_counts().issued(), 0);
}
