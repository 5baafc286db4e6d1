//! [`DeviceVec`]: a growable array in device memory.

use bytemuck::Pod;

use super::Engine;
use crate::device::{Device, DeviceError};

/// A growable array in device memory.
#[derive(Debug)]
pub(super) struct DeviceVec<B> {
    pub(super) buffer: B,
    /// Bytes in use.
    length: usize,
    pub(super) capacity: usize,
}

/// Elements that were uploaded but are not yet part of the array.
pub(super) struct PendingAppend<B> {
    bytes: usize,
    /// The longer buffer that replaces the array's own, with its capacity.
    longer: Option<(B, usize)>,
}

/// The most elements of an array: kernels index the eight parts of a unit with 32 bits.
pub(super) const MAX_ELEMENTS: usize = 1 << 29;

impl<B> DeviceVec<B> {
    pub(super) fn elements<T>(&self) -> usize {
        self.length / size_of::<T>()
    }

    pub(super) fn commit(&mut self, pending: PendingAppend<B>) {
        if let Some((buffer, capacity)) = pending.longer {
            self.buffer = buffer;
            self.capacity = capacity;
        }
        self.length += pending.bytes;
    }
}

impl<D: Device> Engine<D> {
    pub(super) fn device_vec<T: Pod>(
        &self,
        values: &[T],
    ) -> Result<DeviceVec<D::Buffer>, DeviceError> {
        let length = size_of_val(values);
        Ok(DeviceVec {
            buffer: self.uploaded(values)?,
            length,
            capacity: length.max(1),
        })
    }

    /// Uploads elements behind those of an array, which has them once they are [committed](DeviceVec::commit). If the
    /// buffer is full, a new one of at least twice the capacity takes its place, so that repeated small appends
    /// seldom copy.
    pub(super) fn prepare_append<T: Pod>(
        &self,
        array: &mut DeviceVec<D::Buffer>,
        values: &[T],
    ) -> Result<PendingAppend<D::Buffer>, DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut pending = PendingAppend {
            bytes: bytes.len(),
            longer: None,
        };
        let needed = array.length + bytes.len();
        if bytes.is_empty() {
            return Ok(pending);
        }
        if needed <= array.capacity {
            self.device.upload(bytes, &mut array.buffer, array.length)?;
            return Ok(pending);
        }
        let doubled = needed.max(2 * array.capacity);
        let (mut longer, capacity) = match self.device.allocate(doubled) {
            Err(DeviceError::OutOfMemory { .. }) if needed < doubled => {
                (self.device.allocate(needed)?, needed)
            }
            allocated => (allocated?, doubled),
        };
        self.device.copy(&array.buffer, &mut longer, array.length)?;
        self.device.upload(bytes, &mut longer, array.length)?;
        pending.longer = Some((longer, capacity));
        Ok(pending)
    }
}
