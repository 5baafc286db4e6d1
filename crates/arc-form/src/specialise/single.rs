//! The form of a single call with given arguments: a step of a growing program.

use arc_dsl::{Primitive, Program, Value};

use super::super::{Form, Id, Type};
use super::symbols::Symbol;
use super::{Arguments, Reason, Specialised, Specialiser, Unspecialised};

/// An argument of a single call, or its callee.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// The parameter with this number.
    Parameter(u32),
    /// A constant.
    Constant(Value),
    /// A primitive as a value.
    Primitive(Primitive),
    /// The result of a primitive on these: `compose` and similar primitives return functions.
    Call(Primitive, Vec<Argument>),
}

impl Specialiser {
    /// The form of one call: the result of `callee` on these arguments, with parameters of these types.
    ///
    /// Functions are inlined, so a loop has a region. Captured values of a function are parameters if the caller
    /// says so. The form of a program has one grid as its parameter; this one has the given parameters, and only an
    /// executor that fills them itself can run it.
    ///
    /// ```
    /// use arc_dsl::Primitive;
    /// use arc_form::{Argument, Specialiser, Type};
    /// let function = Argument::Call(Primitive::Lbind, vec![
    ///     Argument::Primitive(Primitive::Shift),
    ///     Argument::Parameter(1),
    /// ]);
    /// let form = Specialiser::default().specialise_call(
    ///     &Argument::Primitive(Primitive::Mapply),
    ///     &[function, Argument::Parameter(0)],
    ///     &[Type::Indices, Type::Object],
    /// )?;
    /// assert_eq!(form.to_string(), "\
    /// form mapply(v0: indices, v1: object):
    ///   v2: object = mapply(v0) @1 {v3: pair ->
    ///     v4: object = shift(v1, v3) @1
    ///     yield v4
    ///   }
    ///   return v2
    /// ");
    /// # Ok::<(), arc_form::Unspecialised>(())
    /// ```
    pub fn specialise_call(
        &mut self,
        callee: &Argument,
        arguments: &[Argument],
        parameters: &[Type],
    ) -> Result<Form, Unspecialised> {
        let name = match callee {
            Argument::Primitive(primitive) => primitive.name(),
            _ => "call",
        };
        self.form(name, 1, parameters, |specialiser, ids| {
            let result = specialiser.apply(callee, arguments, ids)?;
            specialiser.materialise(result)
        })
    }

    /// The form of a function with these arguments and parameters of these types; it has the steps of the
    /// function, like the form of a program.
    ///
    /// ```
    /// use arc_form::{Argument, Specialiser, Type};
    /// let text = "def beside(a, b): return hconcat(a, vmirror(b))";
    /// let beside = arc_text::parse_functions(text).remove(0)?;
    /// let arguments = [Argument::Parameter(0), Argument::Parameter(0)];
    /// let form = Specialiser::default().specialise_function(&beside, &arguments, &[Type::Grid])?;
    /// assert_eq!(form.to_string(), "\
    /// form beside(v0: grid):
    ///   v1: grid = vmirror(v0) @1
    ///   v2: grid = hconcat(v0, v1) @1
    ///   return v2
    /// ");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn specialise_function(
        &mut self,
        function: &Program,
        arguments: &[Argument],
        parameters: &[Type],
    ) -> Result<Form, Unspecialised> {
        self.form(function.name(), 1, parameters, |specialiser, ids| {
            let (expected, found) = (function.inputs().len(), arguments.len());
            if expected != found {
                let what = format!("{found} arguments for {expected} inputs");
                return Err(Reason::Types(what).into());
            }
            let arguments = arguments.iter();
            let variables: Specialised<Vec<_>> = arguments
                .map(|argument| specialiser.argument(argument, ids))
                .collect();
            specialiser.steps(function, &mut variables?)
        })
    }

    fn apply(&mut self, callee: &Argument, arguments: &[Argument], ids: &[Id]) -> Specialised {
        let callee = self.argument(callee, ids)?;
        let mut symbols = Arguments::new();
        for argument in arguments {
            symbols.push(self.argument(argument, ids)?);
        }
        self.call(callee, &symbols)
    }

    fn argument(&mut self, argument: &Argument, ids: &[Id]) -> Specialised {
        match argument {
            Argument::Parameter(number) => {
                let id = ids.get(*number as usize);
                let missing = || Reason::Types(format!("there is no parameter {number}"));
                Ok(Symbol::Value(*id.ok_or_else(missing)?))
            }
            Argument::Constant(value) => self.constant(value),
            Argument::Primitive(primitive) => Ok(Symbol::Primitive(*primitive)),
            Argument::Call(primitive, arguments) => {
                self.apply(&Argument::Primitive(*primitive), arguments, ids)
            }
        }
    }
}
