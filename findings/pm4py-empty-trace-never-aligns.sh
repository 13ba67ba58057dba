#!/usr/bin/env bash
# Guess: a model that may be skipped as a whole accepts the empty trace, so its alignment has fitness 1.
# Seen, pm4py 2.7.23.11 (Python 3.11): fitness 0, though all its moves are invisible ones; token-based replay says 1.0.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pm4py==2.7.23.11
cat > align.py <<'PY'
import datetime
import warnings

warnings.filterwarnings("ignore")
import pm4py
from pm4py.objects.log.obj import Event, EventLog, Trace

net = pm4py.convert_to_petri_net(pm4py.parse_process_tree("X( 'a', tau )"))
event = Event({"concept:name": "a", "time:timestamp": datetime.datetime(2026, 1, 1)})
log = EventLog([Trace([event]), Trace([])])
aligned = [(one["fitness"], one["cost"]) for one in pm4py.conformance_diagnostics_alignments(log, *net)]
replayed = [one["trace_fitness"] for one in pm4py.conformance_diagnostics_token_based_replay(log, *net)]
print("alignments (fitness, cost) of <a> and <>:", aligned)
print("token-based replay of <a> and <>:", replayed)
assert replayed == [1.0, 1.0] and aligned[0][0] == 1 and aligned[1][0] == 0, "the empty trace is aligned otherwise now"
PY
venv/bin/python align.py
