//! [`OperationSignature`]: what the kernels know of an operation.

/// An operation, as far as the kernels know it; its opcode is its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationSignature {
    /// The device function.
    pub name: &'static str,
    /// How its result is represented.
    pub gives: &'static str,
    /// How its operands are.
    pub takes: Vec<&'static str>,
}
