"""Certificates of false or empty statements, by the way in which each misleads a checker that trusts what it reads."""

import re
from typing import NamedTuple


class Misleading(NamedTuple):
    """A certificate without the fields that all have in common."""

    kind: str
    definitions: str
    proof: str = ""
    splits: str = "."
    neighbour: str = ""

    def source(self) -> str:
        """The certificate as text; if it has no neighbour, the one that any statement can have."""
        own = {"combination": f"proof = '''\n{self.proof}\n'''\n", "enclosure": f'splits = ["{self.splits}"]\n'}
        cases = 2 if "(1,)" in self.definitions else 1
        neighbour = self.neighbour or WRONG[self.kind].replace("lambda ", "lambda k, " if cases == 2 else "lambda ")
        return f"""
claims = ["slam-thm8"]
kind = "{self.kind}"
covers = "all"
sizes = "all"
cases = {cases}
says = "It is wrong."
reduction = "None."
definitions = '''
{self.definitions}
'''
{own.get(self.kind, "")}
[[neighbours]]
says = "It is wrong as well."
definitions = '''
{neighbour}
'''
case = "{"(0,)" if cases == 2 else "()"}"
point = "{[0] * self.unknowns()}"
"""

    def unknowns(self) -> int:
        """How many entries the neighbour's point has."""
        if self.kind == "enclosure":
            return 1
        stated = re.search(r"unknowns = lambda ?\w*: ?(\d+)", self.definitions)
        return int(stated[1]) if stated else 0


WRONG = {
    "enumeration": "holds = lambda : False",
    "combination": "conclusion = lambda x: x[0] - 1",
    "enclosure": "value = lambda x: -1",
}
ONE_CASE = "cases = lambda: [()]\n"
ONE_UNKNOWN = f"{ONE_CASE}unknowns = lambda: 1\n"
UNIT_INTERVAL = f"{ONE_CASE}sides = lambda: [(0, 1)]\n"
SQUARE = "terms = lambda x: [(1, [], x[0])]"


def _combination(definitions: str, proof: str = SQUARE) -> Misleading:
    return Misleading("combination", ONE_UNKNOWN + definitions, proof)


FALSE = {
    "a multiplier with a negative denominator": _combination(
        "conclusion = lambda x: -x[0]**2 - 1",
        "c = lambda: Fraction(1, -1, _normalize=False)\nterms = lambda x: [(c(), [], x[0]), (c(), [], 1)]",
    ),
    "a proof that changes the unknowns before the equations are read": Misleading(
        "combination",
        f"{ONE_CASE}unknowns = lambda: 2\nequations = lambda x: [x[0] - x[1]]\nconclusion = lambda x: x[1]",
        "def terms(x):\n    x[0] = 0\n    return []\nmultipliers = lambda x: [-1]",
    ),
    "a proof that changes what the next case states": Misleading(
        "combination",
        "table = [1, 1]\ncases = lambda: [(0,), (1,)]\nunknowns = lambda k: 1\n"
        "conclusion = lambda k, x: table[k] * x[0]**2 if k == 0 else -table[k] * x[0]**2",
        "def terms(k, x):\n    table[1] = 0\n    return [(1, [], x[0])] if k == 0 else []",
    ),
    "a proof that defines the conclusion again": _combination(
        "conclusion = lambda x: -x[0]**2 - 1", f"{SQUARE}\nconclusion = lambda x: x[0]**2"
    ),
    "a pair of definitions at once": _combination(
        "conclusion = lambda x: -x[0]**2 - 1", f"{SQUARE}\n(conclusion, y) = (lambda x: x[0]**2, lambda x: [])"
    ),
    "a decorator": Misleading(
        "enumeration", f"{ONE_CASE}def yes(f):\n    return lambda: True\n@yes\ndef holds():\n    return 1 == 2"
    ),
    "an unknown that is equal to nothing": _combination("conclusion = lambda x: -1 if x[0] == 0 else x[0]**2"),
    "an unknown that is different from everything": _combination("conclusion = lambda x: x[0]**2 if x[0] != 0 else -1"),
    "an unknown that counts as true": _combination("conclusion = lambda x: x[0]**2 if x[0] else -1"),
    "an unknown that is never false": _combination("conclusion = lambda x: -1 if not x[0] else x[0]**2"),
    "two unknowns that never coincide": Misleading(
        "combination",
        f"{ONE_CASE}unknowns = lambda: 2\nconclusion = lambda x: x[0]**2 if len(set([x[0], x[1]])) == 2 else -1",
        SQUARE,
    ),
    "an unknown that is never in a list": _combination("conclusion = lambda x: -1 if x[0] in (0, 1, 2) else x[0]**2"),
    "an unknown that is never a key": _combination("conclusion = lambda x: -1 if x[0] in {0: 1} else x[0]**2"),
    "an unknown written as text": _combination("conclusion = lambda x: -1 if '%s' % x[0] == '0' else x[0]**2"),
    "hypotheses that change the unknowns": _combination(
        "def hypotheses(x):\n    x[0] = 0\n    return []\nconclusion = lambda x: -x[0]**2", "terms = lambda x: []"
    ),
    "a ball that counts as true": Misleading("enclosure", f"{UNIT_INTERVAL}value = lambda x: 1 if x[0] else -1"),
    "a ball that is never false": Misleading("enclosure", f"{UNIT_INTERVAL}value = lambda x: -1 if not x[0] else 1"),
    "a ball that is never in a set": Misleading(
        "enclosure", f"{UNIT_INTERVAL}value = lambda x: -1 if x[0] in {{0}} else 1"
    ),
    "a negative fraction that is above 0": Misleading(
        "enumeration", f"{ONE_CASE}holds = lambda: Fraction(1, -2, _normalize=False) > 0"
    ),
    "an enclosed fraction that is above 0": Misleading(
        "enclosure", f"{UNIT_INTERVAL}value = lambda x: Fraction(1, -2, _normalize=False)"
    ),
    "a list that counts": Misleading(
        "enumeration",
        f"n = [0]\n{ONE_CASE}def holds():\n    n[0] = n[0] + 1\n    return n[0] == 1",
        neighbour="n = [1]",
    ),
    "a default argument that counts": Misleading(
        "enumeration", f"{ONE_CASE}def holds(n=[0]):\n    n[0] = n[0] + 1\n    return n[0] == 1"
    ),
    "an iterator that is read up": Misleading(
        "enumeration", f"once = enumerate((1, 2))\n{ONE_CASE}holds = lambda: len(list(once)) == 2"
    ),
    "an expression that is read up": Misleading(
        "enumeration", f"once = (k for k in (1, 2))\n{ONE_CASE}holds = lambda: len(list(once)) == 2"
    ),
    "a number that is not itself": Misleading(
        "enumeration", f"{ONE_CASE}n = lambda k: 10 ** k\nholds = lambda: n(40) is not n(40)"
    ),
}
"""False statements, and statements that are true only as often as they are asked."""

