//! The metadata for Kaggle: the names of the dataset and the notebook, and the two files.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// The uploader and all names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) owner: String,
    pub(super) title: String,
    /// The notebook's name in addresses. Kaggle derives it from the title, so it cannot be another one.
    pub(super) notebook: String,
    pub(super) dataset: String,
    pub(super) competition: String,
}

/// The suffix of the dataset's title.
const OF_DATASET: &str = " engine";

/// The allowed number of characters in the title of a dataset.
const TITLE: std::ops::RangeInclusive<usize> = 6..=50;

impl Names {
    /// The names for a title, if Kaggle accepts them.
    pub(super) fn new(owner: &str, title: &str, competition: &str) -> Result<Self> {
        let is_name = |name: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            !name.is_empty() && name.chars().all(is_part)
        };
        ensure!(
            is_name(owner),
            "--owner `{owner}`: expected the name in the address of a profile at Kaggle: letters, digits, \
             `-` and `_`"
        );
        ensure!(
            is_name(competition),
            "--competition `{competition}`: expected the name in the address of the competition, as \
             `arc-prize-2026-arc-agi-2`"
        );
        // The notebook's own limits are unknown; 5 characters have been enough.
        let longest = TITLE.end() - OF_DATASET.len();
        ensure!(
            (5..=longest).contains(&title.len())
                && title.chars().all(|c| c.is_ascii_graphic() || c == ' ')
                && title.chars().filter(char::is_ascii_alphanumeric).count() >= 5,
            "--title `{title}`: expected 5 to {longest} ASCII characters, 5 of them letters or digits"
        );
        let dataset = slug(&format!("{title}{OF_DATASET}"));
        Ok(Self {
            owner: owner.to_owned(),
            title: title.to_owned(),
            notebook: slug(title),
            dataset,
            competition: competition.to_owned(),
        })
    }

    /// `dataset-metadata.json`.
    pub(super) fn of_dataset(&self) -> Value {
        json!({
            "id": format!("{}/{}", self.owner, self.dataset),
            "title": format!("{}{OF_DATASET}", self.title),
            "subtitle": "The engine mega-batch for Linux, and programs in the ARC DSL",
            // The programs in it belong to their authors.
            "licenses": [{"name": "other"}],
            "description": "mega-batch is licensed under either of MIT or Apache-2.0. README.md says more.",
        })
    }

    /// `kernel-metadata.json`, for the notebook in this file.
    pub(super) fn of_notebook(&self, file: &str, machine_shape: Option<&str>) -> Value {
        let mut metadata = json!({
            "id": format!("{}/{}", self.owner, self.notebook),
            "title": self.title,
            "code_file": file,
            "language": "python",
            "kernel_type": "notebook",
            "is_private": true,
            "enable_gpu": machine_shape.is_some(),
            "enable_tpu": false,
            "enable_internet": false,
            "dataset_sources": [format!("{}/{}", self.owner, self.dataset)],
            "competition_sources": [self.competition],
            "kernel_sources": [],
            "model_sources": [],
        });
        if let Some(shape) = machine_shape {
            metadata["machine_shape"] = shape.into();
        }
        metadata
    }
}

/// A title in the form that Kaggle uses in an address.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPETITION: &str = "arc-prize-2026-arc-agi-2";

    #[test]
    fn a_notebook_is_called_by_its_title() {
        let names = Names::new("somebody", "My  ARC runs (2)", COMPETITION).unwrap();
        assert_eq!(names.notebook, "my-arc-runs-2");
        assert_eq!(names.dataset, "my-arc-runs-2-engine");
        let metadata = names.of_notebook("run.ipynb", Some("NvidiaTeslaT4"));
        assert_eq!(metadata["id"], "somebody/my-arc-runs-2");
        assert_eq!(metadata["enable_gpu"], true);
        assert_eq!(metadata["enable_internet"], false);
        assert_eq!(metadata["machine_shape"], "NvidiaTeslaT4");
        assert_eq!(metadata["dataset_sources"][0], names.of_dataset()["id"]);
        assert_eq!(metadata["competition_sources"], json!([COMPETITION]));
    }

    #[test]
    fn a_notebook_without_gpus_asks_for_no_shape() {
        let names = Names::new("somebody", "mega-batch", COMPETITION).unwrap();
        let metadata = names.of_notebook("run.ipynb", None);
        assert_eq!(metadata["enable_gpu"], false);
        assert_eq!(metadata.get("machine_shape"), None);
    }

    #[test]
    fn the_dataset_keeps_kaggle_s_bounds() {
        for title in ["12345", "mega-batch", &"a".repeat(43)] {
            let names = Names::new("somebody", title, COMPETITION).unwrap();
            let dataset = names.of_dataset();
            let length = |key: &str| dataset[key].as_str().unwrap().len();
            assert!(TITLE.contains(&length("title")), "{title}");
            assert!(TITLE.contains(&names.dataset.len()), "{title}");
            assert!((20..=80).contains(&length("subtitle")));
            assert_eq!(dataset["licenses"].as_array().unwrap().len(), 1);
        }
    }

    #[test]
    fn a_name_that_kaggle_would_refuse_is_an_error() {
        let long = "a".repeat(44);
        let error = |owner, title, competition| {
            let names = Names::new(owner, title, competition);
            names.unwrap_err().to_string()
        };
        assert!(error("some body", "mega-batch", COMPETITION).starts_with("--owner `some body`"));
        assert!(error("", "mega-batch", COMPETITION).starts_with("--owner"));
        assert!(error("a", "mega", COMPETITION).starts_with("--title `mega`"));
        assert!(error("a", &long, COMPETITION).starts_with("--title"));
        assert!(error("a", "--------", COMPETITION).starts_with("--title"));
        assert!(error("a", "mega-batch", "a/b\"").starts_with("--competition `a/b\"`"));
    }
}
