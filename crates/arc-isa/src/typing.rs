//! The type of a call's result, by the signature of the primitive and by the rule of its row.

use crate::primitive::Primitive;
use crate::rules::{Typing, Unlike, accepts, fails, sure, surely_accepts};
use crate::signature::Type as Signature;
use crate::types::ValueType as Type;

impl Primitive {
    /// The type of its result for arguments of these types. It must not take functions ([`Self::is_first_order`]).
    pub fn typing(self, arguments: &[Type]) -> Result<Typing, Unlike> {
        if arguments.iter().any(|ty| matches!(ty, Type::Never)) {
            return sure(Type::Never);
        }
        let mut is_sure = true;
        for (at, (_, signature)) in self.parameters().iter().enumerate() {
            if surely_accepts(*signature, &arguments[at]) {
                continue;
            }
            if !accepts(*signature, &arguments[at]) {
                return fails();
            }
            is_sure = false;
        }
        let typing = match self.facts().result {
            Some(rule) => rule(arguments)?,
            None => by_signature(self.returns()),
        };
        Ok(Typing {
            checked: typing.checked || !is_sure,
            ..typing
        })
    }
}

/// The result type that the signature alone implies.
fn by_signature(returns: Signature) -> Typing {
    let ty = match returns {
        Signature::Boolean => Type::Bool,
        Signature::Integer => Type::Int,
        Signature::IntegerTuple => Type::Pair,
        Signature::Grid => Type::Grid,
        Signature::Object => Type::Object,
        Signature::Indices => Type::Indices,
        Signature::Objects => Type::set_of(Type::Object),
        // All first-order primitives with these return types have a rule: the tests check that.
        _ => Type::Never,
    };
    Typing {
        checked: ty == Type::Never,
        ty,
    }
}

impl Type {
    /// The type of a call's result, computed from the types of its arguments, and whether that type is certain. If it
    /// is not, a value may have another type, which happens in fewer than one in fifty random calls. `None` if the
    /// types imply that the call fails, if the number of arguments is wrong, or if the results have no common type.
    ///
    /// The primitive must not take functions ([`Primitive::is_first_order`]). For one that does,
    /// `arc_form::Specialiser::specialise_call` builds a form, whose result has a type.
    ///
    /// ```
    /// use arc_isa::{Primitive, ValueType};
    /// let objects = ValueType::set_of(ValueType::Object);
    /// let first = ValueType::of_call(Primitive::First, &[objects]);
    /// assert_eq!(first, Some((ValueType::Object, true)));
    /// assert_eq!(ValueType::of_call(Primitive::Vmirror, &[ValueType::Int]), None);
    /// ```
    pub fn of_call(primitive: Primitive, arguments: &[Type]) -> Option<(Type, bool)> {
        if arguments.len() != primitive.parameters().len() || !primitive.is_first_order() {
            return None;
        }
        let typing = primitive.typing(arguments).ok()?;
        let fails = typing.ty == Type::Never && typing.checked;
        (!fails).then_some((typing.ty, !typing.checked))
    }
}
