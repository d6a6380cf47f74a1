"""A SLURM with two nodes whose daemons are processes of this machine, in a folder of its own.

No file outside the folder is read or written. The commands find the folder's configuration by SLURM_CONF in their
environment alone, so that clusters do not disturb each other, nor a SLURM that is installed. The daemons run as the
user who starts them, who need not be root.
"""

import contextlib
import getpass
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .packages import PROGRAMS, Software

NODES = ("node1", "node2")
MEGABYTES = 8000  # of each node, whatever the machine has
PROCESSORS = 4  # of each node
FOLDER = "TEST_CLUSTER_FOLDER"  # in the environment of all processes of a cluster

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmdTimeout=10
MinJobAge=3600
KillWait=2
ReturnToService=1
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
{accounting}
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
WITHOUT_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={accounting_port}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=limits
AccountingStoreFlags=job_comment"""
DATABASE_DAEMON = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={accounting_port}
SlurmUser={user}
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct
"""


class CommandError(Exception):
    """A command of SLURM failed; the message has what it printed."""


@dataclass
class Slurm:
    """A running cluster."""

    folder: Path
    software: Software
    accounting: bool
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What processes need in their environment in order to use the cluster."""
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            FOLDER: str(self.folder),
        }

    def call(self, *command: str) -> str:
        """What a command of SLURM prints.

        Raises
        ------
        CommandError
            If it fails.
        """
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if done.returncode:
            raise CommandError(
                f"{command[0]} ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}"
            )
        return done.stdout

    def jobs(self) -> list[dict[str, str]]:
        """All jobs that the controller knows of, in order of submission: their fields as scontrol names them."""
        lines = self.call("scontrol", "--oneliner", "show", "job").splitlines()
        found = [dict(word.partition("=")[::2] for word in line.split()) for line in lines if line.startswith("JobId=")]
        return sorted(found, key=lambda job: int(job["JobId"]))

    def set_quota(self, submissions: int) -> None:
        """Let the user have at most so many jobs that wait or run; -1 for any number. Needs accounting."""
        self.call("sacctmgr", "--immediate", "modify", "user", getpass.getuser(), "set", f"MaxSubmitJobs={submissions}")

    def state_of_node(self, node: str) -> str:
        """The state of a node, such as ``IDLE`` or ``MIXED+DRAIN``."""
        (line,) = self.call("scontrol", "--oneliner", "show", "node", node).splitlines()
        return dict(word.partition("=")[::2] for word in line.split())["State"]

    def kill_node(self, node: str) -> None:
        """Let a node die: its daemon and everything that it started, without a chance to say so."""
        spool = self.folder / f"spool-{node}"
        while found := [
            process
            for process in self.processes()
            if _folder(process) == spool or _variable(process, "SLURMD_NODENAME") == node
        ]:
            _kill(found)
        self.daemons.pop(node).wait()

    def kill_controller(self) -> None:
        """Let the controller die."""
        controller = self.daemons.pop("slurmctld")
        controller.kill()
        controller.wait()

    def start_controller(self, *options: str) -> None:
        """Start the controller, which continues where another one ended, or forgets all jobs with ``-c``."""
        self._start("slurmctld", "slurmctld", "-D", *options)

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        stepd = str(self.software.program("slurmstepd"))
        self._start(node, "slurmd", "-D", "-N", node, "-d", stepd, folder=self.folder / f"spool-{node}")

    def processes(self) -> list[psutil.Process]:
        """Everything that runs on behalf of the cluster: its daemons and its jobs.

        Daemons overwrite their environment with their titles, but stay in the folders in which they were started.
        """
        return [
            process
            for process in psutil.process_iter()
            if _variable(process, FOLDER) == str(self.folder) or self._contains(_folder(process))
        ]

    def _contains(self, folder: Path | None) -> bool:
        return folder is not None and folder.is_relative_to(self.folder)

    def start(self) -> None:
        """Start all daemons, and wait until the nodes are ready."""
        for name in ("bin", "state", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir(parents=True)
        for program in PROGRAMS:
            self._write_wrapper(program)
        ports = free_ports(3 + len(NODES))
        facts = {
            "folder": self.folder,
            "user": getpass.getuser(),
            "host": socket.gethostname().partition(".")[0],
            "password": secrets.token_hex(16),
            **dict(zip(("control_port", "accounting_port", "database_port"), ports, strict=False)),
        }
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={facts['host']} NodeAddr=127.0.0.1 Port={port} "
            f"CPUs={PROCESSORS} RealMemory={MEGABYTES}"
            for node, port in zip(NODES, ports[3:], strict=True)
        )
        accounting = (WITH_ACCOUNTING if self.accounting else WITHOUT_ACCOUNTING).format(**facts)
        text = CONFIGURATION.format(**facts, accounting=accounting, nodes=nodes)
        (self.folder / "slurm.conf").write_text(f"{text}PluginDir={self.software.plugins}\n")
        self._start_munge()
        if self.accounting:
            self._start_database(facts)
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait(lambda: all(self.state_of_node(node) == "IDLE" for node in NODES), "the nodes are ready")

    def _write_wrapper(self, program: str) -> None:
        libraries = f"export LD_LIBRARY_PATH={self.software.libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
        path = self.folder / "bin" / program
        path.write_text(f'#!/bin/sh\n{libraries}\nexec {self.software.program(program)} "$@"\n')
        path.chmod(0o755)

    def _start(self, name: str, program: str, *arguments: str, folder: Path | None = None) -> None:
        with (self.folder / f"{name}.out").open("ab") as output:
            self.daemons[name] = subprocess.Popen(
                [str(self.folder / "bin" / program), *arguments],
                cwd=folder or self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        files = {name: f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")}
        self._start(
            "munged", "munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", *files.values()
        )
        self.wait((self.folder / "munge.socket").exists, "munged listens")

    def _start_database(self, facts: dict[str, object]) -> None:
        data, root = self.folder / "database", self.software.root
        data.mkdir()
        shared = root / "usr/share/mysql"
        options = [
            "--no-defaults",
            f"--datadir={data}",
            f"--lc-messages-dir={shared}",
            f"--character-sets-dir={shared}/charsets",
            f"--user={facts['user']}",
        ]
        tables = [
            shared / f"mysql_{name}.sql" for name in ("system_tables", "performance_tables", "system_tables_data")
        ]
        script = "".join(["CREATE DATABASE mysql;\nUSE mysql;\n", *(path.read_text() for path in tables)])
        script += (
            "FLUSH PRIVILEGES;\n"
            f"CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY '{facts['password']}';\n"
            "GRANT ALL ON *.* TO 'slurm'@'127.0.0.1';\n"
        )
        with (self.folder / "database.out").open("wb") as output:
            subprocess.run(
                [str(self.folder / "bin/mariadbd"), *options, "--bootstrap", "--skip-networking"],
                input=script.encode(),
                env={**os.environ, **self.environment},
                stdout=output,
                stderr=output,
                check=True,
            )
        self._start(
            "mariadbd",
            "mariadbd",
            *options,
            "--bind-address=127.0.0.1",
            f"--port={facts['database_port']}",
            f"--socket={self.folder}/mariadb.socket",
            f"--pid-file={self.folder}/mariadb.pid",
            "--skip-name-resolve",
        )
        self.wait(lambda: listens(int(str(facts["database_port"]))), "MariaDB listens")
        path = self.folder / "slurmdbd.conf"
        path.write_text(f"{DATABASE_DAEMON.format(**facts)}PluginDir={self.software.plugins}\n")
        path.chmod(0o600)
        self._start("slurmdbd", "slurmdbd", "-D")
        self.wait(lambda: listens(int(str(facts["accounting_port"]))), "slurmdbd listens")
        self.call("sacctmgr", "--immediate", "add", "cluster", "test")
        self.call("sacctmgr", "--immediate", "add", "account", "research")
        self.call("sacctmgr", "--immediate", "add", "user", str(facts["user"]), "account=research")

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
        """Wait until a condition holds; the error otherwise has the ends of the daemons' logs."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(CommandError):
                if condition():
                    return
            dead = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if dead or time.monotonic() > end:
                logs = [
                    f"{path.name}:\n{path.read_text()[-1500:]}" for path in sorted(self.folder.glob("*.[lo][ou][gt]"))
                ]
                ended = f"; ended: {', '.join(dead)}" if dead else ""
                raise TimeoutError("\n".join([f"not after {seconds:.0f} s: {what}{ended}", *logs]))
            time.sleep(0.2)

    def stop(self) -> None:
        """End all jobs and daemons; nothing keeps running."""
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        end = time.monotonic() + 10.0
        for daemon in self.daemons.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(max(0.1, end - time.monotonic()))
        while left := self.processes():  # processes that are being killed may still start others
            _kill(left)
        for daemon in self.daemons.values():
            daemon.wait()


@contextlib.contextmanager
def running(folder: Path, software: Software, *, accounting: bool) -> Iterator[Slurm]:
    """A cluster that runs as long as the context."""
    cluster = Slurm(folder, software, accounting)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _folder(process: psutil.Process) -> Path | None:
    try:
        return Path(process.cwd())
    except (psutil.Error, OSError):
        return None


def _variable(process: psutil.Process, name: str) -> str | None:
    try:
        return process.environ().get(name)
    except (psutil.Error, OSError):
        return None


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes, timeout=10)


def free_ports(number: int) -> list[int]:
    """Ports on which nobody listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def listens(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with socket.socket() as one:
        one.settimeout(1.0)
        return one.connect_ex(("127.0.0.1", port)) == 0
