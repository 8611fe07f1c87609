"""Pages as MediaWiki makes them, about an invented country; and the original's way of reading them, as oracle."""

from __future__ import annotations

import html
import warnings

from bs4 import BeautifulSoup
from hypothesis import strategies as st

CHROME_BEFORE = """\
<!DOCTYPE html>
<html class="client-nojs" lang="en" dir="ltr">
<head>
<meta charset="UTF-8"/>
<title>{title} - Quillpedia</title>
<script>document.documentElement.className="client-js";RLCONF={{"wgCanonicalSpecialPageName":{special},\
"wgCurRevisionId":{revision},"wgRevisionId":{revision},"wgIsArticle":{article}}};</script>
<meta name="generator" content="MediaWiki 1.39.17"/>
</head>
<body class="skin-vector mediawiki ltr"><div class="mw-page-container">
<div class="vector-sitenotice"><p>Pages for visitors learn more</p></div>
<nav><ul>
\t<li id="n-mainpage"><a href="/wiki/Main">Main page of all</a></li>
</ul></nav>
<h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1>
<div id="mw-content-text" class="mw-body-content">"""

CHROME_AFTER = """</div>
<footer id="footer"><ul id="footer-places">
\t<li><a href="/wiki/About">About Quillpedia and more</a></li>
</ul></footer></div>
<script>(RLQ=window.RLQ||[]).push(function(){mw.log.warn("<p>never a paragraph</p>");});</script>
</body>
</html>"""


def article(body: str, title: str = "Vorland", revision: int = 7) -> str:
    """An article with the skin round it."""
    before = CHROME_BEFORE.format(title=title, special="false", revision=revision, article="true")
    return f'{before}<div class="mw-parser-output">{body}</div>{CHROME_AFTER}'


def search_page(inside: str) -> str:
    """A search page: form, profile tabs, and *inside* as MediaWiki 1.39 puts it."""
    before = CHROME_BEFORE.format(title="Search results", special='"Search"', revision=0, article="false")
    tabs = '<div class="search-types"><ul><li class="current"><a href="#">Content pages</a></li></ul></div>'
    form = (
        f'<div class="mw-search-form-wrapper"><form id="search"><div id="mw-search-top-table"></div>{tabs}</form></div>'
    )
    return f"{before}{form}{inside}{CHROME_AFTER}"


def results(*titles: str) -> str:
    """A search page with hits."""
    items = "".join(
        f'<li class="mw-search-result mw-search-result-ns-0"><div class="mw-search-result-heading">'
        f'<a href="/wiki/x" data-serp-pos="{i}">{html.escape(title)}</a>    </div>'
        f'<div class="searchresult">Something said of it</div></li>'
        for i, title in enumerate(titles)
    )
    return search_page(f'<div class="searchresults"><p></p><ul class="mw-search-results">{items}</ul></div>')


def nothing(query: str = "Qwzx Plonk") -> str:
    """A search page without hits, as MediaWiki 1.39 and CirrusSearch both make it."""
    return search_page(
        '<div class="searchresults"><p class="mw-search-nonefound">\nThere were no results matching the query.</p>'
        f'<p class="mw-search-createlink">\nThe page "{html.escape(query)}" does not exist on this wiki.</p>'
        '<div class="mw-search-visualclear"></div></div>'
    )


# --- the original, in the spec's words ------------------------------------------------------------------------------


def original_items(page: str) -> list[str]:
    """The texts of every paragraph, then of every list, stripped."""
    soup = BeautifulSoup(page, "html.parser")
    return [element.get_text().strip() for element in soup.find_all("p") + soup.find_all("ul")]


def original_titles(page: str) -> list[str]:
    """The texts of the search results' headings, stripped."""
    soup = BeautifulSoup(page, "html.parser")
    return [div.get_text().strip() for div in soup.find_all("div", {"class": "mw-search-result-heading"})]


