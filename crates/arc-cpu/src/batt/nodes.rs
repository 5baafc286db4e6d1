//! Stores the values of calls as nodes, each value once.

use arc_dsl::{MOST_ROUNDS, Primitive, Value};
use arc_form::Type;

use super::calls::{GRID, GRIDS};
use super::grids::{Grids, MOST_WORDS};
use super::{
    Batt, Called, Full, HEADROOM, MORE_NODES, MOST_DEPTH, Mark, Node, NodeId, Pushed, Source,
    Storage, hash,
};
use crate::definition::{has_one_order, has_sets};
use crate::exact::slot_has_one_order;
use crate::memory::{Room, grow_pool, shrink_pool};
use crate::ops::sorting::equal;
use crate::slot::Slot;

/// The bytes that a value counts as if it does not fit the machine: a weight of 1 is 16 bytes.
pub(super) fn loose_bytes(value: &Value) -> usize {
    size_of::<((u32, u32), Value)>() + value.weight() as usize * 16
}

impl Batt {
    pub(super) fn slot(&self, node: u32, input: usize) -> Slot {
        self.slots[node as usize * self.inputs + input]
    }

    pub(super) fn loose_value(&self, node: u32, input: usize) -> Option<&Value> {
        if !self.nodes[node as usize].has_loose {
            return None;
        }
        self.loose.get(&(node, input as u32))
    }

    pub(super) fn is_grid(&self, node: NodeId, input: usize) -> bool {
        if self.error(node, input).is_some() {
            return false;
        }
        self.loose_value(node.0, input).is_none() && self.ty(node) == Some(&Type::Grid)
            || self
                .value(node, input)
                .is_ok_and(|value| value.as_grid().is_some())
    }

    /// Reserves room for what most calls need, within the bound.
    pub(super) fn make_room(&mut self) -> Result<(), Full> {
        // What is in use decides whether the batt is full, not what is reserved, which depends on earlier
        // tasks.
        let bytes = self.used_bytes();
        if bytes + self.headroom() > self.most_bytes() {
            let most = self.bounds.max_bytes;
            return Err(Full { bytes, most });
        }
        let memory = &mut self.machine.memory;
        let has_room = memory.has_headroom(&HEADROOM)
            && self.nodes.len() < self.nodes.capacity()
            && self.slots.len() + self.inputs <= self.slots.capacity()
            && self.grids.words.capacity() - self.grids.words.len() >= self.inputs * MOST_WORDS;
        if !has_room {
            self.grow();
        }
        Ok(())
    }

    /// The most bytes of values and nodes: pools that grow leave some for the tables beside them.
    fn most_bytes(&self) -> usize {
        self.bounds.max_bytes - self.bounds.max_bytes / 64
    }

    /// The bytes of the room reserved before each call.
    #[inline]
    fn headroom(&self) -> usize {
        HEADROOM.bytes() + self.inputs * MOST_WORDS * size_of::<u64>() + self.bytes_of_node()
    }

    /// The bytes of a node; the hash table has one entry for it, or two.
    #[inline]
    fn bytes_of_node(&self) -> usize {
        size_of::<Node>() + self.inputs * size_of::<Slot>() + 16
    }

    /// The bytes in use. They depend only on the calls since the batt was started.
    #[inline]
    pub(super) fn used_bytes(&self) -> usize {
        self.machine.memory.used()
            + self.nodes.len() * self.bytes_of_node()
            + self.grids.used()
            + self.errors.used()
            + self.steps.used()
            + self.loose_bytes
            + self.reference_values.borrow().bytes()
    }

