"""Tests that lines of Japanese text break where Japanese allows it."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

from pypdf import PdfReader

import benchbrief.reports
from benchbrief.reports.office.rich_text import paragraphs
from benchbrief.reports.render.page_pdf import to_pdf
from benchbrief.reports.text.line_ends import keep_words_whole
from benchbrief.reports.text.number_format import Locale, written_as
from benchbrief.reports.verify_brief import marked_in

STYLE = Path(next(iter(benchbrief.reports.__path__))) / "templates" / "base" / "style.css"
NEVER_FIRST = "、。，．）」』】ーぁぃぅぇぉっゃゅょァィゥェォッャュョ・：；！？々"
NEVER_LAST = "（「『【"
TEXT = "キャッシュ（block cache）のヒット率は、「書き込み中の読み取り」で低く、レイテンシーは p99 で 1.5 倍でした。"


def test_no_line_begins_or_ends_with_a_sign_that_must_not() -> None:
    paragraphs = "".join(f'<p style="width: {width}mm">{TEXT}</p>' for width in range(30, 90))
    head = f"<head><title>Lines</title><style>{STYLE.read_text()}</style></head>"
    pdf = to_pdf(f'<html lang="ja">{head}<body>{paragraphs}</body></html>')
    text = "\n".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert len(lines) > 150
    assert [line for line in lines if line[0] in NEVER_FIRST or line[-1] in NEVER_LAST] == []


def test_no_word_in_katakana_and_no_phrase_of_a_heading_is_parted() -> None:
    title = "Solidigm D5-P5430 の最大スループットは他の 65 %"
    page = f'<title>データ</title><body><h1 title="スループット">{title}</h1><p>ブロックとデータ</p><td>データ</td>'
    made = keep_words_whole(f"{page}<table><td>データ</td></table>")
    whole = '<bdi class="whole">{}</bdi>'
    phrases = [whole.format(part) for part in ("D5-P5430 の", "最大スループットは", "他の")]
    assert f'<title>データ</title><body><h1 title="スループット">Solidigm {"".join(phrases)} 65 %</h1>' in made
    assert f"<p>{whole.format('ブロックと')}{whole.format('データ')}</p>" in made
    assert made.endswith("<table><td>データ</td></table>")
    text = "".join(whole.format(part) for part in ("多数では", "7450 が", "優位です。"))
    assert keep_words_whole("<body><p>多数では7450 が優位です。</p>") == f"<body><p>{text}</p>"
    assert (
        keep_words_whole("<body><p>マイクロベンチマークスループット</p>")
        == "<body><p>マイクロベンチマークスループット</p>"
    )
    assert keep_words_whole("<body><h2>Reads beside a writer</h2>") == "<body><h2>Reads beside a writer</h2>"
    assert keep_words_whole('<body><a href="#a">データ</a>') == '<body><a href="#a">データ</a>'


def test_no_line_ends_between_a_number_and_what_it_counts_or_begins_with_a_particle_or_part_of_a_word() -> None:
    whole = '<bdi class="whole">{}</bdi>'
    text = keep_words_whole("<body><p>Solidigm D5-P5430 での 3 種類の負荷。すべてメモリーに収まります。</p>")
    parts = ("3 種類の", "負荷。", "すべて", "メモリーに", "収まります。")
    kept = "".join(whole.format(part) for part in parts)
    assert text == f"<body><p>Solidigm D5-P5430\N{NO-BREAK SPACE}での {kept}</p>"
    assert keep_words_whole("<li>動いていました。</li>".join(("<body>", ""))).count("<bdi") == 1


def test_a_japanese_name_has_no_blanks_around_it_in_files_to_edit_either() -> None:
    with written_as(Locale("ja")):
        assert paragraphs("ストレージ は 同一、OS は Debian")[0].text == "ストレージは同一、OS は Debian"
    assert paragraphs("Labels: 甲 乙")[0].text == "Labels: 甲 乙"


def test_a_box_beside_a_picture_is_no_wider_for_its_whole_words() -> None:
    words = keep_words_whole("<body><p>測定の条件と方法、各数値の出所を収めています。</p>").partition("<body>")[2]
    box = f'<div class="ending"><aside class="companion"><div class="qr"></div><div>{words}</div></aside></div>'
    head = f"<head><title>Lines</title><style>{STYLE.read_text()} .ending {{ width: 65mm }}</style></head>"
    pdf = to_pdf(f'<html lang="ja">{head}<body>{box}</body></html>')
    assert PdfReader(BytesIO(pdf)).pages[0].extract_text().splitlines()[:3] == [
        "測定の条件と方法、",
        "各数値の出所を",
        "収めています。",
    ]


def test_a_word_that_is_kept_whole_is_not_taken_for_a_number_of_a_pdf() -> None:
    number = '<span class="num" id="n1"><span>3 ノード</span></span>'
    head = '<h1><span class="whole">他の SSD</span></h1>'
    made = keep_words_whole(f"<body>{head}<p><span>試行プロファイル</span>：{number}とサーバー</p></body>")
    assert made.count('<bdi class="whole">') == 3, "the title, the profile and the server"
    pdf = to_pdf(f'<html lang="ja"><head><title>Numbers</title></head>{made}</html>')
    assert [text for _, text in marked_in(PdfReader(BytesIO(pdf)), spans=True)] == ["3 ノード"]


def test_the_end_of_a_paragraph_or_a_cell_is_no_line_of_its_own() -> None:
    made = keep_words_whole(
        "<body><p>値です。</p><table><td>書き込みを続けます。</td></table><p>平均ではありません。</p>"
    )
    assert re.findall(r'<bdi class="whole">([^<]*)</bdi></(?:p|td)>', made) == ["値です。", "けます。", "ません。"]


def test_code_keeps_its_blanks_in_a_document() -> None:
    with written_as(Locale("ja")):
        (found,) = paragraphs("名前 は `読み取り 書き込み` です")
    assert found.text == "名前は 読み取り 書き込み です"