def original_clean(text: str) -> str:
    """The escape round trip; raises where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return text.encode().decode("unicode-escape").encode("latin1").decode("utf-8")


def original_text(page: str) -> str:
    """The page text of an article; where cleaning raises, the item as it is."""
    text = ""
    for item in original_items(page):
        if len(item.split(" ")) > 2:
            try:
                text += original_clean(item)
            except UnicodeError:
                text += item
            text += "\n"
    return text


# --- random pages ---------------------------------------------------------------------------------------------------

WORDS = [
    "Vorland",
    "is",
    "a",
    "town.",
    "D.C.",
    "may refer to:",
    "[1]",
    "Łyse",
    "ゾーイ",
    "–",
    "🐈",
    "5 < 6",
    "&",
    "x\u00a0y",
]
ESCAPES = ["C:\\users", "\\frac{1}{2}", "\\n", "\\101", "\\xe9", "\\u20ac", "ends \\", "\\ud83d"]
SPACES = ["", " ", "  ", "\n", "\n\n", "\t", " \n ", "\u00a0", "\u200b", " \u00a0 "]

words = st.sampled_from([*WORDS, *ESCAPES, *SPACES]) | st.text("ab .\\\n\u00e9'\"", max_size=6)
texts = st.lists(words, max_size=6).map(lambda parts: html.escape(" ".join(parts), quote=False))
entities = st.sampled_from(["&nbsp;", "&#160;", "&amp;", "&lt;", "&#32;", "&thinsp;", "&#8211;", "&#x1F408;"])
silent = st.sampled_from(
    [
        "<!-- a comment -->",
        "<!--\nNewPP limit report\n-->",
        '<style data-mw-deduplicate="x">.a{color:red}</style>',
        "<script>var p = '<p>no paragraph here</p>';</script>",
        "<br />",
        "<br>",
        "<wbr/>",
        '<img src="x.png" alt="never text" width="1" height="1"/>',
        "<template><p>never read this</p></template>",
        '<input type="checkbox" class="toctogglecheckbox"/>',
        '<link rel="mw-deduplicated-inline-style" href="mw-data:x"/>',
    ]
)
special = st.sampled_from(
    [
        "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>",
        '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">'
        '<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="{\\displaystyle E}">\n  <semantics>\n    <mrow>\n'
        '      <mi>E<!-- E --></mi>\n      <mspace width="thickmathspace" />\n    </mrow>\n'
        '    <annotation encoding="application/x-tex">{\\displaystyle E}</annotation>\n  </semantics>\n</math></span>'
        '<img alt="{\\displaystyle E}"/></span>',
        '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>',
        '<span style="display:none">&#160;(<span class="bday">1902-01-02</span>)</span>',
        '<span id="coordinates"><a href="#">Coordinates</a>: <span class="geo-dms">1°N 2°E</span></span>',
        "<code>a  b</code>",
        "<kbd> </kbd>",
        '<a href="/wiki/Quill" title="Quill">Quill</a>',
    ]
)


def _inline(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from(["b", "i", "span", "sup", "small", "cite", "bdi", "del"])
    return st.builds(lambda tag, inside: f"<{tag}>{''.join(inside)}</{tag}>", tags, st.lists(children, max_size=3))


inlines = st.recursive(texts | entities | silent | special, _inline, max_leaves=6)
run = st.lists(inlines, max_size=4).map("".join)
gap = st.sampled_from(["", "\n", " ", "\n\n", "\t\n"])


def _block(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inside = st.lists(st.tuples(gap, children), max_size=3).map(lambda parts: "".join(g + c for g, c in parts))
    item = st.builds(lambda a, b, g: f"<li>{a}{g}{b}</li>", run, inside, gap)
    ul = st.builds(lambda items, g: f"<ul>{g.join(['', *items, ''])}</ul>", st.lists(item, max_size=3), gap)
    ol = st.builds(lambda items, g: f"<ol>{g.join(['', *items, ''])}</ol>", st.lists(item, max_size=2), gap)
    div = st.builds(
        lambda name, body, g: f'<div class="{name}">{g}{body}{g}</div>',
        st.sampled_from(["hatnote", "thumb tright", "reflist", "navbox", "toc", "mw-collapsible", "x"]),
        inside,
        gap,
    )
    table = st.builds(
        lambda a, b, g: f'<table class="infobox">{g}<tbody><tr>{g}<th>{a}</th><td>{b}{g}</td></tr></tbody></table>',
        run,
        inside,
        gap,
    )
    dl = st.builds(lambda a, b: f"<dl><dt>{a}</dt>\n<dd>{b}</dd></dl>", run, inside)
    return ul | ol | div | table | dl


names = st.sampled_from(["", ' class="mw-empty-elt"'])
paragraph = st.builds(
    lambda body, g, name: f"<p{name}>{body}{g}</p>", run, gap, st.sampled_from(["", ' class="mw-empty-elt"'])
)
heading = run.map(lambda text: f'<h2><span class="mw-headline">{text}</span></h2>')
pre = st.builds(lambda g, text: f"<pre>{g}{text}</pre>", gap, texts)
blocks = st.recursive(paragraph | heading | pre | silent, _block, max_leaves=8)
bodies = st.lists(st.tuples(gap, blocks), max_size=5).map(lambda parts: "".join(g + b for g, b in parts))
articles = bodies.map(article)
titles = st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=7)
