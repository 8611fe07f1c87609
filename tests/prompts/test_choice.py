"""--prompt NAME|FILE|DIR: what each of them means."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reactrepro import prompts
from reactrepro.errors import Corrupt, Usage
from reactrepro.prompts.choice import Choice, choose, listed
from reactrepro.runs.keep import keep, prompt_for
from reactrepro.tasks.hotpotqa import HotpotQA

TEXT = "Answer.\nQuestion: Why? \n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with prompts/hotpotqa/mine/react.txt, and a loose file x.txt."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "prompts" / "hotpotqa" / "mine"
    home.mkdir(parents=True)
    (home / "react.txt").write_bytes(TEXT.encode())
    (home / "react.instruction.txt").write_bytes(b"Do it. ")
    (tmp_path / "My Prompt.txt").write_bytes(TEXT.encode())
    return tmp_path


def text(choice: Choice) -> str:
    """What is loaded for a choice."""
    return prompts.load("hotpotqa", "react", choice.name, choice.roots).text


def test_a_name_is_looked_for_in_the_roots_and_in_the_package(folder: Path) -> None:
    """A name stays a name, and the roots stay the roots."""
    roots = (folder / "prompts",)
    assert choose("mine", "hotpotqa", "react", roots) == Choice("mine", roots)
    assert choose("paper", "hotpotqa", "react") == Choice("paper", ())
    with pytest.raises(Usage, match="there are: mine, paper"):
        choose("yours", "hotpotqa", "react", roots)


def test_a_name_goes_before_a_folder_of_that_name(folder: Path) -> None:
    """`paper` means the packaged prompt, whatever folder lies about; `./paper` means the folder."""
    (folder / "paper").mkdir()
    assert choose("paper", "hotpotqa", "react") == Choice("paper", ())
    with pytest.raises(Usage, match="holds no prompt"):
        choose("./paper", "hotpotqa", "react")


@pytest.mark.parametrize(
    "given", ["prompts/hotpotqa/mine/react.txt", "prompts/hotpotqa/mine", "prompts/hotpotqa/mine/", "prompts"]
)
def test_a_place_in_a_prompts_folder_is_that_prompt(folder: Path, given: str) -> None:
    """Its file, its folder, and the whole folder where it is the only one; its instruction comes along."""
    choice = choose(given, "hotpotqa", "react")
    assert choice == Choice("mine", (folder / "prompts",))
    assert text(choice) == "Do it. " + TEXT


def test_a_loose_file_is_everything_before_the_question_and_is_named_after_its_text(folder: Path) -> None:
    """No packaged instruction is put before it; another text is another name; an instruction beside it counts."""
    loose = choose("My Prompt.txt", "hotpotqa", "react")
    assert text(loose) == TEXT
    assert loose.name.startswith("my-prompt-")
    assert choose("My Prompt.txt", "fever", "act").name == loose.name
    (folder / "My Prompt.instruction.txt").write_bytes(b"First: ")
    with_instruction = choose("My Prompt.txt", "hotpotqa", "react")
    assert text(with_instruction) == "First: " + TEXT
    assert with_instruction.name != loose.name


def test_what_is_chosen_goes_before_the_other_roots(folder: Path) -> None:
    """A file called as another root's prompt is not hidden by it, and the others are still searched behind it."""
    other = folder / "elsewhere" / "hotpotqa" / "mine"
    other.mkdir(parents=True)
    (other / "react.txt").write_bytes(b"Other.")
    choice = choose(str(other), "hotpotqa", "react", (folder / "prompts",))
    assert choice.roots == (folder / "elsewhere", folder / "prompts")
    assert text(choice) == "Other."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("absent.txt", "no such file"),
        ("absent/x", "no such file"),
        ("./notes.md", "ends in .txt"),
        ("prompts/hotpotqa", "prompts/hotpotqa/hotpotqa/<name>/react.txt"),
        ("prompts/hotpotqa/none", "holds no react.txt"),
        ("several", r"several \(a, b\).*--prompt several/hotpotqa/a"),
    ],
)
def test_what_is_no_prompt_is_a_usage_error_that_says_why(folder: Path, given: str, said: str) -> None:
    """Each says what is missing, or how to be more precise."""
    (folder / "notes.md").touch()
    (folder / "prompts" / "hotpotqa" / "none").mkdir()
    for name in ("a", "b"):
        (folder / "several" / "hotpotqa" / name).mkdir(parents=True)
        (folder / "several" / "hotpotqa" / name / "react.txt").touch()
    with pytest.raises(Usage, match=said):
        choose(given, "hotpotqa", "react")


