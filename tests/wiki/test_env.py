"""Search, Lookup and Finish, as the original environment behaves, and where reactrepro differs on purpose."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.domain import Environment, Observation, PageView
from reactrepro.errors import WikiSnapshotMiss
from reactrepro.wiki.env import EMPTY_ARTICLE, NO_MORE, WikiEnv
from reactrepro.wiki.page import parse

from . import mediawiki as mw
from .samples import MARL, action

OPENING = "Question: Where is Vorland?"


class Site:
    """A wiki in memory: query -> HTML."""

    def __init__(self, pages: Mapping[str, str], extraction: str) -> None:
        self.pages, self.extraction = pages, extraction
        self.asked: list[str] = []

    def page(self, query: str) -> PageView:
        self.asked.append(query)
        if query not in self.pages:
            raise WikiSnapshotMiss(query)
        return parse(self.pages[query], site="quill", query=query).view(self.extraction)


def environment(pages: Mapping[str, str] | None = None, extraction: str = "article", gold: str = "Quill") -> WikiEnv:
    """An environment over pages in memory."""
    return WikiEnv(Site(pages or {}, extraction), OPENING, lambda answer: int(answer == gold))


def run(env: WikiEnv, *commands: str) -> list[str]:
    """Execute commands; return what was observed."""
    return [env.step(action(command)).text for command in commands]


def asked(env: WikiEnv) -> list[str]:
    """The queries that went to the pages, in order."""
    assert isinstance(env._pages, Site)
    return env._pages.asked


def body(*paragraphs: str) -> str:
    """An article of paragraphs."""
    return mw.article("".join(f"<p>{paragraph}</p>" for paragraph in paragraphs))


VORLAND = body("Vorland is a town. It lies in Quill. It has a bay. A bay is wet.", "The town is old. It is small. Bay!")
BOTH = pytest.mark.parametrize("extraction", ["article", "original"])


# --- actions without a wiki -----------------------------------------------------------------------------------------


def test_it_is_an_environment() -> None:
    """`reset` gives the opening line; answer and steps begin empty."""
    env: Environment = environment()
    assert env.reset() == OPENING
    assert (environment().answer, environment().steps) == (None, 0)


def test_invalid_actions_and_thoughts_count_a_step() -> None:
    """An action that is none is an observation; the command is repeated, an empty one leaves the trailing space."""
    env = environment()
    assert run(env, "jump[x]", "", "think[so]", "fINISH[x]", "search[a] now") == [
        "Invalid action: jump[x]",
        "Invalid action: ",
        "Nice thought.",
        "Invalid action: fINISH[x]",
        "Invalid action: search[a] now",
    ]
    assert (env.steps, env.answer) == (5, None)


@pytest.mark.parametrize(("answer", "reward"), [("Quill", 1), (" Quill ", 0), ("", 0)])
def test_finish_gives_the_reward_by_a_named_rule(answer: str, reward: int) -> None:
    """Finish ends the episode; nothing is stripped from the answer, and `finish[]` answers with nothing."""
    env = environment()
    seen = env.step(action(f"finish[{answer}]"))
    assert seen == Observation(f"Episode finished, reward = {reward}\n", done=True, reward=reward)
    assert (env.answer, env.steps) == (answer, 1)


def test_after_the_answer_nothing_happens() -> None:
    """Every later step returns the last observation, done, without counting or asking the wiki."""
    env = environment({"Vorland": VORLAND})
    end = env.step(action("finish[]"))
    assert [env.step(action(one)) for one in ("search[Vorland]", "finish[Quill]", "")] == [end] * 3
    assert (env.answer, env.steps, asked(env)) == ("", 1, [])
    env.reset()
    assert (env.answer, env.steps) == (None, 0)
    assert run(env, "finish[Quill]") == ["Episode finished, reward = 1\n"]


# --- search ---------------------------------------------------------------------------------------------------------


def test_search_shows_five_sentences() -> None:
    """The first five sentences of the page, whatever the paragraphs; the query is the argument, untouched."""
    env = environment({" Vorland": VORLAND})
    assert run(env, "search[ Vorland]") == [
        "Vorland is a town. It lies in Quill. It has a bay. A bay is wet.. The town is old."
    ]
    assert asked(env) == [" Vorland"]


@BOTH
def test_titles_are_printed_as_a_python_list(extraction: str) -> None:
    """The first five, as Python prints a list: quotes by content, escapes where both occur, odd blanks as escapes."""
    found = mw.results("Harlow Bay", "Harlow's Bay", 'The "Bay"', "Both ' and \"", "a\u00a0b\u200bc–é", "sixth")
    assert run(environment({"Bay": found}, extraction), "search[Bay]") == [
        "Could not find Bay. Similar: ['Harlow Bay', \"Harlow's Bay\", 'The \"Bay\"', 'Both \\' and \"', "
        "'a\\xa0b\\u200bc–é']."
    ]


@BOTH
def test_a_mismatch_keeps_page_and_lookup(extraction: str) -> None:
    """Only similar titles found: page, keyword and counter stay those of the search before."""
    env = environment({"Vorland": VORLAND, "Bay": mw.results("Harlow Bay")}, extraction)
    assert run(env, "search[Vorland]", "lookup[bay]", "search[Bay]", "lookup[bay]")[1:] == [
        "(Result 1 / 3) It has a bay.",
        "Could not find Bay. Similar: ['Harlow Bay'].",
        "(Result 2 / 3) A bay is wet..",
    ]


def test_a_failed_search_changes_nothing() -> None:
    """When the pages raise, the error passes through; no step is counted, and page and counter stay."""
    env = environment({"Vorland": VORLAND})
    run(env, "search[Vorland]", "lookup[bay]")
    with pytest.raises(WikiSnapshotMiss):
        env.step(action("search[Nowhere]"))
    assert env.steps == 2
    assert run(env, "lookup[bay]") == ["(Result 2 / 3) A bay is wet.."]


# --- disambiguation -------------------------------------------------------------------------------------------------


@pytest.mark.case("B20")
@BOTH
def test_a_disambiguation_is_searched_once_more_in_brackets(extraction: str) -> None:
    """Both queries go to the pages; the message then names the bracketed entity; it is one step."""
    env = environment({"Marl": MARL, "[Marl]": mw.results("Marl (rock)")}, extraction)
    seen = env.step(action("search[Marl]"))
    assert seen.text == "Could not find [Marl]. Similar: ['Marl (rock)']."
    assert seen.flags == ("disambiguation",)
    assert (asked(env), env.steps) == (["Marl", "[Marl]"], 1)


@pytest.mark.case("B20")
@BOTH
def test_a_second_disambiguation_is_taken_as_it_is(extraction: str) -> None:
    """At most one bracketed search: if it is a disambiguation again, that page is read as an article."""
    env = environment({"Marl": MARL, "[Marl]": MARL}, extraction)
    first = run(env, "search[Marl]", "lookup[rock]")
    assert "Marl may refer to:." in first[0]
    assert first[1].startswith("(Result 1 / 1) Marl (rock), a rock")
    assert asked(env) == ["Marl", "[Marl]"]


@pytest.mark.case("B20")
def test_an_article_with_the_words_in_one_item_is_searched_again_too() -> None:
    """As in the original: "may refer to:" anywhere in the article's body makes it a disambiguation."""
    page = mw.article("<p>Marl is a rock.</p><ul><li>M1 may refer to: a motorway</li></ul>")
    env = environment({"Marl": page, "[Marl]": mw.results("Marl (rock)")})
    assert run(env, "search[Marl]") == ["Could not find [Marl]. Similar: ['Marl (rock)']."]


