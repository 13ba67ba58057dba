# The command `chatdev` in a container:
#   docker build -t chatdev .
#   docker run --rm -it --security-opt seccomp=unconfined -e OPENAI_API_KEY -v "$PWD:/work" chatdev run "a to-do list"
# Bubblewrap makes namespaces, which Docker's default filter of system calls refuses: hence the --security-opt. Without it
# `--sandbox none` runs what models write in this container, beside your key.
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap xvfb python3-tk \
    && rm -rf /var/lib/apt/lists/*

COPY setup.py pyproject.toml README.md LICENSE chatdev_chain.py /src/
COPY chatdev /src/chatdev
COPY company_config /src/company_config
COPY srdd /src/srdd
RUN pip install --no-cache-dir --disable-pip-version-check /src \
    && rm -rf /src \
    && chatdev --version

RUN useradd --create-home --uid 1000 chatdev \
    && mkdir /work \
    && chown chatdev /work
USER chatdev
WORKDIR /work
ENTRYPOINT ["chatdev"]
CMD ["--help"]
