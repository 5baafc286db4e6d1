//! Tables in files of Parquet and Arrow, of which each row becomes a line of JSON.

use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader, downcast_integer_array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::RowGroupMetaData;

use super::{DAMAGED, MAX_FILE_BYTES};

/// How many rows are read at once.
const ROWS: usize = 256;

/// The rows of a table as lines of JSON; the error says what is wrong with the file.
pub(super) fn json_lines(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    // The readers of damaged files may panic.
    catch_unwind(AssertUnwindSafe(|| lines(bytes.into())))
        .unwrap_or_else(|panic| Err(damaged(panic)))
}

/// The readers' own words are about their code.
fn damaged<E>(_: E) -> String {
    DAMAGED.to_owned()
}

fn lines(bytes: Bytes) -> Result<Vec<u8>, String> {
    let mut lines = Vec::new();
    let mut row = 0;
    for batch in batches(bytes)? {
        let behind = |_| format!("row {} and those behind it are damaged", row + 1);
        let batch = batch.map_err(behind)?;
        for at in 0..batch.num_rows() {
            row += 1;
            write_row(&batch, at, &mut lines).map_err(|error| format!("row {row}: {error}"))?;
            lines.push(b'\n');
            if lines.len() as u64 > MAX_FILE_BYTES {
                return Err(format!(
                    "row {row}: more than {MAX_FILE_BYTES} bytes of JSON up to here"
                ));
            }
        }
    }
    Ok(lines)
}

/// The rows of a file of Parquet, a file of Arrow or, without such a mark, a stream of it.
fn batches(bytes: Bytes) -> Result<Box<dyn RecordBatchReader>, String> {
    Ok(if bytes.starts_with(b"PAR1") {
        let table = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(damaged)?;
        let groups = table.metadata().row_groups().iter();
        let sizes = groups.clone().map(|group| group.total_byte_size().max(0));
        let size: i64 = sizes.sum();
        if size as u64 > MAX_FILE_BYTES {
            return Err(format!(
                "unpacks to {size} bytes: expected {MAX_FILE_BYTES} at most"
            ));
        }
        let mut columns = groups.flat_map(RowGroupMetaData::columns);
        let is_other = |it| matches!(it, Compression::BROTLI(_) | Compression::LZO);
        if columns.any(|column| is_other(column.compression())) {
            let message = "its columns are packed with brotli or lzo: expected zstd, snappy, gzip, lz4 or nothing";
            return Err(message.to_owned());
        }
        Box::new(table.with_batch_size(ROWS).build().map_err(damaged)?)
    } else if bytes.starts_with(b"ARROW1") {
        Box::new(FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?)
    } else {
        Box::new(StreamReader::try_new(Cursor::new(bytes), None).map_err(damaged)?)
    })
}

fn write_row(batch: &RecordBatch, row: usize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let schema = batch.schema_ref();
    let names = schema.fields().iter().map(|field| field.name());
    write_fields(names.zip(batch.columns()), row, out)
}

fn write_fields<'f>(
    fields: impl Iterator<Item = (&'f String, &'f Arc<dyn Array>)>,
    row: usize,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    write_separated(*b"{}", fields, out, |(name, column), out| {
        serde_json::to_writer(&mut *out, name)?;
        out.push(b':');
        write(column, row, out)
    })
}

fn write_list(list: &dyn Array, out: &mut Vec<u8>) -> serde_json::Result<()> {
    write_separated(*b"[]", 0..list.len(), out, |at, out| write(list, at, out))
}

fn write_separated<T>(
    [open, close]: [u8; 2],
    parts: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    out.push(open);
    for (at, part) in parts.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(part, out)?;
    }
    out.push(close);
    Ok(())
}