def test_a_bracketed_search_may_find_an_article_or_nothing() -> None:
    """Whatever the bracketed search brings is taken: an article becomes the page, nothing leaves the page alone."""
    env = environment({"Marl": MARL, "[Marl]": VORLAND})
    assert run(env, "search[Marl]", "lookup[bay]")[1] == "(Result 1 / 3) It has a bay."
    env = environment({"Vorland": VORLAND, "Marl": MARL, "[Marl]": mw.nothing("[Marl]")})
    assert run(env, "search[Vorland]", "search[Marl]", "lookup[bay]")[1:] == [
        "Could not find [Marl]. Similar: [].",
        "(Result 1 / 3) It has a bay.",
    ]


# --- nothing found, nothing to read ---------------------------------------------------------------------------------


@pytest.mark.case("B22")
def test_nothing_found_keeps_the_page() -> None:
    """Extraction `article`: no titles, and page and Lookup position untouched."""
    env = environment({"Vorland": VORLAND, "Qwzx Plonk": mw.nothing()})
    run(env, "search[Vorland]", "lookup[bay]")
    seen = env.step(action("search[Qwzx Plonk]"))
    assert (seen.text, seen.flags) == ("Could not find Qwzx Plonk. Similar: [].", ("no_results",))
    assert run(env, "lookup[bay]") == ["(Result 2 / 3) A bay is wet.."]


