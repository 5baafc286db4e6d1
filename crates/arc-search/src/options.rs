//! [`Options`]: how tasks are searched.

/// How tasks are searched.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each switches a part off")]
#[non_exhaustive]
pub struct Options {
    /// Values that are kept for a task, at most, each time that it is searched, but for its seeds, which all are. Default 12,000.
    pub nodes: usize,
    /// Calls that are tried for a task, at most, each time that it is searched. Default 40 for each node.
    pub calls: u64,
    /// Bytes that these values may take. Default 512 MiB.
    pub bytes: usize,
    /// Pieces that are kept, at most. Default 20,000.
    pub pieces: usize,
    /// Answers that are given for each test pair, at most. Default 2.
    pub attempts: usize,
    /// Proposals that are ranked, at most. Default 10,000.
    pub stacks: usize,
    /// Whether colours are renamed. Default true.
    pub renames: bool,
    /// Whether a task is searched once more with its colours as they are, where no attempt with renamed ones fits
    /// all train pairs. Default true.
    pub repeats: bool,
    /// Whether a task is searched once more with 0 for the most common colour of each input, where that is another one
    /// and no attempt fits all train pairs before. Default true.
    pub grounds: bool,
    /// Whether objects and locations are pieces, beside grids. Default true.
    pub patches: bool,
    /// The [proposers](crate::propose::Proposer::name) that are switched off: `stacks`, `cells`, `objects`, or one's own. Default
    /// none.
    pub off: Vec<String>,
}

/// Calls that are tried for each value that is asked for.
const CALLS_A_NODE: u64 = 40;

impl Options {
    /// The default with so many values for a task, and 40 calls for each.
    pub fn of_nodes(nodes: usize) -> Self {
        Self {
            nodes,
            calls: CALLS_A_NODE.saturating_mul(nodes as u64),
            bytes: 512 << 20,
            pieces: 20_000,
            attempts: 2,
            stacks: 10_000,
            renames: true,
            repeats: true,
            grounds: true,
            patches: true,
            off: Vec::new(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::of_nodes(12_000)
    }
}