    #[cold]
    pub(super) fn grow(&mut self) {
        let (most, headroom) = (self.most_bytes(), self.headroom());
        if self.bytes() + headroom > most {
            // What one pool does not use may be needed by another.
            self.shrink();
        }
        let mut left = most.saturating_sub(self.bytes());
        self.machine.memory.grow(&HEADROOM, &mut left);
        let words = self.inputs * MOST_WORDS;
        grow_pool(&mut self.grids.words, words, &mut left);
        let nodes = self.nodes.len();
        if nodes == self.nodes.capacity() || self.slots.len() + self.inputs > self.slots.capacity()
        {
            let more = nodes.max(MORE_NODES).min(left / self.bytes_of_node());
            self.nodes.reserve_exact(more.max(1));
            self.slots.reserve_exact(more.max(1) * self.inputs);
        }
    }

    /// Frees what is reserved and not in use.
    fn shrink(&mut self) {
        self.machine.memory.shrink(&HEADROOM);
        shrink_pool(&mut self.grids.words, self.inputs * MOST_WORDS);
        shrink_pool(&mut self.nodes, 1);
        shrink_pool(&mut self.slots, self.inputs);
        self.grids.shrink();
        self.errors.shrink();
        self.steps.shrink();
        let nodes = &self.nodes;
        self.known
            .shrink_to_fit(|number| nodes[*number as usize].hash as u64);
    }

    /// Sets the bounds of the machine's memory for the next call, beside what is in use.
    pub(super) fn widen(&mut self) {
        let limits = self.interpreter.limits();
        let most = usize::try_from(limits.max_memory).unwrap_or(usize::MAX);
        self.machine.memory.widen(Room {
            tiles: most / 64,
            patches: most,
            rows: most,
            elements: most,
        });
    }

    /// Releases all that the current call has allocated; `before` is the state before it.
    pub(super) fn forget(&mut self, before: Mark) {
        self.slots.truncate(before.nodes as usize * self.inputs);
        self.pending_loose.clear();
        self.errors.forget();
        self.reference_values.get_mut().forget();
        self.give_back(before);
    }

    /// The current state.
    pub(super) fn state(&self) -> Mark {
        Mark {
            nodes: self.nodes.len() as u32,
            memory: self.machine.memory.mark(),
            words: self.grids.words.len(),
        }
    }

    /// Releases the memory taken since.
    pub(super) fn give_back(&mut self, before: Mark) {
        self.grids.forget_tiles(before.memory);
        self.grids.truncate(before.words);
        self.machine.memory.release(before.memory);
    }

    pub(super) fn length_of(&self, called: Called, arguments: &[NodeId]) -> u32 {
        let length = |node: &NodeId| self.nodes[node.index()].length;
        let called = match called {
            Called::Primitive(_) => 1,
            Called::Function(node) => length(&node).saturating_add(1),
            Called::Defined(function) => self.defined[usize::from(function.0)].steps().len() as u32,
        };
        let lengths = arguments.iter().map(length);
        lengths.fold(called, u32::saturating_add)
    }

    /// Creates the function that the primitive builds from other functions, if nothing about it depends on an
    /// input; calls that may fail are left to the reference.
    pub(super) fn function(
        &mut self,
        primitive: Primitive,
        arguments: &[NodeId],
    ) -> Option<Pushed> {
        use arc_dsl::Type as Signature;
        if primitive.returns() != Signature::Callable {
            return None;
        }
        let parameters = primitive.parameters();
        if parameters.len() != arguments.len() {
            return None;
        }
        let mut depth = 0;
        for ((_, signature), argument) in parameters.iter().zip(arguments) {
            let node = &self.nodes[argument.index()];
            match node.held {
                Storage::Function(inside) => depth = depth.max(inside + 1),
                _ if *signature == Signature::Callable => return None,
                _ => {}
            }
            let is_count = primitive == Primitive::Power && *signature != Signature::Callable;
            if is_count && !matches!(node.source, Source::Constant(Value::Int(2..=MOST_ROUNDS))) {
                return None;
            }
        }
        if depth > MOST_DEPTH || self.make_room().is_err() {
            return None;
        }
        let source = Source::call(Called::Primitive(primitive), arguments);
        let length = self.length_of(Called::Primitive(primitive), arguments);
        let before = self.nodes.len();
        let node = self.function_node(source, length, depth);
        if node.index() < before {
            return Some(Pushed::Same(node));
        }
        self.inherit(node, primitive, arguments);
        Some(Pushed::New(node))
    }

