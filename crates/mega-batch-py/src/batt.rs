//! `Batt`: a program that grows call by call, evaluated on all inputs of a task as it grows.

use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use arc_dsl::{EvalError, Grid, Primitive, Value};
use arc_tasks::{Pair, Task};
use mega_batch::batt::{Batt, Bounds, Called, Distance, Full, Mark, NodeId, Pushed, Why};
use numpy::PyArray2;
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::arguments;
use crate::errors::PyEvalError;
use crate::grids::{self, ArgumentPlace};
use crate::guard::{self, lock};
use crate::programs::{self, PyProgram, check_name};
use crate::results::shaped;
use crate::tasks::{PyTask, one_task};
use crate::values;

/// The number of the next batt, which tells its nodes from those of others.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A node of a `Batt`: a value on every input, or a function.
#[pyclass(frozen, eq, hash, name = "Node", module = "mega_batch")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PyNode {
    batt: u64,
    /// How often nodes had been released when it was created.
    age: u64,
    node: NodeId,
}

#[pymethods]
impl PyNode {
    /// Its number: nodes are numbered from 0 in the order in which they were created.
    #[getter]
    pub(crate) fn index(&self) -> usize {
        self.node.index()
    }

    fn __repr__(&self) -> String {
        format!("<Node {}>", self.node.index())
    }
}

/// The result of a call: `node` is the node with its value, None if the call failed; `is_new` says whether no earlier
/// node has the same value; `error` and `input` say why and on which input it failed first.
#[pyclass(frozen, get_all, name = "Pushed", module = "mega_batch")]
#[derive(Debug)]
pub(crate) struct PyPushed {
    /// The node, or None.
    node: Option<PyNode>,
    /// Whether the node is new.
    is_new: bool,
    /// Why there is no node.
    error: Option<Py<PyEvalError>>,
    /// The first input on which the call failed.
    input: Option<usize>,
}

#[pymethods]
impl PyPushed {
    fn __repr__(&self, py: Python<'_>) -> String {
        match (&self.node, &self.error) {
            (Some(node), _) if self.is_new => format!("<Pushed: new node {}>", node.index()),
            (Some(node), _) => format!("<Pushed: same as node {}>", node.index()),
            (None, Some(error)) => format!("<Pushed: failed: {}>", error.bind(py).get().message),
            (None, None) => "<Pushed: failed>".to_owned(),
        }
    }
}

/// A growing program over the inputs of one task: it keeps the value of every call on every input, so that a
/// candidate costs only its last call, and calls with equal values share a node, unless these are sets that may be in
/// different orders.
///
/// `Batt(task)` is over all inputs of a task, with the outputs of its train pairs as targets; `Batt(inputs=[...],
/// targets=[...])` is over these grids, where a target may be None. `max_bytes` limits its memory (MemoryError past
/// it); with `keeps_failing` a call that fails on some inputs is a node too; without `by_reference` calls that the
/// fast path does not support fail, and all equal sets share a node. Threads may share a batt. In a process that is forked while another thread uses
/// it, its calls raise RuntimeError, since its state may be inconsistent.
#[pyclass(frozen, name = "Batt", module = "mega_batch")]
pub(crate) struct PyBatt {
    number: u64,
    state: Arc<Mutex<BattState>>,
    /// The process that last locked the state. In a fork of it the lock may be held by a thread that does not exist.
    process: AtomicU32,
}

impl Drop for PyBatt {
    fn drop(&mut self) {
        if self.is_of_another_process() && self.state.try_lock().is_err() {
            // A state that a thread was changing during the fork cannot be dropped safely.
            std::mem::forget(Arc::clone(&self.state));
        }
    }
}

struct BattState {
    batt: Batt,
    /// The marks that were set and not released.
    marks: Vec<(u64, Mark, usize)>,
    next_mark: u64,
    age: u64,
    /// The age of each node.
    ages: Vec<u64>,
}

/// What a call calls.
enum Function {
    Primitive(Primitive),
    Node(PyNode),
}

/// An argument of a call.
enum Argument {
    Node(PyNode),
    Value(Value),
}

