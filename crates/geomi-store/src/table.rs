//! Tables of flat rows as Parquet files, driven by one list of columns.
//!
//! A [`Column`] says its name, its type and how a value gets out of a row and
//! back into one; schema, writing and reading all follow from the list, so that
//! a column is added in one place. [`write_table`] builds a file in memory,
//! bounded by the caller's number of rows; [`TableWriter`] takes any number, a
//! group at a time. Both appear atomically.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use geomi_model::Timestamp;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReaderImpl;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use crate::{AtomicFile, CrawlDir, StoreError, open_regular};

/// Rows held in memory at once when a table is read.
const GROUP_ROWS: usize = 8192;

/// One column of a table of `T`s.
pub(crate) struct Column<T> {
    pub(crate) name: &'static str,
    pub(crate) presence: Presence,
    pub(crate) codec: Codec<T>,
}

/// Whether every row has a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// Optional, and tables of older versions do not have it.
    Later,
}

/// Type of a column, and the two ways between a row and a value. Setting
/// returns whether the value made sense.
pub(crate) enum Codec<T> {
    Bool(fn(&T) -> Option<bool>, fn(&mut T, bool) -> bool),
    Int32(fn(&T) -> Option<i32>, fn(&mut T, i32) -> bool),
    Int64(fn(&T) -> Option<i64>, fn(&mut T, i64) -> bool),
    UInt64(fn(&T) -> Option<u64>, fn(&mut T, u64) -> bool),
    /// Microseconds since the epoch, UTC.
    Time(fn(&T) -> Option<i64>, fn(&mut T, i64) -> bool),
    Text(fn(&T) -> Option<Cow<'_, str>>, fn(&mut T, &str) -> bool),
}

/// Writes `rows` as the table `path`, replacing it atomically.
pub(crate) fn write_table<T>(
    path: &Path,
    name: &str,
    columns: &[Column<T>],
    rows: &[T],
) -> Result<(), StoreError> {
    let bytes = encode(name, columns, rows).map_err(|source| table_error(path, source))?;
    CrawlDir::write_atomic(path, &bytes)
}

fn encode<T>(name: &str, columns: &[Column<T>], rows: &[T]) -> Result<Vec<u8>, ParquetError> {
    let mut file = begin(Vec::new(), name, columns)?;
    for group in rows.chunks(GROUP_ROWS) {
        write_group(&mut file, columns, group)?;
    }
    file.into_inner()
}

fn begin<W: Write + Send, T>(
    out: W,
    name: &str,
    columns: &[Column<T>],
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        // Row groups are small: their own minima and maxima let a query skip as
        // much as those of pages would, at half the cost.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(concat!("geomi ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    SerializedFileWriter::new(out, schema(name, columns)?, Arc::new(properties))
}

fn write_group<W: Write + Send, T>(
    file: &mut SerializedFileWriter<W>,
    columns: &[Column<T>],
    rows: &[T],
) -> Result<(), ParquetError> {
    let mut out = file.next_row_group()?;
    for column in columns {
        write_column(&mut out, column, rows)?;
    }
    out.close()?;
    Ok(())
}

/// A table that is written row by row, a group of rows in memory at a time.
pub(crate) struct TableWriter<T: 'static> {
    path: PathBuf,
    columns: &'static [Column<T>],
    file: SerializedFileWriter<AtomicFile>,
    group: Vec<T>,
}

impl<T> TableWriter<T> {
    /// Starts a table that will be called `path`.
    pub(crate) fn create(
        path: &Path,
        name: &str,
        columns: &'static [Column<T>],
    ) -> Result<Self, StoreError> {
        let file = begin(AtomicFile::create(path)?, name, columns)
            .map_err(|source| table_error(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            columns,
            file,
            group: Vec::with_capacity(GROUP_ROWS),
        })
    }

    pub(crate) fn push(&mut self, row: T) -> Result<(), StoreError> {
        self.group.push(row);
        if self.group.len() == GROUP_ROWS {
            self.write_out()?;
        }
        Ok(())
    }

    /// Writes what is left and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.write_out()?;
        let file = self.file.into_inner();
        file.map_err(|source| table_error(&self.path, source))?
            .commit()
    }

    fn write_out(&mut self) -> Result<(), StoreError> {
        if !self.group.is_empty() {
            write_group(&mut self.file, self.columns, &self.group)
                .map_err(|source| table_error(&self.path, source))?;
            self.group.clear();
        }
        Ok(())
    }
}

