//! Packs the arguments of a launch as the driver reads them.

use super::super::Argument;
use crate::interface::Parameter;

/// Packs each argument into eight aligned bytes, a number into the first four.
///
/// The driver reads as many parameters as the kernel has, however many it is given. So this checks their number and
/// sizes; the error says which one is wrong.
pub(super) fn pack<B>(
    parameters: &[Parameter],
    arguments: &[Argument<'_, B>],
    address: impl Fn(&B) -> u64,
) -> Result<Vec<u64>, String> {
    if parameters.len() != arguments.len() {
        return Err(format!(
            "it takes {} arguments, not {}",
            parameters.len(),
            arguments.len()
        ));
    }
    let parameters = parameters.iter().zip(arguments).enumerate();
    parameters
        .map(|(index, (parameter, argument))| {
            let mut bytes = [0; 8];
            let given = match argument {
                Argument::Buffer(buffer) => {
                    bytes = address(buffer).to_ne_bytes();
                    8
                }
                Argument::Number(number) => {
                    bytes[..4].copy_from_slice(&number.to_ne_bytes());
                    4
                }
            };
            let bytes_taken = parameter.bytes();
            if given == bytes_taken {
                Ok(u64::from_ne_bytes(bytes))
            } else {
                Err(format!(
                    "argument {index} has {given} bytes, its parameter {bytes_taken}"
                ))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters of as many bytes.
    fn of(bytes: &[usize]) -> Vec<Parameter> {
        let parameter = |bytes: &usize| Parameter {
            name: "one",
            ty: if *bytes == 8 { "uint4*" } else { "uint32_t" },
            about: &[],
        };
        bytes.iter().map(parameter).collect()
    }

    #[test]
    fn buffers_go_by_their_address_and_numbers_as_they_are() {
        let arguments = [
            Argument::Buffer(&7),
            Argument::Number(0xaabb_ccdd),
            Argument::Buffer(&9),
        ];
        let packed = pack(&of(&[8, 4, 8]), &arguments, |buffer| buffer * 256).unwrap();
        assert_eq!([packed[0], packed[2]], [7 * 256, 9 * 256]);
        let number = packed[1].to_ne_bytes();
        assert_eq!(number[..4], 0xaabb_ccdd_u32.to_ne_bytes());
        assert_eq!(number[4..], [0; 4]);
    }

    #[test]
    fn what_the_kernel_does_not_take_is_refused() {
        let pack = |sizes: &[usize]| {
            let arguments = [Argument::Buffer(&1_u64), Argument::Number(2)];
            pack(&of(sizes), &arguments, |buffer| *buffer).unwrap_err()
        };
        assert_eq!(pack(&[8]), "it takes 1 arguments, not 2");
        assert_eq!(pack(&[8, 4, 4]), "it takes 3 arguments, not 2");
        assert_eq!(pack(&[8, 8]), "argument 1 has 4 bytes, its parameter 8");
        assert_eq!(pack(&[4, 4]), "argument 0 has 8 bytes, its parameter 4");
    }
}
