//! Which text is refused, with its line; no text makes the parser panic.

use super::super::parse::{MOST_DATA, MOST_PARAMETERS, MOST_REGISTERS};
use super::*;

/// Why a module of these lines is refused.
fn refused(lines: &str) -> String {
    let text = format!(".version 8.2\n{lines}");
    Module::parse(&text).unwrap_err().to_string()
}

/// Why a function with these statements is refused.
fn refused_in(statements: &str) -> String {
    refused(&format!(
        ".visible .entry f(.param .u32 p)\n{{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n{statements}\nret;\n}}\n"
    ))
}

#[test]
fn alignments_are_powers_of_two_up_to_128() {
    for align in [
        "0",
        "3",
        "256",
        "-1",
        "18446744073709551615",
        "99999999999999999999",
    ] {
        let error = refused(&format!(".global .align {align} .u8 a;\n"));
        assert_eq!(error, format!("line 2: variable .align {align} .u8 a"));
        let error = refused(&format!(".func f(.param .align {align} .b8 a[4]) ;\n"));
        assert_eq!(error, format!("line 2: parameter aligned to {align}"));
    }
    assert!(Module::parse(".global .align 128 .u8 a;\n").is_ok());
}

#[test]
fn what_asks_for_more_than_there_is_is_refused() {
    let most = u64::from(u32::MAX);
    for count in [MOST_DATA as u64 / 8 + 1, most, u64::MAX] {
        let error = refused(&format!(".global .b64 a[{count}];\n"));
        assert_eq!(
            error,
            format!("line 2: more than {MOST_DATA} bytes of variables")
        );
    }
    for count in [u64::from(MOST_PARAMETERS) / 8 + 1, most] {
        let error = refused(&format!(".func f(.param .b64 a[{count}]) ;\n"));
        assert_eq!(
            error,
            format!("line 2: more than {MOST_PARAMETERS} bytes of parameters")
        );
    }
    for count in [u64::from(MOST_REGISTERS) + 1, most] {
        let error = refused_in(&format!(".reg .pred %p<{count}>;"));
        assert_eq!(
            error,
            format!("line 6: more than {MOST_REGISTERS} registers of a kind")
        );
    }
    // All of them together, too.
    let half = MOST_DATA / 2;
    let error = refused(&format!(
        ".global .b8 a[{half}];\n.global .b8 b[{half}];\n.global .b8 c;\n"
    ));
    assert_eq!(
        error,
        format!("line 4: more than {MOST_DATA} bytes of variables")
    );
    let error = refused(".global .b8 a[2] = {1, 2, 3};\n");
    assert_eq!(error, "line 2: variable .b8 a [ 2 ] = { 1 , 2 , 3 }");
}

#[test]
fn a_number_behind_the_last_register_is_no_register() {
    for number in ["9", "4294967295", "4294967296"] {
        let error = refused_in(&format!(".reg .b32 %x<9>;\nmov.u32 %x{number}, 1;"));
        assert_eq!(error, "line 7: unknown instruction mov.u32 of 2 operands");
    }
}

#[test]
fn vectors_have_as_many_elements_as_the_instruction_says() {
    let six = "{%r1, %r2, %r3, %r4, %r5, %r6}";
    for statement in [
        format!("ld.global.v4.u32 {six}, [%rd1];"),
        format!("st.global.v4.u32 [%rd1], {six};"),
        format!("mov.b64 %rd1, {six};"),
        format!("mov.b64 {six}, %rd1;"),
        "ld.global.v4.u32 {%r1, %r2}, [%rd1];".to_owned(),
        "atom.global.add.u32 {}, [%rd1], 1;".to_owned(),
    ] {
        let error = refused_in(&statement);
        assert!(
            error.starts_with("line 6: unknown instruction "),
            "{statement}: {error}"
        );
    }
    let nested = format!("mov.b64 %rd1, {};", "{".repeat(100_000));
    assert!(refused_in(&nested).contains("expected"));
}

#[test]
fn an_offset_that_leaves_64_bits_is_refused() {
    let most = i64::MAX;
    for address in [format!("[q+{most}]"), "[p+-1]".to_owned()] {
        let error = refused_in(&format!(".param .u32 q;\nld.param.u32 %r1, {address};"));
        let expected = "line 7: unknown instruction ld.param.u32 of 2 operands";
        assert_eq!(error, expected, "{address}");
    }
    let error = refused(&format!(
        ".const .u32 c;\n.entry f()\n{{\n.reg .b32 %r<2>;\nld.const.u32 %r1, [c+{most}];\nret;\n}}\n"
    ));
    assert_eq!(
        error,
        "line 6: unknown instruction ld.const.u32 of 2 operands"
    );
    let error = refused_in("ld.param.u32 %r1, [p+99999999999999999999];");
    assert!(error.contains("no offset"), "{error}");
}

#[test]
fn a_branch_that_is_refused_leads_nowhere() {
    let error = refused_in("ret;\nbra somewhere, else;\n}\n.func g()\n{");
    assert_eq!(error, "line 7: unknown instruction bra of 2 operands");
    let error = refused_in("brx.idx %r1, table, 1;");
    assert_eq!(error, "line 6: unknown instruction brx.idx of 3 operands");
}

#[test]
fn a_call_passes_what_the_function_takes() {
    let call = |parameters: &str, call: &str| {
        refused(&format!(
            ".func (.param .b32 r) g({parameters})\n{{\nret;\n}}\n.entry f()\n{{\n.param .b32 a;\n.param .b64 b;\n\
             {call}\nret;\n}}\n"
        ))
    };
    let error = call(".param .b64 x", "call.uni (a), g, (a);");
    assert_eq!(
        error,
        "line 10: call of g: parameters of [8] bytes expected, [4] found"
    );
    let error = call(".param .b32 x", "call.uni (a), g;");
    assert_eq!(
        error,
        "line 10: call of g: parameters of [4] bytes expected, [] found"
    );
    let error = call(".param .b32 x", "call.uni (b), g, (a);");
    assert_eq!(
        error,
        "line 10: call of g: a result of 4 bytes expected, 8 found"
    );
}

#[test]
fn a_function_has_instructions() {
    assert_eq!(
        refused(".entry f()\n{\n}\n"),
        "line 4: function f without instructions"
    );
}
