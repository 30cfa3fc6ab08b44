//! Reading a whole file that a person named: a configuration, a key, a certificate.
//!
//! Such a path may lead anywhere. A device has no end (`/dev/zero`), opening a FIFO
//! waits for a writer, and a large file fills the memory. So only regular files are
//! read, up to a stated size, and opening never waits.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::regular_file::{open_beneath, open_regular};

/// Reads a regular file of at most `bytes_max` bytes.
///
/// Anything else is an error: a directory, a device, a FIFO, a socket, or a file that
/// is longer.
pub fn read_small(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_up_to(open_regular(path)?, bytes_max)
}

/// The same for a file of text in UTF-8 directly in a folder, no symbolic link.
pub fn read_small_beneath(folder: &Path, name: &str, bytes_max: u64) -> io::Result<String> {
    text(read_up_to(
        open_beneath(folder, Path::new(name))?,
        bytes_max,
    )?)
}

fn read_up_to(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "read under a limit")]
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// The same for a file of text in UTF-8.
pub fn read_small_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(read_small(path, bytes_max)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "12345678").unwrap();
        assert_eq!(read_small_text(&file, 8).unwrap(), "12345678");
        let error = read_small(&file, 7).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);

        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_small(&link, 8).unwrap(), b"12345678");
    }

    #[test]
    fn devices_pipes_and_folders_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let zero = Path::new("/dev/zero");
        for path in [zero, &pipe, folder.path()] {
            let error = read_small(path, 1 << 10).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{path:?}");
        }
        std::fs::write(folder.path().join("bytes"), [0xff, 0xfe]).unwrap();
        let error = read_small_text(&folder.path().join("bytes"), 8).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
