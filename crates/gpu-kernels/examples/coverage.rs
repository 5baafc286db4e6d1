//! Which programs of a file run whole on a device, and why the others do not:
//! `cargo run --example coverage -p gpu-kernels -- FILE [NAME]`.
//!
//! With a name the device program of that program is printed, or its form where there is none.

use std::collections::BTreeMap;
use std::error::Error;

use arc_dsl::parse_programs;
use arc_form::{Instruction, Op, Region, specialise};
use gpu_kernels::encode;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file of programs?")?;
    let name = arguments.next();
    let text = std::fs::read_to_string(&file)?;
    let (mut whole, mut all) = (0, 0);
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut census: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for program in parse_programs(&text) {
        let program = match program {
            Ok(program) => program,
            Err(error) => {
                reasons.entry(format!("not parsed: {error}")).or_default();
                continue;
            }
        };
        all += 1;
        if name.as_ref().is_some_and(|name| name != program.name()) {
            continue;
        }
        let form = match specialise(&program) {
            Ok(form) => form,
            Err(error) => {
                let why = format!("no form: {error}");
                reasons.entry(why).or_default().push(program.name().into());
                continue;
            }
        };
        if name.is_some() {
            println!("{form}");
        }
        let mut types = vec![String::new(); form.ids as usize];
        walk(&form.body, &mut types, &mut |signature| {
            *census
                .entry(signature)
                .or_default()
                .entry(program.name().to_owned())
                .or_default() += 1;
        });
        match encode(&form) {
            Ok(encoded) => {
                whole += 1;
                if name.is_some() {
                    println!("{encoded}");
                }
            }
            Err(reason) => reasons
                .entry(reason.to_string())
                .or_default()
                .push(program.name().to_owned()),
        }
    }
    println!("{whole} of {all} programs run whole on a device");
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
    for (reason, programs) in reasons {
        let some: Vec<_> = programs.iter().take(3).map(String::as_str).collect();
        println!("{:>5}  {reason}: {} ..", programs.len(), some.join(", "));
    }
    if std::env::var_os("CENSUS").is_some() {
        let mut census: Vec<_> = census.into_iter().collect();
        census.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
        for (signature, programs) in census {
            println!("{:>5}  {signature}", programs.len());
        }
    }
    Ok(())
}

fn walk(region: &Region, types: &mut Vec<String>, found: &mut dyn FnMut(String)) {
    for (id, ty) in &region.parameters {
        types[id.index()] = ty.to_string();
    }
    for instruction in &region.instructions {
        types[instruction.id.index()] = instruction.ty.to_string();
        for region in &instruction.regions {
            walk(region, types, found);
        }
        found(signature(instruction, types));
    }
}

fn signature(instruction: &Instruction, types: &[String]) -> String {
    let operand = |operand: &arc_form::Operand| match operand {
        arc_form::Operand::Id(id) => types[id.index()].clone(),
        arc_form::Operand::Constant(value) => {
            let ty = arc_form::Type::of(value).map_or("?".into(), |ty| ty.to_string());
            format!("={ty}")
        }
    };
    let arguments: Vec<_> = instruction.arguments.iter().map(operand).collect();
    let bodies: Vec<_> = instruction
        .regions
        .iter()
        .map(|region| operand(region.result()))
        .collect();
    let op = match instruction.op {
        Op::Call(primitive) => primitive.to_string(),
        other => format!("<{other:?}>"),
    };
    let bodies = if bodies.is_empty() {
        String::new()
    } else {
        format!(" {{{}}}", bodies.join("; "))
    };
    let checked = if instruction.checked { "!" } else { "" };
    format!(
        "{op}({}){bodies} -> {}{checked}",
        arguments.join(", "),
        instruction.ty
    )
}
