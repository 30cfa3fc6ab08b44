//! Appending members to files that roll, and picking up after a crash.
//!
//! A file is called `….warc.gz.open` until it is complete. The caller decides
//! when what was appended counts: it appends, calls [`WarcWriter::sync`],
//! stores the [`Position`] that returns together with its own state, and hands
//! the last stored position to [`WarcWriter::resume`] after a restart. Whatever
//! lies behind that position was never acknowledged, will be fetched again, and
//! is removed, so that no answer is stored twice and no torn tail survives.
//!
//! Resuming, for the files of this worker:
//!
//! | file | what happens |
//! |---|---|
//! | the committed one, still `.open` | cut to the committed offset, written on |
//! | the committed one, closed | cut to the committed offset; a new file follows |
//! | an earlier one, still `.open` | its renaming is finished |
//! | a later one | deleted: nothing in it was committed |
//! | nothing committed at all | `.open` files are deleted, closed ones stay |
//!
//! Appended members are gathered and written together: a system call a record
//! would cost more than the copy.
//!
//! A committed file that is gone altogether was taken away by somebody; that is
//! theirs to do, and `verify` says so.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use geomi_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::encode::encode_warcinfo;
use super::gzip::GzipLevel;
use super::name::FileName;
use crate::StoreError;
use crate::dir::{file_names, open_in_place, sync_dir};

/// A place in the WARC files.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Name of the file, without its folder and without `.open`.
    pub file: String,
    /// Bytes before this place.
    pub offset: u64,
}

/// How and where WARC files are written.
#[derive(Clone, Debug)]
pub struct WarcConfig {
    /// The folder.
    pub dir: PathBuf,
    /// First part of every file's name.
    pub name: String,
    /// Last part of every file's name, without `-`: writers in one folder differ in it.
    pub worker: String,
    /// A file that has grown to this size is closed and a new one begun.
    pub bytes_max: u64,
    /// How hard to compress the warcinfo record.
    pub level: GzipLevel,
    /// Fields of the warcinfo record: software, format, robots, operator.
    pub info: Vec<(String, String)>,
}

impl WarcConfig {
    /// Files of 1 GiB that say which format and software they are.
    pub fn new(dir: impl Into<PathBuf>, name: &str, worker: &str) -> Self {
        let info = [
            ("software", concat!("geomi/", env!("CARGO_PKG_VERSION"))),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
        ];
        Self {
            dir: dir.into(),
            name: name.to_owned(),
            worker: worker.to_owned(),
            bytes_max: 1 << 30,
            level: GzipLevel::default(),
            info: info.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
        }
    }
}

/// What the writer needs of a file; tests put a small disk in its place.
pub(super) trait WarcFile: Send {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn set_len(&self, len: u64) -> io::Result<()>;
    fn sync_data(&self) -> io::Result<()>;
}

impl WarcFile for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }
}

pub(super) type OpenFile = fn(&Path) -> io::Result<Box<dyn WarcFile>>;

fn open_on_disk(path: &Path) -> io::Result<Box<dyn WarcFile>> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    Ok(Box::new(open_in_place(&mut options, path)?))
}

/// Appends gzip members to the files of one worker.
pub struct WarcWriter {
    config: WarcConfig,
    open_file: OpenFile,
    current: Option<Current>,
    next_serial: u32,
}

/// Gathered members are written when they are this many bytes.
const GATHERED_BYTES_MAX: usize = 256 << 10;

struct Current {
    name: FileName,
    path: PathBuf,
    file: Box<dyn WarcFile>,
    /// End of the last complete write.
    written: u64,
    /// Members that follow there.
    gathered: Vec<u8>,
    /// A failed write could not be cut off; it must be before anything else.
    torn: bool,
}

impl WarcWriter {
    /// Starts where the last acknowledged write ended; see the module's table.
    /// A first start is a resumption with nothing committed.
    pub fn resume(config: WarcConfig, committed: Option<&Position>) -> Result<Self, StoreError> {
        Self::resume_with(config, committed, open_on_disk)
    }

    pub(super) fn resume_with(
        config: WarcConfig,
        committed: Option<&Position>,
        open_file: OpenFile,
    ) -> Result<Self, StoreError> {
        assert!(
            !config.worker.contains('-') && !config.worker.is_empty(),
            "a worker's name is one part of a file's name"
        );
        let committed = committed.map(parse_position).transpose()?;
        let mut writer = Self {
            config,
            open_file,
            current: None,
            next_serial: committed.as_ref().map_or(1, |(name, _)| name.serial + 1),
        };
        for text in file_names(&writer.config.dir)? {
            let Some((name, is_open)) = FileName::parse(&text) else {
                continue;
            };
            if name.worker == writer.config.worker {
                writer.recover(name, is_open, committed.as_ref())?;
            }
        }
        sync_dir(&writer.config.dir)?;
        Ok(writer)
    }

