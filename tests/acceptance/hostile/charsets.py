"""Encodings that are mislabelled or not labelled. WHATWG Encoding, HTML 13.2.3."""

from hostile.build import Site, answer, html
from hostile.judge import charset, check, only, state, title

WORD = "한국어 웹 문서의 제목입니다"
TEXT = WORD + ". " + "우리나라의 여러 신문과 방송이 오늘 아침에 전한 소식을 모았습니다. " * 20
EUC, UTF8 = "EUC-KR", "UTF-8"


def sites(at):
    return [*encodings()]


def korean(name, rule, body, type, *checks):
    return Site(name, rule, {"/": answer(body, type=type)}, check(state("/", "OK"), *checks))


def encodings():
    text = html(title=WORD, text=TEXT)
    sniff = "HTML 13.2.3.2: encoding sniffing"
    meta = lambda label: html(title=WORD, head=f'<meta charset="{label}">', text=TEXT)
    late = html(head=f"<!-- {'x' * 3000} --><meta charset=euc-kr>", title=WORD, text=TEXT)
    bom = lambda name: ("\ufeff" + text).encode(name)
    good, euc = title("/", WORD), charset("/", EUC)
    yield korean(
        "charset: EUC-KR by header",
        "Encoding 4.2",
        text.encode("euc-kr"),
        "text/html; charset=euc-kr",
        good,
        euc,
    )
    yield korean(
        "charset: an old Korean label",
        "Encoding 4.2: ks_c_5601-1987 is EUC-KR",
        text.encode("euc-kr"),
        "text/html; charset=KS_C_5601-1987",
        good,
        euc,
    )
    yield korean(
        "charset: label in quotes",
        "RFC 9110 5.6.6",
        text.encode("euc-kr"),
        'text/html; charset="euc-kr"',
        good,
        euc,
    )
    yield korean(
        "charset: windows-949 as EUC-KR",
        "Encoding 13.1: EUC-KR is windows-949",
        html(title="똠방각하", text=TEXT).encode("cp949"),
        "text/html; charset=euc-kr",
        title("/", "똠방각하"),
    )
    yield korean(
        "charset: EUC-KR by meta", sniff, meta("euc-kr").encode("euc-kr"), "text/html", good, euc
    )
    yield korean("charset: EUC-KR without a label", sniff, text.encode("euc-kr"), "text/html", good)
    yield korean("charset: UTF-8 without a label", sniff, text.encode(), "text/html", good)
    yield korean(
        "charset: meta after 3,000 bytes",
        sniff + "; the first 1,024 bytes are looked at, more may be",
        late.encode("euc-kr"),
        "text/html",
        good,
    )
    yield korean(
        "charset: EUC-KR called UTF-8",
        "a wrong label is noticed, or rendered as said",
        text.encode("euc-kr"),
        "text/html; charset=utf-8",
    )
    yield korean(
        "charset: UTF-8 called EUC-KR",
        "a wrong label is noticed, or rendered as said",
        text.encode(),
        "text/html; charset=euc-kr",
    )
    yield korean(
        "charset: header against meta",
        sniff + "; the header wins",
        meta("euc-kr").encode(),
        "text/html; charset=utf-8",
        good,
        charset("/", UTF8),
    )
    yield korean(
        "charset: mark against header",
        sniff + "; the mark wins",
        bom("utf-8"),
        "text/html; charset=euc-kr",
        good,
        charset("/", UTF8),
    )
    yield korean(
        "charset: UTF-16LE with a mark",
        sniff,
        b"\xff\xfe" + text.encode("utf-16-le"),
        "text/html",
        good,
    )
    yield korean(
        "charset: UTF-16BE against the header",
        sniff,
        b"\xfe\xff" + text.encode("utf-16-be"),
        "text/html; charset=utf-8",
        good,
    )
    yield korean(
        "charset: UTF-16LE by header",
        sniff,
        text.encode("utf-16-le"),
        "text/html; charset=utf-16le",
        good,
    )
    yield korean(
        "charset: UTF-16 by meta",
        sniff + "; means UTF-8",
        meta("utf-16").encode(),
        "text/html",
        good,
    )
    yield korean(
        "charset: ISO-2022-KR",
        "Encoding 14.1: replacement",
        text.encode("iso2022_kr"),
        "text/html; charset=iso-2022-kr",
    )
    yield Site(
        "charset: UTF-7",
        "Encoding 4.2: no such encoding",
        {"/": answer("<p>+ADw-a href=/no+AD4-x", type="text/html; charset=utf-7")},
        check(state("/", "OK"), only("/")),
    )
    yield korean(
        "charset: unknown label",
        sniff,
        meta("utf-8").encode(),
        "text/html; charset=klingon-8",
        good,
    )
    yield korean(
        "charset: half a character at the end",
        "Encoding 4.1",
        text.encode() + b"\xed\x95",
        "text/html; charset=utf-8",
        good,
    )
