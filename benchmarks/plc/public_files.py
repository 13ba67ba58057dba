"""What of PLC files that engineers published is read: each file by itself, a library as one program, projects.

    python -m benchmarks.plc.public_files [--from FOLDER] [--half HALF] [--only NAME]

The repositories are cloned from GitHub at the commits below, into studies/public; `--from` names a folder that has them
already, as `owner+name` or `owner+name/repo`. Nothing of them is kept but counts. The language was extended with those
of the half `read` in view, and with one look at those `looked at`; the `unseen` ones are read at the end.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.project import ENDINGS, check_project, read_project
from chatdev.departments.plc.source_check import SourceCheck
from chatdev.departments.plc.st.core import Dialect
from chatdev.errors import ConfigError

FOLDER = ROOT / "studies" / "public"
_SHOWN = 6  # codes of refused files


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository: what of it is read (`under`, with these endings), in which `ways`: `singly`, `together` (all
    as one program), `projects` (each .plcproj as one)."""

    name: str
    commit: str
    half: str
    ways: Sequence[str]
    dialect: Literal["iec", "codesys", "twincat", "siemens"]
    endings: Sequence[str] = ENDINGS
    under: str = ""


_SCL = (".scl", ".udt", ".db")
REPOSITORIES = (
    Repository("simsum/oscat", "ccc5f45ebda082d0f87f50eadf23ff29e39cf9ba", "read", ("singly", "together"), "codesys"),
    Repository("tcunit/TcUnit", "d447f95dff584cd9ae856784b189315a05ff93f1", "read", ("projects",), "twincat"),
    Repository("fisothemes/TwinCat-Dynamic-Collections", "d1317df9075d339b8cc6a6d1a9be42acdccc95de", "read",
               ("projects",), "twincat"),
    Repository("Keiji01/TwinCAT3", "33cd63d1555f79308da6b23f1b2ba2fbcaa77a3f", "read", ("projects",), "twincat"),
    Repository("jubnzv/iec-checker", "d3e5dae2c9b5096a197e4134d7d0549201f3a953", "read", ("singly",), "iec", (".st",)),
    Repository("wonka929/OSCAT_OpenPLC", "7805d6df1fba4b0de666a1a720b51971c7af8afa", "read", ("singly",), "iec"),
    Repository("cangkui/AutoPLC", "99d594d46a809d165b5235b4c2f57d7ecfa86225", "looked at", ("singly",), "codesys",
               (".st",)),
    Repository("cangkui/AutoPLC", "99d594d46a809d165b5235b4c2f57d7ecfa86225", "read", ("SCL singly",), "siemens",
               (".scl",)),
    Repository("TcOpenGroup/TcOpen", "0d4d935a96450a3c2a025133d2417154b441339f", "looked at", ("projects",), "twincat"),
    Repository("fisothemes/FisoThemes-Controller-Toolbox-Library-for-TwinCAT",
               "1ff02710f784887dcf1db1d203d9abb06030a05c", "looked at", ("projects",), "twincat"),
    Repository("trofimich/TwinCAT.OpenFramework", "62cb3d27e8a539943719fc385c119ec0c5b9816e", "looked at",
               ("projects",), "twincat"),
    Repository("klauer/blark", "1922eed94885f41fcc2974981e1041196f7f99f6", "unseen", ("singly",), "twincat",
               (".st", ".TcPOU", ".TcDUT", ".TcGVL")),
    Repository("lysog2000-hue/TIA_PORTAL", "8aa7271a2eb85e7166ca356e6f9775cc89389a55", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("komatic1/SCL_PCS7_AdvLib", "b38c8f57a694a9b513e3c370d7a9a5a2c8861324", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("micom7/tia_repo", "9cbd00cdf1c2c22cc4254846fc8388462af2e8ac", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("BjAlvestad/vscode-simatic-scl", "cd00a4731aba69e51e5c3544059ac82cb0e6c847", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("jakovp999/git_reidovo", "190ae38c8a80e34977901edf91f925def9d298a5", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("komatic1/SCL_regulation_control", "2bb28521d34d8d3c3ef184b63adcc3e064a0c5b3", "read",
               ("SCL singly",), "siemens", _SCL),
    Repository("d-ani/SCL-UnitTesting", "47f6e6bbd5c959facf0bc4bd853515911b4aca04", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("komatic1/SCL_easy_motion_control", "36b97a202c78575c95e86b74aa8b6fef861f7116", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("komatic1/SCL_modular_PID", "afc0c9e5ecc6e279f825efeb03eb0e907ae2e51b", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("komatic1/SCL_network_communication", "9acb022d07264d7b08fb1630acc0aa0449bbea49", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("OttoMeister/Siemens-Tia-Portal-PID-Controller", "8c11eed3b586d199ef8093b094826ba81d109194", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("serkiser/Mini_TFG", "deb6d451dbf4573c7402e4bd0187f2d83893fe12", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("WZAutomation/WZAutomation_Lib", "9aeee515f999c5a015eeafdd17ac46490a9502ed", "unseen",
               ("SCL singly",), "siemens", _SCL),
    Repository("lybhb8/S7-1200EasyPlus", "0f12d9f8bfbfabfd1a26c55dfc2954af1937c6f1", "unseen",
               ("SCL singly",), "siemens", _SCL),
)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=FOLDER, help="folder of clones")
    parser.add_argument("--half", choices=("read", "looked at", "unseen"), help="only these")
    parser.add_argument("--only", help="only the repository of this name")
    options = parser.parse_args()
    rows = {(row["repository"], row["way"]): row for row in TABLE.read().get("rows", ())}
    for one in REPOSITORIES:
        if options.half in (None, one.half) and options.only in (None, one.name):
            for row in measure(one, options.source):
                rows[row["repository"], row["way"]] = row
                print(_cells(row), flush=True)
    ways = [(one.name, way) for one in REPOSITORIES for way in one.ways]
    TABLE.keep({"date": datetime.now(UTC).date().isoformat(), "machine": machine(),
                "rows": [rows[way] for way in ways if way in rows]})


def measure(one: Repository, source: Path) -> Iterator[dict[str, Any]]:
    """A row for each way of reading a repository."""
    git = find_clone(one, source)
    commit = one.commit or _git(git, "rev-parse", "HEAD").strip()
    with tempfile.TemporaryDirectory() as folder:
        files = list(extract_files(git, commit, one, Path(folder)))
        for way in one.ways:
            yield {"repository": one.name, "commit": commit, "half": one.half, "way": way,
                   **_read(way, Path(folder), files, one.dialect)}


def find_clone(one: Repository, source: Path) -> Path:
    folder = source / one.name.replace("/", "+")
    for git in (folder / "repo", folder / ".git", folder):
        if (git / "HEAD").is_file():
            return git
    subprocess.run(["git", "clone", "--quiet", "--bare", f"https://github.com/{one.name}", str(folder)], check=True)
    return folder


def _git(git: Path, *arguments: str) -> str:
    return subprocess.run(["git", f"--git-dir={git}", *arguments], check=True, capture_output=True, text=True).stdout


def extract_files(git: Path, commit: str, one: Repository, folder: Path) -> Iterator[Path]:
    """The files of a commit with a wanted ending, and the projects that name them."""
    endings = {ending.lower() for ending in (*one.endings, ".plcproj")}
    for line in _git(git, "ls-tree", "-r", "-z", commit).split("\0"):
        about, _, name = line.partition("\t")
        path = folder / name
        if not name.startswith(one.under) or path.suffix.lower() not in endings or about.split()[1:2] != ["blob"]:
            continue
        done = subprocess.run(["git", f"--git-dir={git}", "cat-file", "blob", about.split()[2]], check=False,
                              capture_output=True)
        if not done.returncode:  # a mirror may lack large ones
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(done.stdout)
            yield path


def _read(way: str, folder: Path, files: Sequence[Path], dialect: str) -> dict[str, Any]:
    counts, codes, slowest = Counter[str](), Counter[str](), 0.0
    for paths in _programs(way, folder, files):
        began = time.process_time()
        try:
            project = read_project(paths)
            checks = check_project(project, dialect=Dialect(
                dialect, allows_missing=True, stubs=tuple(project.graphical)))  # type: ignore[arg-type]  # one of four
        except ConfigError:
            continue  # nothing of a program is there
        slowest = max(slowest, time.process_time() - began)
        for check in checks.values():
            kind, code = _judge(check)
            counts[kind] += 1
            codes.update([code] if code else ())
    return {"files": counts.total(), **{kind: counts[kind] for kind in ("accepted", "gaps", "refused", "failed")},
            "codes": dict(codes.most_common(_SHOWN)), "slowest": round(slowest, 2)}


def _programs(way: str, folder: Path, files: Sequence[Path]) -> Iterator[list[Path]]:
    if way == "together":
        yield [folder]
    elif way == "projects":
        yield from ([file] for file in files if file.suffix.lower() == ".plcproj")
    else:
        yield from ([file] for file in files if file.suffix.lower() != ".plcproj")


def _judge(check: SourceCheck) -> tuple[str, str]:
    """What became of a file, and the code of its first error."""
    if check.errors:
        code = check.errors[0].code
        return ("failed" if code == "refused" else "refused"), code
    return ("gaps" if any(one.severity == "gap" for one in check.diagnostics) else "accepted"), ""


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    return markdown_table(("repository", "commit", "half", "way", "files", "accepted", "with named gaps", "refused",
                           "no answer", "first errors of the refused"),
                          [_cells(row) for row in results.get("rows", ())])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    share = (row["accepted"] + row["gaps"]) / max(1, row["files"])
    return (row["repository"], row["commit"][:8], row["half"], row["way"], str(row["files"]), str(row["accepted"]),
            f"{row['gaps']} ({share:.0%} in all)", str(row["refused"]), str(row["failed"]),
            ", ".join(f"{code} {count}" for code, count in row["codes"].items()))


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_public_files.json", DOCS / "plc.md",
                  marks("public files", "plc.public_files"))

if __name__ == "__main__":
    main()
