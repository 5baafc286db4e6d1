//! [`Options`]: the settings of a search.

/// The settings of a search.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each switches a part off")]
#[non_exhaustive]
pub struct Options {
    /// The maximum number of values kept in each search of a task, except for seeds, which are all kept. Default
    /// 12,000.
    pub nodes: usize,
    /// The maximum number of calls tried in each search of a task. Default 40 per node.
    pub calls: u64,
    /// The maximum memory of these values in bytes. Default 512 MiB.
    pub bytes: usize,
    /// The maximum number of pieces. Default 20,000.
    pub pieces: usize,
    /// The maximum number of answers for each test pair. Default 2.
    pub attempts: usize,
    /// The maximum number of proposals that are ranked. Default 10,000.
    pub stacks: usize,
    /// Whether colours are renamed. Default true.
    pub renames: bool,
    /// Whether a task is searched again with its original colours if no attempt with renamed ones fits all train
    /// pairs. Default true.
    pub repeats: bool,
    /// Whether a task is searched again with 0 swapped with the most common colour of each input, if that differs and
    /// no attempt has fit all train pairs so far. Default true.
    pub grounds: bool,
    /// Whether objects and locations are pieces, in addition to grids. Default true.
    pub patches: bool,
    /// The [proposers](crate::propose::Proposer::name) that are switched off: `stacks`, `cells`, `objects`, or a
    /// custom one. Default none.
    pub off: Vec<String>,
}

/// Calls that are tried for each value.
const CALLS_A_NODE: u64 = 40;

impl Options {
    /// The default with this many values for a task, and 40 calls for each.
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
