"""What does ``claims.json`` contain? Every claim with its status, its evidence, and the rule that judged it.

:mod:`pipeline_lib.claims.ledger` judges the claims and writes the file, once for a study; the report, and the scripts
of others, read it.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipeline_lib.claims.severity import Severity
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.words import STATUSES, Status
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.statistics import Interval


@dataclass(frozen=True)
class JudgedTrial(Trial):
    """A trial with its own status."""

    status: Status


@dataclass(frozen=True)
class JudgedProof:
    """What an accepted certificate proves of a claim, as :class:`pipeline_lib.proofs.checker.Proof` says it."""

    file: str
    kind: str
    covers: str
    sizes: str
    cases: int
    neighbours: int
    digest: str


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, with the keys of ``claims.json``.

    ``words`` are the paper's own, ``rule`` is the rule in words, ``explanation`` the sentence that gives the reason for
    the status, ``severity`` how the status could have been another; a claim that was not judged has none. ``covered``
    are the values of all columns of text in the rows that count, over which a value of a trial may be a summary.
    ``proofs`` are its certificates, and ``coq`` the theorems that state it for Coq, a proof assistant, as FILE.THEOREM.
    """

    id: str
    paper: str
    kind: str
    where: str
    says: str
    words: str
    shows: str
    rule: str
    status: Status
    explanation: str
    severity: Severity | None = None
    tables: tuple[str, ...] = ()
    notes: str = ""
    trials: tuple[JudgedTrial, ...] = ()
    covered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proofs: tuple[JudgedProof, ...] = ()
    coq: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether it is a statement of this project, on its own or as a correction, for which no paper is quoted."""
        return not self.words


@dataclass(frozen=True)
class JudgedPaper:
    """A paper whose claims are judged."""

    title: str
    authors: str


@dataclass(frozen=True)
class JudgedStudy:
    """All claims of a study, and their papers by short name, both in the order of the report."""

    study: str
    claims: tuple[JudgedClaim, ...]
    papers: Mapping[str, JudgedPaper]

    def counts(self) -> dict[str, dict[str, int]]:
        """Count the claims by status, over all (``"all"``) and by paper.

        Example
        -------
        >>> counts = JudgedStudy("default", (), {"slam": JudgedPaper("A title", "An author")}).counts()
        >>> list(counts), counts["slam"]["verified"]
        (['all', 'slam'], 0)
        """
        each = Counter((group, claim.status) for claim in self.claims for group in ("all", claim.paper))
        return {group: {status: each[group, status] for status in STATUSES} for group in ("all", *self.papers)}


def write(path: str | os.PathLike[str], found: JudgedStudy) -> None:
    """Write ``claims.json``: study, counts, every claim, and the papers; the same judgements give the same bytes.

    Every claim is one line, so that two files can be compared line by line.
    """
    claims = ",\n".join(map(_line, found.claims))
    parts = {"study": _line(found.study), "counts": _line(found.counts()), "claims": f"[\n{claims}\n]"}
    text = ",\n".join(f"{_line(name)}: {part}" for name, part in (parts | {"papers": _line(found.papers)}).items())
    storage.write_text(path, f"{{\n{text}\n}}\n")


def read(path: str | os.PathLike[str]) -> JudgedStudy:
    """Read what :func:`write` wrote.

    Raises
    ------
    DataError
        When the file is not such a document; the message names the file and the place.
    DamagedFileError
        When it does not have the checksum that was written beside it.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "claims.json"
    >>> study = JudgedStudy("default", (), {"slam": JudgedPaper("A title", "An author")})
    >>> write(path, study)
    >>> read(path) == study
    True
    """
    try:
        return TypeAdapter(JudgedStudy).validate_python(json.loads(storage.read_text(path)))
    except DamagedFileError:
        raise
    except (OSError, ValueError, DataError) as error:
        what = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            what = f"{first['msg']} at {'.'.join(map(str, first['loc']))}"
        raise DataError(
            f"{path}: expected the judged claims of a study, found {what}; write them with "
            f"`python -m pipeline_lib judge-claims`"
        ) from error


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """A dataclass as a mapping; an interval as value, ends and, if any, freedom."""
    if isinstance(value, Interval):
        return [value.value, value.low, value.high, *([] if value.freedom is None else [value.freedom])]
    # JSON has no number for infinity.
    return {name: "Infinity" if one == math.inf else one for name, one in vars(value).items()}
