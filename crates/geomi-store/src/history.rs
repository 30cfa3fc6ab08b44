//! Recorded histories as Parquet tables, whoever wrote them.
//!
//! A history has the columns `url`, `time` and perhaps `weight`, one row a change.
//! A time may be a timestamp, Unix seconds as a number of any width, or text; which
//! text is a time is for the caller to say. Other columns are passed over. Tables must
//! be uncompressed or compressed with zstd, as all tables of geomi are.

use std::path::{Path, PathBuf};

use parquet::basic::{LogicalType, TimeUnit};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

use crate::{StoreError, open_regular};

/// A row of a history.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryRow {
    /// The page; empty if the row names none.
    pub url: String,
    /// When it changed, if it ever did.
    pub time: Option<HistoryTime>,
    /// What it weighs, if that is said.
    pub weight: Option<f64>,
}

/// A time as it is written.
#[derive(Clone, PartialEq, Debug)]
pub enum HistoryTime {
    /// Seconds since 1970.
    Unix(f64),
    /// As text.
    Text(String),
}

/// Opens a history and hands out its rows; an error if `url` or `time` is missing.
pub fn read_history(path: &Path) -> Result<HistoryReader, StoreError> {
    let file = open_regular(path).map_err(StoreError::io("open", path))?;
    let refused = |source| StoreError::Table {
        path: path.to_owned(),
        source,
    };
    let file = SerializedFileReader::new(file).map_err(refused)?;
    let columns = file.metadata().file_metadata().schema_descr_ptr();
    let find = |name: &str| {
        columns
            .columns()
            .iter()
            .find(|column| column.name() == name)
    };
    let (Some(_), Some(time)) = (find("url"), find("time")) else {
        let reason = "a history needs the columns url and time";
        return Err(StoreError::damaged(path, reason));
    };
    // The library hands these out as plain numbers.
    let is_nanos = matches!(
        time.logical_type_ref(),
        Some(LogicalType::Timestamp(kind)) if kind.unit == TimeUnit::NANOS
    );
    Ok(HistoryReader {
        path: path.to_owned(),
        rows: RowIter::from_file_into(Box::new(file)),
        is_nanos,
    })
}

/// The rows of a history, a batch of them in memory at a time.
pub struct HistoryReader {
    path: PathBuf,
    rows: RowIter<'static>,
    is_nanos: bool,
}

impl Iterator for HistoryReader {
    type Item = Result<HistoryRow, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.rows.next()? {
            Ok(row) => self.row(&row),
            Err(source) => Err(StoreError::Table {
                path: self.path.clone(),
                source,
            }),
        })
    }
}

impl HistoryReader {
    fn row(&self, row: &Row) -> Result<HistoryRow, StoreError> {
        let mut found = HistoryRow {
            url: String::new(),
            time: None,
            weight: None,
        };
        let foreign = |name: &str, field: &Field| {
            let reason = format!("column {name} holds a foreign value: {field}");
            StoreError::damaged(&self.path, reason)
        };
        for (name, field) in row.get_column_iter() {
            match (name.as_str(), field) {
                (_, Field::Null) => {}
                ("url", field) => {
                    found.url = text(field).ok_or_else(|| foreign(name, field))?;
                }
                ("time", field) => {
                    found.time = Some(self.time(field).ok_or_else(|| foreign(name, field))?);
                }
                ("weight", field) => {
                    found.weight = Some(number(field).ok_or_else(|| foreign(name, field))?);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn time(&self, field: &Field) -> Option<HistoryTime> {
        Some(match field {
            Field::TimestampMillis(millis) => HistoryTime::Unix(*millis as f64 / 1e3),
            Field::TimestampMicros(micros) => HistoryTime::Unix(*micros as f64 / 1e6),
            Field::Long(nanos) if self.is_nanos => HistoryTime::Unix(*nanos as f64 / 1e9),
            Field::Str(_) | Field::Bytes(_) => HistoryTime::Text(text(field)?),
            other => HistoryTime::Unix(number(other)?),
        })
    }
}

fn text(field: &Field) -> Option<String> {
    match field {
        Field::Str(text) => Some(text.clone()),
        Field::Bytes(bytes) => Some(bytes.as_utf8().ok()?.to_owned()),
        _ => None,
    }
}

fn number(field: &Field) -> Option<f64> {
    match field {
        Field::Int(number) => Some((*number).into()),
        Field::UInt(number) => Some((*number).into()),
        Field::Long(number) => Some(*number as f64),
        Field::ULong(number) => Some(*number as f64),
        Field::Float(number) => Some((*number).into()),
        Field::Double(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A table of three rows: two changes and a page that never changed.
    fn table(time: &str, times: &[i64]) -> tempfile::NamedTempFile {
        let schema = format!(
            "message history {{ required binary url (STRING); optional int64 time {time}; \
             optional double weight; }}"
        );
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        // As most programs write it.
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = Arc::new(properties.build());
        let out = file.reopen().unwrap();
        let mut writer = SerializedFileWriter::new(out, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let urls = ["http://a/", "http://a/", "http://b/"].map(Into::into);
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&urls, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<Int64Type>();
        typed.write_batch(times, Some(&[1, 1, 0]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<DoubleType>();
        typed.write_batch(&[2.5], Some(&[0, 1, 0]), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    #[test]
    fn times_of_any_unit_are_seconds() {
        for (kind, unit) in [
            ("", 1),
            ("(TIMESTAMP(MILLIS,true))", 1_000),
            ("(TIMESTAMP(MICROS,true))", 1_000_000),
            ("(TIMESTAMP(NANOS,true))", 1_000_000_000),
        ] {
            let file = table(kind, &[1_700_000_000 * unit, 1_700_086_400 * unit]);
            let rows: Vec<HistoryRow> = read_history(file.path())
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let times: Vec<_> = rows.iter().map(|row| row.time.clone()).collect();
            let unix = |seconds| Some(HistoryTime::Unix(seconds));
            assert_eq!(
                times,
                [unix(1_700_000_000.0), unix(1_700_086_400.0), None],
                "{kind}"
            );
            assert_eq!(rows[1].weight, Some(2.5));
            assert_eq!(rows[2].url, "http://b/");
        }
    }

    #[test]
    fn what_is_no_history_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "url,time\n").unwrap();
        assert!(read_history(file.path()).is_err());
    }
}