/// A call to be added.
struct Call {
    function: Function,
    arguments: Vec<Argument>,
}

impl Call {
    /// Reads a function, the error for whose name is at `named`, and its arguments.
    fn read<'a>(
        (function, place): (&Bound<'_, PyAny>, &ArgumentPlace<'_>),
        named: Option<&ArgumentPlace<'_>>,
        arguments: &[Bound<'_, PyAny>],
        place_of: impl Fn(usize) -> ArgumentPlace<'a>,
    ) -> PyResult<Self> {
        let function = if let Ok(name) = function.cast::<PyString>() {
            let primitive = values::primitive(&name.to_cow()?);
            Function::Primitive(primitive.map_err(|error| match named {
                Some(named) => named.value_error(error.value(function.py())),
                None => error,
            })?)
        } else if let Ok(node) = function.cast::<PyNode>() {
            Function::Node(*node.get())
        } else {
            return Err(place.expected("the name of a primitive or a Node", function));
        };
        let arguments = arguments.iter().enumerate().map(|(at, argument)| {
            if let Ok(node) = argument.cast::<PyNode>() {
                return Ok(Argument::Node(*node.get()));
            }
            values::from_python(argument, &place_of(at)).map(Argument::Value)
        });
        Ok(Self {
            function,
            arguments: arguments.collect::<PyResult<_>>()?,
        })
    }
}

impl BattState {
    /// The node, if it belongs to the batt of this number and was not released; otherwise why not.
    fn known(&self, batt: u64, node: PyNode) -> Result<NodeId, &'static str> {
        if node.batt != batt {
            return Err("a Node of another Batt");
        }
        if self.ages.get(node.node.index()) != Some(&node.age) {
            return Err("a Node that was forgotten by release");
        }
        Ok(node.node)
    }

    fn node(&mut self, batt: u64, node: NodeId) -> PyNode {
        self.ages.resize(self.batt.len(), self.age);
        let age = self.ages.get(node.index()).copied().unwrap_or(self.age);
        PyNode { batt, age, node }
    }

    /// Whether all nodes of a call are known; otherwise why not.
    fn knows(&self, batt: u64, call: &Call) -> Result<(), &'static str> {
        let nodes = call.arguments.iter().filter_map(|argument| match argument {
            Argument::Node(node) => Some(*node),
            Argument::Value(_) => None,
        });
        let function = match call.function {
            Function::Node(node) => Some(node),
            Function::Primitive(_) => None,
        };
        let mut nodes = function.into_iter().chain(nodes);
        nodes.try_for_each(|node| self.known(batt, node).map(drop))
    }

    fn push(&mut self, batt: u64, call: &Call) -> Result<(Pushed, Option<PyNode>), Full> {
        let arguments = call.arguments.iter().map(|argument| match argument {
            Argument::Node(node) => Ok(node.node),
            Argument::Value(value) => self.batt.constant(value),
        });
        let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
        let called = match call.function {
            Function::Primitive(primitive) => Called::Primitive(primitive),
            Function::Node(node) => Called::Function(node.node),
        };
        let pushed = self.batt.push(called, &arguments)?;
        Ok((pushed, pushed.node().map(|node| self.node(batt, node))))
    }
}

