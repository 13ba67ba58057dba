"""What runs in the sandbox, as text for `python -c`: pip, on an index that is handed in.

Arguments: the Unix socket of the gateway, the folder above pip's own, the arguments of pip. It works in the current
folder, where pip's temporary files go to `tmp`.
"""


import os
import runpy
import socket
import sys
from pathlib import Path


def main() -> None:
    """Hand over a port, learn the index, become pip."""
    gateway, above_pip, *arguments = sys.argv[1:]
    os.umask(0o022)  # programs run as another user, who must read what is installed
    temporary = Path("tmp").resolve()
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)  # with room for large packages, and where a file need not be copied to move
    listener = socket.create_server(("127.0.0.1", 0), backlog=32)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(gateway)
        socket.send_fds(connection, [b"."], [listener.fileno()])
        path = connection.recv(1000).decode()
    port = listener.getsockname()[1]
    sys.path.insert(0, above_pip)
    sys.argv = ["pip", "install", f"--index-url=http://127.0.0.1:{port}{path}/simple/", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
