"""Does a certificate prove its statement? A checker that shares no code with the rest of the project.

A certificate is a TOML file with a statement and what proves it, in a small part of Python: functions of whole numbers,
fractions and tuples, without attributes, imports and floating-point numbers; ``/`` is exact division. Whoever doubts a
proof reads this module, the definitions in the certificate, and its field ``reduction``: why the finite statement
implies the claim, ``all`` of it, for ``sizes``, or a ``part``. Other functions take the entries of ``cases()`` first.

enumeration
    ``holds(*case)`` is true for every case.
combination
    ``conclusion(*case, x) >= 0`` for all real x, ``unknowns(*case)`` of them, with ``hypotheses(*case, x)`` >= 0 and
    ``equations(*case, x)`` = 0, lists of polynomials. The proof is ``terms(*case, x)``, a list of (c, i, q), c >= 0, i
    a list of positions of hypotheses and q a polynomial, and ``multipliers(*case, x)``, a polynomial p for every
    equation: conclusion = sum c q^2 prod hypotheses[i] + sum p equation, identically. Multipliers of Farkas, sums of
    squares and identities are combinations.
enclosure
    ``value(*case, x) > 0`` for x in the box with the sides (low, high) of ``sides(*case)``. The proof is ``splits[k]``
    for the k-th case, a tree of halvings in prefix order: a digit halves this side, ``.`` is a box on which Arb, the
    ball arithmetic of python-flint, finds the value positive.

A *neighbour* is a wrong statement near the one that is proved: some definitions in place of others, and a
counterexample, a case and a point x, at which it fails exactly; the checker verifies that it does.

Example
-------
>>> certificate = '''
... claims = ["toy"]
... kind = "combination"
... covers = "all"
... sizes = "all real numbers"
... says = "x^2 + y^2 >= 2 x y."
... reduction = "None is needed."
... definitions = \"\"\"
... cases = lambda: [()]
... unknowns = lambda: 2
... factor = lambda: 2
... conclusion = lambda x: x[0]**2 + x[1]**2 - factor() * x[0] * x[1]
... terms = lambda x: [(1, [], x[0] - x[1])]
... \"\"\"
... neighbours = [{says = "2 may be 3.", definitions = "factor = lambda: 3", case = "()", point = "[1, 1]"}]
... '''
>>> check(certificate)[:7]
(['toy'], 'combination', 'all', 'all real numbers', 'x^2 + y^2 >= 2 x y.', 1, 1)
"""

import ast
import hashlib
import itertools
import operator
import tomllib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

__all__: list[str] = []

LANGUAGE = (
    "Module Expression FunctionDef Lambda arguments arg Return Assign If For Expr BinOp UnaryOp BoolOp Compare IfExp "
    "Call keyword Name Constant Subscript Slice Tuple List Set Dict ListComp SetComp DictComp GeneratorExp "
    "comprehension Starred Load Store Add Sub Mult Div FloorDiv Mod Pow USub UAdd Not And Or Eq NotEq Lt LtE Gt GtE In "
    "NotIn Is IsNot"
)
"""The parts of Python's syntax in which statements are written."""
FIELDS = {"claims", "kind", "covers", "sizes", "says", "reduction", "definitions"}


class Refused(Exception):
    """A certificate that proves nothing, with the reason."""


class Proof(NamedTuple):
    """What a certificate proves, how much of the claims that is, in how many cases, with how many wrong neighbours."""

    claims: list[str]
    kind: str
    covers: str
    sizes: str
    says: str
    cases: int
    neighbours: int
    digest: str


def divide(a: Any, b: Any) -> Any:
    """Exact division; the quotient of two whole numbers is a fraction."""
    return Fraction(a, b) if isinstance(a, int) and isinstance(b, int) else a / b


def power(a: Any, b: Any) -> Any:
    """A power with a whole exponent; that of a number is exact."""
    if type(b) is not int or (b < 0 and not isinstance(a, int | Fraction)):
        raise Refused(f"expected a whole exponent, found {b!r:.80}")
    return a**b if b >= 0 else Fraction(a) ** b


class _Exact(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = {ast.Div: "divide", ast.Pow: "power"}.get(type(node.op))
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], []) if name else node


def compiled(source: str, mode: str = "exec") -> Any:
    """Compile text of the language; what is not in it is refused."""
    tree = ast.parse(source.strip(), mode=mode)
    for node in ast.walk(tree):
        if type(node).__name__ not in LANGUAGE.split():
            raise Refused(f"{type(node).__name__} is no part of the language")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, bool, str, type(None)):
            raise Refused(f"expected whole numbers, found the constant {node.value!r}")
        bound = node.name if isinstance(node, ast.FunctionDef) else node.arg if isinstance(node, ast.arg) else ""
        name = node.id if isinstance(node, ast.Name) else bound
        if name.startswith("_") or (name in FUNCTIONS and not isinstance(getattr(node, "ctx", None), ast.Load)):
            raise Refused(f"expected another name in place of {name}")
    return compile(ast.fix_missing_locations(_Exact().visit(tree)), "<certificate>", mode)