    /// Appends whole members and says where they begin. They may still wait to
    /// be written: a full disk may show itself only when they are synced. Then
    /// no part of them stays in the file, and when there is room again the writer
    /// can go on as if nothing had happened.
    pub fn append(&mut self, members: &[u8], now: Timestamp) -> Result<Position, StoreError> {
        if self.is_full() {
            self.close()?;
        }
        if self.current.is_none() {
            self.current = Some(self.begin_file(now)?);
        }
        let current = self.current.as_mut().expect("a file was just begun");
        let begin = Position {
            file: current.name.to_string(),
            offset: current.offset(),
        };
        current.append(members)?;
        Ok(begin)
    }

    /// Makes everything appended so far durable; returns where it ends, which
    /// is what to commit. `None` if no file is being written.
    pub fn sync(&mut self) -> Result<Option<Position>, StoreError> {
        if let Some(current) = &mut self.current {
            current.sync()?;
        }
        Ok(self.position())
    }

    /// End of what was appended; `None` if no file is being written.
    pub fn position(&self) -> Option<Position> {
        self.current.as_ref().map(|current| Position {
            file: current.name.to_string(),
            offset: current.offset(),
        })
    }

    /// Completes the current file: synced, then renamed. The writer can go on
    /// with a new one.
    pub fn close(&mut self) -> Result<(), StoreError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        current.sync()?;
        let closed = self.config.dir.join(current.name.to_string());
        fs::rename(&current.path, &closed).map_err(StoreError::io("rename", &current.path))?;
        self.current = None;
        sync_dir(&self.config.dir)
    }

    fn is_full(&self) -> bool {
        let bytes_max = self.config.bytes_max;
        self.current
            .as_ref()
            .is_some_and(|current| current.offset() >= bytes_max)
    }

    fn begin_file(&mut self, now: Timestamp) -> Result<Current, StoreError> {
        let name = FileName {
            name: self.config.name.clone(),
            time: now.to_compact(),
            serial: self.next_serial,
            worker: self.config.worker.clone(),
        };
        let path = self.config.dir.join(name.open_name());
        let info = encode_warcinfo(&name.to_string(), now, &self.config.info, self.config.level);
        let file = (self.open_file)(&path).map_err(StoreError::io("create", &path))?;
        let mut current = Current {
            name,
            path,
            file,
            written: 0,
            gathered: Vec::new(),
            torn: false,
        };
        if let Err(error) = current.append(&info).and_then(|()| current.write_out()) {
            // The first error is the one to report; an empty file that stays
            // is begun anew, or deleted when the crawl is resumed.
            let _ = fs::remove_file(&current.path);
            return Err(error);
        }
        // Without its name on disk, synced content would be lost all the same.
        sync_dir(&self.config.dir)?;
        self.next_serial += 1;
        Ok(current)
    }

    /// Treats one file found at start as the module's table says.
    fn recover(
        &mut self,
        name: FileName,
        is_open: bool,
        committed: Option<&(FileName, u64)>,
    ) -> Result<(), StoreError> {
        let closed_path = self.config.dir.join(name.to_string());
        let path = if is_open {
            self.config.dir.join(name.open_name())
        } else {
            closed_path.clone()
        };
        let delete = || fs::remove_file(&path).map_err(StoreError::io("delete", &path));
        match committed {
            Some((at, offset)) if *at == name => {
                cut(&path, *offset)?;
                if is_open {
                    self.current = Some(Current {
                        file: (self.open_file)(&path).map_err(StoreError::io("open", &path))?,
                        name,
                        path,
                        written: *offset,
                        gathered: Vec::new(),
                        torn: false,
                    });
                }
            }
            Some((at, _)) if name.serial > at.serial => delete()?,
            None if is_open => delete()?,
            _ => {
                self.next_serial = self.next_serial.max(name.serial + 1);
                if is_open {
                    fs::rename(&path, &closed_path).map_err(StoreError::io("rename", &path))?;
                }
            }
        }
        Ok(())
    }
}

impl Current {
    /// End of the last append.
    fn offset(&self) -> u64 {
        self.written + self.gathered.len() as u64
    }

    fn append(&mut self, members: &[u8]) -> Result<(), StoreError> {
        if self.gathered.len() + members.len() > GATHERED_BYTES_MAX {
            self.write_out()?;
        }
        self.gathered.extend_from_slice(members);
        Ok(())
    }

    fn write_out(&mut self) -> Result<(), StoreError> {
        self.cut_torn()?;
        if let Err(error) = self.file.write_all_at(&self.gathered, self.written) {
            self.torn = true;
            self.cut_torn()?;
            return Err(StoreError::io("write", &self.path)(error));
        }
        self.written = self.offset();
        self.gathered.clear();
        self.gathered.shrink_to(GATHERED_BYTES_MAX);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.write_out()?;
        self.file
            .sync_data()
            .map_err(StoreError::io("sync", &self.path))
    }

    fn cut_torn(&mut self) -> Result<(), StoreError> {
        if self.torn {
            self.file
                .set_len(self.written)
                .map_err(StoreError::io("truncate", &self.path))?;
            self.torn = false;
        }
        Ok(())
    }
}