def test_a_file_that_is_not_utf_8_is_corrupt(folder: Path) -> None:
    """Exit code 5, before anything is asked."""
    (folder / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(Corrupt, match="not UTF-8"):
        choose("bad.txt", "hotpotqa", "react")


def test_the_names_of_files_do_not_depend_on_the_machine(folder: Path) -> None:
    """A recording names a user's prompt files as it names packaged ones: from `prompts/` on, never the home folder."""
    choice = choose("prompts/hotpotqa/mine", "hotpotqa", "react")
    for roots in (choice.roots, [Path("prompts")]):
        loaded = prompts.load("hotpotqa", "react", "mine", roots)
        names = [file.name for file in loaded.files]
        assert names == ["prompts/hotpotqa/mine/react.instruction.txt", "prompts/hotpotqa/mine/react.txt"]


# --- kept beside recordings -----------------------------------------------------------------------------------------


def test_a_prompt_from_elsewhere_is_copied_to_the_byte(folder: Path) -> None:
    """File and folder, instructions included; then the project's folder alone gives the same text."""
    shutil.move(folder / "prompts", folder / "elsewhere")
    (folder / "My Prompt.txt").write_bytes(b"One \r\nTwo\xc2\xa0\n")
    for given in ("My Prompt.txt", "elsewhere"):
        choice = choose(given, "hotpotqa", "react")
        kept = keep(choice, HotpotQA(), "react", Path("prompts"))
        assert kept == Choice(choice.name, (Path("prompts"),))
        assert text(kept) == text(choice)
        assert keep(choice, HotpotQA(), "react", Path("prompts")) == kept
    assert sorted(path.name for path in folder.joinpath("prompts", "hotpotqa", "mine").iterdir()) == [
        "react.instruction.txt",
        "react.txt",
    ]


def test_a_packaged_prompt_is_not_copied(folder: Path) -> None:
    """It is at hand everywhere."""
    shutil.rmtree(folder / "prompts")
    choice = choose("paper", "hotpotqa", "react")
    assert keep(choice, HotpotQA(), "react", Path("prompts")) == choice
    assert not folder.joinpath("prompts").exists()


def test_another_text_of_that_name_is_never_overwritten(folder: Path) -> None:
    """Two prompts of one name are a usage error, and both files stay."""
    other = folder / "elsewhere" / "hotpotqa" / "mine"
    other.mkdir(parents=True)
    (other / "react.txt").write_bytes(b"Other.")
    with pytest.raises(Usage, match="another prompt of the same name"):
        keep(choose("elsewhere", "hotpotqa", "react"), HotpotQA(), "react", Path("prompts"))
    assert folder.joinpath("prompts", "hotpotqa", "mine", "react.txt").read_bytes() == TEXT.encode()


# --- listed ---------------------------------------------------------------------------------------------------------


def test_a_choice_can_be_listed(folder: Path) -> None:
    """By name, file, prompt's folder and prompts folder."""
    roots = (folder / "prompts",)
    whole = [line.label for line in listed("mine", roots)]
    assert whole == [f"hotpotqa/mine/{stem}" for stem in ("react.instruction", "react", "react.instruction + react")]
    assert [line.label for line in listed("prompts")] == whole
    assert [line.label for line in listed("prompts/hotpotqa/mine")] == whole
    (loose,) = listed("My Prompt.txt")
    assert (loose.label.partition("-")[0], loose.characters) == ("my", len(TEXT))
    for given in ("absent.txt", "absent", "./absent"):
        with pytest.raises(Usage, match="no prompt, file or folder"):
            listed(given)
    folder.joinpath("empty").mkdir()
    with pytest.raises(Usage, match="holds no prompt"):
        listed("empty")


def test_a_back_off_takes_a_name_or_a_folder(folder: Path) -> None:
    """Its two methods have a prompt each, so a single file is refused, and so is a folder that has but one of them."""
    for given in ("My Prompt.txt", "prompts/hotpotqa/mine/react.txt"):
        with pytest.raises(Usage, match=r"react_then_cot_sc has two methods|holds no|ends in"):
            prompt_for(HotpotQA(), "react_then_cot_sc", given, ())
    with pytest.raises(Usage, match="holds no prompt of method 'cot'"):
        prompt_for(HotpotQA(), "react_then_cot_sc", "prompts", ())
    folder.joinpath("prompts", "hotpotqa", "mine", "cot.txt").write_bytes(b"Think. ")
    assert prompt_for(HotpotQA(), "react_then_cot_sc", "prompts", ()) == Choice("mine", (folder / "prompts",))
    assert prompt_for(HotpotQA(), "react_then_cot_sc", None, ()) == Choice("paper", ())
