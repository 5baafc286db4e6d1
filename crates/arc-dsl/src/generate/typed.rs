//! Calls of the typed dialect's primitives. The names of parameters determine the arguments, as types do in the public
//! dialect.

use std::borrow::Cow;
use std::fmt;

use arc_isa::Type;

use super::Generator;
use super::inference::InferredType;
use super::write_call;
use crate::patch::Loc;
use crate::typed::TypedPrimitive;
use crate::value::Value;

/// One call of a primitive of the typed dialect; if it returns a function, the call of that function too. Arguments are
/// texts that mean the same as program text and in Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedCase {
    /// What is called.
    pub primitive: TypedPrimitive,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The arguments of the function that the call returns; empty if it returns none.
    pub applied_to: Vec<String>,
}

/// The call as Python text.
impl fmt::Display for TypedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_call(f, self.primitive, &self.arguments, &self.applied_to)
    }
}

/// Values that have no literal: `nan`, `inf`, `-inf`, and the function that a failing call returns.
const WITHOUT_LITERAL: &[&str] = &[
    "get_nth_t(frozenset(), 0)",
    "manhattan((), ())",
    "color(())",
    "lbind(0, 0)",
];

impl Generator {
    /// A call of a primitive of the typed dialect; if it returns a function, with arguments for that function.
    pub fn typed_case(&mut self, primitive: TypedPrimitive) -> TypedCase {
        self.change_scene();
        let mut applied_to = Vec::new();
        let arguments = match primitive {
            TypedPrimitive::Rbind | TypedPrimitive::Lbind => {
                let called = self.primitive_of(|count| count > 1);
                let mut given = self.arguments_of(called);
                let at = match primitive {
                    TypedPrimitive::Lbind => 0,
                    _ => given.len() - 1,
                };
                let fixed = given.remove(at);
                applied_to = given;
                vec![called.name().to_owned(), fixed]
            }
            TypedPrimitive::Compose
            | TypedPrimitive::Chain
            | TypedPrimitive::Fork
            | TypedPrimitive::Matcher
            | TypedPrimitive::Power => {
                applied_to.push(self.any_argument());
                self.arguments_of(primitive)
            }
            _ => self.arguments_of(primitive),
        };
        TypedCase {
            primitive,
            arguments,
            applied_to,
        }
    }

    /// The same, except that one or more arguments have any type.
    pub fn typed_case_of_any_types(&mut self, primitive: TypedPrimitive) -> TypedCase {
        let mut case = self.typed_case(primitive);
        loop {
            let at = self.dice.below(case.arguments.len());
            case.arguments[at] = self.any_argument();
            if self.dice.chance(70) {
                return case;
            }
        }
    }

    fn arguments_of(&mut self, primitive: TypedPrimitive) -> Vec<String> {
        let parameters = primitive.parameters();
        let mut arguments: Vec<_> = parameters
            .iter()
            .map(|name| self.named(primitive, name))
            .collect();
        // A second container shares elements with the first; two patches are sometimes the same.
        if parameters == ["a", "b"] && self.dice.chance(20) {
            let first = arguments[0].clone();
            arguments[1] = first;
        }
        arguments
    }

    /// A value of any type.
    fn any_argument(&mut self) -> String {
        if self.dice.chance(4) {
            return (*self.dice.pick(WITHOUT_LITERAL)).to_owned();
        }
        match self.dice.below(12) {
            0 => "()".to_owned(),
            1 => "frozenset()".to_owned(),
            2 => "None".to_owned(),
            3 => self.function_named(1),
            _ => {
                let ty = *self.dice.pick(Type::ALL);
                if ty != Type::Callable && self.dice.chance(40) {
                    let value = self.typed(ty, "").0;
                    return retyped(&self.altered(value)).to_string();
                }
                self.of_type(ty)
            }
        }
    }

    fn of_type(&mut self, ty: Type) -> String {
        if ty == Type::Callable {
            return self.function_named(1);
        }
        let value = self.typed(ty, "").0;
        retyped(&value).to_string()
    }

    fn of_kind(&mut self, kind: &InferredType) -> String {
        let value = self.value_of(kind);
        retyped(&value).to_string()
    }

    fn primitive_of(&mut self, wanted: impl Fn(usize) -> bool) -> TypedPrimitive {
        loop {
            let primitive = *self.dice.pick(TypedPrimitive::ALL);
            // `power` is excluded: it returns functions, and its arguments would use most of the random draws.
            if wanted(primitive.parameters().len()) && primitive != TypedPrimitive::Power {
                return primitive;
            }
        }
    }

    /// A function with this many parameters, mostly a primitive.
    fn function_named(&mut self, parameters: usize) -> String {
        if parameters != 1 || self.dice.chance(75) {
            return self
                .primitive_of(|count| count == parameters)
                .name()
                .to_owned();
        }
        match self.dice.below(4) {
            0 => {
                let (outer, inner) = (self.function_named(1), self.function_named(1));
                format!("compose({outer}, {inner})")
            }
            1 => {
                let function = self.function_named(1);
                let target = self.of_type(Type::Any);
                format!("matcher({function}, {target})")
            }
            _ => {
                let called = self.primitive_of(|count| count == 2);
                let fixed = self.named(called, called.parameters()[1]);
                format!("rbind({called}, {fixed})")
            }
        }
    }