#[pymethods]
impl PyBatt {
    #[new]
    #[pyo3(signature = (task = None, *, inputs = None, targets = None, max_bytes = None,
        keeps_failing = false, by_reference = true))]
    fn new(
        py: Python<'_>,
        task: Option<&Bound<'_, PyAny>>,
        inputs: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = arguments::optional::max_bytes)] max_bytes: Option<usize>,
        #[pyo3(from_py_with = arguments::keeps_failing)] keeps_failing: bool,
        #[pyo3(from_py_with = arguments::by_reference)] by_reference: bool,
    ) -> PyResult<Self> {
        let mut bounds = Bounds {
            keeps_failing,
            by_reference,
            ..Bounds::default()
        };
        bounds.max_bytes = max_bytes.unwrap_or(bounds.max_bytes);
        let inputs = inputs
            .map(|given| arguments::grids("inputs", given))
            .transpose()?;
        let targets = targets.map(|given| arguments::list("targets", "a list of grids", given));
        let targets = targets.transpose()?;
        let batt = match (task, inputs) {
            (Some(task), None) if targets.is_none() => {
                let task = Self::task_given(task)?;
                guard::engine(py, || of_task(&task, bounds))?
            }
            (None, Some(inputs)) => {
                let place = ArgumentPlace::Named("targets");
                let targets = targets.unwrap_or_default();
                if targets.len() > inputs.len() {
                    return Err(place.value_error("more targets than inputs"));
                }
                let targets = targets.iter().enumerate().map(|(at, target)| {
                    let given = (!target.is_none()).then_some(target);
                    given
                        .map(|grid| grids::grid(grid, &place.at(at)))
                        .transpose()
                });
                let targets: Vec<Option<Grid>> = targets.collect::<PyResult<_>>()?;
                guard::engine(py, || Batt::new(&inputs, &targets, bounds))?
            }
            _ => {
                return Err(PyTypeError::new_err(
                    "expected a task, or inputs and targets",
                ));
            }
        };
        Ok(Self::of(batt))
    }

    /// The node of the inputs.
    #[getter]
    fn input(&self, py: Python<'_>) -> PyResult<PyNode> {
        self.with(py, |state, number| {
            let input = state.batt.input();
            state.node(number, input)
        })
    }

    /// The number of inputs.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state, _| state.batt.inputs())
    }

    /// The bytes of memory that it holds.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state, _| state.batt.bytes())
    }

    /// The number of nodes.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state, _| state.batt.len())
    }

    /// The nodes, in the order in which they were created.
    #[getter]
    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<PyNode>> {
        self.with(py, |state, number| {
            let nodes = state.batt.nodes();
            nodes.map(|node| state.node(number, node)).collect()
        })
    }

    /// A node with this value on every input: a number, a tuple, a set, a grid, or a primitive or a constant by name.
    fn constant(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<PyNode> {
        let value = values::from_python(value, &ArgumentPlace::Named("value"))?;
        let node = self.with(py, |state, number| {
            let node = state.batt.constant(&value)?;
            Ok(state.node(number, node))
        })?;
        node.map_err(full)
    }

    /// Adds a call of a primitive, by name, or of a Node that is a function. Arguments are Nodes, or
    /// values as `constant` takes them.
    #[pyo3(signature = (function, *arguments))]
    fn push(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        arguments: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<PyPushed> {
        let (place, of_arguments) = (
            ArgumentPlace::Named("function"),
            ArgumentPlace::Named("arguments"),
        );
        let call = Call::read((function, &place), None, &arguments, |at| {
            of_arguments.at(at)
        })?;
        let unknown = |_, why: &str| PyValueError::new_err(why.to_owned());
        let mut pushed = self.push_all(py, &[call], unknown)?;
        pushed.pop().ok_or_else(|| crate::internal("no call"))
    }

    /// Adds several calls, each a tuple of the arguments of `push`: the result of each.
    ///
    /// Locks the batt once for all of them. A call cannot use the nodes of other calls in the list, which are not
    /// known beforehand. Raises like `push`, with the index of the call, before any is added; MemoryError if the batt
    /// is full, with the calls before it added.
    fn push_many(&self, py: Python<'_>, calls: &Bound<'_, PyAny>) -> PyResult<Vec<PyPushed>> {
        let place = ArgumentPlace::Named("calls");
        let mut read = Vec::new();
        let calls = arguments::list(
            "calls",
            "a list of tuples of a function and its arguments",
            calls,
        )?;
        for (at, call) in calls.into_iter().enumerate() {
            let place = place.at(at);
            let parts: Vec<Bound<'_, PyAny>> = match call.cast::<PyTuple>() {
                Ok(tuple) if !tuple.is_empty() => tuple.iter().collect(),
                _ => return Err(place.expected("a tuple of a function and its arguments", &call)),
            };
            let function = (&parts[0], &place.at(0));
            let of_argument = |number| place.at(number + 1);
            read.push(Call::read(
                function,
                Some(&place),
                &parts[1..],
                of_argument,
            )?);
        }
        self.push_all(py, &read, |at, why| {
            PyValueError::new_err(format!("calls[{at}]: {why}"))
        })
    }

    /// Adds the calls of a program: the node of its output, and `error` if it fails on all inputs.
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = programs::program)] program: &Bound<'_, PyProgram>,
    ) -> PyResult<PyPushed> {
        let program = program.get().program();
        let added = self.with(py, |state, number| {
            let merged = state.batt.add(program)?;
            let before = state.ages.len();
            let node = merged.output().map(|node| state.node(number, node));
            state.ages.resize(state.batt.len(), state.age);
            let errors = (0..state.batt.inputs()).find_map(|at| Some((at, *merged.error(at)?)));
            let is_new = node.is_some_and(|node| node.index() >= before);
            Ok::<_, mega_batch::batt::Refused>((node, errors, is_new))
        })?;
        let (node, error, is_new) =
            added.map_err(|refused| PyValueError::new_err(refused.to_string()))?;
        let input = error.map(|(at, _)| at);
        let error = error.map(|(_, error)| Py::new(py, PyEvalError::from(&error)));
        Ok(PyPushed {
            node,
            is_new,
            error: error.transpose()?,
            input,
        })
    }

    /// The values of a node, one for each input, as from `Program.__call__`; an EvalError where it has none.
    fn values<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = node)] node: PyNode,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let values = self.at(py, node, |batt, id| {
            let inputs = 0..batt.inputs();
            inputs
                .map(|input| batt.value(id, input))
                .collect::<Vec<_>>()
        })?;
        let values = values.iter().map(|value| match value {
            Ok(value) => values::to_python(py, value),
            Err(error) => PyEvalError::from(error).into_bound_py_any(py),
        });
        values.collect()
    }

    /// A 128-bit hash of a node's values on all inputs, the same in every batt over the same inputs.
    fn hash(&self, py: Python<'_>, #[pyo3(from_py_with = node)] node: PyNode) -> PyResult<u128> {
        self.at(py, node, Batt::hash)
    }

    /// The type of a node's values, such as `grid` or `set<object>`; None for a function, and if they have no common
    /// type.
    fn r#type(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = node)] node: PyNode,
    ) -> PyResult<Option<String>> {
        self.at(py, node, |batt, id| batt.ty(id).map(ToString::to_string))
    }

    /// How many cells differ from the target of each input: None without a target, -1 if the value has another size
    /// or is not a grid.
    fn distance(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = node)] node: PyNode,
    ) -> PyResult<Vec<Option<i64>>> {
        self.at(py, node, |batt, id| {
            let distances = (0..batt.inputs()).map(|input| batt.distance(id, input).map(cells));
            distances.collect()
        })
    }

    /// How many cells of nodes, all of them by default, differ from the targets: an array of int64 of shape (nodes,
    /// inputs), -1 if the value has another size or is not a grid, -2 without a target.
    #[pyo3(signature = (nodes = None))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        nodes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let nodes = nodes.map(|nodes| {
            let nodes = arguments::list("nodes", "a list of Nodes of the Batt", nodes)?;
            let nodes = nodes.iter().enumerate();
            let nodes =
                nodes.map(|(at, node)| node_at(&ArgumentPlace::Named("nodes").at(at), node));
            nodes.collect::<PyResult<Vec<PyNode>>>()
        });
        let nodes = nodes.transpose()?;
        let (shape, distances) = self.with(py, |state, number| -> PyResult<_> {
            let nodes: Vec<NodeId> = match nodes {
                None => state.batt.nodes().collect(),
                Some(nodes) => {
                    let known = nodes.iter().enumerate().map(|(at, node)| {
                        let known = state.known(number, *node);
                        known.map_err(|why| PyValueError::new_err(format!("nodes[{at}]: {why}")))
                    });
                    known.collect::<PyResult<_>>()?
                }
            };
            let inputs = state.batt.inputs();
            let mut distances = Vec::with_capacity(nodes.len() * inputs);
            for node in &nodes {
                for input in 0..inputs {
                    distances.push(state.batt.distance(*node, input).map_or(-2, cells));
                }
            }
            Ok(((nodes.len(), inputs), distances))
        })??;
        shaped(py, shape, distances)
    }

    /// Whether a node has the target as value on every input that has one, and a grid on the others; without any
    /// target nothing is a solution.
    fn is_solution(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = node)] node: PyNode,
    ) -> PyResult<bool> {
        self.at(py, node, Batt::is_solution)
    }

    /// How many calls the program of a node has; a call that is used twice counts twice.
    fn length(&self, py: Python<'_>, #[pyo3(from_py_with = node)] node: PyNode) -> PyResult<usize> {
        self.at(py, node, Batt::length)
    }

    /// The program that computes a node.
    #[pyo3(signature = (node, name = "solve"))]
    fn program(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = node)] node: PyNode,
        #[pyo3(from_py_with = arguments::name)] name: &str,
    ) -> PyResult<PyProgram> {
        check_name(name, &ArgumentPlace::Named("name"))?;
        let program = self.at(py, node, |batt, id| batt.program(id, name))?;
        let program = program.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyProgram::new(program))
    }

    /// Marks the current state: returns a number for `release`.
    fn mark(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state, _| {
            let (mark, number) = (state.batt.mark(), state.next_mark);
            state.next_mark += 1;
            let nodes = state.batt.len();
            state.marks.push((number, mark, nodes));
            number
        })
    }

    /// Releases the nodes that were created since a mark, and the marks that were set since.
    fn release(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::mark)] mark: u64,
    ) -> PyResult<()> {
        let released = self.with(py, |state, _| {
            let at = state
                .marks
                .iter()
                .position(|(number, ..)| *number == mark)?;
            let (_, mark, nodes) = state.marks[at];
            state.marks.truncate(at + 1);
            state.batt.release(mark);
            state.ages.truncate(nodes);
            state.age += 1;
            Some(())
        })?;
        released.ok_or_else(|| PyValueError::new_err("a mark that is not set in this batt"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state, _| {
            let (nodes, inputs) = (state.batt.len(), state.batt.inputs());
            format!("<Batt of {nodes} nodes over {inputs} inputs>")
        })
    }
}

