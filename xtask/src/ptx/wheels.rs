//! The pinned tools: wheels from the Python package index, unpacked below target/.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// A wheel, pinned by its hash.
#[derive(Debug)]
pub(crate) struct Wheel {
    package: &'static str,
    version: &'static str,
    /// The hash of the wheel for Linux on `x86_64`.
    sha256: &'static str,
    /// A file that it contains.
    holds: &'static str,
}

/// The compiler from CUDA C++ to PTX. Its PTX is of version 8.2, which drivers from 535 on load.
pub(crate) const NVRTC: Wheel = Wheel {
    package: "nvidia-cuda-nvrtc-cu12",
    version: "12.2.140",
    sha256: "b1cdcae6443cb7cdcfb5d1bf51896a148c9f82f9e65b27db9ab095eaed689aa7",
    holds: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
};

/// The assembler, which knows the newest GPUs; it reads older PTX.
pub(crate) const NVCC: Wheel = Wheel {
    package: "nvidia-cuda-nvcc-cu12",
    version: "12.9.86",
    sha256: "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0",
    holds: "nvidia/cuda_nvcc/bin/ptxas",
};

impl Wheel {
    /// The folder that it is unpacked in; pip downloads it if necessary.
    pub(crate) fn fetch(&self, root: &Path) -> Result<PathBuf> {
        let cache = root.join("target/cuda");
        let folder = cache.join(format!("{}-{}", self.package, self.version));
        if folder.join(self.holds).is_file() {
            return Ok(folder);
        }
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "the pinned compiler is for Linux on x86_64; elsewhere give `--nvcc PATH`"
        );
        std::fs::create_dir_all(&cache).with_context(|| cache.display().to_string())?;
        // Unpacked elsewhere and renamed, so that an interrupted download leaves nothing behind.
        let aside = tempfile::tempdir_in(&cache)?;
        let unpacked = aside.path().join("unpacked");
        let requirements = aside.path().join("requirements.txt");
        std::fs::write(&requirements, self.requirement())?;
        eprintln!("fetching {} {} with pip", self.package, self.version);
        self.install(&requirements, &unpacked)?;
        ensure!(
            unpacked.join(self.holds).is_file(),
            "{} {} does not hold {}",
            self.package,
            self.version,
            self.holds
        );
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        std::fs::rename(&unpacked, &folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// The line of a requirements file that admits only this wheel.
    fn requirement(&self) -> String {
        format!(
            "{}=={} --hash=sha256:{}\n",
            self.package, self.version, self.sha256
        )
    }

    fn install(&self, requirements: &Path, target: &Path) -> Result<()> {
        let needed = "Python 3 with pip is needed to fetch the compiler (or give `--nvcc PATH`)";
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary=:all:"])
            // Without a network this must not take minutes.
            .args(["--retries=1", "--timeout=30", "--no-compile"])
            .arg("--target")
            .arg(target)
            .args(["--require-hashes", "--requirement"])
            .arg(requirements)
            .output()
            .with_context(|| format!("python3 cannot be run; {needed}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{} {} was not fetched; {needed}, and access to its package index:\n{}",
            self.package,
            self.version,
            said.trim()
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_pinned_by_version_and_content() {
        for wheel in [NVRTC, NVCC] {
            let line = wheel.requirement();
            let (what, hash) = line.trim().split_once(" --hash=sha256:").unwrap();
            assert_eq!(what, format!("{}=={}", wheel.package, wheel.version));
            assert_eq!(hash.len(), 64);
            assert!(hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
        }
    }

    #[test]
    fn what_is_unpacked_is_not_fetched_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root
            .path()
            .join("target/cuda/nvidia-cuda-nvrtc-cu12-12.2.140");
        let file = folder.join(NVRTC.holds);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
        assert_eq!(NVRTC.fetch(root.path()).unwrap(), folder);
    }
}