    /// An argument for the parameter of this name.
    fn named(&mut self, primitive: TypedPrimitive, name: &str) -> String {
        use TypedPrimitive as P;
        let family = primitive.family();
        match (primitive, name) {
            (P::Connect, _) => return self.of_kind(&InferredType::Pair),
            (P::Branch | P::CBranch | P::Equality | P::Identity | P::Astuple, _) => {
                return match name {
                    "condition" => self.of_kind(&InferredType::Boolean),
                    _ => self.of_type(Type::Any),
                };
            }
            (P::ColorfilterT, "objs") => {
                let kind = InferredType::tuple(InferredType::tuple(InferredType::Cell));
                return self.of_kind(&kind);
            }
            (P::ObjectsG | P::ObjectsT | P::Objects, "univalued" | "diagonal" | "without_bg") => {
                return self.of_kind(&InferredType::Boolean);
            }
            (P::Canvas, "dimensions") | (P::Crop, "dims") => {
                let dims = Loc::new(self.dice.between(-1, 6), self.dice.between(-1, 6));
                return dims.to_string();
            }
            (P::Power, "n") => return self.dice.between(1, 6).to_string(),
            (P::Papply | P::Mpapply | P::Prapply, "function") | (P::Fork, "outer") => {
                return self.function_named(2);
            }
            (P::Pair | P::Celltuple | P::Papply | P::Mpapply | P::Prapply | P::Product, _) => {
                return self.of_type(if primitive == P::Prapply || primitive == P::Product {
                    Type::Container
                } else {
                    Type::Tuple
                });
            }
            (P::Interval, _) => return self.dice.between(-4, 9).to_string(),
            (P::Toij, _) => return self.of_kind(&InferredType::Cell),
            _ => {}
        }
        match name {
            "grid" => self.of_kind(&InferredType::Grid),
            "piece" | "element" | "a" | "b" if family == "grids" => {
                self.of_kind(&InferredType::Grid)
            }
            "patch" | "source" | "destination" | "piece" | "element" | "a" | "b"
                if matches!(family, "patches" | "extents") =>
            {
                self.of_type(Type::Patch)
            }
            "indices" => self.of_type(Type::Indices),
            "obj" => self.of_type(Type::Object),
            "objs" => self.of_type(Type::Objects),
            "loc" | "location" | "start" | "direction" | "directions" | "offset" | "ij"
            | "dims" | "dimensions" => self.of_kind(&InferredType::Pair),
            "color" | "replacee" | "replacer" | "fallback" | "c" => self.colour().to_string(),
            "factor" => self.dice.between(-1, 4).to_string(),
            "num" | "type" => self.dice.between(-1, 8).to_string(),
            "n" if family != "containers" => self.dice.between(-1, 5).to_string(),
            "rank" => self.dice.between(-4, 5).to_string(),
            "S" => self.samples(),
            "function" | "compfunc" | "condition" | "key" | "pick" | "outer" | "inner" | "h"
            | "g" | "f" => self.function_named(1),
            "functions" => {
                let functions = [self.function_named(1), self.function_named(1)];
                if self.dice.chance(50) {
                    format!("astuple({}, {})", functions[0], functions[1])
                } else {
                    format!("initset({})", functions[0])
                }
            }
            "container" | "containers" | "tup" => {
                let text = primitive.name();
                self.of_type(if text.ends_with("_t") || name == "tup" {
                    Type::Tuple
                } else if text.ends_with("_f") {
                    Type::FrozenSet
                } else {
                    Type::Container
                })
            }
            "value" | "item" | "target" | "fixed" => self.of_type(Type::Any),
            _ => self.by_row(primitive),
        }
    }

    /// An operand of arithmetic, of sets and tuples, or of logic.
    fn by_row(&mut self, primitive: TypedPrimitive) -> String {
        use TypedPrimitive as P;
        let ty = match primitive {
            P::Combine => Type::Container,
            P::CombineT | P::DifferenceTuple | P::DifferenceT => Type::Tuple,
            P::CombineF | P::Intersection | P::Difference => Type::FrozenSet,
            P::Even | P::Positive | P::Greater | P::Toivec | P::Tojvec | P::Astriple => {
                Type::Integer
            }
            P::Flip | P::Both | P::Either => Type::Boolean,
            _ => Type::Numerical,
        };
        self.of_type(ty)
    }

    /// Train pairs; sometimes the outputs are the inputs turned.
    fn samples(&mut self) -> String {
        let count = 1 + self.dice.below(3);
        let turned = self.dice.below(8);
        let mut pairs = Vec::new();
        for _ in 0..count {
            self.change_scene();
            let scene = self.scene();
            let (input, twin) = (scene.grid.clone(), scene.twin.clone());
            pairs.push(match turned {
                0..3 => format!("({input}, mir_rot_t({input}, {turned}))"),
                _ => format!("({input}, {twin})"),
            });
        }
        match pairs.as_slice() {
            [one] if turned < 3 => format!("repeat({one}, 1)"),
            [a, b] if turned < 3 => format!("({a}, {b})"),
            [a, b, _] if turned < 3 => format!("({a}, {b})"),
            _ => {
                let mut text = pairs.join(", ");
                text.push(',');
                format!("({text})")
            }
        }
    }
}

/// Converts a value of the public dialect to the typed one: cells become (row, column, colour).
fn retyped(value: &Value) -> Cow<'_, Value> {
    let elements =
        |all: &[Value]| -> Vec<_> { all.iter().map(|e| retyped(e).into_owned()).collect() };
    Cow::Owned(match value {
        Value::Cell(cell) => {
            let parts = [cell.loc.i, cell.loc.j, cell.colour];
            Value::tuple(parts.map(Value::Int).to_vec())
        }
        Value::Object(object) => {
            let cells = object.as_slice().iter().map(|&cell| Value::Cell(cell));
            Value::set(cells.map(|cell| retyped(&cell).into_owned()))
        }
        Value::Tuple(all) => Value::tuple(elements(all.as_slice())),
        Value::Set(all) => Value::set(elements(all.as_slice())),
        other => return Cow::Borrowed(other),
    })
}
