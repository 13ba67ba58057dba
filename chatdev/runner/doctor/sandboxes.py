"""Checks of the places where programs run that a model wrote."""

from __future__ import annotations

import shutil

from chatdev.runner.doctor.finding import Found, absent, broken, works
from chatdev.runner.doctor.machine import version_of
from chatdev.sandbox import cgroup
from chatdev.sandbox.bubblewrap import NEEDED, as_root, available
from chatdev.sandbox.docker import available as docker_available
from chatdev.sandbox.seccomp import refused_calls


def bubblewrap() -> Found:
    """Whether it works here, found by running it; and as whom programs run in it."""
    if missing := [name for name in NEEDED if not shutil.which(name)]:
        return absent(f"{' and '.join(missing)} not found: no program runs without it but by --sandbox none",
                      packages=sorted({NEEDED[name] for name in missing}))
    if reason := available():
        return broken(reason)
    user = "as an unused user, by root's right" if as_root() else "in a user namespace"
    return works(f"{version_of('bwrap', '--version')}, programs run {user}")


def docker() -> Found:
    """Whether docker works here, for those who cannot have bubblewrap."""
    if not shutil.which("docker"):
        return absent("docker not found; only for --sandbox docker", packages=["docker.io"])
    if reason := docker_available():
        return absent(reason)
    return works(f"{version_of('docker', '--version')}, for --sandbox docker")


def memory() -> Found:
    """Who holds the memory limit of a whole process tree."""
    if cgroup.parent():
        return works("held by the kernel for a program and all it starts (cgroup v2)")
    return absent("watched from outside, 20 times a second: no control group (cgroup v2) is handed down to us")


def system_calls() -> Found:
    """Whether the kernel's rare calls are refused."""
    if refused_calls():
        return works("the rare ones are refused (seccomp)")
    return absent("not filtered: the numbers of this kind of processor are not known")
