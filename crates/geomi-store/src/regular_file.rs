//! Opening files that others have named or placed.
//!
//! A path may lead anywhere: opening a FIFO waits for a writer, a device has no
//! end, and a symbolic link leads out of the folder it lies in. So opening never waits,
//! only regular files are opened, and below a crawl directory no link is
//! followed. The open file is checked, not its path, which may lead elsewhere by
//! then.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// Opens a regular file for reading. The path may lead over symbolic links.
///
/// Anything else is an error of the kind `InvalidInput`: a directory, a device, a
/// FIFO, a socket.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    checked(file.map_err(refused)?)
}

/// Opens a regular file below a folder for reading. The path of the folder may
/// lead over symbolic links; what comes behind it may not, and may not lead up.
///
/// Anything else is an error of the kind `InvalidInput`.
pub fn open_beneath(folder: &Path, path: &Path) -> io::Result<File> {
    let mut steps = path.components().peekable();
    let mut at = open_folder(CWD, folder, OFlags::empty())?;
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else {
            return Err(not_regular());
        };
        if steps.peek().is_some() {
            at = open_folder(&at, Path::new(name), OFlags::NOFOLLOW)?;
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = openat(&at, name, flags, Mode::empty());
        return checked(File::from(opened.map_err(|errno| refused(errno.into()))?));
    }
    Err(not_regular())
}

/// Opens a file by its full path, which must be below a folder, as
/// [`open_beneath`] does.
pub fn open_within(folder: &Path, path: &Path) -> io::Result<File> {
    let below = path.strip_prefix(folder).map_err(|_| not_regular())?;
    open_beneath(folder, below)
}

fn open_folder(at: impl std::os::fd::AsFd, path: &Path, more: OFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
    openat(at, path, flags, Mode::empty()).map_err(|errno| refused(errno.into()))
}

fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(not_regular())
}

/// A link that is not followed, a file in place of a folder, and a socket have
/// their own errors.
fn refused(error: io::Error) -> io::Error {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    match errno {
        Some(Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => not_regular(),
        _ => error,
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{FileType, mknodat};

    use super::*;

    fn kind(opened: io::Result<File>) -> Option<io::ErrorKind> {
        opened.err().map(|error| error.kind())
    }

    #[test]
    fn nothing_but_regular_files_below_the_folder_is_opened() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("root");
        std::fs::create_dir_all(root.join("warc")).unwrap();
        for path in ["secret", "root/file", "root/warc/file"] {
            std::fs::write(outside.path().join(path), path).unwrap();
        }
        mknodat(
            CWD,
            root.join("pipe"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let _socket = UnixListener::bind(root.join("socket")).unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("file", root.join("inner")).unwrap();
        symlink("warc", root.join("folder")).unwrap();
        let open = |path: &str| kind(open_beneath(&root, Path::new(path)));
        for path in ["file", "warc/file", "./warc/./file"] {
            let expected = path.starts_with('.').then_some(io::ErrorKind::InvalidInput);
            assert_eq!(open(path), expected, "{path}");
        }
        for path in [
            "pipe",
            "socket",
            "link",
            "inner",
            "folder/file",
            "warc",
            "file/x",
            "..",
            "../secret",
            "warc/../file",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(open(path), Some(io::ErrorKind::InvalidInput), "{path:?}");
        }
        assert_eq!(open("missing"), Some(io::ErrorKind::NotFound));
        // The folder itself may be reached by a link.
        symlink(&root, outside.path().join("alias")).unwrap();
        let alias = outside.path().join("alias");
        assert!(open_beneath(&alias, Path::new("warc/file")).is_ok());
        assert!(open_within(&alias, &alias.join("file")).is_ok());
        let elsewhere = open_within(&alias, &outside.path().join("secret"));
        assert_eq!(kind(elsewhere), Some(io::ErrorKind::InvalidInput));
        for path in ["pipe", "warc"] {
            let opened = open_regular(&root.join(path));
            assert_eq!(kind(opened), Some(io::ErrorKind::InvalidInput), "{path}");
        }
        assert!(open_regular(&root.join("link")).is_ok());
    }
}