/// Writes the value of a column in a row.
fn write(column: &dyn Array, row: usize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if column.is_null(row) || *column.data_type() == DataType::Null {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    downcast_integer_array! {
        column => serde_json::to_writer(out, &column.value(row)),
        DataType::Boolean => serde_json::to_writer(out, &column.as_boolean().value(row)),
        DataType::Float16 => {
            serde_json::to_writer(out, &column.as_primitive::<Float16Type>().value(row).to_f32())
        }
        DataType::Float32 => {
            serde_json::to_writer(out, &column.as_primitive::<Float32Type>().value(row))
        }
        DataType::Float64 => {
            serde_json::to_writer(out, &column.as_primitive::<Float64Type>().value(row))
        }
        DataType::Decimal32(..) => write_decimal::<Decimal32Type>(column, row, out),
        DataType::Decimal64(..) => write_decimal::<Decimal64Type>(column, row, out),
        DataType::Decimal128(..) => write_decimal::<Decimal128Type>(column, row, out),
        DataType::Decimal256(..) => write_decimal::<Decimal256Type>(column, row, out),
        DataType::Utf8 => serde_json::to_writer(out, column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => serde_json::to_writer(out, column.as_string::<i64>().value(row)),
        DataType::Utf8View => serde_json::to_writer(out, column.as_string_view().value(row)),
        DataType::Binary => write_bytes(column.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => write_bytes(column.as_binary::<i64>().value(row), out),
        DataType::BinaryView => write_bytes(column.as_binary_view().value(row), out),
        DataType::List(_) => write_list(&column.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => write_list(&column.as_list::<i64>().value(row), out),
        DataType::ListView(_) => write_list(&column.as_list_view::<i32>().value(row), out),
        DataType::LargeListView(_) => write_list(&column.as_list_view::<i64>().value(row), out),
        DataType::FixedSizeList(..) => write_list(&column.as_fixed_size_list().value(row), out),
        DataType::Struct(fields) => {
            let names = fields.iter().map(|field| field.name());
            write_fields(names.zip(column.as_struct().columns()), row, out)
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            // JSON has keys that are text.
            let keys = entries.column(0);
            write_separated(*b"{}", 0..entries.len(), out, |at, out| {
                let mut key = Vec::new();
                write(keys, at, &mut key)?;
                if key.starts_with(b"\"") {
                    out.append(&mut key);
                } else {
                    serde_json::to_writer(&mut *out, &String::from_utf8_lossy(&key))?;
                }
                out.push(b':');
                write(entries.column(1), at, out)
            })
        }
        DataType::Dictionary(..) => {
            let one = column.slice(row, 1);
            let one = one.as_any_dictionary();
            write(one.values(), one.normalized_keys()[0], out)
        }
        // No part of a task or a program.
        other => serde_json::to_writer(out, &format!("a value of the type {other}")),
    }
}

/// Writes a number that is exact in decimal digits.
fn write_decimal<D: DecimalType>(
    column: &dyn Array,
    row: usize,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let number = column.as_primitive::<D>().value_as_string(row);
    out.write_all(number.as_bytes())
        .map_err(serde_json::Error::io)
}

/// Bytes are text in tables of older writers.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) -> serde_json::Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::to_writer(out, text),
        Err(_) => serde_json::to_writer(out, &format!("{} bytes that are not text", bytes.len())),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float64Array,
        Int8Array, LargeStringArray, ListArray, NullArray, StringArray, StructArray,
        TimestampMicrosecondArray,
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use arrow_schema::Field;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{GzipLevel, ZstdLevel};
    use parquet::file::properties::WriterProperties;
    use serde_json::{Value, json};

    use super::*;

    fn list(lengths: &[usize], values: impl Array + 'static) -> ListArray {
        let field = Field::new("item", values.data_type().clone(), true);
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        ListArray::new(Arc::new(field), offsets, Arc::new(values), None)
    }

    fn grids(cells: [i8; 4]) -> ListArray {
        list(&[1, 1], list(&[2, 2], Int8Array::from(cells.to_vec())))
    }

    fn table() -> RecordBatch {
        let part = |name: &str, cells| {
            let grids = grids(cells);
            let field = Field::new(name, grids.data_type().clone(), true);
            (Arc::new(field), Arc::new(grids) as ArrayRef)
        };
        let pairs = StructArray::from(vec![part("input", [1, 2, 3, 4]), part("output", [4; 4])]);
        let ids: DictionaryArray<Int32Type> = ["a", "b"].into_iter().collect();
        let number = Decimal128Array::from(vec![300, -50]);
        let number = number.with_precision_and_scale(5, 2).unwrap();
        let columns: [(&str, ArrayRef); 10] = [
            ("none", Arc::new(NullArray::new(2))),
            ("number", Arc::new(number)),
            ("task_id", Arc::new(ids)),
            ("train", Arc::new(list(&[2, 0], pairs))),
            (
                "code",
                Arc::new(StringArray::from(vec![None, Some("O = \"I\"\n")])),
            ),
            ("text", Arc::new(LargeStringArray::from(vec!["\u{e9}", ""]))),
            (
                "bytes",
                Arc::new(BinaryArray::from(vec![&b"[1]"[..], b"\xff\xfe"])),
            ),
            ("is", Arc::new(BooleanArray::from(vec![true, false]))),
            ("score", Arc::new(Float64Array::from(vec![0.5, f64::NAN]))),
            (
                "when",
                Arc::new(TimestampMicrosecondArray::from(vec![1, 2])),
            ),
        ];
        let columns = columns.map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    fn rows() -> [Value; 2] {
        let when = "a value of the type Timestamp(µs)";
        let pair = |cells| json!({ "input": [cells], "output": [[4, 4]] });
        [
            json!({ "none": null, "number": 3.0,
                    "task_id": "a", "train": [pair([1, 2]), pair([3, 4])], "code": null, "text": "é",
                    "bytes": "[1]", "is": true, "score": 0.5, "when": when }),
            json!({ "none": null, "number": -0.5, "task_id": "b", "train": [], "code": "O = \"I\"\n", "text": "",
                    "bytes": "2 bytes that are not text", "is": false, "score": null, "when": when }),
        ]
    }

    /// The table in every format and compression.
    fn files() -> Vec<Vec<u8>> {
        let table = table();
        let packed = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4_RAW,
        ];
        let mut files: Vec<_> = packed
            .into_iter()
            .map(|packed| {
                let groups = WriterProperties::builder().set_max_row_group_row_count(Some(1));
                let settings = groups.set_compression(packed).build();
                let mut writer =
                    ArrowWriter::try_new(Vec::new(), table.schema(), Some(settings)).unwrap();
                writer.write(&table).unwrap();
                writer.into_inner().unwrap()
            })
            .collect();
        let mut writer = FileWriter::try_new(Vec::new(), table.schema_ref()).unwrap();
        writer.write(&table).unwrap();
        files.push(writer.into_inner().unwrap());
        let mut writer = StreamWriter::try_new(Vec::new(), table.schema_ref()).unwrap();
        for row in 0..2 {
            writer.write(&table.slice(row, 1)).unwrap();
        }
        files.push(writer.into_inner().unwrap());
        files
    }

    #[test]
    fn the_rows_of_a_table_are_lines_of_json() {
        for file in files() {
            let begin = file[..6].to_vec();
            let lines = String::from_utf8(json_lines(file).unwrap()).unwrap();
            let found: Vec<Value> = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(found, rows(), "{begin:?}");
        }
    }

    #[test]
    fn damaged_tables_are_errors_or_the_rows_before_the_damage() {
        let mut refused = 0;
        for file in files() {
            for at in (0..file.len()).step_by(7) {
                refused += u32::from(json_lines(file[..at].to_vec()).is_err());
                let mut changed = file.clone();
                changed[at] ^= 0x55;
                // A changed value may be as good as any; nothing panics.
                let _ = json_lines(changed);
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
