//! The charset of a site's pages, and what the site says it is.

use crate::dice::Dice;

/// How text becomes bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// EUC-KR: KS X 1001 syllables only.
    EucKr,
    /// CP949 (UHC): EUC-KR and the syllables it lacks.
    Cp949,
    /// ISO-2022-KR: seven bits, shifts around every Korean word.
    Iso2022Kr,
}

/// The charset of a site, with the labels it gives; a label may be missing or
/// wrong, as on the real web.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SiteCharset {
    /// What the bytes really are.
    pub encoding: Encoding,
    /// The `charset` parameter of `Content-Type`.
    pub header_label: Option<&'static str>,
    /// The label in the page's `meta` element.
    pub meta_label: Option<&'static str>,
}

impl SiteCharset {
    /// UTF-8, said in the header and in the page.
    pub const UTF8: Self = Self::labelled(Encoding::Utf8, Some("utf-8"), Some("utf-8"));

    /// What the mix draws from, for Korean sites; the first four are honest,
    /// the others silent or wrong.
    pub const KOREAN_MIX: [Self; 8] = [
        Self::labelled(Encoding::EucKr, Some("euc-kr"), Some("euc-kr")),
        Self::labelled(Encoding::Cp949, None, Some("cp949")),
        Self::labelled(Encoding::Cp949, Some("ms949"), None),
        Self::labelled(Encoding::Iso2022Kr, Some("iso-2022-kr"), None),
        Self::labelled(Encoding::EucKr, None, None),
        Self::labelled(Encoding::Utf8, None, None),
        Self::labelled(Encoding::EucKr, Some("iso-8859-1"), Some("euc-kr")),
        Self::labelled(Encoding::Utf8, None, Some("euc-kr")),
    ];

    const fn labelled(
        encoding: Encoding,
        header_label: Option<&'static str>,
        meta_label: Option<&'static str>,
    ) -> Self {
        Self {
            encoding,
            header_label,
            meta_label,
        }
    }

    pub(crate) fn drawn(dice: &mut Dice) -> Self {
        Self::KOREAN_MIX[dice.below(Self::KOREAN_MIX.len() as u32) as usize]
    }
}

impl Encoding {
    pub(crate) const ALL: [Self; 4] = [Self::Utf8, Self::EucKr, Self::Cp949, Self::Iso2022Kr];

    /// Encodes one run of text. ISO-2022-KR shifts out for each run of Korean
    /// and back before the next ASCII byte, so that runs may be cut at spaces.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::EucKr | Self::Cp949 => {
                // encoding_rs's EUC-KR is CP949: the pool for plain EUC-KR
                // holds no syllable outside KS X 1001.
                out.extend_from_slice(&encoding_rs::EUC_KR.encode(text).0);
            }
            Self::Iso2022Kr => {
                let mut shifted = false;
                for byte in encoding_rs::EUC_KR.encode(text).0.iter().copied() {
                    let korean = byte >= 0x80;
                    if korean != shifted {
                        out.push(if korean { SHIFT_OUT } else { SHIFT_IN });
                        shifted = korean;
                    }
                    out.push(byte & 0x7F);
                }
                if shifted {
                    out.push(SHIFT_IN);
                }
            }
        }
    }

    /// What must stand before the first character of a page.
    pub(crate) fn preamble(self) -> &'static [u8] {
        match self {
            Self::Iso2022Kr => b"\x1b$)C\n",
            _ => b"",
        }
    }
}

const SHIFT_OUT: u8 = 0x0E;
const SHIFT_IN: u8 = 0x0F;

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encoding.encode(text, &mut out);
        out
    }

    #[test]
    fn the_four_encodings() {
        assert_eq!(encoded(Encoding::Utf8, "가a"), "가a".as_bytes());
        assert_eq!(encoded(Encoding::EucKr, "가a"), b"\xB0\xA1a");
        assert_eq!(encoded(Encoding::Cp949, "똠"), b"\x8C\x63");
        assert_eq!(
            encoded(Encoding::Iso2022Kr, "a 가각 b가"),
            b"a \x0e\x30\x21\x30\x22\x0f b\x0e\x30\x21\x0f"
        );
    }
}