@pytest.mark.case("B22")
def test_the_original_reads_a_no_result_page() -> None:
    """Extraction `original`: the search page is read as an article, and the page before is lost."""
    env = environment({"Vorland": VORLAND, "Qwzx Plonk": mw.nothing()}, "original")
    run(env, "search[Vorland]")
    seen = env.step(action("search[Qwzx Plonk]"))
    assert "There were no results matching the query.." in seen.text
    assert seen.flags == ("no_results",)
    assert run(env, "lookup[bay]") == [NO_MORE]


@pytest.mark.case("B19")
def test_an_article_without_text_has_its_own_observation() -> None:
    """Extraction `article`: a named outcome; the empty page is the current one, so Lookup finds nothing on it."""
    env = environment({"Vorland": VORLAND, "Bare": mw.article('<p class="mw-empty-elt"></p><p>Two words</p>')})
    run(env, "search[Vorland]")
    seen = env.step(action("search[Bare]"))
    assert seen.text == EMPTY_ARTICLE.format("Bare") == "The page found for Bare has no text to read."
    assert seen.flags == ("empty_article",)
    assert run(env, "lookup[bay]") == [NO_MORE]


def test_the_original_shows_nothing_for_it() -> None:
    """Extraction `original`: the empty string."""
    page = '<div class="mw-parser-output"><p>Two words</p></div>'
    assert run(environment({"Bare": page}, "original"), "search[Bare]") == [""]


def test_a_kept_backslash_is_said() -> None:
    """A page whose cleaning would have raised sets a flag on the observation; where it was read sets none."""
    page = {"Vorland": body(r"Config lives in C:\users here.")}
    assert environment(page, "original").step(action("search[Vorland]")).flags == ("backslash_kept",)
    assert environment(page).step(action("search[Vorland]")).flags == ()


# --- lookup ---------------------------------------------------------------------------------------------------------


def test_lookup_counts_through_its_hits() -> None:
    """One hit a call, from 1; past the end always the same line, which ends in a newline."""
    env = environment({"Vorland": VORLAND})
    assert run(env, "search[Vorland]", *["lookup[BAY]"] * 5)[1:] == [
        "(Result 1 / 3) It has a bay.",
        "(Result 2 / 3) A bay is wet..",
        "(Result 3 / 3) Bay!.",
        "No more results.\n",
        "No more results.\n",
    ]


def test_another_keyword_starts_again() -> None:
    """The keyword is compared exactly: other case or spaces give another keyword, and coming back starts at 1."""
    env = environment({"Vorland": VORLAND})
    seen = run(env, "search[Vorland]", "lookup[bay]", "lookup[bay]", "lookup[BAY]", "lookup[ bay]", "lookup[bay]")
    assert [text.partition(")")[0] for text in seen[1:]] == [
        "(Result 1 / 3",
        "(Result 2 / 3",
        "(Result 1 / 3",
        "(Result 1 / 2",
        "(Result 1 / 3",
    ]


