//! ISO-2022-KR, which the web platform no longer decodes but old Korean pages
//! and mail archives still use (RFC 1557).
//!
//! A header `ESC $ ) C` announces it. SO (0x0E) shifts into KS X 1001, where two
//! bytes of seven bits are one character; SI (0x0F) shifts back, and so does the
//! end of a line. With the high bits set the two bytes are EUC-KR.

use encoding_rs::EUC_KR;

/// The announcement at the start of a text.
const HEADER: &[u8] = b"\x1B$)C";
const SHIFT_OUT: u8 = 0x0E;
const SHIFT_IN: u8 = 0x0F;

/// Whether bytes announce themselves as ISO-2022-KR.
pub(crate) fn is_announced(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, HEADER).is_some()
}

/// Whether bytes shift into Korean at all.
pub(crate) fn shifts(bytes: &[u8]) -> bool {
    memchr::memchr(SHIFT_OUT, bytes).is_some()
}

/// Decodes; what does not fit becomes U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> String {
    // Written as EUC-KR first, so that one decoder does all the mapping.
    let mut as_euc_kr = Vec::with_capacity(bytes.len());
    let mut shifted = false;
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            SHIFT_OUT => shifted = true,
            SHIFT_IN => shifted = false,
            0x1B if after.starts_with(&HEADER[1..]) => rest = &after[3..],
            b'\n' | b'\r' => {
                shifted = false;
                as_euc_kr.push(byte);
            }
            0x21..=0x7E if shifted => as_euc_kr.push(byte | 0x80),
            _ => as_euc_kr.push(byte),
        }
    }
    EUC_KR
        .decode_without_bom_handling(&as_euc_kr)
        .0
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes with the shifts a mail program would write.
    fn encode(text: &str) -> Vec<u8> {
        let mut out = HEADER.to_vec();
        for c in text.chars() {
            let mut buffer = [0; 4];
            let (bytes, _, _) = EUC_KR.encode(c.encode_utf8(&mut buffer));
            if c.is_ascii() {
                out.extend_from_slice(&bytes);
            } else {
                out.push(SHIFT_OUT);
                out.extend(bytes.iter().map(|byte| byte & 0x7F));
                out.push(SHIFT_IN);
            }
        }
        out
    }

    #[test]
    fn korean_comes_back() {
        let text = "<title>안녕하세요</title> hello 漢字";
        assert!(is_announced(&encode(text)));
        assert_eq!(decode(&encode(text)), text);
    }

    #[test]
    fn a_line_end_shifts_back() {
        assert_eq!(decode(b"\x0E0!\n0!"), "가\n0!");
    }

    #[test]
    fn broken_shifts_do_no_harm() {
        assert_eq!(decode(b"\x0E0"), "\u{fffd}");
        assert_eq!(decode(b"\x1B$)C"), "");
        assert_eq!(decode(b"\x1B$"), "\x1B$");
    }
}
