//! The element and attribute names that mean something to the reader.
//!
//! Names are compared without regard to ASCII case. What is not named here is
//! [`Element::Unknown`] or no attribute at all, and costs nothing further.

/// Longest element name known here; longer ones are not looked up.
const NAME_BYTES_MAX: usize = 14;

/// Text on both sides of its tags can be one word.
const INLINE: u8 = 1;
/// Authors always close it, so that what it hides has an end. A hidden `p` or
/// `li` often has no end tag and would hide the whole page.
const CLOSED: u8 = 2;
/// It cannot stand in SVG or `MathML`: its start tag ends them.
const BREAKS_OUT: u8 = 4;

macro_rules! elements {
    ($($variant:ident: $name:literal = $traits:expr,)+) => {
        /// An element by its name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Element {
            $($variant,)+
            /// Any other element.
            Unknown,
        }

        $(const _: () = assert!($name.len() <= NAME_BYTES_MAX);)+

        const TRAITS: &[u8] = &[$($traits,)+ 0];

        fn known(name: &[u8]) -> Element {
            match name {
                $($name => Element::$variant,)+
                _ => Element::Unknown,
            }
        }
    };
}

elements! {
    A: b"a" = INLINE | CLOSED,
    Abbr: b"abbr" = INLINE,
    AnnotationXml: b"annotation-xml" = 0,
    Applet: b"applet" = 0,
    Area: b"area" = 0,
    Article: b"article" = CLOSED,
    Aside: b"aside" = CLOSED,
    Audio: b"audio" = 0,
    B: b"b" = INLINE | CLOSED | BREAKS_OUT,
    Base: b"base" = 0,
    Bdi: b"bdi" = INLINE,
    Bdo: b"bdo" = INLINE,
    Bgsound: b"bgsound" = 0,
    Big: b"big" = INLINE | BREAKS_OUT,
    Blockquote: b"blockquote" = BREAKS_OUT,
    Body: b"body" = BREAKS_OUT,
    Br: b"br" = BREAKS_OUT,
    Button: b"button" = CLOSED,
    Center: b"center" = CLOSED | BREAKS_OUT,
    Cite: b"cite" = INLINE,
    Code: b"code" = INLINE | BREAKS_OUT,
    Data: b"data" = INLINE,
    Dd: b"dd" = BREAKS_OUT,
    Desc: b"desc" = 0,
    Details: b"details" = CLOSED,
    Dfn: b"dfn" = INLINE,
    Dialog: b"dialog" = CLOSED,
    Div: b"div" = CLOSED | BREAKS_OUT,
    Dl: b"dl" = CLOSED | BREAKS_OUT,
    Dt: b"dt" = BREAKS_OUT,
    Em: b"em" = INLINE | CLOSED | BREAKS_OUT,
    Embed: b"embed" = BREAKS_OUT,
    Fieldset: b"fieldset" = CLOSED,
    Figure: b"figure" = CLOSED,
    Font: b"font" = INLINE,
    Footer: b"footer" = CLOSED,
    ForeignObject: b"foreignobject" = 0,
    Form: b"form" = CLOSED,
    Frame: b"frame" = 0,
    H1: b"h1" = CLOSED | BREAKS_OUT,
    H2: b"h2" = CLOSED | BREAKS_OUT,
    H3: b"h3" = CLOSED | BREAKS_OUT,
    H4: b"h4" = CLOSED | BREAKS_OUT,
    H5: b"h5" = CLOSED | BREAKS_OUT,
    H6: b"h6" = CLOSED | BREAKS_OUT,
    Head: b"head" = BREAKS_OUT,
    Header: b"header" = CLOSED,
    Hr: b"hr" = BREAKS_OUT,
    Html: b"html" = 0,
    I: b"i" = INLINE | CLOSED | BREAKS_OUT,
    Iframe: b"iframe" = 0,
    Image: b"image" = 0,
    Img: b"img" = BREAKS_OUT,
    Input: b"input" = 0,
    Ins: b"ins" = 0,
    Isindex: b"isindex" = 0,
    Kbd: b"kbd" = INLINE,
    Label: b"label" = INLINE | CLOSED,
    Li: b"li" = BREAKS_OUT,
    Link: b"link" = 0,
    Listing: b"listing" = BREAKS_OUT,
    Main: b"main" = CLOSED,
    Mark: b"mark" = INLINE,
    Math: b"math" = 0,
    Menu: b"menu" = CLOSED | BREAKS_OUT,
    Meta: b"meta" = BREAKS_OUT,
    Mi: b"mi" = 0,
    Mn: b"mn" = 0,
    Mo: b"mo" = 0,
    Ms: b"ms" = 0,
    Mtext: b"mtext" = 0,
    Nav: b"nav" = CLOSED,
    Nobr: b"nobr" = INLINE | BREAKS_OUT,
    Noembed: b"noembed" = 0,
    Noframes: b"noframes" = 0,
    Noscript: b"noscript" = 0,
    Object: b"object" = 0,
    Ol: b"ol" = CLOSED | BREAKS_OUT,
    Option: b"option" = 0,
    P: b"p" = BREAKS_OUT,
    Param: b"param" = 0,
    Plaintext: b"plaintext" = 0,
    Pre: b"pre" = BREAKS_OUT,
    Q: b"q" = INLINE,
    Ruby: b"ruby" = INLINE | BREAKS_OUT,
    S: b"s" = INLINE | BREAKS_OUT,
    Samp: b"samp" = INLINE,
    Script: b"script" = 0,
    Section: b"section" = CLOSED,
    Select: b"select" = CLOSED,
    Small: b"small" = INLINE | CLOSED | BREAKS_OUT,
    Source: b"source" = 0,
    Span: b"span" = INLINE | CLOSED | BREAKS_OUT,
    Strike: b"strike" = INLINE | BREAKS_OUT,
    Strong: b"strong" = INLINE | CLOSED | BREAKS_OUT,
    Style: b"style" = 0,
    Sub: b"sub" = INLINE | BREAKS_OUT,
    Sup: b"sup" = INLINE | BREAKS_OUT,
    Svg: b"svg" = CLOSED,
    Table: b"table" = CLOSED | BREAKS_OUT,
    Template: b"template" = 0,
    Textarea: b"textarea" = 0,
    Time: b"time" = INLINE | CLOSED,
    Title: b"title" = 0,
    Track: b"track" = 0,
    Tt: b"tt" = INLINE | BREAKS_OUT,
    U: b"u" = INLINE | BREAKS_OUT,
    Ul: b"ul" = CLOSED | BREAKS_OUT,
    Var: b"var" = INLINE | BREAKS_OUT,
    Video: b"video" = 0,
    Wbr: b"wbr" = INLINE,
    Xmp: b"xmp" = 0,
}

