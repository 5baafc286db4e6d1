//! The symbolic value of a program's variable during specialisation.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::sync::Arc;

use super::super::memo::Memo;
use super::super::{Id, Type, words};
use arc_dsl::{Container, Interpreter, Primitive, Value};

/// Identifies a [`Node`]: equal nodes have the same symbol. Only compile-time objects need a lookup for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Symbol {
    /// A value at run time.
    Value(Id),
    /// A constant, by its number.
    Constant(u32),
    /// A primitive as a function.
    Primitive(Primitive),
    /// A compile-time object, by its number.
    Object(u32),
}

impl Symbol {
    /// Whether it is certainly one value, constant or evaluated at run time.
    pub(super) fn is_one_value(self) -> bool {
        matches!(self, Symbol::Value(_) | Symbol::Constant(_))
    }

    /// A word that is different for every symbol: the lowest two bits have its kind.
    pub(super) fn word(self) -> u32 {
        match self {
            Symbol::Value(id) => id.0 << 2,
            Symbol::Constant(at) => at << 2 | 1,
            Symbol::Primitive(primitive) => (primitive as u32) << 2 | 2,
            Symbol::Object(at) => at << 2 | 3,
        }
    }
}

/// A value, constant or evaluated at run time, or a compile-time object.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A value at run time.
    Value(Id),
    /// A constant, by its number.
    Constant(u32),
    /// A primitive as a function.
    Primitive(Primitive),
    /// A function that a call returned.
    Function(Function),
    /// A tuple of these.
    Tuple(Arc<[Symbol]>),
    /// The set of one element.
    Single(Symbol),
    /// A set of several in the order of iteration: in Python's order if all are constants, and otherwise, since Python
    /// has none for sets with functions, in the order in which they were added.
    Set(Arc<[Symbol]>),
    /// One of these, depending on a value at run time.
    OneOf {
        /// The value that decides.
        tag: Tag,
        /// Used only if the tag selects it.
        options: Arc<[Symbol]>,
    },
    /// A container at run time whose elements stand for compile-time objects: `template` with the element in
    /// place of the hole, or with its items if there are several holes.
    Each(Each),
}

/// See [`Node::Each`].
#[derive(Debug, Clone)]
pub(super) struct Each {
    /// The container.
    pub(super) container: Symbol,
    /// Placeholder values of the template, which no instruction computes.
    pub(super) holes: Arc<[Id]>,
    /// What an element stands for.
    pub(super) template: Symbol,
    /// Whether the order of the elements is that of what they stand for, which it is not for a set of values
    /// without functions: their hashes decide.
    pub(super) ordered: bool,
}

/// Selects one of several options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tag {
    /// The first if it is true, otherwise the second.
    Truth(Id),
    /// The number of the option.
    Number(Id),
}

impl Tag {
    pub(super) fn id(self) -> Id {
        match self {
            Tag::Truth(id) | Tag::Number(id) => id,
        }
    }
}

/// A function that a primitive such as `compose` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) made_by: Primitive,
    /// The primitive's arguments; the last of two stands twice.
    pub(super) parts: [Symbol; 3],
    /// The number of its parameters.
    pub(super) parameters: u8,
}

impl Function {
    pub(super) fn new(made_by: Primitive, [first, second]: [Symbol; 2]) -> Self {
        Self {
            made_by,
            parts: [first, second, second],
            parameters: 1,
        }
    }
}

/// Writes symbols after the number of the operation on them.
fn write(into: &mut Vec<u32>, kind: u32, symbols: &[Symbol]) {
    into.push(words::FREE + kind);
    into.extend(symbols.iter().map(|symbol| symbol.word()));
}

/// All compile-time objects and constants.
#[derive(Debug)]
pub(super) struct Symbols {
    objects: Vec<Object>,
    constants: Vec<Constant>,
    /// The numbers of objects and of constants, by their words.
    numbers: Memo<u32>,
    /// Functions that the reference creates more than once.
    repeated: HashSet<Symbol>,
    /// For functions that calls create, and sets of them, values that behave so in sets.
    stand_ins: HashMap<Symbol, Value>,
}

#[derive(Debug)]
struct Object {
    node: Node,
    weight: u32,
}

