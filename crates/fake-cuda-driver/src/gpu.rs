//! [`Gpu`]: one GPU with its memory, images and streams.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gpu_kernels::device::Entry;
use gpu_kernels::device::image::PTX;
use gpu_sim::interpreted::{Interpretation, InterpretedDevice, Module, ParseError};
use gpu_sim::open;
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;

use crate::Outcome;
use crate::memory::Memory;
use crate::settings::{FaultKind, Progress, Settings};
use crate::stream::{Event, Launch, Operation, Parameter, Stream};
use crate::{code, host};

/// Bytes of dynamic shared memory that a launch may use unless the function allows more.
const MOST_SHARED_UNASKED: u32 = 48 << 10;

/// The most threads per block.
const MOST_THREADS: u32 = 1024;

/// A GPU, whose context exists while it is retained.
#[derive(Debug)]
pub(crate) struct Gpu {
    number: u32,
    settings: &'static Settings,
    /// How often each function was called.
    calls: BTreeMap<&'static str, u64>,
    random: Pcg32,
    retained: u32,
    handles: u64,
    context: Context,
}

/// The state of a context, dropped with it.
#[derive(Debug, Default)]
struct Context {
    /// The code with which every later call fails.
    broken: Option<i32>,
    memory: Option<Memory>,
    /// The lengths of pinned memory, by address.
    pinned: BTreeMap<usize, usize>,
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Event>,
    modules: BTreeMap<u64, InterpretedDevice>,
    functions: BTreeMap<u64, Function>,
    kernels: u64,
}

/// A kernel of an image.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    module: u64,
    entry: Entry,
    /// Bytes of each parameter.
    pub(crate) parameters: Vec<u32>,
    /// Bytes of dynamic shared memory that a launch may use.
    most_shared: u32,
}

/// How running a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    Finished,
    /// It never makes progress again.
    Hung,
}

/// Reports a violation for which the driver has no code, and aborts the process.
pub(crate) fn abort_with(rule: &str) -> ! {
    eprintln!("the fake driver: {rule}");
    std::process::abort();
}

/// Never returns.
pub(crate) fn hang() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// The driver's settings. If they are invalid, reports that once, and every call fails.
pub(crate) fn settings() -> Outcome<&'static Settings> {
    static SETTINGS: OnceLock<Option<Settings>> = OnceLock::new();
    let read = SETTINGS.get_or_init(|| {
        let text = std::env::var(crate::VARIABLE).unwrap_or_default();
        Settings::parse(&text)
            .map_err(|error| eprintln!("{}: {error}", crate::VARIABLE))
            .ok()
    });
    read.as_ref().ok_or(code::NOT_INITIALIZED)
}

/// Counts a call that is not on a GPU, and injects its fault.
pub(crate) fn driver_called(call: &'static str) -> Outcome<()> {
    static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());
    let settings = settings()?;
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = calls.entry(call).or_default();
    *count += 1;
    let mut faults = settings.faults.iter();
    let fault = faults.find(|fault| fault.strikes(0, call, *count));
    drop(calls);
    fault.map_or(Ok(()), |fault| inject(fault.kind))
}

/// Fails, hangs or waits as a fault says.
fn inject(fault: FaultKind) -> Outcome<()> {
    match fault {
        FaultKind::Code(code) => Err(code),
        FaultKind::Hang => hang(),
        FaultKind::Slow(time) => {
            thread::sleep(time);
            Ok(())
        }
    }
}

