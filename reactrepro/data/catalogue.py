"""The data files there are: addresses, sums, numbers of rows, terms. Pure.

A sum that the authors of a file published is none of those below: they published none. Where the sum comes from is said
beside each; one that nobody knows would be None, and then the rows alone vouch for the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RELEASED = "6bdb3a1fd38b8188fc7ba4102969fe483df8fdc9"
"""The commit of the ReAct paper's released code, https://github.com/ysymyth/ReAct."""

RELEASED_SUM = f"of the file in the released code, commit {RELEASED[:7]}"
_QUOTED = "as others quote it; HotpotQA's authors published none"
_HOTPOT = "http://curtis.ml.cmu.edu/datasets/hotpot/"
_ARCHIVE = "https://web.archive.org/web/20250512032701id_/"


def released(path: str) -> tuple[str, ...]:
    """Return addresses of the file at *path* in the released code, in the order in which they are tried."""
    return (
        f"https://raw.githubusercontent.com/ysymyth/ReAct/{RELEASED}/{path}",
        f"https://cdn.jsdelivr.net/gh/ysymyth/ReAct@{RELEASED}/{path}",
        f"https://raw.githubusercontent.com/ysymyth/ReAct/master/{path}",
    )


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set.

    Attributes:
        data_set: the data set's name, which is that of its task and of its folder.
        short: what it is called on the command line.
        name: the file's name.
        holds: what it is, in a few words.
        rows: how many rows it has.
        size: bytes; None: unknown.
        sha256: SHA-256 (hex); None: unknown.
        sum_source: where that sum is from.
        mirrors: addresses, in the order in which they are tried.
        terms: names in `TERMS`: under which it may be used, and what is to be cited.
    """

    data_set: str
    short: str
    name: str
    holds: str
    rows: int
    size: int | None
    sha256: str | None
    sum_source: str
    mirrors: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that fetches it."""
        return f"reactrepro fetch {self.data_set}" + (f" --file {self.short}" if len(FILES[self.data_set]) > 1 else "")


@dataclass(frozen=True, slots=True)
class Terms:
    """What is to be known by whoever uses a work.

    Attributes:
        work: what it is.
        licence: under which terms it may be used.
        address: where it is published.
        citation: what to cite.
    """

    work: str
    licence: str
    address: str
    citation: str


TERMS: Mapping[str, Terms] = {
    "hotpotqa": Terms(
        "HotpotQA",
        "CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/",
        "https://hotpotqa.github.io/",
        "Z. Yang, P. Qi, S. Zhang, Y. Bengio, W. W. Cohen, R. Salakhutdinov, C. D. Manning. HotpotQA: A Dataset for "
        "Diverse, Explainable Multi-hop Question Answering. EMNLP 2018. https://aclanthology.org/D18-1259/",
    ),
    "fever": Terms(
        "FEVER",
        "the licence of the Wikipedia articles that it draws on; where that cannot be found, CC BY-SA 3.0, "
        "https://creativecommons.org/licenses/by-sa/3.0/",
        "https://fever.ai/",
        "J. Thorne, A. Vlachos, C. Christodoulopoulos, A. Mittal. FEVER: a Large-scale Dataset for Fact Extraction and "
        "VERification. NAACL-HLT 2018. https://aclanthology.org/N18-1074/",
    ),
    "react": Terms(
        "the code released with ReAct",
        "MIT, Copyright (c) 2023 Shunyu Yao",
        "https://github.com/ysymyth/ReAct",
        "S. Yao, J. Zhao, D. Yu, N. Du, I. Shafran, K. Narasimhan, Y. Cao. ReAct: Synergizing Reasoning and Acting in "
        "Language Models. ICLR 2023. https://arxiv.org/abs/2210.03629",
    ),
}

_SIMPLIFIED = DataFile(
    data_set="hotpotqa",
    short="simplified",
    name="hotpot_dev_v1_simplified.json",
    holds="the development set as the paper's code reads it: question, answer, type",
    rows=7405,
    size=1_179_017,
    sha256="05001dcdeb2b2b2243a88f23daaf8de9237494cd387e13bc25854d3e031101d3",
    sum_source=RELEASED_SUM,
    mirrors=released("data/hotpot_dev_v1_simplified.json"),
    terms=("hotpotqa", "react"),
)
_DISTRACTOR = DataFile(
    data_set="hotpotqa",
    short="distractor",
    name="hotpot_dev_distractor_v1.json",
    holds="the official development set, with ids, ten paragraphs for each question",
    rows=7405,
    size=46_320_117,
    sha256="4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea",
    sum_source=_QUOTED,
    mirrors=(f"{_HOTPOT}hotpot_dev_distractor_v1.json", f"{_ARCHIVE}{_HOTPOT}hotpot_dev_distractor_v1.json"),
    terms=("hotpotqa",),
)
_FULLWIKI = DataFile(
    data_set="hotpotqa",
    short="fullwiki",
    name="hotpot_dev_fullwiki_v1.json",
    holds="the official development set, with ids, paragraphs as a retriever found them",
    rows=7405,
    size=47_454_698,
    sha256="2f1f3e594a3066a3084cc57950ca2713c24712adaad03af6ccce18d1846d5618",
    sum_source=_QUOTED,
    mirrors=(f"{_HOTPOT}hotpot_dev_fullwiki_v1.json", f"{_ARCHIVE}{_HOTPOT}hotpot_dev_fullwiki_v1.json"),
    terms=("hotpotqa",),
)
_PAPER_DEV = DataFile(
    data_set="fever",
    short="paper_dev",
    name="paper_dev.jsonl",
    holds="the development set of the FEVER paper: claim, label, id, evidence",
    rows=9999,
    size=2_168_767,
    sha256="41158707810008747946bf23471e82df53e77a513524b9e3ec1c2e674ef5ef8c",
    sum_source=RELEASED_SUM,
    mirrors=(
        "https://fever.ai/download/fever/paper_dev.jsonl",
        *released("data/paper_dev.jsonl"),
        "https://s3-eu-west-1.amazonaws.com/fever.public/paper_dev.jsonl",
    ),
    terms=("fever",),
)

FILES: Mapping[str, tuple[DataFile, ...]] = {
    "hotpotqa": (_SIMPLIFIED, _DISTRACTOR, _FULLWIKI),
    "fever": (_PAPER_DEV,),
}
"""Data set -> its files; the first is the one that is fetched unless another is named."""
