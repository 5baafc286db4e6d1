//! One worker: its process, and the socket through which it is spoken to.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::Deserialize;

use crate::guards::{encoded, filter, ruleset};
use crate::reply::Ending;
use crate::{Guards, Isolation, PoolError, Settings};

/// What a worker runs.
const PROGRAM: &str = concat!(include_str!("recognise.py"), include_str!("worker.py"));

/// Reads the program, which is longer than an argument may be.
const LOADER: &str = "import sys; exec(compile(open(0, 'rb', 0, closefd=False).read(int(sys.argv[1])), 'worker', 'exec'))";

/// How long a worker may take to start: it imports modules, from a cold disk of a busy machine.
const START: Duration = Duration::from_secs(120);

/// How long it may take longer than the limits of a program.
const GRACE: Duration = Duration::from_secs(10);

/// How often a run that waits looks whether it was ended.
const POLL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Worker {
    process: Child,
    socket: UnixStream,
    /// The process that started it: a fork of that one must not end it.
    owner: u32,
}

/// What a worker says when its modules are imported.
#[derive(Deserialize)]
#[serde(untagged)]
enum Hello {
    Ready { landlock: u32, folders: Vec<String> },
    Failed { error: String },
}

/// What the system refused when a child tried to give everything up: names between commas.
#[derive(Deserialize)]
struct Tried {
    refused: String,
}

impl Worker {
    /// Starts a worker. Says what isolates its programs, if that is as much as the settings require.
    pub(crate) fn start(settings: &Settings) -> Result<(Self, Guards), PoolError> {
        let named =
            |error: io::Error| PoolError::Start(format!("{}: {error}", settings.python.display()));
        let mut worker = Self::spawn(settings).map_err(named)?;
        worker
            .set_up(settings)
            .map_err(|error| match error {
                // The interpreter ended before it said why.
                SetUp::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let status = worker.process.wait();
                    let status = status.map_or_else(|error| error.to_string(), |it| it.to_string());
                    PoolError::Start(format!(
                        "{}: not a CPython of 3.11 or later that works: it ended with {status}",
                        settings.python.display()
                    ))
                }
                SetUp::Io(error) => named(error),
                SetUp::Told(reason) => PoolError::Start(reason),
            })
            .map(|guards| (worker, guards))
    }

    fn spawn(settings: &Settings) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = Command::new(&settings.python);
        command
            .args(["-P", "-c", LOADER, &PROGRAM.len().to_string()])
            .env_clear()
            .envs([("LANG", "C.UTF-8"), ("PYTHONHASHSEED", "0")])
            // A child could not use further threads, and they would not be there after a fork.
            .envs(["OPENBLAS", "OMP", "MKL"].map(|library| (format!("{library}_NUM_THREADS"), "1")))
            // Otherwise each child finds the addresses of functions anew, and writes them into pages of its own.
            .env("LD_BIND_NOW", "1")
            // Ctrl-C is the parent's, which may go on.
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for name in [
            "PATH",
            "HOME",
            "LD_LIBRARY_PATH",
            "PYTHONHOME",
            "PYTHONPATH",
        ] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        Ok(Self {
            process: command.spawn()?,
            socket,
            owner: process::id(),
        })
    }

    fn set_up(&mut self, settings: &Settings) -> Result<Guards, SetUp> {
        self.socket.set_read_timeout(Some(START))?;
        self.socket.set_write_timeout(Some(START))?;
        self.socket.write_all(PROGRAM.as_bytes())?;
        self.send(&serde_json::to_vec(settings)?)?;
        let (abi, folders) = match serde_json::from_slice(&self.receive()?)? {
            Hello::Ready { landlock, folders } => (landlock, folders),
            Hello::Failed { error } => return Err(SetUp::Told(error)),
        };
        let is_isolated = settings.isolation != Isolation::None;
        let rules = if is_isolated && settings.landlock && abi > 0 {
            ruleset(&folders).map_err(|error| SetUp::Told(format!("Landlock: {error}")))?
        } else {
            None
        };
        let opens = rules.is_some() || settings.isolation == Isolation::BestEffort;
        let filter = match filter(opens) {
            _ if !is_isolated => String::new(),
            Ok(filter) => encoded(&filter),
            Err(error) if settings.isolation == Isolation::Strict => {
                return Err(SetUp::Told(format!("seccomp: {error}")));
            }
            Err(_) => String::new(),
        };
        self.send_with(filter.as_bytes(), rules.as_ref())?;
        let Tried { refused } = serde_json::from_slice(&self.receive()?)?;
        let is_refused = |name| refused.split(',').any(|refused| refused == name);
        let guards = Guards {
            seccomp: !filter.is_empty() && !is_refused("seccomp"),
            landlock: if rules.is_none() || is_refused("landlock") {
                0
            } else {
                abi
            },
        };
        let lacks_rules = rules.is_some() && guards.landlock == 0;
        if settings.isolation == Isolation::Strict && (!guards.seccomp || lacks_rules) {
            return Err(SetUp::Told(format!(
                "programs cannot be isolated here: the system refuses {refused}; isolation=\"best_effort\" goes without"
            )));
        }
        if refused.starts_with("everything") {
            return Err(SetUp::Told(format!(
                "a worker cannot fork: it was refused {refused}"
            )));
        }
        Ok(guards)
    }

    /// Has a job done.
    pub(crate) fn run(
        &mut self,
        job: &[u8],
        settings: &Settings,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Ending {
        let until = Instant::now() + settings.cpu_time + settings.wall_time + GRACE;
        let mut is_cancelled = false;
        let mut is_over = || {
            is_cancelled = is_over();
            is_cancelled || Instant::now() > until
        };
        let timeout = self.socket.set_read_timeout(Some(POLL));
        let reply = timeout.and_then(|()| self.send(job)).and_then(|()| {
            let mut size = [0; 4];
            self.fill(&mut size, &mut is_over)?;
            let mut reply = vec![0; u32::from_le_bytes(size) as usize];
            self.fill(&mut reply, &mut is_over)?;
            Ok(reply)
        });
        match reply {
            Ok(reply) => Ending::Reply(reply),
            Err(_) if is_cancelled => Ending::Cancelled,
            Err(error) => Ending::Lost(format!("its worker was lost: {error}")),
        }
    }

    /// Reads all of a buffer, while nothing else ends that.
    fn fill(&mut self, buffer: &mut [u8], is_over: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.socket.read(&mut buffer[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if is_over() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut size = [0; 4];
        self.socket.read_exact(&mut size)?;
        let mut message = vec![0; u32::from_le_bytes(size) as usize];
        self.socket.read_exact(&mut message)?;
        Ok(message)
    }

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.send_with(message, None)
    }

    /// Sends a message, and a descriptor with its length.
    fn send_with(&mut self, message: &[u8], descriptor: Option<&OwnedFd>) -> io::Result<()> {
        let size = (message.len() as u32).to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = descriptor.iter().map(|it| it.as_fd()).collect();
        if !descriptors.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let flags = SendFlags::NOSIGNAL;
        sendmsg(&self.socket, &[IoSlice::new(&size)], &mut beside, flags)?;
        self.socket.write_all(message)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.owner == process::id() {
            // Its child ends with it.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Why a worker did not start.
enum SetUp {
    Io(io::Error),
    Told(String),
}

impl From<io::Error> for SetUp {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for SetUp {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}
