//! [`Preset`]: what is known of common GPUs before anything was measured on them.
//!
//! Memory, bandwidth and multiprocessors are those of NVIDIA's data sheets and architecture papers, whose
//! titles stand beside them; they were taken from pages that quote these. The driver tells of the GPU that
//! is there, except its bandwidth; where the two differ, the driver is right.

use std::ops::RangeInclusive;

use super::Information;
use crate::interface::constants::MAX_SIDE_BY_SIDE;
use crate::interface::{EVALUATION_BYTES, Representation};

/// A GPU as its data sheet has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name, with what tells it from others of that name.
    pub name: &'static str,
    /// Words that are all in the name that the driver gives it, whatever their case.
    pub words: &'static [&'static str],
    /// Bytes of memory. The driver tells a little less, since it keeps some for itself.
    pub bytes: u64,
    /// Bytes a second between its memory and its multiprocessors.
    pub bandwidth: u64,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Major and minor compute capability.
    pub capability: (u32, u32),
    /// Which of NVIDIA's papers have the figures.
    pub source: &'static str,
}

const GIB: u64 = 1 << 30;

/// Bytes a second.
const GB_PER_SECOND: u64 = 1_000_000_000;

/// Words that make another GPU, or a part of one, of a name with the words of a row.
const OTHERS: [&str; 6] = ["TI", "SUPER", "LAPTOP", "D", "MIG", "DC"];

/// How many times a suggested batch fills a GPU's resident warps at most: a launch lasts long enough by then
/// that starting it costs little.
const WAVES: u64 = 32;

/// What share of a GPU's memory a suggested batch takes at most, as its divisor: one batch is on its way up
/// and one down while a third is computed, and the programs take some as well.
const SHARE: u64 = 4;

/// Bytes of device memory of an evaluation whose input, expected output and fetched result are grids, none of which
/// it shares with others.
const BYTES_AT_MOST: u64 = (EVALUATION_BYTES + 3 * Representation::Grid.bytes()) as u64;

/// The GPUs that are known. Of those of one name the most common one stands first.
pub const PRESETS: &[Preset] = &[
    row(
        "T4",
        &["T4"],
        (16, 320),
        40,
        (7, 5),
        "NVIDIA T4 Tensor Core GPU Datasheet; NVIDIA Turing GPU Architecture Whitepaper",
    ),
    row(
        "P100 16 GB",
        &["P100"],
        (16, 732),
        56,
        (6, 0),
        "NVIDIA Tesla P100 PCIe Data Sheet; NVIDIA Tesla P100 Whitepaper",
    ),
    row(
        "P100 12 GB",
        &["P100"],
        (12, 549),
        56,
        (6, 0),
        "NVIDIA Tesla P100 PCIe Data Sheet; NVIDIA Tesla P100 Whitepaper",
    ),
    row(
        "L4",
        &["L4"],
        (24, 300),
        58,
        (8, 9),
        "NVIDIA L4 Tensor Core GPU Datasheet: 7,424 CUDA cores, 128 a multiprocessor",
    ),
    row(
        "V100 16 GB",
        &["V100"],
        (16, 900),
        80,
        (7, 0),
        "NVIDIA Tesla V100 GPU Accelerator Data Sheet; NVIDIA Tesla V100 GPU Architecture Whitepaper",
    ),
    row(
        "V100 32 GB",
        &["V100"],
        (32, 900),
        80,
        (7, 0),
        "NVIDIA V100 Tensor Core GPU Datasheet; NVIDIA Tesla V100 GPU Architecture Whitepaper",
    ),
    row(
        "A100 40 GB",
        &["A100"],
        (40, 1555),
        108,
        (8, 0),
        "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "A100 80 GB SXM",
        &["A100"],
        (80, 2039),
        108,
        (8, 0),
        "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "A100 80 GB PCIe",
        &["A100", "PCIE"],
        (80, 1935),
        108,
        (8, 0),
        "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "RTX 3080 10 GB",
        &["RTX", "3080"],
        (10, 760),
        68,
        (8, 6),
        "NVIDIA Ampere GA102 GPU Architecture Whitepaper",
    ),
    row(
        "RTX 3080 12 GB",
        &["RTX", "3080"],
        (12, 912),
        70,
        (8, 6),
        "GeForce RTX 3080 Family, Full Specs",
    ),
    row(
        "RTX 3090",
        &["RTX", "3090"],
        (24, 936),
        82,
        (8, 6),
        "NVIDIA Ampere GA102 GPU Architecture Whitepaper",
    ),
    row(
        "RTX 4090",
        &["RTX", "4090"],
        (24, 1008),
        128,
        (8, 9),
        "NVIDIA Ada GPU Architecture Whitepaper",
    ),
    row(
        "H100 SXM",
        &["H100"],
        (80, 3350),
        132,
        (9, 0),
        "NVIDIA H100 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "H100 PCIe",
        &["H100", "PCIE"],
        (80, 2000),
        114,
        (9, 0),
        "NVIDIA H100 PCIe GPU Product Brief; NVIDIA H100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "H100 NVL",
        &["H100", "NVL"],
        (94, 3900),
        132,
        (9, 0),
        "NVIDIA H100 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "H200",
        &["H200"],
        (141, 4800),
        132,
        (9, 0),
        "NVIDIA H200 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture Whitepaper",
    ),
    row(
        "RTX PRO 6000 Blackwell",
        &["RTX", "PRO", "6000", "BLACKWELL"],
        (96, 1792),
        188,
        (12, 0),
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition Datasheet: 24,064 CUDA cores, 128 a multiprocessor",
    ),
];

