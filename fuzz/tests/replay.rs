//! Every input that is kept, once through its target: those of `corpus/TARGET`, which show what the target
//! reaches, and those of `regressions/TARGET`, which once made it fall.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use mega_batch_fuzz::{TARGETS, target};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = vec![Trial::test(
        "each_target_has_inputs_and_each_folder_a_target",
        move || folders_are_of_targets(root),
    )];
    for kept in ["corpus", "regressions"] {
        for target in TARGETS {
            for file in files(&root.join(kept).join(target.name)) {
                let name = file
                    .strip_prefix(root)
                    .unwrap_or(&file)
                    .display()
                    .to_string();
                trials.push(Trial::test(name, move || {
                    (target.run)(&std::fs::read(&file)?);
                    Ok(())
                }));
            }
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The files of a folder, by name; none where there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn folders_are_of_targets(root: &Path) -> Result<(), Failed> {
    for kept in ["corpus", "regressions"] {
        for folder in files(&root.join(kept)) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if target(&name).is_none() {
                return Err(format!("{}: no target is called so", folder.display()).into());
            }
        }
    }
    for target in TARGETS {
        if files(&root.join("corpus").join(target.name)).is_empty() {
            return Err(format!("{}: no inputs are kept", target.name).into());
        }
    }
    Ok(())
}
