"""The listing that a judge sees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatdev.evaluation.judging.judges import MOST_FILES, blind_listing, blind_text

TEXTS = st.dictionaries(st.from_regex(r"[a-z]{1,8}\.py", fullmatch=True), st.text(st.characters(
    exclude_categories=["Cs"], exclude_characters="\0"), max_size=200), max_size=6)


@given(TEXTS, st.integers(1, 600))
def test_no_more_is_shown_than_allowed_and_no_less_than_fits(texts: dict[str, str], most: int) -> None:
    files = blind_listing({path: text.encode() for path, text in texts.items()}, most).files
    assert [file.path for file in files] == sorted(texts)
    assert sum(len(file.content) for file in files) <= most
    assert all(texts[f.path].startswith(str(f.content)) for f in files)
    assert all(len(f.content) + f.left_out == len(texts[f.path]) for f in files)
    if sum(map(len, texts.values())) <= most:
        assert not any(file.left_out for file in files)


def test_short_files_stay_whole_and_long_ones_share_the_rest() -> None:
    software = {"a.py": b"x\n" * 100, "b.py": b"y\n", "c.py": b"z\n" * 100}
    assert [(len(f.content), f.left_out) for f in blind_listing(software, 102).files] == [(50, 150), (2, 0), (50, 150)]


def test_documents_are_not_shown_and_binary_files_only_named() -> None:
    files = blind_listing({"README.md": b"mine", "logo.png": b"\x89\0", "main.py": b"1"}, 100).files
    assert [(file.path, file.content) for file in files] == [("logo.png", b"\x89\0"), ("main.py", "1")]


def test_of_very_many_files_there_is_the_number() -> None:
    found = blind_listing({f"f{n:03}.py": b"1" for n in range(MOST_FILES + 7)}, 1000)
    assert (len(found.files), found.more) == (MOST_FILES, 7)


def test_words_are_hidden_in_any_case_and_never_inside_others() -> None:
    assert blind_text("ChatDev chatdev_app Chatdevs", ["ChatDev"]) == "Company Company_app Chatdevs"
    assert blind_listing({"chatdev.py": b"# chatdev"}, 99, ["ChatDev"]).files[0].path == "Company.py"
