//! What the kernel enforces on a child: a filter of system calls, and a ruleset of Landlock.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// What a program needs once its modules are imported. All other calls fail with EPERM, as an exception of Python.
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];

/// What no program does by mistake: these end it.
const FORBIDDEN: &[i64] = &[
    libc::SYS_bind,
    libc::SYS_bpf,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_connect,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_io_uring_setup,
    libc::SYS_kill,
    libc::SYS_mount,
    libc::SYS_pidfd_send_signal,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_sendto,
    libc::SYS_setns,
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_unshare,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// The filter of system calls; `opens` if files may be opened for reading.
pub(crate) fn filter(opens: bool) -> Result<BpfProgram, BackendError> {
    let rules = |calls: &[i64]| -> BTreeMap<i64, Vec<SeccompRule>> {
        calls.iter().map(|call| (*call, Vec::new())).collect()
    };
    let compiled = |rules, otherwise, action| -> Result<BpfProgram, BackendError> {
        let arch = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, otherwise, action, arch)?.try_into()
    };
    let mut allowed = rules(ALLOWED);
    if opens {
        let writes = libc::O_WRONLY
            | libc::O_RDWR
            | libc::O_CREAT
            | libc::O_TRUNC
            | libc::O_APPEND
            // Which contains O_DIRECTORY, with which folders are read.
            | (libc::O_TMPFILE & !libc::O_DIRECTORY);
        let reads = SeccompCmpOp::MaskedEq(writes as u64);
        let reads = SeccompCondition::new(2, SeccompCmpArgLen::Dword, reads, 0)?;
        allowed.insert(libc::SYS_openat, vec![SeccompRule::new(vec![reads])?]);
    }
    let mut both = compiled(
        rules(FORBIDDEN),
        SeccompAction::Allow,
        SeccompAction::KillProcess,
    )?;
    // Its last step allows all other calls. What follows decides about them; all jumps are relative.
    both.pop();
    both.extend(compiled(
        allowed,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
    )?);
    Ok(both)
}

/// A filter as prctl(2) takes it, in hexadecimal digits.
pub(crate) fn encoded(filter: &BpfProgram) -> String {
    let encoded = filter.iter().flat_map(|step| {
        let mut bytes = step.code.to_ne_bytes().to_vec();
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
        bytes.into_iter().map(|byte| format!("{byte:02x}"))
    });
    encoded.collect()
}

/// A ruleset with which only these files and folders can be read, and nothing can be written or connected to; none if
/// the kernel has no Landlock.
pub(crate) fn ruleset(folders: &[String]) -> Result<Option<OwnedFd>, RulesetError> {
    let newest = ABI::V7;
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()?;
    let reads = AccessFs::ReadFile | AccessFs::ReadDir;
    Ok(ruleset
        .add_rules(path_beneath_rules(folders, reads))?
        .into())
}
