#!/usr/bin/env bash
# Guess: a loop tree with three parts, "a, then b and a again any number of times, then c", as ProM writes them, has one meaning.
# Seen, pm4py 2.7.23.11 (Python 3.11): it has three. Alignments on the tree take c as the end; the Petri net takes c as a second way
# back; played out as a tree c never happens, and a PTML file that was written with c is read without it.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pm4py==2.7.23.11
cat > loop.py <<'PY'
import pathlib
import warnings

warnings.filterwarnings("ignore")
import pandas as pd
import pm4py

tree = pm4py.parse_process_tree("*( 'a', 'b', 'c' )")
net = pm4py.convert_to_petri_net(tree)


def fits(word, *model):
    time = pd.date_range("2026-01-01", periods=len(word), tz="UTC")
    log = pd.DataFrame({"case:concept:name": "1", "concept:name": list(word), "time:timestamp": time})
    return pm4py.conformance_diagnostics_alignments(log, *model)[0]["fitness"] == 1


on_tree = [word for word in ("a", "ac", "abac", "aca", "abaca") if fits(word, tree)]
on_net = [word for word in ("a", "ac", "abac", "aca", "abaca") if fits(word, *net)]
played = sorted({event["concept:name"] for trace in pm4py.play_out(tree) for event in trace})
pm4py.write_ptml(tree, "loop.ptml")
written, read = pathlib.Path("loop.ptml").read_text().count("<manualTask"), str(pm4py.read_ptml("loop.ptml"))
print("fit the tree:", on_tree, "| fit its net:", on_net)
print("activities when played out:", played, f"| in the PTML file: {written}, read back: {read}")
assert "ac" in on_tree and "aca" not in on_tree, "the tree is aligned otherwise now"
assert "aca" in on_net and "ac" not in on_net, "the net is another one now"
assert played == ["a", "b"] and written == 3 and read == "*( 'a', 'b' )", "the third part is played out or read now"
PY
venv/bin/python loop.py