class Polynomial:
    """A polynomial with rational coefficients: the variables of a monomial, sorted and repeated -> its coefficient."""

    def __init__(self, terms: Iterable[tuple[tuple[int, ...], Fraction]]) -> None:
        self.terms: dict[tuple[int, ...], Fraction] = {}
        for monomial, c in terms:
            self.terms[monomial] = self.terms.get(monomial, Fraction(0)) + c
        self.terms = {monomial: c for monomial, c in self.terms.items() if c}

    @staticmethod
    def of(value: Any) -> "Polynomial":
        """A number as a polynomial."""
        if not isinstance(value, int | Fraction | Polynomial):
            raise Refused(f"expected a polynomial or a rational number, found {value!r:.80}")
        return value if isinstance(value, Polynomial) else Polynomial([((), Fraction(value))])

    def __add__(self, other: Any) -> "Polynomial":
        return Polynomial([*self.terms.items(), *Polynomial.of(other).terms.items()])

    def __mul__(self, other: Any) -> "Polynomial":
        pairs = itertools.product(self.terms.items(), Polynomial.of(other).terms.items())
        return Polynomial((tuple(sorted(a + b)), c * d) for (a, c), (b, d) in pairs)

    def __neg__(self) -> "Polynomial":
        return self * -1

    def __sub__(self, other: Any) -> "Polynomial":
        return self + Polynomial.of(other) * -1

    def __rsub__(self, other: Any) -> "Polynomial":
        return self * -1 + other

    def __truediv__(self, number: Any) -> "Polynomial":
        return self * divide(1, number)

    def __pow__(self, exponent: int) -> "Polynomial":
        return self * self ** (exponent - 1) if exponent else Polynomial.of(1)

    __radd__, __rmul__ = __add__, __mul__


class Ball:
    """A real number that is enclosed by Arb. A comparison that the enclosures do not decide is refused."""

    def __init__(self, low: Any, high: Any = None) -> None:
        import flint

        flint.ctx.prec = 128
        ends = [flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in (low, low if high is None else high)]
        self.arb = ends[0].union(ends[1])

    @staticmethod
    def calculated(function: Callable[..., Any], *operands: Any) -> "Ball":
        """The enclosure of a function of numbers."""
        balls = [x if isinstance(x, Ball) else Ball(x) for x in operands]
        found = Ball(0)
        found.arb = function(*(ball.arb for ball in balls))
        return found

    def compared(self, other: Any, relation: Callable[[Any, Any], bool]) -> bool:
        difference = Ball.calculated(operator.sub, self, other).arb
        if not (difference > 0 or difference < 0 or difference == 0):
            raise Refused("the enclosures do not decide a comparison")
        return relation(difference, 0)

    def __pow__(self, exponent: int) -> "Ball":
        return Ball.calculated(lambda x: x**exponent, self)


for _function in (operator.neg, operator.abs):
    setattr(Ball, f"__{_function.__name__}__", lambda self, f=_function: Ball.calculated(f, self))
for _name in ("add", "sub", "mul", "truediv"):
    _function = getattr(operator, _name)
    setattr(Ball, f"__{_name}__", lambda self, other, f=_function: Ball.calculated(f, self, other))
    setattr(Ball, f"__r{_name}__", lambda self, other, f=_function: Ball.calculated(f, other, self))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _function = getattr(operator, _name)
    setattr(Ball, f"__{_name}__", lambda self, other, f=_function: self.compared(other, f))

BUILTIN = (abs, all, any, dict, enumerate, int, len, list, max, min, range, set, sorted, sum, tuple, zip, Fraction)
ITERTOOLS = (itertools.accumulate, itertools.combinations, itertools.permutations, itertools.product)
FUNCTIONS: dict[str, Any] = {one.__name__: one for one in (*BUILTIN, *ITERTOOLS, divide, power)} | {
    "exp": lambda x: Ball.calculated(lambda arb: arb.exp(), x),
    "log": lambda x: Ball.calculated(lambda arb: arb.log(), x),
    "sqrt": lambda x: Ball.calculated(lambda arb: arb.sqrt(), x),
    "__builtins__": {},
}


def defined(*definitions: str) -> dict[str, Any]:
    """The functions that texts define, later ones in place of earlier ones."""
    names = dict(FUNCTIONS)
    exec(compiled("\n".join(definitions)), names)
    return names