fn parse_position(position: &Position) -> Result<(FileName, u64), StoreError> {
    match FileName::parse(&position.file) {
        Some((name, false)) => Ok((name, position.offset)),
        _ => Err(StoreError::damaged(
            Path::new(&position.file),
            "the committed position does not name a WARC file",
        )),
    }
}

/// Removes what lies behind the committed offset.
fn cut(path: &Path, offset: u64) -> Result<(), StoreError> {
    let file =
        open_in_place(File::options().write(true), path).map_err(StoreError::io("open", path))?;
    let len = file
        .metadata()
        .map_err(StoreError::io("measure", path))?
        .len();
    if len < offset {
        return Err(StoreError::damaged(
            path,
            format!("{offset} bytes were committed, {len} are there"),
        ));
    }
    file.set_len(offset)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("truncate", path))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::warc::WarcReader;

    const NOW: Timestamp = Timestamp::from_secs(1_794_744_000);

    thread_local! {
        /// Bytes that still fit on the disk of this test.
        static ROOM: Cell<u64> = const { Cell::new(u64::MAX) };
    }

    /// A file on a disk that gets full: what fits is really written, as the
    /// system does it, and only then the error comes.
    struct SmallDiskFile(File);

    impl WarcFile for SmallDiskFile {
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let len = self.0.metadata()?.len();
            let fits = (ROOM.get().saturating_sub(len)).min(bytes.len() as u64) as usize;
            FileExt::write_all_at(&self.0, &bytes[..fits], offset)?;
            if fits < bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.0.sync_data()
        }
    }

    fn open_on_small_disk(path: &Path) -> io::Result<Box<dyn WarcFile>> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        Ok(Box::new(SmallDiskFile(file)))
    }

    /// One member, of a size that depends on `text`.
    fn member(text: &str) -> Vec<u8> {
        let fields = [("text".to_owned(), text.to_owned())];
        encode_warcinfo("member", NOW, &fields, GzipLevel::default())
    }

    fn records(path: &Path) -> usize {
        let mut reader = WarcReader::open(path).unwrap();
        let mut count = 0;
        while reader.next_record().unwrap().is_some() {
            count += 1;
        }
        count
    }

    #[test]
    fn a_full_disk_leaves_whole_records_and_can_be_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let config = WarcConfig::new(folder.path(), "full", "w0");
        let one = member("one");
        let mut writer = WarcWriter::resume_with(config.clone(), None, open_on_small_disk).unwrap();
        writer.append(&one, NOW).unwrap();
        let committed = writer.sync().unwrap().unwrap();
        assert_eq!(writer.append(&one, NOW).unwrap(), committed);
        for lacking in 1..=one.len() as u64 {
            ROOM.set(committed.offset + one.len() as u64 - lacking);
            let error = writer.sync().unwrap_err();
            assert!(matches!(error, StoreError::DiskFull { .. }));
            let open = folder.path().join(format!("{}.open", committed.file));
            assert_eq!(fs::metadata(&open).unwrap().len(), committed.offset);
        }
        ROOM.set(u64::MAX);
        let grown = writer.sync().unwrap().unwrap();
        assert_eq!(grown.offset, committed.offset + one.len() as u64);
        drop(writer);
        let mut writer =
            WarcWriter::resume_with(config, Some(&committed), open_on_small_disk).unwrap();
        assert_eq!(writer.append(&one, NOW).unwrap(), committed);
        writer.close().unwrap();
        assert_eq!(records(&folder.path().join(committed.file)), 3);
    }

    #[test]
    fn no_file_is_begun_on_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let config = WarcConfig::new(folder.path(), "full", "w0");
        let mut writer = WarcWriter::resume_with(config, None, open_on_small_disk).unwrap();
        ROOM.set(20);
        let error = writer.append(&member("one"), NOW).unwrap_err();
        assert!(matches!(error, StoreError::DiskFull { .. }));
        assert_eq!(writer.position(), None);
        assert_eq!(file_names(folder.path()).unwrap(), [""; 0]);
        ROOM.set(u64::MAX);
        let at = writer.append(&member("one"), NOW).unwrap();
        assert!(at.file.contains("-00001-w0"));
    }

    #[test]
    fn a_full_file_is_closed_and_the_next_begun() {
        let folder = tempfile::tempdir().unwrap();
        let config = WarcConfig {
            bytes_max: 1,
            ..WarcConfig::new(folder.path(), "roll", "w0")
        };
        let mut writer = WarcWriter::resume(config, None).unwrap();
        let files: Vec<String> = (0..3)
            .map(|_| writer.append(&member("x"), NOW).unwrap().file)
            .collect();
        assert_eq!(
            file_names(folder.path()).unwrap(),
            [
                files[0].clone(),
                files[1].clone(),
                format!("{}.open", files[2])
            ]
        );
        assert!(files.is_sorted());
        writer.close().unwrap();
        assert_eq!(file_names(folder.path()).unwrap(), files);
    }
}