def test_a_successful_search_starts_lookup_again() -> None:
    """Searching the same page anew resets keyword, list and counter."""
    env = environment({"Vorland": VORLAND})
    seen = run(env, "search[Vorland]", "lookup[bay]", "search[Vorland]", "lookup[bay]")
    assert seen[1] == seen[3] == "(Result 1 / 3) It has a bay."


@pytest.mark.parametrize("before", [(), ("search[Bay]",)])
def test_without_a_page_there_is_nothing_to_look_up(before: tuple[str, ...]) -> None:
    """Before any page, and after a first search that found similar titles only."""
    env = environment({"Bay": mw.results("Harlow Bay")})
    assert run(env, *before, "lookup[bay]", "lookup[]")[-2:] == [NO_MORE, NO_MORE]


def test_reset_forgets_the_page() -> None:
    """A new episode has no page."""
    env = environment({"Vorland": VORLAND})
    run(env, "search[Vorland]", "lookup[bay]")
    env.reset()
    assert run(env, "lookup[bay]") == [NO_MORE]


# --- the whole, against the spec --------------------------------------------------------------------------------------


class Reference:
    """The original environment, told again from the spec; one bracketed search at most."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.pages = pages
        self.text: str | None = None
        self.keyword: str | None = None
        self.hits: list[str] = []
        self.count = 0
        self.obs = OPENING
        self.answer: str | None = None

    def split(self) -> list[str]:
        lines = [line.strip() for line in (self.text or "").split("\n") if line.strip()]
        return [piece.strip() + "." for line in lines for piece in line.split(". ") if piece.strip()]

    def search(self, entity: str, again: bool = True) -> None:
        page = self.pages[entity]
        if titles := mw.original_titles(page):
            cleaned = []
            for title in titles:
                try:
                    cleaned.append(mw.original_clean(title))
                except UnicodeError:
                    cleaned.append(title)
            self.obs = f"Could not find {entity}. Similar: {cleaned[:5]}."
        elif again and any("may refer to:" in item for item in mw.original_items(page)):
            self.search(f"[{entity}]", again=False)
        else:
            self.text = mw.original_text(page)
            self.obs = " ".join(self.split()[:5])
            self.keyword = None

    def step(self, command: str) -> str:
        if self.answer is not None:
            return self.obs
        name, _, rest = command.partition("[")
        if name == "search" and rest.endswith("]"):
            self.search(rest[:-1])
        elif name == "lookup" and rest.endswith("]"):
            if rest[:-1] != self.keyword:
                self.keyword, self.count = rest[:-1], 0
                self.hits = [one for one in self.split() if rest[:-1].lower() in one.lower()]
            if self.count < len(self.hits):
                self.obs = f"(Result {self.count + 1} / {len(self.hits)}) {self.hits[self.count]}"
                self.count += 1
            else:
                self.obs = "No more results.\n"
        elif name == "finish" and rest.endswith("]"):
            self.answer = rest[:-1]
            self.obs = f"Episode finished, reward = {int(self.answer == 'Quill')}\n"
        else:
            self.obs = "Nice thought." if name == "think" and rest.endswith("]") else f"Invalid action: {command}"
        return self.obs


commands = st.sampled_from(
    [
        "search[A]",
        "search[B]",
        "lookup[a]",
        "lookup[A]",
        "lookup[ ]",
        "lookup[]",
        "lookup[town]",
        "think[x]",
        "jump",
        "",
    ]
)
pages = mw.articles | mw.titles.map(lambda found: mw.results(*found)) | st.just(mw.nothing()) | st.just(MARL)


@given(
    st.fixed_dictionaries(dict.fromkeys(("A", "[A]", "B", "[B]"), pages)),
    st.lists(commands, max_size=10),
    st.sampled_from(["finish[Quill]", "finish[]", "lookup[a]"]),
)
def test_extraction_original_behaves_as_the_original(site: dict[str, str], before: list[str], last: str) -> None:
    """Any actions on any pages give the original's observations, character for character."""
    env, reference = environment(site, "original"), Reference(site)
    for command in [*before, last, "search[A]"]:
        assert env.step(action(command)).text == reference.step(command)
    assert env.answer == reference.answer
