"""Where do the programs of SLURM, MUNGE and MariaDB come from?

From the packages of Debian or Ubuntu, which are unpacked into a folder of the project and not installed. Unpacking
changes nothing outside that folder and needs no rights.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "slurmdbd", "mariadb-server-core")
COMMANDS = ("sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
DAEMONS = ("slurmctld", "slurmd", "slurmstepd", "slurmdbd", "munged", "mariadbd")
PROGRAMS = (*COMMANDS, *DAEMONS)
SOFTWARE = "TEST_CLUSTER_SOFTWARE"  # in the environment of tests: the root of the software
FOLDERS = ("usr/bin", "usr/sbin")


class NotAvailableError(Exception):
    """The packages cannot be had on this machine; the message says why, and what to do."""


@dataclass(frozen=True)
class Software:
    """Programs and libraries below the folder into which packages were unpacked."""

    root: Path

    def program(self, name: str) -> Path:
        """The path of a program."""
        for folder in FOLDERS:
            path = self.root / folder / name
            if path.is_file():
                return path
        raise NotAvailableError(f"{name} is not below {self.root}")

    @property
    def missing(self) -> list[str]:
        """The programs that are not there."""
        return [name for name in PROGRAMS if not any((self.root / folder / name).is_file() for folder in FOLDERS)]

    @property
    def libraries(self) -> str:
        """The folders of libraries, for LD_LIBRARY_PATH."""
        found = {path.parent for path in self.root.rglob("*.so*") if "plugin" not in path.parts}
        return os.pathsep.join(sorted(map(str, found)))

    @property
    def plugins(self) -> Path:
        """The folder of SLURM's plugins, which is not the one that SLURM was compiled for."""
        return next(self.root.rglob("auth_munge.so")).parent


def obtain(folder: Path) -> Software:
    """Unpack the packages into a folder, unless that was done before.

    Raises
    ------
    NotAvailableError
        If this machine has no apt-get, or the registry of packages does not answer.
    """
    unpacked = Software(folder / "root")
    if unpacked.missing:
        for program in ("apt-get", "dpkg"):
            if shutil.which(program) is None:
                raise NotAvailableError(f"this machine has no {program}, which unpacks {', '.join(PACKAGES)}")
        shutil.rmtree(folder, ignore_errors=True)
        _unpack(folder)
    if missing := unpacked.missing:
        raise NotAvailableError(f"the packages lack {', '.join(missing)}")
    return unpacked


def _unpack(folder: Path) -> None:
    archives, lists = folder / "archives", folder / "lists"
    for path in (archives / "partial", lists / "partial", folder / "root"):
        path.mkdir(parents=True)
    wanted = _apt(folder, "install", "--simulate", "--no-install-recommends", *PACKAGES, check=False)
    own: tuple[str, ...] = ()
    if wanted is None:  # the machine's lists of packages are missing or too old: fetch lists of our own
        own = ("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={folder / 'cache'}")
        _apt(folder, *own, "update")
        wanted = _apt(folder, *own, "install", "--simulate", "--no-install-recommends", *PACKAGES)
    names = re.findall(r"^Inst (\S+)", wanted or "", flags=re.MULTILINE)
    installed = [name for name in PACKAGES if name not in names]
    # A package that is installed already has its programs elsewhere: unpack it as well, so that all are in one place.
    _apt(archives, *own, "download", *names, *installed)
    for archive in sorted(archives.glob("*.deb")):
        subprocess.run(["dpkg", "--extract", str(archive), str(folder / "root")], check=True)
    for path in (folder / "root/usr/sbin").glob("*-wlm"):
        # What installing would do. The programs look at the names by which they were called.
        path.with_name(path.name.removesuffix("-wlm")).symlink_to(path.name)
    shutil.rmtree(archives)
    shutil.rmtree(lists)


def _apt(folder: Path, *arguments: str, check: bool = True) -> str | None:
    """What apt-get prints; None if it fails and need not succeed."""
    command: Sequence[str] = ["apt-get", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode == 0:
        return done.stdout
    if check:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise NotAvailableError(f"apt-get {arguments[-1]}: {' '.join(last)}")
    return None
