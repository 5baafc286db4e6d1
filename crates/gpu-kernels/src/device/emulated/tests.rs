use super::*;
use crate::device::Entry;

fn device() -> EmulatedDevice {
    EmulatedDevice::new(0, &Emulation::default()).unwrap()
}

#[cfg_attr(not(emulated), ignore = "no C++ compiler when this was built")]
#[test]
fn copies() {
    let device = device();
    let bytes: Vec<u8> = (0..1600).map(|i| i as u8).collect();
    let mut from = device.allocate(bytes.len()).unwrap();
    let to = device.allocate(bytes.len()).unwrap();
    device.upload(&bytes, &mut from, 0).unwrap();
    device
        .launch(&Launch {
            entry: Entry::Copy,
            blocks: 2,
            threads: 32,
            shared_bytes: 0,
            arguments: vec![
                Argument::Buffer(&from),
                Argument::Buffer(&to),
                Argument::Number(100),
            ],
        })
        .unwrap();
    let mut back = vec![0; bytes.len()];
    device.download(&to, 0, &mut back).unwrap();
    assert_eq!(back, bytes);
}
