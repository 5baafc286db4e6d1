//! Steps that only compose or decompose compile-time objects.

use std::sync::Arc;

use super::symbols::{Node, Symbol};
use super::{Specialised, Specialiser, Type};
use arc_dsl::{ContainerKind, Primitive, Value};

/// The most elements of a tuple or set that is a compile-time object.
const MOST_ITEMS: usize = 64;

impl Specialiser {
    /// Whether it is a tuple or a set, if it is certainly a container.
    pub(super) fn kind_of_container(&self, symbol: Symbol) -> Option<ContainerKind> {
        match self.symbols.object(symbol) {
            Some(Node::Tuple(_)) => Some(ContainerKind::Tuple),
            Some(Node::Single(_) | Node::Set(_)) => Some(ContainerKind::Set),
            Some(Node::Each(each)) => self.kind_of_container(each.container),
            _ => self.type_of(symbol)?.container(),
        }
    }

    /// The result of a call that only composes or decomposes compile-time objects.
    pub(super) fn rearrange(
        &mut self,
        primitive: Primitive,
        arguments: &[Symbol],
    ) -> Specialised<Option<Symbol>> {
        use Primitive as P;
        let node = |at: usize| self.symbols.node(arguments[at]);
        let tuple =
            |items: Vec<Symbol>| (items.len() <= MOST_ITEMS).then(|| Node::Tuple(items.into()));
        let made = match (primitive, node(0)) {
            (P::Identity, _) | (P::Totuple, Node::Tuple(_)) => return Ok(Some(arguments[0])),
            (P::Branch, _) => {
                return self
                    .branch(arguments[0], arguments[1], arguments[2])
                    .map(Some);
            }
            // Either operand may be the result: an instruction needs them to be of one type.
            (P::Both | P::Either, _) if !self.are_truth_values(arguments) => {
                let [a, b] = [arguments[0], arguments[1]];
                let (yes, no) = if primitive == P::Both { (b, a) } else { (a, b) };
                return self.branch(a, yes, no).map(Some);
            }
            (P::Astuple, _) if !self.are_constants(arguments) => tuple(arguments.to_vec()),
            (P::Initset, _) if !self.are_constants(arguments) => Some(Node::Single(arguments[0])),
            // Of an empty one the call fails.
            (P::First, Node::Tuple(items) | Node::Set(items)) if !items.is_empty() => {
                return Ok(Some(items[0]));
            }
            (P::Last, Node::Tuple(items) | Node::Set(items)) if !items.is_empty() => {
                return Ok(items.last().copied());
            }
            (P::First | P::Last, Node::Single(item)) => return Ok(Some(item)),
            (P::First | P::Last, Node::Each(each)) if each.ordered => {
                let item = self.primitive(primitive, &[each.container])?;
                return self.stand_for(item, &each.holes, each.template).map(Some);
            }
            (P::Totuple, Node::Set(items)) => tuple(items.to_vec()),
            (P::Difference, _) if self.options.fold && arguments[0] == arguments[1] => {
                match self.kind_of_container(arguments[0]) {
                    Some(ContainerKind::Tuple) => tuple(Vec::new()),
                    Some(ContainerKind::Set) => {
                        return Ok(Some(self.symbols.constant(&Value::empty_set())));
                    }
                    None => None,
                }
            }
            (P::Totuple, Node::Single(item)) => tuple(vec![item]),
            (P::Size, Node::Tuple(items) | Node::Set(items)) => {
                return Ok(Some(self.symbols.constant(&Value::Int(items.len() as i32))));
            }
            (P::Size, Node::Single(_)) => return Ok(Some(self.symbols.constant(&Value::Int(1)))),
            (P::Combine, Node::Tuple(a)) => self
                .static_items(arguments[1])?
                .and_then(|b| tuple([&a, &*b].concat())),
            (P::Repeat, _) if self.type_of(arguments[0]).is_none() => {
                let count = self.symbols.value(arguments[1]).and_then(Value::as_int);
                count.and_then(|n| {
                    let n = usize::try_from(n).unwrap_or(0);
                    (n <= MOST_ITEMS).then(|| Node::Tuple(vec![arguments[0]; n].into()))
                })
            }
            (P::Merge, Node::Tuple(items)) if self.type_of(arguments[0]).is_none() => {
                let mut all = Some(Vec::new());
                for item in items.iter() {
                    let inside = self.static_items(*item)?;
                    all = all
                        .zip(inside)
                        .map(|(all, inside)| [&all[..], &inside].concat());
                }
                all.and_then(tuple)
            }
            (P::Pair, Node::Tuple(a)) => match self.static_items(arguments[1])? {
                Some(b) => {
                    let pairs = a.iter().zip(b.iter());
                    let pairs: Arc<[_]> = pairs
                        .map(|(a, b)| self.symbols.add(Node::Tuple([*a, *b].into())))
                        .collect();
                    Some(Node::Tuple(pairs))
                }
                None => None,
            },
            _ => return self.rearrange_sets(primitive, arguments),
        };
        Ok(made.map(|node| self.symbols.add(node)))
    }