/// What the library said; a full disk keeps its own name through it.
fn table_error(path: &Path, source: ParquetError) -> StoreError {
    let kind = match &source {
        ParquetError::External(inner) => inner.downcast_ref::<io::Error>().map(io::Error::kind),
        _ => None,
    };
    match kind {
        Some(kind @ (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) => {
            StoreError::from_io("write", path, kind.into())
        }
        _ => StoreError::Table {
            path: path.to_owned(),
            source,
        },
    }
}

fn schema<T>(name: &str, columns: &[Column<T>]) -> Result<TypePtr, ParquetError> {
    let fields = columns
        .iter()
        .map(|column| {
            let (physical, logical) = column.codec.parquet_type();
            let repetition = match column.presence {
                Presence::Required => Repetition::REQUIRED,
                Presence::Optional | Presence::Later => Repetition::OPTIONAL,
            };
            Type::primitive_type_builder(column.name, physical)
                .with_repetition(repetition)
                .with_logical_type(logical)
                .build()
                .map(Arc::new)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    Ok(Arc::new(schema))
}

impl<T> Column<T> {
    /// The row's value as JSON, times in RFC 3339; `None` where it has none.
    pub(crate) fn to_json(&self, row: &T) -> Option<Value> {
        Some(match self.codec {
            Codec::Bool(get, _) => get(row)?.into(),
            Codec::Int32(get, _) => get(row)?.into(),
            Codec::Int64(get, _) => get(row)?.into(),
            Codec::UInt64(get, _) => get(row)?.into(),
            Codec::Time(get, _) => Timestamp::from_micros(get(row)?).to_rfc3339_micros().into(),
            Codec::Text(get, _) => get(row)?.into(),
        })
    }
}

impl<T> Codec<T> {
    fn parquet_type(&self) -> (Physical, Option<LogicalType>) {
        match self {
            Self::Bool(..) => (Physical::BOOLEAN, None),
            Self::Int32(..) => (Physical::INT32, None),
            Self::Int64(..) => (Physical::INT64, None),
            Self::UInt64(..) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Self::Time(..) => (
                Physical::INT64,
                Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ),
            Self::Text(..) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }
}

fn write_column<W: Write + Send, T>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<T>,
    rows: &[T],
) -> Result<(), ParquetError> {
    match column.codec {
        Codec::Bool(get, _) => {
            write_values::<BoolType, _>(out, column.presence, rows.iter().map(get))
        }
        Codec::Int32(get, _) => {
            write_values::<Int32Type, _>(out, column.presence, rows.iter().map(get))
        }
        Codec::Int64(get, _) | Codec::Time(get, _) => {
            write_values::<Int64Type, _>(out, column.presence, rows.iter().map(get))
        }
        Codec::UInt64(get, _) => {
            let values = rows.iter().map(|row| get(row).map(|value| value as i64));
            write_values::<Int64Type, _>(out, column.presence, values)
        }
        Codec::Text(get, _) => {
            let values = rows
                .iter()
                .map(|row| get(row).map(|text| ByteArray::from(text.into_owned().into_bytes())));
            write_values::<ByteArrayType, _>(out, column.presence, values)
        }
    }
}

fn write_values<D: DataType, W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    presence: Presence,
    rows: impl Iterator<Item = Option<D::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let mut levels = Vec::new();
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let levels = match presence {
        Presence::Optional | Presence::Later => Some(levels.as_slice()),
        Presence::Required => {
            assert_eq!(
                values.len(),
                levels.len(),
                "a required column has a value in every row"
            );
            None
        }
    };
    let mut column = out
        .next_column()?
        .expect("as many columns as in the schema");
    column.typed::<D>().write_batch(&values, levels, None)?;
    column.close()
}

/// The rows of a table, in order, a group of rows in memory at a time.
pub(crate) struct TableReader<T: 'static> {
    path: PathBuf,
    file: SerializedFileReader<File>,
    columns: Vec<&'static Column<T>>,
    blank: fn() -> T,
    group: usize,
    rows: std::vec::IntoIter<T>,
}

impl<T> TableReader<T> {
    /// Opens a table. `blank` makes the row that the columns then fill; a
    /// column that is not among `columns` is neither read nor missed.
    pub(crate) fn open(
        path: &Path,
        columns: impl IntoIterator<Item = &'static Column<T>>,
        blank: fn() -> T,
    ) -> Result<Self, StoreError> {
        let file = open_regular(path).map_err(StoreError::io("open", path))?;
        let file = SerializedFileReader::new(file).map_err(|source| table_error(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            columns: columns.into_iter().collect(),
            blank,
            group: 0,
            rows: Vec::new().into_iter(),
        })
    }

    /// The least and the greatest value of a column of 64-bit numbers, if the table says
    /// them.
    pub(crate) fn range(&self, name: &str) -> Option<(i64, i64)> {
        let range = |group: &RowGroupMetaData| {
            let mut columns = group.columns().iter();
            let column = columns.find(|column| column.column_descr().name() == name)?;
            match column.statistics()? {
                Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
                _ => None,
            }
        };
        let groups = self.file.metadata().row_groups().iter().map(range);
        // One group that does not say may hold anything.
        let groups = groups.collect::<Option<Vec<_>>>()?;
        let one_range =
            |one: (i64, i64), other: (i64, i64)| (one.0.min(other.0), one.1.max(other.1));
        groups.into_iter().reduce(one_range)
    }

    fn next_group(&mut self) -> Result<Vec<T>, StoreError> {
        let group = self
            .file
            .get_row_group(self.group)
            .map_err(|source| self.error(source))?;
        self.group += 1;
        let count = usize::try_from(group.metadata().num_rows())
            .ok()
            .filter(|&count| count <= 1 << 20)
            .ok_or_else(|| StoreError::damaged(&self.path, "a row group is too large"))?;
        let mut rows: Vec<T> = (0..count).map(|_| (self.blank)()).collect();
        for column in &self.columns {
            let sound = read_column(group.as_ref(), column, &mut rows)
                .map_err(|source| self.error(source))?;
            if !sound {
                let reason = format!("column {} is missing or holds a foreign value", column.name);
                return Err(StoreError::damaged(&self.path, reason));
            }
        }
        Ok(rows)
    }

    fn error(&self, source: ParquetError) -> StoreError {
        table_error(&self.path, source)
    }
}

impl<T> Iterator for TableReader<T> {
    type Item = Result<T, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            if self.group >= self.file.num_row_groups() {
                return None;
            }
            match self.next_group() {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(error) => {
                    self.group = usize::MAX;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Fills one column of `rows`; false if the column is not there or a value
/// makes no sense.
fn read_column<T>(
    group: &dyn RowGroupReader,
    column: &Column<T>,
    rows: &mut [T],
) -> Result<bool, ParquetError> {
    let schema = group.metadata().schema_descr();
    let index = schema
        .columns()
        .iter()
        .position(|found| found.name() == column.name);
    let Some(index) = index else {
        return Ok(column.presence == Presence::Later);
    };
    let (physical, _) = column.codec.parquet_type();
    if schema.column(index).physical_type() != physical {
        return Ok(false);
    }
    let reader = group.get_column_reader(index)?;
    match column.codec {
        Codec::Bool(_, set) => {
            read_values::<BoolType, T>(get_typed_column_reader(reader), rows, |row, value| {
                set(row, *value)
            })
        }
        Codec::Int32(_, set) => {
            read_values::<Int32Type, T>(get_typed_column_reader(reader), rows, |row, value| {
                set(row, *value)
            })
        }
        Codec::Int64(_, set) | Codec::Time(_, set) => {
            read_values::<Int64Type, T>(get_typed_column_reader(reader), rows, |row, value| {
                set(row, *value)
            })
        }
        Codec::UInt64(_, set) => {
            read_values::<Int64Type, T>(get_typed_column_reader(reader), rows, |row, value| {
                set(row, *value as u64)
            })
        }
        Codec::Text(_, set) => {
            read_values::<ByteArrayType, T>(get_typed_column_reader(reader), rows, |row, value| {
                std::str::from_utf8(value.data()).is_ok_and(|text| set(row, text))
            })
        }
    }
}

fn read_values<D: DataType, T>(
    mut reader: ColumnReaderImpl<D>,
    rows: &mut [T],
    set: impl Fn(&mut T, &D::T) -> bool,
) -> Result<bool, ParquetError> {
    let mut values: Vec<D::T> = Vec::with_capacity(rows.len());
    let mut levels: Vec<i16> = Vec::new();
    let (read, _, _) = reader.read_records(rows.len(), Some(&mut levels), None, &mut values)?;
    if read != rows.len() {
        return Ok(false);
    }
    let mut values = values.iter();
    for (index, row) in rows.iter_mut().enumerate() {
        // A required column has no levels.
        let is_present = levels.get(index).is_none_or(|&level| level > 0);
        if is_present && !values.next().is_some_and(|value| set(row, value)) {
            return Ok(false);
        }
    }
    Ok(true)
}