    pub(super) fn function_node(&mut self, source: Source, length: u32, depth: u8) -> NodeId {
        let hash = hash::of_source(&source);
        let same = |number: &u32| {
            let node = &self.nodes[*number as usize];
            node.held.is_function() && hash::is_same(&node.source, &source)
        };
        if let Some(number) = self.known.find(hash as u64, same) {
            return NodeId(*number);
        }
        self.slots
            .extend(std::iter::repeat_n(Slot::default(), self.inputs));
        self.add_node(Node {
            hash,
            source,
            held: Storage::Function(depth),
            has_loose: false,
            is_copied: None,
            fails: false,
            length,
        })
    }

    pub(super) fn add_node(&mut self, node: Node) -> NodeId {
        let number = self.nodes.len() as u32;
        let nodes = &self.nodes;
        let hash = |number: &u32| nodes[*number as usize].hash as u64;
        self.known.insert_unique(node.hash as u64, number, hash);
        self.nodes.push(node);
        NodeId(number)
    }

    /// A node with these values.
    pub(super) fn put_all<'v>(
        &mut self,
        source: Source,
        ty: Option<&Type>,
        values: impl Iterator<Item = &'v Value>,
    ) -> Pushed {
        let before = self.state();
        let number = ty.and_then(|ty| self.calls.type_number(ty));
        let mut slots = 0;
        for (input, value) in values.enumerate() {
            let slot = if let Some(number) = number {
                self.put_or_keep(value, number, input)
            } else {
                self.pending_loose.push((input as u32, value.clone()));
                Slot::default()
            };
            self.slots.push(slot);
            slots += 1;
        }
        debug_assert_eq!(slots, self.inputs);
        self.intern(
            source,
            number.map_or(Storage::Loose, Storage::Typed),
            0,
            before,
        )
    }

    /// Creates a node with the values at the end of `slots`, or finds the one that has them and releases their
    /// memory.
    pub(super) fn intern(
        &mut self,
        source: Source,
        held: Storage,
        length: u32,
        before: Mark,
    ) -> Pushed {
        let number = self.nodes.len() as u32;
        let first = number as usize * self.inputs;
        // Equal sets of other calls may be in another order.
        let by_order = self.bounds.by_reference && !self.have_one_order(held, first);
        let mut hash = self.hash_of_values(held, first);
        if by_order {
            hash ^= hash::of_source(&source);
        }
        let same = |other: &u32| {
            self.has_same_values(*other, held, hash, first)
                && (!by_order || hash::is_same(&self.nodes[*other as usize].source, &source))
        };
        if let Some(&other) = self.known.find(hash as u64, same) {
            let is_shorter = length < self.nodes[other as usize].length;
            // The nodes that follow from it were evaluated with the order of its sets.
            let keeps_order = is_shorter && (by_order || self.have_one_order(held, first));
            self.forget(before);
            if keeps_order {
                self.shorten(other, source, length);
            }
            return Pushed::Same(NodeId(other));
        }
        let has_loose = !self.pending_loose.is_empty();
        if has_loose {
            self.loose_nodes.push(number);
            for (input, value) in self.pending_loose.drain(..) {
                self.loose_bytes += loose_bytes(&value);
                self.loose.insert((number, input), value);
            }
        }
        let fails = self.errors.keep(number);
        self.reference_values.get_mut().keep(number);
        self.widen();
        Pushed::New(self.add_node(Node {
            hash,
            source,
            held,
            has_loose,
            is_copied: None,
            fails,
            length,
        }))
    }

    /// Whether the values at the end of `slots` contain no set that may be in several orders.
    fn have_one_order(&self, held: Storage, first: usize) -> bool {
        let mut loose = self.pending_loose.iter();
        if !loose.all(|(_, value)| has_one_order(value)) {
            return false;
        }
        let Storage::Typed(number) = held else {
            return true;
        };
        let (memory, ty) = (&self.machine.memory, self.calls.ty(number));
        let is_typed = |input: &usize| {
            self.errors.pending(*input).is_none() && self.pending_loose_value(*input).is_none()
        };
        !has_sets(ty)
            || (0..self.inputs)
                .filter(is_typed)
                .all(|input| slot_has_one_order(memory, ty, self.slots[first + input]))
    }

    pub(super) fn pending_loose_value(&self, input: usize) -> Option<&Value> {
        let mut made = self.pending_loose.iter();
        made.find_map(|(at, value)| (*at as usize == input).then_some(value))
    }

    pub(super) fn hash_of_values(&self, held: Storage, first: usize) -> u128 {
        let mut all = hash::Lanes::default();
        for input in 0..self.inputs {
            if let Some(error) = self.errors.pending(input) {
                hash::error(&mut all, error);
            } else if let Some(value) = self.pending_loose_value(input) {
                all.word(hash::loose(value));
            } else if let Storage::Typed(ty) = held {
                let slot = self.slots[first + input];
                if ty == GRID {
                    hash::grid(&mut all, Grids::size(slot), self.grids.words(slot));
                } else if ty == GRIDS {
                    let list = self.grids.list(slot);
                    all.word(list.len() as u64);
                    for grid in list {
                        hash::grid(&mut all, Grids::size(grid), self.grids.words(grid));
                    }
                } else {
                    let memory = &self.machine.memory;
                    hash::value(&mut all, memory, self.calls.ty(ty), slot);
                }
            }
        }
        all.finish()
    }

    /// Whether a node has the values at the end of `slots`.
    pub(super) fn has_same_values(
        &self,
        other: u32,
        held: Storage,
        hash: u128,
        first: usize,
    ) -> bool {
        let node = &self.nodes[other as usize];
        if node.hash != hash || node.held != held {
            return false;
        }
        (0..self.inputs).all(|input| {
            let (theirs, ours) = (self.error(NodeId(other), input), self.errors.pending(input));
            if theirs.is_some() || ours.is_some() {
                return theirs.as_ref() == ours;
            }
            match (
                self.loose_value(other, input),
                self.pending_loose_value(input),
            ) {
                (Some(a), Some(b)) => hash::is_same_value(a, b),
                (None, None) => match held {
                    Storage::Typed(ty) => {
                        let (a, b) = (self.slot(other, input), self.slots[first + input]);
                        if ty == GRID {
                            return self.grids.are_equal(a, b);
                        }
                        if ty == GRIDS {
                            return self.grids.are_equal_lists(a, b);
                        }
                        equal(&self.machine.memory, self.calls.ty(ty), a, b)
                    }
                    Storage::Loose | Storage::Function(_) => false,
                },
                _ => false,
            }
        })
    }

    /// Gives a node this program, which is shorter than its own.
    fn shorten(&mut self, number: u32, source: Source, length: u32) {
        // This makes no program longer: every node is longer than its operands. But a node must not depend on
        // nodes that a mark removes while it stays.
        let Source::Call {
            called,
            count,
            arguments,
        } = &source
        else {
            return;
        };
        let mut newest = arguments[..usize::from(*count)]
            .iter()
            .copied()
            .max()
            .unwrap_or(0);
        if let Called::Function(function) = called {
            newest = newest.max(function.0);
        }
        let next_mark = self.marks.partition_point(|mark| *mark <= number);
        if self
            .marks
            .get(next_mark)
            .is_some_and(|mark| *mark <= newest)
        {
            return;
        }
        let node = &mut self.nodes[number as usize];
        (node.source, node.length) = (source, length);
    }
}
