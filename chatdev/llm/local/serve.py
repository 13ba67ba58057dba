"""`python -m chatdev.llm.local.serve MODEL PORT CONTEXT`: the llama.cpp server, alive as long as its standard input.

The key that clients must show comes in the first line of standard input, where no process list shows it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Serve until standard input ends: whatever becomes of the parent, no server is left behind."""
    model, port, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    key = sys.stdin.readline().strip()
    import xllamacpp

    threads = max(1, len(os.sched_getaffinity(0)))
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.api_keys = [key]
    params.n_ctx = context
    params.n_parallel = 1
    params.use_jinja = True
    params.cache_ram_mib = 1024  # of remembered prompts; its own default may take all the memory of a small machine
    # Where the model repeats its prompt, as in a program with a small change, the next tokens are predicted from it and
    # checked in one go: the same answers, up to twice as quick (12 tokens that agree predict the next 24).
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    params.speculative.ngram_simple.size_m = 24
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)  # serves in threads of its own as long as it is referenced
    sys.stdin.read()
    os._exit(0 if server else 1)  # at once: letting go of the server would wait for the reply it is writing


if __name__ == "__main__":
    main()