/// A row by its memory in gibibytes and its bandwidth in gigabytes a second.
const fn row(
    name: &'static str,
    words: &'static [&'static str],
    (gibibytes, bandwidth): (u64, u64),
    multiprocessors: u32,
    capability: (u32, u32),
    source: &'static str,
) -> Preset {
    Preset {
        name,
        words,
        bytes: gibibytes * GIB,
        bandwidth: bandwidth * GB_PER_SECOND,
        multiprocessors,
        capability,
        source,
    }
}

impl Preset {
    /// What is known of a GPU of this name, as its driver gives it; of several with other memory the
    /// most common one.
    pub fn of(name: &str) -> Option<&'static Preset> {
        let named = named(name);
        let most = named.iter().map(|preset| preset.words.len()).max()?;
        named.into_iter().find(|preset| preset.words.len() == most)
    }

    /// What is known of this GPU: of several of its name the one with its memory. Nothing of one that
    /// has another amount of memory than all of these, as a part of a GPU has.
    pub fn of_device(device: &Information) -> Option<&'static Preset> {
        let away = |preset: &Preset| preset.bytes.abs_diff(device.bytes);
        let mut named = named(&device.name);
        named.retain(|preset| away(preset) <= preset.bytes / 8);
        named
            .into_iter()
            .min_by_key(|preset| (away(preset), usize::MAX - preset.words.len()))
    }

    /// Warps that a multiprocessor holds at once.
    pub fn warps(&self) -> u32 {
        resident_warps(self.capability)
    }

    /// How many evaluations a batch should have, as a first guess: see [`suggested_batch`].
    pub fn suggested_batch(&self) -> RangeInclusive<u64> {
        suggested_batch(self.multiprocessors, self.warps(), self.bytes)
    }
}

/// Rows whose words are all in this name, which names nothing else.
fn named(name: &str) -> Vec<&'static Preset> {
    let words: Vec<_> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let has = |wanted: &str| words.iter().any(|word| word.eq_ignore_ascii_case(wanted));
    if OTHERS.into_iter().any(has) {
        return Vec::new();
    }
    let all = |preset: &&Preset| preset.words.iter().all(|word| has(word));
    PRESETS.iter().filter(all).collect()
}

/// Warps that a multiprocessor of this compute capability holds at once, from "Technical Specifications
/// per Compute Capability" in the CUDA C++ Programming Guide.
const fn resident_warps(capability: (u32, u32)) -> u32 {
    match capability {
        (7, 5) => 32,
        (8, 6 | 7 | 9) | (12.., _) => 48,
        _ => 64,
    }
}