/// Locks the GPU at an index.
fn gpu(number: u32) -> Outcome<MutexGuard<'static, Gpu>> {
    static GPUS: OnceLock<Vec<Mutex<Gpu>>> = OnceLock::new();
    let settings = settings()?;
    let all = GPUS.get_or_init(|| {
        let count = u32::try_from(settings.devices).unwrap_or(0);
        (0..count)
            .map(|number| Mutex::new(Gpu::new(number, settings)))
            .collect()
    });
    let gpu = all.get(number as usize).ok_or(code::INVALID_DEVICE)?;
    Ok(gpu.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Counts a call on a GPU, injects its fault, and locks the GPU.
pub(crate) fn called(number: u32, call: &'static str) -> Outcome<MutexGuard<'static, Gpu>> {
    let mut locked = gpu(number)?;
    let any = locked.fault("any");
    let Some(fault) = locked.fault(call).or(any) else {
        return Ok(locked);
    };
    if let FaultKind::Code(code) = fault
        && code::is_sticky(code)
    {
        locked.context.broken.get_or_insert(code);
    }
    drop(locked);
    inject(fault)?;
    gpu(number)
}

/// Like [`called`], for a call that needs an intact context.
pub(crate) fn ready(number: u32, call: &'static str) -> Outcome<MutexGuard<'static, Gpu>> {
    let mut gpu = called(number, call)?;
    if gpu.retained == 0 {
        return Err(code::INVALID_CONTEXT);
    }
    gpu.intact()?;
    gpu.make_progress();
    gpu.intact()?;
    Ok(gpu)
}

impl Gpu {
    fn new(number: u32, settings: &'static Settings) -> Self {
        let seed = match settings.progress {
            Progress::Random(seed) => seed,
            Progress::Late | Progress::Early => 0,
        };
        Self {
            number,
            settings,
            calls: BTreeMap::new(),
            random: Pcg32::seed_from_u64(seed ^ u64::from(number) << 32),
            retained: 0,
            handles: 0,
            context: Context::default(),
        }
    }

    /// Counts a call; returns the fault to inject.
    fn fault(&mut self, call: &'static str) -> Option<FaultKind> {
        let count = self.calls.entry(call).or_default();
        *count += 1;
        let (gpu, count) = (self.number, *count);
        let mut faults = self.settings.faults.iter();
        let found = faults.find(|fault| fault.strikes(gpu, call, count))?;
        self.log(&format!("{call} {count}: {:?}", found.kind));
        Some(found.kind)
    }

    pub(crate) fn intact(&self) -> Outcome<()> {
        self.context.broken.map_or(Ok(()), Err)
    }

    /// Adds a line to the log.
    fn log(&self, line: &str) {
        let Some(path) = &self.settings.log else {
            return;
        };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let line = format!("gpu {}: {line}\n", self.number);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            abort_with(&format!("the log {}: {error}", path.display()));
        }
    }

    fn handle(&mut self) -> u64 {
        self.handles += 1;
        u64::from(self.number + 1) << 32 | self.handles
    }

    fn interpretation(&self, module: Option<Arc<Module>>) -> Interpretation {
        Interpretation {
            bytes: self.settings.bytes,
            shared_bytes: self.settings.shared,
            module,
            ..Interpretation::default()
        }
    }

    // The context.

    pub(crate) fn retain(&mut self) {
        self.retained += 1;
        if self.retained > 1 {
            return;
        }
        let device = open::interpreted(0, &self.interpretation(None));
        let device = device.unwrap_or_else(|reason| abort_with(&reason.to_string()));
        self.context.memory = Some(Memory::new(device));
    }

    pub(crate) fn release(&mut self) -> Outcome<()> {
        self.retained = self.retained.checked_sub(1).ok_or(code::INVALID_CONTEXT)?;
        if self.retained > 0 {
            return Ok(());
        }
        let context = std::mem::take(&mut self.context);
        let remaining = [
            (
                context.memory.as_ref().map_or(0, Memory::allocations),
                "allocations",
            ),
            (context.pinned.len(), "pinned"),
            (context.streams.len(), "streams"),
            (context.events.len(), "events"),
            (context.modules.len(), "modules"),
        ];
        let remaining = remaining.iter().filter(|(count, _)| *count > 0);
        let remaining: Vec<_> = remaining
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        self.log(&match (context.broken, remaining.is_empty()) {
            (Some(code), _) => format!("released, broken by {code}"),
            (None, true) => format!(
                "released, everything was freed: {} kernels, {} bytes at most",
                context.kernels,
                context.memory.map_or(0, |memory| memory.peak)
            ),
            (None, false) => format!("released, not freed: {}", remaining.join(", ")),
        });
        Ok(())
    }

    // Memory.

    pub(crate) fn memory(&mut self) -> Outcome<&mut Memory> {
        self.context.memory.as_mut().ok_or(code::INVALID_CONTEXT)
    }

    /// Frees memory. Waits for all queued work first, as the driver does.
    pub(crate) fn free(&mut self, address: u64) -> Outcome<Ran> {
        let streams: Vec<_> = self.context.streams.keys().copied().collect();
        for stream in streams {
            if self.run(stream, u64::MAX)? == Ran::Hung {
                return Ok(Ran::Hung);
            }
        }
        self.memory()?.free(address)?;
        Ok(Ran::Finished)
    }

    pub(crate) fn pin(&mut self, start: usize, bytes: usize) {
        self.context.pinned.insert(start, bytes);
        self.log(&format!("{bytes} bytes are pinned"));
    }

    /// Removes pinned memory; returns its length.
    pub(crate) fn unpin(&mut self, start: usize) -> Outcome<usize> {
        let bytes = self
            .context
            .pinned
            .remove(&start)
            .ok_or(code::INVALID_VALUE)?;
        let streams = self.context.streams.values();
        let mut used = streams
            .flat_map(|stream| &stream.queue)
            .filter_map(Operation::host);
        if used.any(|(from, length)| from < start + bytes && start < from + length) {
            abort_with("pinned memory is freed while it is copied");
        }
        Ok(bytes)
    }

    // Streams.

    pub(crate) fn create_stream(&mut self) -> u64 {
        let stream = self.handle();
        self.context.streams.insert(stream, Stream::default());
        stream
    }

    pub(crate) fn destroy_stream(&mut self, stream: u64) -> Outcome<Ran> {
        let ran = self.run(stream, u64::MAX)?;
        if ran == Ran::Finished {
            self.context.streams.remove(&stream);
        }
        Ok(ran)
    }

    /// Adds an operation to a stream, after checking its addresses.
    pub(crate) fn enqueue(&mut self, stream: u64, operation: Operation) -> Outcome<()> {
        for (address, bytes) in operation.device().into_iter().flatten() {
            self.memory()?.allocation_of(address, bytes)?;
        }
        if let Some((start, bytes)) = operation.host() {
            let pinned = self.context.pinned.range(..=start).next_back();
            if pinned.is_none_or(|(at, length)| start + bytes > at + length) {
                abort_with("memory that is not pinned is copied asynchronously");
            }
        }
        let streams = &mut self.context.streams;
        let found = streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
        found.queue.push_back(operation);
        if self.settings.progress == Progress::Early {
            self.run(stream, u64::MAX)?;
        }
        Ok(())
    }

    /// Runs a stream until this many of its operations have finished.
    pub(crate) fn run(&mut self, stream: u64, end: u64) -> Outcome<Ran> {
        loop {
            let streams = &mut self.context.streams;
            let found = streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
            if found.finished >= end || found.queue.is_empty() {
                return Ok(Ran::Finished);
            }
            if found.hung || !self.step(stream)? {
                return Ok(Ran::Hung);
            }
        }
    }

    /// Runs the next operation of a stream; false if that hangs.
    fn step(&mut self, stream: u64) -> Outcome<bool> {
        let next = self.context.streams.get_mut(&stream);
        let Some((next, busy)) = next.and_then(|s| Some((s.queue.pop_front()?, s.busy))) else {
            return Ok(true);
        };
        let fault = match &next {
            Operation::Launch(_) => self.fault("kernel"),
            _ => None,
        };
        // Recording an event takes no time.
        let is_work = !matches!(next, Operation::Record(_));
        let begin = Instant::now();
        let done = match fault {
            Some(FaultKind::Hang) => {
                if let Some(stream) = self.context.streams.get_mut(&stream) {
                    stream.queue.push_front(next);
                    stream.hung = true;
                }
                return Ok(false);
            }
            Some(FaultKind::Code(code)) => Err(code),
            other => {
                if let Some(FaultKind::Slow(time)) = other {
                    thread::sleep(time);
                }
                self.execute(next, stream, busy)
            }
        };
        let took = begin.elapsed();
        if let Err(code) = done {
            self.context.broken.get_or_insert(code);
        }
        if let Some(stream) = self.context.streams.get_mut(&stream) {
            stream.finished += 1;
            if is_work {
                stream.busy += took;
            }
        }
        done.map(|()| true)
    }

    fn execute(&mut self, operation: Operation, stream: u64, busy: Duration) -> Outcome<()> {
        match operation {
            Operation::Up { to, from, bytes } => {
                let from = host::bytes(from, bytes);
                self.memory()?.write(to, from)
            }
            Operation::Down { to, from, bytes } => {
                let to = host::bytes_mut(to, bytes);
                self.memory()?.read(from, to)
            }
            Operation::Copy { to, from, bytes } => {
                let mut read = vec![0; bytes];
                let memory = self.memory()?;
                memory.read(from, &mut read)?;
                memory.write(to, &read)
            }
            Operation::Set { to, value, bytes } => self.memory()?.write(to, &vec![value; bytes]),
            Operation::Launch(launch) => self.launch(&launch),
            Operation::Record(number) => {
                let finished = self.context.streams.get(&stream).map(|s| s.finished + 1);
                let event = self.context.events.get_mut(&number);
                // Unless it has been recorded again since, or destroyed.
                if let Some(event) = event
                    && event.point == finished.map(|finished| (stream, finished))
                {
                    event.time = Some(busy);
                }
                Ok(())
            }
        }
    }

    fn launch(&mut self, launch: &Launch) -> Outcome<()> {
        self.context.kernels += 1;
        if !self.settings.executes {
            return self.memory()?.skip(launch);
        }
        let memory = self.context.memory.as_ref().ok_or(code::INVALID_CONTEXT)?;
        let device = self.context.modules.get(&launch.module);
        let device = device.ok_or(code::INVALID_HANDLE)?;
        memory.launch(device, launch).map_err(|reason| {
            let kernel = launch.entry.symbol();
            self.log(&format!("{kernel}: {reason}"));
            eprintln!("the fake driver: {kernel}: {reason}");
            code::ILLEGAL_ADDRESS
        })
    }

    /// Runs some queued operations, if streams make progress at random.
    fn make_progress(&mut self) {
        if !matches!(self.settings.progress, Progress::Random(_)) {
            return;
        }
        let streams: Vec<_> = self.context.streams.keys().copied().collect();
        for stream in streams {
            let finished = self.context.streams.get(&stream).map_or(0, |s| s.finished);
            let steps = self.random.random_range(0..4);
            // The next call reports a failure.
            let _ = self.run(stream, finished + steps);
        }
    }

    // Events.

    pub(crate) fn create_event(&mut self) -> u64 {
        let event = self.handle();
        self.context.events.insert(event, Event::default());
        event
    }

    pub(crate) fn destroy_event(&mut self, event: u64) -> Outcome<()> {
        let removed = self.context.events.remove(&event);
        removed.map(drop).ok_or(code::INVALID_HANDLE)
    }

    pub(crate) fn record(&mut self, event: u64, stream: u64) -> Outcome<()> {
        let end = self.context.streams.get(&stream).map(Stream::end);
        let end = end.ok_or(code::INVALID_HANDLE)?;
        let events = &mut self.context.events;
        let found = events.get_mut(&event).ok_or(code::INVALID_HANDLE)?;
        *found = Event {
            point: Some((stream, end + 1)),
            time: None,
        };
        self.enqueue(stream, Operation::Record(event))
    }

    fn event(&self, event: u64) -> Outcome<Event> {
        let found = self.context.events.get(&event).copied();
        found.ok_or(code::INVALID_HANDLE)
    }

    pub(crate) fn wait(&mut self, event: u64) -> Outcome<Ran> {
        match self.event(event)?.point {
            Some((stream, end)) if self.context.streams.contains_key(&stream) => {
                self.run(stream, end)
            }
            _ => Ok(Ran::Finished),
        }
    }

    pub(crate) fn elapsed(&self, from: u64, to: u64) -> Outcome<f32> {
        let (from, to) = (self.event(from)?, self.event(to)?);
        if from.point.is_none() || to.point.is_none() {
            return Err(code::INVALID_HANDLE);
        }
        let (from, to) = from.time.zip(to.time).ok_or(code::NOT_READY)?;
        Ok(((to.as_secs_f64() - from.as_secs_f64()) * 1e3) as f32)
    }

    // Images.

    /// Loads an image; an error comes with the compiler's message.
    pub(crate) fn load(&mut self, text: &str) -> Result<u64, (i32, String)> {
        let module = if text == PTX {
            None
        } else {
            let module = Module::parse(text);
            let refused = |error: ParseError| (code::INVALID_PTX, error.to_string());
            Some(Arc::new(module.map_err(refused)?))
        };
        let device = open::interpreted(0, &self.interpretation(module));
        let device = device.map_err(|reason| (code::INVALID_PTX, reason.to_string()))?;
        let module = self.handle();
        self.context.modules.insert(module, device);
        Ok(module)
    }

    pub(crate) fn unload(&mut self, module: u64) -> Outcome<()> {
        let of_module = |operation: &Operation| matches!(operation, Operation::Launch(launch) if launch.module == module);
        let mut streams = self.context.streams.values();
        if streams.any(|stream| stream.queue.iter().any(of_module)) {
            abort_with("an image is unloaded while its kernels run");
        }
        let removed = self.context.modules.remove(&module);
        self.context
            .functions
            .retain(|_, function| function.module != module);
        removed.map(drop).ok_or(code::INVALID_HANDLE)
    }

    pub(crate) fn function(&mut self, module: u64, name: &str) -> Outcome<u64> {
        let device = self.context.modules.get(&module);
        let image = device.ok_or(code::INVALID_HANDLE)?.module();
        let parameters = image.parameters(name).ok_or(code::NOT_FOUND)?;
        let entry = Entry::ALL.iter().find(|entry| entry.symbol() == name);
        let function = Function {
            module,
            entry: *entry.ok_or(code::NOT_FOUND)?,
            parameters,
            most_shared: MOST_SHARED_UNASKED,
        };
        let handle = self.handle();
        self.context.functions.insert(handle, function);
        Ok(handle)
    }

    /// The sizes in bytes of a kernel's parameters.
    pub(crate) fn parameters(&self, function: u64) -> Outcome<Vec<u32>> {
        let found = self.context.functions.get(&function);
        found
            .map(|function| function.parameters.clone())
            .ok_or(code::INVALID_HANDLE)
    }

    pub(crate) fn allow_shared(&mut self, function: u64, bytes: u32) -> Outcome<()> {
        if bytes > self.settings.shared - self.settings.static_shared.min(self.settings.shared) {
            return Err(code::INVALID_VALUE);
        }
        let function = self.context.functions.get_mut(&function);
        function.ok_or(code::INVALID_HANDLE)?.most_shared = bytes;
        Ok(())
    }

    pub(crate) fn launch_kernel(
        &mut self,
        function: u64,
        (blocks, threads): (u32, u32),
        shared_bytes: u32,
        stream: u64,
        parameters: Vec<Parameter>,
    ) -> Outcome<()> {
        let function = self.context.functions.get(&function);
        let function = function.ok_or(code::INVALID_HANDLE)?;
        let valid_shape = blocks > 0 && (1..=MOST_THREADS).contains(&threads);
        if !valid_shape || shared_bytes > function.most_shared {
            return Err(code::INVALID_VALUE);
        }
        let launch = Launch {
            module: function.module,
            entry: function.entry,
            blocks,
            threads,
            shared_bytes,
            parameters,
        };
        self.enqueue(stream, Operation::Launch(Box::new(launch)))
    }

    // Properties.

    pub(crate) fn settings(&self) -> &'static Settings {
        self.settings
    }

    pub(crate) fn name(&self) -> String {
        self.settings.name.replace('#', &self.number.to_string())
    }
}
