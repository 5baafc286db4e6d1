//! [`Table`]: memory of the device that becomes longer.

use bytemuck::Pod;

use super::Engine;
use crate::device::{Device, DeviceError};

/// Memory of the device of which the first bytes are in use.
#[derive(Debug)]
pub(super) struct Table<B> {
    pub(super) buffer: B,
    /// Bytes in use.
    length: usize,
    pub(super) capacity: usize,
}

/// What a table is to have on top.
pub(super) struct Addition<B> {
    bytes: usize,
    /// A longer one in the place of its buffer, and that one's capacity.
    longer: Option<(B, usize)>,
}

/// Rows that a table may have: kernels number the parts of a unit, eight of them, with 32 bits.
pub(super) const MOST_ROWS: usize = 1 << 29;

impl<B> Table<B> {
    pub(super) fn elements<T>(&self) -> usize {
        self.length / size_of::<T>()
    }

    pub(super) fn add(&mut self, addition: Addition<B>) {
        if let Some((buffer, capacity)) = addition.longer {
            self.buffer = buffer;
            self.capacity = capacity;
        }
        self.length += addition.bytes;
    }
}

impl<D: Device> Engine<D> {
    pub(super) fn table<T: Pod>(&self, values: &[T]) -> Result<Table<D::Buffer>, DeviceError> {
        let length = size_of_val(values);
        Ok(Table {
            buffer: self.uploaded(values)?,
            length,
            capacity: length.max(1),
        })
    }

    /// Uploads what comes to a table behind what it has, in a longer buffer if need be. Where room runs out it is
    /// doubled, so that what comes little by little is seldom copied.
    pub(super) fn addition<T: Pod>(
        &self,
        table: &mut Table<D::Buffer>,
        values: &[T],
    ) -> Result<Addition<D::Buffer>, DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut addition = Addition {
            bytes: bytes.len(),
            longer: None,
        };
        let needed = table.length + bytes.len();
        if bytes.is_empty() {
            return Ok(addition);
        }
        if needed <= table.capacity {
            self.device.upload(bytes, &mut table.buffer, table.length)?;
            return Ok(addition);
        }
        let doubled = needed.max(2 * table.capacity);
        let (mut longer, capacity) = match self.device.allocate(doubled) {
            Err(DeviceError::OutOfMemory { .. }) if needed < doubled => {
                (self.device.allocate(needed)?, needed)
            }
            allocated => (allocated?, doubled),
        };
        self.device.copy(&table.buffer, &mut longer, table.length)?;
        self.device.upload(bytes, &mut longer, table.length)?;
        addition.longer = Some((longer, capacity));
        Ok(addition)
    }
}