/// A constant, with its type if it has one.
#[derive(Debug)]
struct Constant {
    value: Value,
    ty: Option<Type>,
}

impl Default for Symbols {
    fn default() -> Self {
        Self {
            objects: Vec::with_capacity(16),
            constants: Vec::with_capacity(16),
            numbers: Memo::default(),
            repeated: HashSet::default(),
            stand_ins: HashMap::default(),
        }
    }
}

impl Symbols {
    /// Forgets everything, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.constants.clear();
        self.numbers.truncate(0);
        self.repeated.clear();
        self.stand_ins.clear();
    }

    pub(super) fn add(&mut self, node: Node) -> Symbol {
        let words = self.numbers.key();
        match &node {
            Node::Value(id) => return Symbol::Value(*id),
            Node::Constant(at) => return Symbol::Constant(*at),
            Node::Primitive(primitive) => return Symbol::Primitive(*primitive),
            Node::Function(Function {
                made_by,
                parts,
                parameters,
            }) => {
                write(words, 14 + *made_by as u32, parts);
                words.push(u32::from(*parameters));
            }
            Node::Tuple(items) => write(words, 7, items),
            Node::Single(item) => write(words, 8, &[*item]),
            Node::Set(items) => write(words, 9, items),
            Node::OneOf { tag, options } => {
                let (kind, id) = match tag {
                    Tag::Truth(id) => (10, id),
                    Tag::Number(id) => (11, id),
                };
                write(words, kind, options);
                words.push(id.0);
            }
            Node::Each(each) => {
                let kind = 12 + u32::from(each.ordered);
                write(words, kind, &[each.container, each.template]);
                words.extend(each.holes.iter().map(|hole| hole.0));
            }
        }
        Symbol::Object(match self.numbers.find() {
            Ok(at) => at,
            Err(place) => {
                let at = self.objects.len() as u32;
                self.numbers.enter(place, at);
                let weight = self.weigh(&node);
                self.objects.push(Object { node, weight });
                at
            }
        })
    }

    pub(super) fn node(&self, symbol: Symbol) -> Node {
        match symbol {
            Symbol::Value(id) => Node::Value(id),
            Symbol::Constant(at) => Node::Constant(at),
            Symbol::Primitive(primitive) => Node::Primitive(primitive),
            Symbol::Object(at) => self.objects[at as usize].node.clone(),
        }
    }

    /// The symbol of a constant; values that print alike share one.
    pub(super) fn constant(&mut self, value: &Value) -> Symbol {
        words::write(self.numbers.key(), value);
        Symbol::Constant(match self.numbers.find() {
            Ok(at) => at,
            Err(place) => {
                let at = self.constants.len() as u32;
                self.numbers.enter(place, at);
                self.constants.push(Constant {
                    value: value.clone(),
                    ty: value.value_type(),
                });
                at
            }
        })
    }

    /// The value, if it is a constant.
    pub(super) fn value(&self, symbol: Symbol) -> Option<&Value> {
        Some(&self.known(symbol)?.value)
    }

    /// The value with its type, if it is a constant that has one.
    pub(super) fn typed_value(&self, symbol: Symbol) -> Option<(&Value, &Type)> {
        let known = self.known(symbol)?;
        Some((&known.value, known.ty.as_ref()?))
    }

    fn known(&self, symbol: Symbol) -> Option<&Constant> {
        match symbol {
            Symbol::Constant(at) => self.constants.get(at as usize),
            _ => None,
        }
    }

    /// The compile-time object, if it is one.
    pub(super) fn object(&self, symbol: Symbol) -> Option<&Node> {
        match symbol {
            Symbol::Object(at) => Some(&self.objects[at as usize].node),
            _ => None,
        }
    }

    /// A function that a call creates. The reference orders functions by their age, so one that is created
    /// twice has no position in that order.
    pub(super) fn add_function(&mut self, function: Function) -> Symbol {
        let known = self.objects.len();
        let symbol = self.add(Node::Function(function));
        if self.objects.len() == known {
            self.mark_repeated(symbol);
        }
        symbol
    }

    /// Records that the reference creates this function a second time.
    pub(super) fn mark_repeated(&mut self, symbol: Symbol) {
        if let Some(Node::Function(_)) = self.object(symbol) {
            self.repeated.insert(symbol);
        }
    }

    /// Whether two elements of a set are equal; `None` if it is not known before the run.
    fn equal(&self, a: Symbol, b: Symbol) -> Option<bool> {
        let rank = |symbol: Symbol| match self.node(symbol) {
            Node::Primitive(_) => Some(1),
            Node::Function(_) => Some(2),
            Node::Constant(_) | Node::Tuple(_) => Some(0),
            _ => None,
        };
        match (self.node(a), self.node(b)) {
            (Node::Constant(_), Node::Constant(_)) => Some(self.value(a)? == self.value(b)?),
            (Node::Primitive(a), Node::Primitive(b)) => Some(a == b),
            // One that the reference creates twice is two functions.
            (Node::Function(_), Node::Function(_)) => {
                (!self.repeated.contains(&a) && !self.repeated.contains(&b)).then_some(a == b)
            }
            (Node::Tuple(a), Node::Tuple(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    if !self.equal(*a, *b)? {
                        return Some(false);
                    }
                }
                Some(a.len() == b.len())
            }
            _ => (rank(a)? != rank(b)?).then_some(false),
        }
    }

    /// A value that has the hash of a symbol and equals its equals; `None` if only the run tells them. A function that a
    /// call creates equals no other, and all have one hash.
    fn stand_in(&mut self, symbol: Symbol) -> Option<Value> {
        if let Some(known) = self.stand_ins.get(&symbol) {
            return Some(known.clone());
        }
        match self.node(symbol) {
            Node::Constant(_) => self.value(symbol).cloned(),
            Node::Primitive(primitive) => Some(Value::primitive(primitive).clone()),
            Node::Function(_) => {
                let [create, of] = [Primitive::Chain, Primitive::Identity].map(Value::primitive);
                let created = Interpreter::default().call(create, &[of, of, of]).ok()?;
                self.stand_ins.insert(symbol, created.clone());
                Some(created)
            }
            Node::Tuple(items) => self.all_stand_ins(&items).map(Value::tuple),
            Node::Set(items) => self.all_stand_ins(&items).map(Value::set),
            Node::Single(item) => self.stand_in(item).map(|item| Value::set([item])),
            _ => None,
        }
    }

    fn all_stand_ins(&mut self, symbols: &[Symbol]) -> Option<Vec<Value>> {
        symbols.iter().map(|it| self.stand_in(*it)).collect()
    }

    /// The set that a call gives, of these elements; without a call, the one to which they were added in this order.
    /// `None` if only the run tells which of them are equal, or their hashes.
    pub(super) fn set(
        &mut self,
        items: Vec<Symbol>,
        call: Option<(Primitive, &[Symbol])>,
    ) -> Option<Symbol> {
        let mut different: Vec<Symbol> = Vec::new();
        for item in items {
            let mut known = false;
            for other in &different {
                known |= self.equal(item, *other)?;
            }
            if !known {
                different.push(item);
            }
        }
        if let [single] = different[..] {
            return Some(self.add(Node::Single(single)));
        }
        let values = self.all_stand_ins(&different)?;
        let set = match call {
            None => Value::set(values.clone()),
            Some((primitive, arguments)) => {
                let arguments = self.all_stand_ins(arguments)?;
                let arguments: Vec<&Value> = arguments.iter().collect();
                let called = Interpreter::default().call(Value::primitive(primitive), &arguments);
                called.ok()?
            }
        };
        let are_constants = different.iter().all(|it| self.value(*it).is_some());
        if are_constants && !set.is_added_in_order() {
            return None;
        }
        let in_order = set.as_container().into_iter().flat_map(Container::iter);
        let places = in_order.map(|value| values.iter().position(|it| *it == *value));
        let in_order: Option<Arc<[Symbol]>> = places.map(|at| Some(different[at?])).collect();
        let symbol = self.add(Node::Set(in_order?));
        self.stand_ins.insert(symbol, set);
        Some(symbol)
    }

    /// The number of nodes in a symbol, repeated ones counted each time. The inside of a function does not
    /// count: it is only visited when the function is called.
    pub(super) fn weight(&self, symbol: Symbol) -> u32 {
        match symbol {
            Symbol::Object(at) => self.objects[at as usize].weight,
            _ => 1,
        }
    }

    fn weigh(&self, node: &Node) -> u32 {
        let all = |items: &[Symbol]| {
            items
                .iter()
                .fold(1u32, |sum, item| sum.saturating_add(self.weight(*item)))
        };
        match node {
            Node::Tuple(items) | Node::Set(items) => all(items),
            Node::OneOf { options, .. } => all(options),
            Node::Single(item) => all(&[*item]),
            Node::Each(each) => all(&[each.container, each.template]),
            Node::Value(_) | Node::Constant(_) | Node::Primitive(_) | Node::Function(_) => 1,
        }
    }

    /// The run-time values in a symbol.
    pub(super) fn leaves(&self, symbol: Symbol, into: &mut Vec<Id>) {
        let mut seen = HashSet::default();
        self.leaves_once(symbol, into, &mut seen);
        // No instruction computes holes.
        for symbol in seen {
            if let Node::Each(each) = self.node(symbol) {
                into.retain(|id| !each.holes.contains(id));
            }
        }
        into.sort_unstable();
        into.dedup();
    }

    fn leaves_once(&self, symbol: Symbol, into: &mut Vec<Id>, seen: &mut HashSet<Symbol>) {
        if !seen.insert(symbol) {
            return;
        }
        match self.node(symbol) {
            Node::Value(id) => into.push(id),
            Node::Constant(_) | Node::Primitive(_) => {}
            Node::Function(function) => {
                for part in function.parts {
                    self.leaves_once(part, into, seen);
                }
            }
            Node::Tuple(items) | Node::Set(items) => {
                for item in items.iter() {
                    self.leaves_once(*item, into, seen);
                }
            }
            Node::Single(item) => self.leaves_once(item, into, seen),
            Node::OneOf { tag, options } => {
                into.push(tag.id());
                for option in options.iter() {
                    self.leaves_once(*option, into, seen);
                }
            }
            Node::Each(each) => {
                self.leaves_once(each.container, into, seen);
                self.leaves_once(each.template, into, seen);
            }
        }
    }

    /// The symbol with values replaced by other symbols.
    pub(super) fn replace(&mut self, symbol: Symbol, with: &HashMap<Id, Symbol>) -> Symbol {
        self.replace_once(symbol, with, &mut HashMap::default())
    }

    fn replace_once(
        &mut self,
        symbol: Symbol,
        with: &HashMap<Id, Symbol>,
        done: &mut HashMap<Symbol, Symbol>,
    ) -> Symbol {
        if let Some(replaced) = done.get(&symbol) {
            return *replaced;
        }
        let node = match self.node(symbol) {
            Node::Value(id) => return with.get(&id).copied().unwrap_or(symbol),
            Node::Constant(_) | Node::Primitive(_) => return symbol,
            Node::Function(function) => Node::Function(Function {
                parts: (function.parts).map(|part| self.replace_once(part, with, done)),
                ..function
            }),
            Node::Tuple(items) => Node::Tuple(self.replace_all(&items, with, done)),
            Node::Set(items) => Node::Set(self.replace_all(&items, with, done)),
            Node::Single(item) => Node::Single(self.replace_once(item, with, done)),
            Node::OneOf { tag, options } => {
                let options = self.replace_all(&options, with, done);
                let replaced = with.get(&tag.id()).map(|symbol| self.node(*symbol));
                let tag = match (replaced, tag) {
                    (Some(Node::Value(id)), Tag::Truth(_)) => Tag::Truth(id),
                    (Some(Node::Value(id)), Tag::Number(_)) => Tag::Number(id),
                    _ => tag,
                };
                Node::OneOf { tag, options }
            }
            Node::Each(each) => Node::Each(Each {
                container: self.replace_once(each.container, with, done),
                template: self.replace_once(each.template, with, done),
                ..each
            }),
        };
        let replaced = self.add(node);
        done.insert(symbol, replaced);
        replaced
    }

    fn replace_all(
        &mut self,
        items: &[Symbol],
        with: &HashMap<Id, Symbol>,
        done: &mut HashMap<Symbol, Symbol>,
    ) -> Arc<[Symbol]> {
        items
            .iter()
            .map(|item| self.replace_once(*item, with, done))
            .collect()
    }
}