def listed(statement: dict[str, Any], name: str, *arguments: Any) -> list[Any]:
    """The list that a function returns; an empty one where it is not defined."""
    return list(statement[name](*arguments)) if name in statement else []


def enumeration(statement: dict[str, Any], case: Sequence[Any], _: str) -> None:
    """Check one case of an enumeration."""
    if statement["holds"](*case) is not True:
        raise Refused(f"the statement fails for {case!r:.200}")


def combination(statement: dict[str, Any], case: Sequence[Any], _: str) -> None:
    """Check one case of a combination."""
    x = [Polynomial([((k,), Fraction(1))]) for k in range(statement["unknowns"](*case))]
    hypotheses = listed(statement, "hypotheses", *case, x)
    rest = [Polynomial.of(statement["conclusion"](*case, x))]
    for c, positions, q in listed(statement, "terms", *case, x):
        if type(c) not in (int, Fraction) or c < 0 or any(i not in range(len(hypotheses)) for i in positions):
            raise Refused(f"expected a multiplier of at least 0 and positions of hypotheses, found {c}, {positions}")
        product = Polynomial.of(-c) if q == 1 else Polynomial.of(q) * q * -c
        for i in positions:
            product = product * hypotheses[i]
        rest.append(product)
    equations = listed(statement, "equations", *case, x)
    multipliers = listed(statement, "multipliers", *case, x)
    rest += [Polynomial.of(p) * equation * -1 for p, equation in zip(multipliers, equations, strict=True)]
    if Polynomial(term for part in rest for term in part.terms.items()).terms:
        raise Refused(f"the conclusion is no such combination for {case!r:.200}")


def enclosure(statement: dict[str, Any], case: Sequence[Any], tree: str) -> None:
    """Check one case of an enclosure."""
    boxes = [[tuple(map(Fraction, side)) for side in listed(statement, "sides", *case)]]
    for letter in tree:
        box = boxes.pop()
        if letter == ".":
            if not statement["value"](*case, [Ball(*side) for side in box]) > 0:
                raise Refused(f"the value is not positive for {case!r:.200} in {box}")
        else:
            low, high = box[int(letter)]
            halves = ((low + high) / 2, high), (low, (low + high) / 2)
            boxes += [[half if k == int(letter) else side for k, side in enumerate(box)] for half in halves]
    if boxes:
        raise Refused("the splits end before the box is covered")


def fails(statement: dict[str, Any], kind: str, case: Sequence[Any], point: Sequence[Any]) -> bool:
    """Whether a statement is false for a case at a point."""
    if kind == "enumeration":
        return case in statement["cases"]() and statement["holds"](*case) is False
    if not all(type(x) in (int, Fraction) for x in point):
        return False
    if kind == "enclosure":
        sides = listed(statement, "sides", *case)
        inside = all(low <= x <= high for x, (low, high) in zip(point, sides, strict=True))
        return inside and bool(statement["value"](*case, [Ball(x) for x in point]) <= 0)
    given = [h >= 0 for h in listed(statement, "hypotheses", *case, point)]
    given += [e == 0 for e in listed(statement, "equations", *case, point)]
    return len(point) == statement["unknowns"](*case) and all(given) and statement["conclusion"](*case, point) < 0


KINDS = {"enumeration": enumeration, "combination": combination, "enclosure": enclosure}


def check(source: str) -> Proof:
    """Check a certificate, given as text, and return what it proves; raise :class:`Refused` if it proves nothing."""
    try:
        content = tomllib.loads(source)
        strange = FIELDS - content.keys() or content.keys() - FIELDS - {"splits", "neighbours"}
        if strange or content["covers"] not in ("all", "sizes", "part"):
            raise Refused(f"expected {sorted(FIELDS)}, splits and neighbours, found {sorted(content)}")
        kind, definitions, neighbours = content["kind"], content["definitions"], content.get("neighbours", [])
        statement, splits, cases = defined(definitions), iter(content.get("splits", [])), 0
        for case in statement["cases"]():
            KINDS[kind](statement, case, next(splits) if kind == "enclosure" else "")
            cases += 1
        if not cases or [*splits]:
            raise Refused("expected at least one case, and splits for no other")
        for neighbour in neighbours:
            wrong = defined(definitions, neighbour["definitions"])
            case, point = (eval(compiled(neighbour.get(at, "[]"), "eval"), wrong) for at in ("case", "point"))
            if not fails(wrong, kind, case, point):
                raise Refused(f"the statement {neighbour['says']!r} does not fail at its counterexample")
    except Exception as error:
        raise error if isinstance(error, Refused) else Refused(f"{type(error).__name__}: {error}") from error
    said = [content[field] for field in ("claims", "kind", "covers", "sizes", "says")]
    return Proof._make([*said, cases, len(neighbours), hashlib.sha256(source.encode()).hexdigest()])