    /// Whether all are truth values.
    fn are_truth_values(&self, symbols: &[Symbol]) -> bool {
        symbols
            .iter()
            .all(|symbol| self.type_of(*symbol).as_deref() == Some(&Type::Bool))
    }

    /// The same for sets of values that cannot be in a set at run time.
    fn rearrange_sets(
        &mut self,
        primitive: Primitive,
        arguments: &[Symbol],
    ) -> Specialised<Option<Symbol>> {
        use Primitive as P;
        let of_sets = matches!(primitive, P::Insert | P::Combine | P::Product);
        if !of_sets
            || arguments
                .iter()
                .all(|argument| self.type_of(*argument).is_some())
        {
            return Ok(None);
        }
        let call = Some((primitive, arguments));
        match primitive {
            P::Insert if self.kind_of_container(arguments[1]) == Some(ContainerKind::Set) => {
                let items = self.static_items(arguments[1])?;
                let items = items.map(|items| [&items, &arguments[..1]].concat());
                Ok(items.and_then(|items| self.symbols.set(items, call)))
            }
            P::Combine if self.kind_of_container(arguments[0]) == Some(ContainerKind::Set) => {
                let (a, b) = (
                    self.static_items(arguments[0])?,
                    self.static_items(arguments[1])?,
                );
                let items = a.zip(b).map(|(a, b)| [&a[..], &b].concat());
                Ok(items.and_then(|items| self.symbols.set(items, call)))
            }
            P::Product => self.product(arguments[0], arguments[1]),
            _ => Ok(None),
        }
    }

    /// `product` of functions or other values that cannot be in a set at run time.
    fn product(&mut self, a: Symbol, b: Symbol) -> Specialised<Option<Symbol>> {
        if let (Some(first), Some(second)) = (self.static_items(a)?, self.static_items(b)?) {
            if first.len() * second.len() > MOST_ITEMS {
                return Ok(None);
            }
            let mut pairs = Vec::new();
            for second in second.iter() {
                for first in first.iter() {
                    pairs.push(self.symbols.add(Node::Tuple([*first, *second].into())));
                }
            }
            return Ok(self.symbols.set(pairs, None));
        }
        // A tuple may repeat elements, and in another order than a set.
        let are_sets = [a, b].map(|side| self.kind_of_container(side));
        if are_sets != [Some(ContainerKind::Set); 2] {
            return Ok(None);
        }
        self.product_at_run_time(a, b).map(Some)
    }

    /// The elements of a container whose elements are known: a tuple, or a set of one.
    fn static_items(&mut self, symbol: Symbol) -> Specialised<Option<Arc<[Symbol]>>> {
        match self.symbols.node(symbol) {
            Node::Tuple(items) | Node::Set(items) => Ok(Some(items)),
            Node::Single(item) => Ok(Some([item].into())),
            Node::Constant(_) => {
                let items = self.constant_items(symbol, |items| items.len() <= MOST_ITEMS)?;
                Ok(items.map(Arc::from))
            }
            _ => Ok(None),
        }
    }
}
