//! What a worker replies, of which everything behind the head was written by a program.

use arc_dsl::Grid;

use crate::{Failure, FailureKind, Outputs};

/// How a job ended.
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "no worker replies")
)]
pub(crate) enum Ending {
    Reply(Vec<u8>),
    /// The worker is gone, for a reason.
    Lost(String),
    Cancelled,
}

/// The layout of `worker.py`: why the child was ended, its status, its time; then what it wrote.
const HEAD: usize = 1 + 4 + 8;
const NOTE: usize = 1 + 4 + 4 + 4;
const RECORDS: usize = NOTE + 243;
const ENDED: u8 = 2;
const STEPS: i32 = 113;
const FORBIDDEN: i32 = 114;

/// Takes numbers from the beginning of a slice.
fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

fn part<'a>(bytes: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(first)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A record of the child: a grid, or why there is none.
fn record(bytes: &mut &[u8]) -> Option<Result<Grid, Failure>> {
    let kind = part(bytes, 1)?[0];
    let (line, rows, columns) = (number(bytes)?, number(bytes)?, number(bytes)?);
    let size = (rows as usize).checked_mul(columns as usize)?;
    let data = part(bytes, size)?;
    let kind = match kind {
        0 if size > 0 => {
            let cells = data.iter().map(|cell| *cell as i8).collect();
            return Some(Ok(Grid::from_cells(rows as usize, columns as usize, cells)));
        }
        1 => FailureKind::Exception,
        2 => FailureKind::NotAGrid,
        3 => FailureKind::Memory,
        4 => FailureKind::NoProgram,
        _ => return None,
    };
    let message = text(data);
    Some(Err(Failure {
        kind,
        line,
        message,
    }))
}

/// The outputs in a reply.
pub(crate) fn outputs(reply: &[u8], inputs: usize) -> Outputs {
    read(reply, inputs).unwrap_or_else(|| {
        let failure = crashed("the program has written over its results".to_owned());
        vec![Err(failure); inputs]
    })
}

/// A program whose process ended.
pub(crate) fn crashed(message: String) -> Failure {
    Failure {
        kind: FailureKind::Crashed,
        line: 0,
        message,
    }
}

fn read(mut reply: &[u8], inputs: usize) -> Option<Outputs> {
    let mut head = part(&mut reply, HEAD)?;
    let why = part(&mut head, 1)?[0];
    let status = number(&mut head)? as i32;
    let mut records = reply.get(RECORDS..)?;
    let state = part(&mut reply, 1)?[0];
    let _used = number(&mut reply)?;
    let (line, size) = (number(&mut reply)?, number(&mut reply)? as usize);
    let note = text(reply.get(..size)?);
    let mut outputs = Vec::with_capacity(inputs);
    while outputs.len() < inputs && !records.is_empty() {
        outputs.push(record(&mut records)?);
    }
    let (kind, message) = match (why, status) {
        (1, _) => (
            FailureKind::Cpu,
            "the limit on CPU time was reached".to_owned(),
        ),
        (2, _) => (
            FailureKind::Wall,
            "the limit on time by the clock was reached".to_owned(),
        ),
        (_, STEPS) => (
            FailureKind::Steps,
            "the limit on steps was reached".to_owned(),
        ),
        // SIGSYS, by the filter of system calls, which has the same number on all architectures that it is for.
        (_, -31) => (
            FailureKind::Forbidden,
            "network, processes, threads and signals are not allowed".to_owned(),
        ),
        (_, FORBIDDEN) => (FailureKind::Forbidden, format!("{note} is not allowed")),
        (_, -24) => (
            FailureKind::Cpu,
            "the limit on CPU time was reached".to_owned(),
        ),
        (_, 0) if state == ENDED && outputs.len() == inputs => return Some(outputs),
        (_, signal @ ..0) => (
            FailureKind::Crashed,
            format!("its process was ended by signal {}", -signal),
        ),
        (_, status) => (
            FailureKind::Crashed,
            format!("it ended its process, with status {status}"),
        ),
    };
    let has_line = !matches!(kind, FailureKind::Crashed);
    let failure = Failure {
        kind,
        line: if has_line { line } else { 0 },
        message,
    };
    outputs.resize(inputs, Err(failure));
    Some(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_program_writes_there_are_as_many_results_as_inputs() {
        // A linear congruential generator.
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let mut grids = 0;
        for _ in 0..20_000 {
            let mut reply = vec![0; HEAD];
            reply[0] = next(3) as u8;
            let status = [0_i32, 0, 1, 113, 114, -31, -24, -9][next(8) as usize];
            reply[1..5].copy_from_slice(&status.to_le_bytes());
            let mut written = vec![0; next(2) as usize * 10 + RECORDS];
            written[0] = ENDED;
            written[9] = next(255) as u8;
            for _ in 0..next(4) {
                written.push(next(6) as u8);
                for most in [3, 1 << next(33), 1 << next(33)] {
                    written.extend((next(most) as u32).to_le_bytes());
                }
                written.extend((0..next(9)).map(|at| at as u8));
            }
            reply.extend(written);
            reply.truncate(reply.len() - next(3) as usize * 8);
            let outputs = outputs(&reply, 2);
            assert_eq!(outputs.len(), 2);
            grids += outputs.iter().filter(|it| it.is_ok()).count();
        }
        assert!(grids > 0);
    }
}