impl PyBatt {
    /// Wraps an existing batt.
    pub(crate) fn of(batt: Batt) -> Self {
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            state: Arc::new(Mutex::new(BattState {
                ages: vec![0; batt.len()],
                batt,
                marks: Vec::new(),
                next_mark: 0,
                age: 0,
            })),
            process: AtomicU32::new(process::id()),
        }
    }

    /// A node that the batt had when it was wrapped.
    pub(crate) fn node(&self, node: NodeId) -> PyNode {
        PyNode {
            batt: self.number,
            age: 0,
            node,
        }
    }

    /// The given task.
    fn task_given(task: &Bound<'_, PyAny>) -> PyResult<Task> {
        match task.cast::<PyTask>() {
            Ok(task) => Ok(task.get().task().clone()),
            Err(_) => one_task(task),
        }
    }

    /// The given task, or one with only these input grids.
    pub(crate) fn task_of(given: &Bound<'_, PyAny>) -> PyResult<Task> {
        if !given.is_instance_of::<PyList>() && !given.is_instance_of::<PyTuple>() {
            return Self::task_given(given);
        }
        let place = ArgumentPlace::Named("task");
        let inputs = given.try_iter()?.enumerate();
        let pairs =
            inputs.map(|(at, grid)| Ok(Pair::new(grids::grid(&grid?, &place.at(at))?, None)));
        Ok(Task {
            train: pairs.collect::<PyResult<_>>()?,
            ..Task::default()
        })
    }

    /// Runs `work` on the batt, without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut BattState, u64) -> T + Send,
    ) -> PyResult<T> {
        guard::engine(py, || Ok(work(&mut *self.lock()?, self.number)))?
    }

    fn is_of_another_process(&self) -> bool {
        self.process.load(Ordering::Relaxed) != process::id()
    }

    /// Locks the state; an error if that would block for ever.
    fn lock(&self) -> PyResult<MutexGuard<'_, BattState>> {
        // Another thread of this process records the process as soon as it has the lock.
        let mut waits = 100;
        while self.is_of_another_process() {
            match self.state.try_lock() {
                Err(TryLockError::WouldBlock) if waits > 0 => {
                    waits -= 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(PyRuntimeError::new_err(
                        "this process was forked while another thread worked with the Batt: \
                         make one in this process",
                    ));
                }
                Ok(state) => return Ok(self.taken(state)),
                Err(TryLockError::Poisoned(state)) => return Ok(self.taken(state.into_inner())),
            }
        }
        Ok(lock(&self.state))
    }

    fn taken<'s>(&self, state: MutexGuard<'s, BattState>) -> MutexGuard<'s, BattState> {
        self.process.store(process::id(), Ordering::Relaxed);
        state
    }

    /// Runs `work` on a node, if it belongs to this batt and was not released.
    fn at<T: Send>(
        &self,
        py: Python<'_>,
        node: PyNode,
        work: impl FnOnce(&Batt, NodeId) -> T + Send,
    ) -> PyResult<T> {
        let made = self.with(py, |state, number| {
            let id = state.known(number, node)?;
            Ok(work(&state.batt, id))
        })?;
        made.map_err(PyValueError::new_err::<&str>)
    }

    /// Adds calls, none if a node of one is `unknown`.
    fn push_all(
        &self,
        py: Python<'_>,
        calls: &[Call],
        unknown: impl Fn(usize, &str) -> PyErr + Sync,
    ) -> PyResult<Vec<PyPushed>> {
        let pushed = self.with(py, |state, number| {
            for (at, call) in calls.iter().enumerate() {
                state.knows(number, call).map_err(|why| unknown(at, why))?;
            }
            let pushed = calls.iter().map(|call| state.push(number, call));
            pushed.collect::<Result<Vec<_>, _>>().map_err(full)
        })??;
        let pushed = pushed.into_iter();
        pushed
            .map(|(pushed, node)| Self::pushed(py, pushed, node))
            .collect()
    }

    fn pushed(py: Python<'_>, pushed: Pushed, node: Option<PyNode>) -> PyResult<PyPushed> {
        let (error, input) = match pushed {
            Pushed::New(_) | Pushed::Same(_) => (None, None),
            Pushed::Failed(failed) => {
                let why = match failed.why {
                    Why::Error(kind) => PyEvalError::from(&EvalError {
                        line: 0,
                        primitive: None,
                        kind,
                    }),
                    Why::BailOut(bail_out) => PyEvalError::bail_out(&bail_out.to_string()),
                };
                (Some(Py::new(py, why)?), Some(failed.input))
            }
        };
        Ok(PyPushed {
            node,
            is_new: matches!(pushed, Pushed::New(_)),
            error,
            input,
        })
    }
}

fn full(full: Full) -> PyErr {
    PyMemoryError::new_err(full.to_string())
}

/// How many cells differ, -1 for a value of another size.
fn cells(distance: Distance) -> i64 {
    match distance {
        Distance::Cells(cells) => cells.into(),
        Distance::Size => -1,
    }
}

/// A node of a Batt.
fn node(value: &Bound<'_, PyAny>) -> PyResult<PyNode> {
    node_at(&ArgumentPlace::Named("node"), value)
}

/// A node of a Batt at this place.
fn node_at(place: &ArgumentPlace<'_>, value: &Bound<'_, PyAny>) -> PyResult<PyNode> {
    let node = value.cast::<PyNode>();
    node.map(|node| *node.get())
        .map_err(|_| place.expected("a Node of the Batt", value))
}

/// A batt over the inputs of a task, those of its train pairs first, which have targets.
pub(crate) fn of_task(task: &Task, bounds: Bounds) -> Batt {
    let pairs = task.train.iter().chain(&task.test);
    let inputs: Vec<_> = pairs.map(|pair| (*pair.input).clone()).collect();
    let outputs = task.train.iter().map(|pair| pair.output.clone());
    Batt::new(&inputs, &outputs.collect::<Vec<_>>(), bounds)
}