impl Element {
    /// Looks a name up.
    pub(crate) fn named(name: &[u8]) -> Self {
        let mut lower = [0; NAME_BYTES_MAX];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return Self::Unknown;
        };
        for (to, from) in lower.iter_mut().zip(name) {
            *to = from.to_ascii_lowercase();
        }
        known(lower)
    }

    /// Whether text on both sides of its tags can be one word.
    pub(crate) fn is_inline(self) -> bool {
        self.has(INLINE)
    }

    /// Whether authors always write its end tag.
    pub(crate) fn is_always_closed(self) -> bool {
        self.has(CLOSED)
    }

    /// Whether it is one of the elements that advertisements are put into, which
    /// stand between words and are always closed.
    pub(crate) const fn may_be_advert(self) -> bool {
        matches!(
            self,
            Self::Div
                | Self::Section
                | Self::Table
                | Self::Ul
                | Self::Center
                | Self::Figure
                | Self::Aside
                | Self::Ins
        )
    }

    /// Whether its start tag ends SVG and `MathML`.
    pub(crate) fn breaks_out(self) -> bool {
        self.has(BREAKS_OUT)
    }

    fn has(self, quality: u8) -> bool {
        TRAITS[self as usize] & quality != 0
    }
}

/// An attribute the reader looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attribute {
    Content,
    Data,
    Encoding,
    Hidden,
    Href,
    HttpEquiv,
    ImageSrcset,
    Name,
    Poster,
    Rel,
    ShadowRootMode,
    Src,
    Srcset,
    Style,
    Type,
    XlinkHref,
}

impl Attribute {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::XlinkHref as usize + 1;