EMPTY = {
    "hypotheses that contradict each other": _combination(
        "hypotheses = lambda x: [x[0] - 1, -x[0]]\nconclusion = lambda x: x[0] - 5",
        "terms = lambda x: [(5, [0], 1), (4, [1], 1)]\npoint = lambda: [1]",
    ),
    "hypotheses without a point": _combination(
        "hypotheses = lambda x: [x[0]]\nconclusion = lambda x: 2 * x[0] + 1",
        "terms = lambda x: [(2, [0], 1), (1, [], 1)]",
    ),
    "a point that is not positive": _combination(
        "positive = lambda x: [x[0]]\nconclusion = lambda x: 2 * x[0] + 1",
        "terms = lambda x: [(2, [0], 1), (1, [], 1)]\npoint = lambda: [0]",
    ),
    "an equation that is false": _combination(
        "equations = lambda x: [1]\nconclusion = lambda x: x[0]", "multipliers = lambda x: [x[0]]\npoint = lambda: [0]"
    ),
    "all of nothing": Misleading("enumeration", f"{ONE_CASE}holds = lambda: all([n < 0 for n in range(0)])"),
    "a conclusion that is assumed": _combination(
        "hypotheses = lambda x: [x[0]]\nconclusion = lambda x: x[0]",
        "terms = lambda x: [(1, [0], 1)]\npoint = lambda: [1]",
    ),
    "twice what is assumed": _combination(
        "hypotheses = lambda x: [x[0]]\nconclusion = lambda x: 2 * x[0]",
        "terms = lambda x: [(2, [0], 1)]\npoint = lambda: [1]",
    ),
    "an equation that is assumed": Misleading(
        "combination",
        f"{ONE_CASE}unknowns = lambda: 2\nequations = lambda x: [x[1] - x[0]]\nconclusion = lambda x: (x[0], x[1])",
        "multipliers = lambda x: [-1]\npoint = lambda: [1, 1]",
    ),
    "no unknowns": Misleading(
        "combination", f"{ONE_CASE}unknowns = lambda: 0\nconclusion = lambda x: 1", "terms = lambda x: [(1, [], 1)]"
    ),
    "a constant": _combination("conclusion = lambda x: 1", "terms = lambda x: [(1, [], 1)]"),
    "0 = 0": _combination("conclusion = lambda x: (0, 0)", ""),
    "one case twice": Misleading("enumeration", "cases = lambda: [(1,), (1,)]\nholds = lambda k: k == 1"),
    "no case": Misleading("enumeration", "cases = lambda: []\nholds = lambda: True"),
    "an empty box": Misleading("enclosure", f"{ONE_CASE}sides = lambda: [(1, 0)]\nvalue = lambda x: x[0] + 1"),
}
"""Statements that hold whatever they seem to say."""
