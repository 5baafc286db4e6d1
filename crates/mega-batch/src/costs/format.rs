//! The text of a [`CostFile`](super::CostFile): a JSON object with its version and a list of executors.

use std::collections::BTreeMap;

use gpu_kernels::LaunchConfig;
use gpu_sched::Kind;
use serde::{Deserialize, Serialize};

use super::{Entry, ExecutorId, KindCost, Learned};

/// The version of the format.
const VERSION: u32 = 1;

/// The members common to all versions.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    executors: Vec<ExecutorEntry>,
}

#[derive(Serialize, Deserialize)]
struct ExecutorEntry {
    #[serde(flatten)]
    id: ExecutorId,
    saved: u64,
    kinds: BTreeMap<Kind, KindCost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tuning: Option<LaunchShape>,
}

#[derive(Serialize, Deserialize)]
struct LaunchShape {
    warps: u32,
    side_by_side: u32,
    blocks: u32,
}

/// The text of a file with these entries.
pub(super) fn text(entries: &[Entry]) -> serde_json::Result<String> {
    let entry = |entry: &Entry| ExecutorEntry {
        id: entry.id.clone(),
        saved: entry.saved,
        kinds: entry.learned.kinds.clone(),
        tuning: entry.learned.tuning.map(|tuning| LaunchShape {
            warps: tuning.warps,
            side_by_side: tuning.side_by_side,
            blocks: tuning.blocks,
        }),
    };
    let document = Document {
        version: VERSION,
        executors: entries.iter().map(entry).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// The entries of a file, or the position of the first error and what was expected there.
pub(super) fn entries(text: &[u8]) -> Result<Vec<Entry>, String> {
    let Head { version } = serde_json::from_slice(text).map_err(|error| place(&error))?;
    if version != VERSION {
        return Err(format!("expected version {VERSION}, found {version}"));
    }
    let document: Document = serde_json::from_slice(text).map_err(|error| place(&error))?;
    let entry = |entry: ExecutorEntry| Entry {
        id: entry.id,
        saved: entry.saved,
        learned: Learned {
            kinds: entry.kinds,
            tuning: entry.tuning.map(|shape| LaunchConfig {
                warps: shape.warps,
                side_by_side: shape.side_by_side,
                blocks: shape.blocks,
            }),
        }
        .sound(),
    };
    Ok(document.executors.into_iter().map(entry).collect())
}

fn place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let at = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&at).unwrap_or(&message);
    format!("line {line}, column {column}: {message}")
}