    /// Looks a name up; most names on the web (`class`, `id`) end at their length
    /// or first letter.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        let (candidate, attribute): (&[u8], Self) = match (name.len(), name.first()? | 0x20) {
            (3, b's') => (b"src", Self::Src),
            (3, b'r') => (b"rel", Self::Rel),
            (4, b'h') => (b"href", Self::Href),
            (4, b't') => (b"type", Self::Type),
            (4, b'd') => (b"data", Self::Data),
            (4, b'n') => (b"name", Self::Name),
            (5, b's') => (b"style", Self::Style),
            (6, b's') => (b"srcset", Self::Srcset),
            (6, b'h') => (b"hidden", Self::Hidden),
            (6, b'p') => (b"poster", Self::Poster),
            (7, b'c') => (b"content", Self::Content),
            (8, b'e') => (b"encoding", Self::Encoding),
            (10, b'h') => (b"http-equiv", Self::HttpEquiv),
            (10, b'x') => (b"xlink:href", Self::XlinkHref),
            (11, b'i') => (b"imagesrcset", Self::ImageSrcset),
            (14, b's') => (b"shadowrootmode", Self::ShadowRootMode),
            _ => return None,
        };
        name.eq_ignore_ascii_case(candidate).then_some(attribute)
    }
}

/// Whether an attribute may lead somewhere though it is none of [`Attribute`]: it is
/// one of the rarer ones here, holds a script, or is of the page's own making
/// (`data-…`) and begins like an address.
pub(crate) fn may_lead(name: &[u8], value: &str) -> bool {
    let [first, second, ..] = name else {
        return false;
    };
    if matches!(value.as_bytes().first(), Some(b'u' | b'U')) && paints(name, value) {
        return true;
    }
    let candidate: &[u8] = match (name.len(), first | 0x20) {
        (_, b'o') => return second | 0x20 == b'n',
        (6.., b'd') if name[4] == b'-' => return data_may_lead(name, value),
        (4, b'c') => b"cite",
        (4, b'f') => b"form",
        (4, b'i') => b"icon",
        (4, b'p') => b"ping",
        (6, b'a') => b"action",
        (6, b'd') => b"dynsrc",
        (6, b'i') => b"itemid",
        (6, b'l') => b"lowsrc",
        (6, b'n') => b"ng-src",
        (6, b's') => b"srcdoc",
        (7, b'a') => b"archive",
        (7, b'c') => b"classid",
        (7, b'n') => b"ng-href",
        (7, b'p') => b"profile",
        (8, b'c') => b"codebase",
        (8, b'l') => b"longdesc",
        (8, b'm') => b"manifest",
        (10, b'b') => b"background",
        (11, b'p') => b"pluginspage",
        (10, b'f') => b"formaction",
        (14, b'i') => b"implementation",
        _ => return false,
    };
    name.eq_ignore_ascii_case(candidate)
}

/// Whether an attribute of a drawing is a property of CSS whose value is a `url(…)`.
pub(crate) fn paints(name: &[u8], value: &str) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"fill",
        b"stroke",
        b"filter",
        b"mask",
        b"clip-path",
        b"marker",
        b"marker-start",
        b"marker-mid",
        b"marker-end",
        b"cursor",
    ];
    (value.get(..4)).is_some_and(|start| start.eq_ignore_ascii_case("url("))
        && NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a `data-` attribute may hold an address.
fn data_may_lead(name: &[u8], value: &str) -> bool {
    let value = value.trim_ascii_start().as_bytes();
    matches!(value, [b'/' | b'{' | b'[', _, ..] | [b'.', b'.' | b'/', ..])
        || (value.get(..4)).is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
        || is_lazy(&name[5..])
        || name
            .windows(3)
            .any(|part| part.eq_ignore_ascii_case(b"src"))
}

/// Whether a `data-` attribute holds an address by what scripts call it, whatever
/// its value looks like.
fn is_lazy(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 14] = [
        b"action",
        b"bg",
        b"bgset",
        b"background",
        b"background-image",
        b"echo",
        b"href",
        b"image",
        b"lazy",
        b"lazyload",
        b"original",
        b"poster",
        b"url",
        b"zoom-image",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(Element::named(b"IfRaMe"), Element::Iframe);
        assert_eq!(Element::named(b"annotation-xml"), Element::AnnotationXml);
        assert_eq!(Element::named(b"x"), Element::Unknown);
        assert_eq!(Element::named(b"averyveryverylongname"), Element::Unknown);
        assert_eq!(Attribute::named(b"HREF"), Some(Attribute::Href));
        assert_eq!(Attribute::named(b"hrex"), None);
        assert_eq!(Attribute::named(b""), None);
    }
}