/// How many evaluations a batch should have on a GPU of so many multiprocessors with so many resident
/// warps each, and so many bytes of memory: a first guess, to be refined by what is measured.
///
/// At least `multiprocessors x warps x 4`, each resident warp having work once, four evaluations side by
/// side; at most 32 times that, and no more than a quarter of the memory holds, input, expected output
/// and result of an evaluation being grids. What the memory allows bounds both.
pub fn suggested_batch(multiprocessors: u32, warps: u32, bytes: u64) -> RangeInclusive<u64> {
    let wave = u64::from(multiprocessors)
        .saturating_mul(u64::from(warps))
        .saturating_mul(u64::from(MAX_SIDE_BY_SIDE));
    let most = (bytes / SHARE / BYTES_AT_MOST).max(1);
    wave.clamp(1, most)..=wave.saturating_mul(WAVES).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    /// Names as drivers give them, with the bytes that they tell, and the row.
    const REAL: [(&str, u64, &str); 22] = [
        ("Tesla T4", 15_843_721_216, "T4"),
        ("Tesla P100-PCIE-16GB", 17_066_885_120, "P100 16 GB"),
        ("Tesla P100-SXM2-16GB", 17_066_885_120, "P100 16 GB"),
        ("Tesla P100-PCIE-12GB", 12_788_105_216, "P100 12 GB"),
        ("NVIDIA L4", 23_583_784_960, "L4"),
        ("Tesla V100-SXM2-16GB", 16_945_512_448, "V100 16 GB"),
        ("Tesla V100-PCIE-32GB", 34_089_730_048, "V100 32 GB"),
        ("NVIDIA A100-SXM4-40GB", 42_405_855_232, "A100 40 GB"),
        ("A100-PCIE-40GB", 42_405_855_232, "A100 40 GB"),
        ("NVIDIA A100-SXM4-80GB", 84_987_740_160, "A100 80 GB SXM"),
        ("NVIDIA A100 80GB PCIe", 84_987_740_160, "A100 80 GB PCIe"),
        ("NVIDIA GeForce RTX 3080", 10_495_852_544, "RTX 3080 10 GB"),
        ("NVIDIA GeForce RTX 3080", 12_636_061_696, "RTX 3080 12 GB"),
        ("GeForce RTX 3090", 25_447_170_048, "RTX 3090"),
        ("NVIDIA GeForce RTX 3090", 25_438_126_080, "RTX 3090"),
        ("NVIDIA GeForce RTX 4090", 25_393_692_672, "RTX 4090"),
        ("NVIDIA H100 80GB HBM3", 84_929_347_584, "H100 SXM"),
        ("NVIDIA H100 PCIe", 84_929_347_584, "H100 PCIe"),
        ("NVIDIA H100 NVL", 99_858_579_456, "H100 NVL"),
        ("NVIDIA H200", 150_109_880_320, "H200"),
        (
            "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
            101_973_491_712,
            "RTX PRO 6000 Blackwell",
        ),
        (
            "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            101_973_491_712,
            "RTX PRO 6000 Blackwell",
        ),
    ];

    fn device(name: &str, bytes: u64) -> Information {
        Information {
            name: name.to_owned(),
            kind: Kind::Cuda,
            capability: (8, 0),
            multiprocessors: 1,
            warps: 64,
            shared_bytes: 0,
            multiprocessor_shared_bytes: 0,
            bytes,
            driver: None,
        }
    }

    #[test]
    fn names_of_drivers_are_recognised() {
        for (name, bytes, expected) in REAL {
            let found = Preset::of_device(&device(name, bytes)).map(|preset| preset.name);
            assert_eq!(found, Some(expected), "{name}");
            // Without the memory it is one of the same name.
            let chip = |name: &str| name.split([' ', '-']).next().unwrap_or_default().to_owned();
            let found = Preset::of(name).map(|preset| chip(preset.name));
            assert_eq!(found, Some(chip(expected)), "{name}");
        }
        let known = |name| Preset::of(name).unwrap().name;
        assert_eq!(known("NVIDIA H100 PCIe"), "H100 PCIe");
        assert_eq!(known("NVIDIA H100 NVL"), "H100 NVL");
        assert_eq!(known("tesla t4"), "T4");
    }

    #[test]
    fn each_row_is_recognised_by_some_name() {
        for preset in PRESETS {
            assert!(REAL.iter().any(|(_, _, name)| *name == preset.name));
        }
    }

    #[test]
    fn others_of_like_names_are_not() {
        for name in [
            "",
            "emulated device",
            "NVIDIA A10",
            "NVIDIA A100X",
            "NVIDIA A800-SXM4-80GB",
            "NVIDIA L40S",
            "NVIDIA GH200 480GB",
            "Tesla V100S-PCIE-32GB",
            "NVIDIA GeForce RTX 3080 Ti",
            "NVIDIA GeForce RTX 3080 Laptop GPU",
            "NVIDIA GeForce RTX 4090 D",
            "NVIDIA RTX 6000 Ada Generation",
            "NVIDIA RTX PRO 4000 Blackwell",
            "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
            "Quadro RTX 6000",
        ] {
            assert_eq!(Preset::of(name), None, "{name}");
        }
        // Parts of a GPU, told by their memory.
        assert_eq!(Preset::of_device(&device("GRID T4-8Q", 8 * GIB)), None);
        assert_eq!(Preset::of_device(&device("GRID A100-10C", 10 * GIB)), None);
        assert_eq!(Preset::of_device(&device("NVIDIA A100", u64::MAX)), None);
    }

    #[test]
    fn suggested_batches_fill_a_gpu_and_fit_its_memory() {
        for preset in PRESETS {
            let range = preset.suggested_batch();
            assert!(*range.start() >= 5_000, "{}: {range:?}", preset.name);
            assert_eq!(range.end() / range.start(), WAVES, "{}", preset.name);
            assert!(range.end() * BYTES_AT_MOST <= preset.bytes / SHARE);
        }
        // 40 multiprocessors of 32 warps, and 132 of 64.
        assert_eq!(PRESETS[0].suggested_batch(), 5_120..=163_840);
        let h100 = Preset::of("NVIDIA H100 80GB HBM3").unwrap();
        assert_eq!(h100.suggested_batch(), 33_792..=1_081_344);
        // Little memory bounds both ends, and nothing makes an empty range.
        let small = 100 * SHARE * BYTES_AT_MOST;
        assert_eq!(suggested_batch(40, 32, small), 100..=100);
        assert_eq!(suggested_batch(0, 0, 0), 1..=1);
        assert!(!suggested_batch(u32::MAX, u32::MAX, u64::MAX).is_empty());
    }

    #[test]
    fn figures_are_in_their_units() {
        for preset in PRESETS {
            assert!(preset.bytes >= 10 * GIB && preset.bytes <= 141 * GIB);
            assert!((300..=4800).contains(&(preset.bandwidth / GB_PER_SECOND)));
            assert!((40..=188).contains(&preset.multiprocessors));
            assert!((32..=64).contains(&preset.warps()));
            assert!(!preset.source.is_empty());
        }
    }
}
