#!/usr/bin/env bash
# Guess: an object-centric log comes back from JSON with the times it was written with, as it does from XML and SQLite.
# Seen, pm4py 2.7.23.11 (Python 3.11): the JSON file has whole seconds only, so two events of one second lose their order; and the
# local time is written with a Z, so a log in +02:00 comes back two hours late. Nothing is said.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pm4py==2.7.23.11
cat > times.py <<'PY'
import warnings

warnings.filterwarnings("ignore")
import pandas as pd
import pm4py
from pm4py.objects.ocel.obj import OCEL

WAYS = {"json": (pm4py.write_ocel2_json, pm4py.read_ocel2_json), "xml": (pm4py.write_ocel2_xml, pm4py.read_ocel2_xml),
        "sqlite": (pm4py.write_ocel2_sqlite, pm4py.read_ocel2_sqlite)}
time = list(pd.to_datetime(["2026-06-01T12:00:00.900+02:00", "2026-06-01T12:00:00.100+02:00"]))
events = pd.DataFrame({"ocel:eid": ["second", "first"], "ocel:activity": ["b", "a"], "ocel:timestamp": time})
objects = pd.DataFrame({"ocel:oid": ["o"], "ocel:type": ["order"]})
relations = events.assign(**{"ocel:oid": "o", "ocel:type": "order", "ocel:qualifier": "of"})
seen = {}
for way, (write, read) in WAYS.items():
    write(OCEL(events=events, objects=objects, relations=relations), f"log.{way}")
    back = read(f"log.{way}").events.set_index("ocel:eid")["ocel:timestamp"]
    seen[way] = list(back.index), [str(back[name] - when) for name, when in zip(events["ocel:eid"], time, strict=True)]
    print(f"{way}: events {seen[way][0]}, late by {seen[way][1]}")
assert all(seen[way] == (["first", "second"], ["0 days 00:00:00"] * 2) for way in ("xml", "sqlite")), "XML or SQLite changed"
late = [pd.Timedelta(one) for one in seen["json"][1]]
assert seen["json"][0] == ["second", "first"] and late[0] != late[1] and min(late) > pd.Timedelta(hours=1), "JSON keeps the times now"
PY
venv/bin/python times.py
