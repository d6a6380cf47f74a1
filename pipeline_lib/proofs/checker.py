"""Does a certificate prove its statement? A checker that shares no code with the rest of the project.

A certificate is a TOML file with a statement and what proves it, in a small part of Python: functions of whole numbers,
fractions and tuples, in which nothing can be changed once it is made. There are no attributes, imports, keywords,
decorators, default arguments, assignments to entries and floating-point numbers, and ``/`` is exact division. Whoever
doubts a proof reads this module, the definitions in the certificate, and its field ``reduction``: why the finite
statement implies the claim. ``covers`` is ``all`` where the functions state all of the claim, ``sizes`` where they
state it for these sizes, ``steps`` where they state steps of an argument that is in words, and ``part`` where some of
the claim is left without one. ``cases()`` lists the cases, which have to be distinct and as many as the field ``cases``
says; other functions take the entries of a case first.

enumeration
    ``holds(*case)`` is true for every case.
combination
    ``conclusion(*case, x) >= 0``, or both sides of ``conclusion(*case, x)`` are equal if it is a pair, for all real x,
    ``unknowns(*case)`` of them, with ``hypotheses(*case, x)`` >= 0, ``positive(*case, x)`` > 0 and ``equations(*case,
    x)`` = 0, lists of polynomials. The field ``proof`` is evaluated when all these polynomials are fixed, in a name
    space of its own: ``terms(*case, x)`` is a list of (c, i, q), c >= 0, i a list of positions in hypotheses + positive
    and q a polynomial; ``multipliers(*case, x)`` is a polynomial p for every equation; ``factors(*case, x)`` is a list
    of positions in ``positive``, with the product f: f conclusion = sum c q^2 prod (hypotheses + positive)[i] + sum p
    equation, identically; for a pair, its left side less its right side takes the place of the conclusion, without
    terms. ``point(*case)`` is an x at which all that is assumed is true. Multipliers of Farkas, sums of squares and
    identities are combinations. A conclusion that is constant or that is assumed is refused.
enclosure
    ``value(*case, x) > 0`` for x in the box with the sides (low, high) of ``sides(*case)``. The proof is ``splits[k]``
    for the k-th case, a tree of halvings in prefix order: a digit halves this side, ``.`` is a box on which Arb, the
    ball arithmetic of python-flint, finds the value positive.

A statement for some sizes says with ``size(*case)``, a list of (words with # for the number, number), which sizes a
case has; the field ``sizes`` has to contain these words with the numbers of all cases, and no other numbers.

A *neighbour* is a wrong statement near the one that is proved: some definitions in place of others, and a
counterexample, a case and a point x, at which it fails exactly; the checker verifies that it does.

Example
-------
>>> certificate = '''
... claims = ["toy-1"]
... kind = "combination"
... covers = "all"
... sizes = "all real numbers"
... cases = 1
... says = "x^2 + y^2 >= 2 x y."
... reduction = "None is needed."
... definitions = \"\"\"
... cases = lambda: [()]
... unknowns = lambda: 2
... factor = lambda: 2
... conclusion = lambda x: x[0]**2 + x[1]**2 - factor() * x[0] * x[1]
... \"\"\"
... proof = "terms = lambda x: [(1, [], x[0] - x[1])]"
... neighbours = [{says = "2 may be 3.", definitions = "factor = lambda: 3", case = "()", point = "[1, 1]"}]
... '''
>>> check(certificate)[:7]
(['toy-1'], 'combination', 'all', 'all real numbers', 'x^2 + y^2 >= 2 x y.', 1, 1)
"""

import ast
import hashlib
import itertools
import operator
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

__all__: list[str] = []

LANGUAGE = (
    "Module Expression FunctionDef Lambda arguments arg Return Assign If For BinOp UnaryOp BoolOp Compare IfExp Call "
    "Name Constant Subscript Slice Tuple List ListComp comprehension Starred Load Store Add Sub Mult Div FloorDiv Mod "
    "Pow USub UAdd Not And Or Eq NotEq Lt LtE Gt GtE In NotIn"
)
"""The parts of Python's syntax in which statements are written."""
FIELDS = {"claims", "kind", "covers", "sizes", "cases", "says", "reduction", "definitions", "neighbours"}
PROOF = {"terms", "multipliers", "factors", "point"}
"""The functions of the field ``proof`` that the checker reads."""


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
        raise Refused("expected a whole exponent, and a number if it is negative")
    return a**b if b >= 0 else Fraction(a) ** b


def remainder(a: Any, b: Any) -> Any:
    """The remainder of a division of numbers, and not a text with a value in it."""
    return rational(a) % rational(b)


def every(values: Iterable[Any]) -> bool:
    """Whether all of some values are true; there has to be one."""
    values = tuple(values)
    if not values:
        raise Refused("expected something of which all is true, found an empty range")
    return all(values)


def rational(value: Any) -> Fraction:
    """A number as a reduced fraction with a positive denominator."""
    if not isinstance(value, int | Fraction):
        raise Refused(f"expected a rational number, found a {type(value).__name__}")
    return Fraction(value.numerator, value.denominator)


class _Exact(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = {ast.Div: "divide", ast.Pow: "power", ast.Mod: "remainder"}.get(type(node.op))
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], []) if name else node


def parsed(source: str, mode: str = "exec") -> Any:
    """Parse text of the language; what is not in it is refused."""
    tree = ast.parse(source.strip(), mode=mode)
    for node in ast.walk(tree):
        if type(node).__name__ not in LANGUAGE.split():
            raise Refused(f"{type(node).__name__} is no part of the language")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, bool, str):
            raise Refused(f"expected whole numbers, found the constant {node.value!r}")
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            raise Refused("an assignment to an entry is no part of the language")
        plain = {"name", "args", "body", "lineno", "col_offset", "end_lineno", "end_col_offset"}
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.arguments) and any(
            value for field, value in vars(node).items() if field not in plain
        ):
            raise Refused("expected a function without decorators, annotations, and arguments of a special kind")
        if isinstance(node, ast.arg) and node.annotation:
            raise Refused("expected arguments without annotations")
        bound = node.name if isinstance(node, ast.FunctionDef) else node.arg if isinstance(node, ast.arg) else ""
        name = node.id if isinstance(node, ast.Name) else bound
        if name.startswith("_") or (name in FUNCTIONS and not isinstance(getattr(node, "ctx", None), ast.Load)):
            raise Refused(f"expected another name in place of {name}")
    return ast.fix_missing_locations(_Exact().visit(tree))


def functions(source: str) -> dict[str, ast.stmt]:
    """The functions that a text of the language defines, which has nothing but functions, each of them once."""
    found: dict[str, ast.stmt] = {}
    for node in parsed(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) else None
        name = node.name if isinstance(node, ast.FunctionDef) else target.id if isinstance(target, ast.Name) else ""
        if not name or name in found or (target and len(node.targets) > 1):
            raise Refused(f"expected every function to be defined once, and nothing else, in line {node.lineno}")
        found[name] = node
    return found


def defined(definitions: dict[str, ast.stmt]) -> dict[str, Any]:
    """A new name space with some functions in it."""
    names = dict(FUNCTIONS)
    exec(compile(ast.Module(list(definitions.values()), []), "<certificate>", "exec"), names)
    return names


def with_neighbour(definitions: dict[str, ast.stmt], source: str) -> dict[str, Any]:
    """The functions of a neighbour: some take the place of others."""
    replaced = functions(source)
    if not replaced or replaced.keys() - definitions.keys():
        raise Refused(f"expected a neighbour that replaces definitions, found {', '.join(replaced) or 'none'}")
    return defined(definitions | replaced)


def _asked(self: Any, *_: Any) -> NoReturn:
    raise Refused("a statement compares an unknown, asks whether it is true, or writes it as text")


class Opaque:
    """A value of which nothing can be asked: it has no truth value, hash or text, and cannot be compared."""

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _asked  # type: ignore[assignment]
    __bool__ = __hash__ = __repr__ = __str__ = __format__ = _asked  # type: ignore[assignment]


class Polynomial(Opaque):
    """A polynomial with rational coefficients: the variables of a monomial, sorted and repeated -> its coefficient."""

    def __init__(self, terms: Iterable[tuple[tuple[int, ...], Fraction]]) -> None:
        self.terms: dict[tuple[int, ...], Fraction] = {}
        for monomial, c in terms:
            self.terms[monomial] = self.terms.get(monomial, Fraction(0)) + c
        self.terms = {monomial: c for monomial, c in self.terms.items() if c}

    @staticmethod
    def of(value: Any) -> "Polynomial":
        """A number as a polynomial."""
        return value if isinstance(value, Polynomial) else Polynomial([((), rational(value))])

    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Its value at a point."""
        total = Fraction(0)
        for monomial, c in self.terms.items():
            for variable in monomial:
                c *= point[variable]
            total += c
        return total

    def scaled(self) -> frozenset[tuple[tuple[int, ...], Fraction]]:
        """Its terms up to a positive factor."""
        size = abs(self.terms[max(self.terms)]) if self.terms else Fraction(1)
        return frozenset((monomial, c / size) for monomial, c in self.terms.items())

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


class Ball(Opaque):
    """A real number that is enclosed by Arb."""

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

    def __pow__(self, exponent: int) -> "Ball":
        return Ball.calculated(lambda x: x**exponent, self)


for _function in (operator.neg, operator.abs):
    setattr(Ball, f"__{_function.__name__}__", lambda self, f=_function: Ball.calculated(f, self))
for _name in ("add", "sub", "mul", "truediv"):
    _function = getattr(operator, _name)
    setattr(Ball, f"__{_name}__", lambda self, other, f=_function: Ball.calculated(f, self, other))
    setattr(Ball, f"__r{_name}__", lambda self, other, f=_function: Ball.calculated(f, other, self))


def _at_once(function: Callable[..., Iterable[Any]]) -> Callable[..., tuple[Any, ...]]:
    """A function that returns a tuple: an iterator would remember how far it was read."""
    return lambda *arguments: tuple(function(*arguments))


BUILTIN = (abs, any, int, len, list, max, min, range, sorted, sum, tuple, Fraction, divide, power, remainder)
ITERATORS = (enumerate, zip, itertools.accumulate, itertools.combinations, itertools.permutations, itertools.product)
FUNCTIONS: dict[str, Any] = {one.__name__: one for one in BUILTIN} | {
    **{one.__name__: _at_once(one) for one in ITERATORS},
    "all": every,
    "exp": lambda x: Ball.calculated(lambda arb: arb.exp(), x),
    "log": lambda x: Ball.calculated(lambda arb: arb.log(), x),
    "sqrt": lambda x: Ball.calculated(lambda arb: arb.sqrt(), x),
    "__builtins__": {},
}


LEAVES = {int, bool, str, Fraction, Polynomial}


def frozen(value: Any) -> Any:
    """A value that a function returned, with tuples in place of lists."""
    if type(value) in LEAVES:
        return value
    if not isinstance(value, list | tuple | range):
        raise Refused(f"expected numbers, texts and polynomials, found a {type(value).__name__}")
    return tuple(map(frozen, value))


def listed(statement: dict[str, Any], name: str, *arguments: Any) -> Any:
    """The frozen list that a function returns; an empty one where it is not defined."""
    found = frozen(statement[name](*arguments)) if name in statement else ()
    if not isinstance(found, tuple):
        raise Refused(f"expected a list of {name}")
    return found


class Implication(NamedTuple):
    """What a case of a combination states: at least 0, or 0 if it is an identity, where all that is given is true."""

    unknowns: int
    hypotheses: tuple[Polynomial, ...]
    positive: tuple[Polynomial, ...]
    equations: tuple[Polynomial, ...]
    conclusion: Polynomial
    identity: bool

    @classmethod
    def stated(cls, statement: dict[str, Any], case: Any) -> "Implication":
        """What the definitions state for a case; a conclusion that says nothing is refused."""
        number = statement["unknowns"](*case)
        if type(number) is not int or number < 1:
            raise Refused(f"expected at least one unknown for {case!r:.200}")
        x = unknowns(number)
        lists = (listed(statement, name, *case, x) for name in ("hypotheses", "positive", "equations"))
        hypotheses, positive, equations = (tuple(map(Polynomial.of, found)) for found in lists)
        said = frozen(statement["conclusion"](*case, x))
        if isinstance(said, tuple) and len(said) != 2:
            raise Refused(f"expected a polynomial or both sides of an identity for {case!r:.200}")
        sides = [Polynomial.of(side) for side in (said if isinstance(said, tuple) else (said,))]
        if not any(side.terms.keys() - {()} for side in sides):
            raise Refused(f"the conclusion is constant for {case!r:.200}")
        identity = len(sides) == 2
        conclusion = sides[0] - sides[1] if identity else sides[0]
        assumed = [*equations, *(-e for e in equations)] if identity else [*hypotheses, *positive]
        if conclusion.scaled() in [one.scaled() for one in assumed]:
            raise Refused(f"the conclusion is one of the things assumed for {case!r:.200}")
        return cls(number, hypotheses, positive, equations, conclusion, identity)

    def given(self, point: Sequence[Any]) -> bool:
        """Whether all that is assumed is true at a point."""
        if len(point) != self.unknowns:
            raise Refused(f"expected a point with {self.unknowns} entries, found {len(point)}")
        x = [rational(value) for value in point]
        return (
            all(one.at(x) >= 0 for one in self.hypotheses)
            and all(one.at(x) > 0 for one in self.positive)
            and all(one.at(x) == 0 for one in self.equations)
        )

    def fails(self, point: Sequence[Any]) -> bool:
        """Whether it is false at a point."""
        value = self.conclusion.at([rational(one) for one in point]) if self.given(point) else Fraction(0)
        return value != 0 if self.identity else value < 0


def unknowns(number: int) -> tuple[Polynomial, ...]:
    """The symbols of a case."""
    return tuple(Polynomial([((k,), Fraction(1))]) for k in range(number))


def enumeration(statement: dict[str, Any], cases: Sequence[Any], content: dict[str, Any]) -> None:
    """Check an enumeration."""
    for case in cases:
        if statement["holds"](*case) is not True:
            raise Refused(f"the statement fails for {case!r:.200}")


def combination(statement: dict[str, Any], cases: Sequence[Any], content: dict[str, Any]) -> None:
    """Check a combination: first all that it states, then its proof."""
    stated = [Implication.stated(statement, case) for case in cases]
    definitions, texts = functions(content["definitions"]), functions(content["proof"])
    if (twice := definitions.keys() & texts.keys()) or definitions.keys() & PROOF:
        raise Refused(f"expected the proof in its own field, with names of its own, found {sorted(twice)}")
    proof = defined(definitions | texts)
    for case, one in zip(cases, stated, strict=True):
        if (one.hypotheses or one.positive or one.equations) and not one.given(listed(proof, "point", *case)):
            raise Refused(f"what is assumed is not true at the point of {case!r:.200}")
        if remaining(one, proof, case).terms:
            raise Refused(f"the conclusion is no such combination for {case!r:.200}")


def remaining(one: Implication, proof: dict[str, Any], case: Any) -> Polynomial:
    """What is left of a conclusion if the combination that a proof names is subtracted."""
    x = unknowns(one.unknowns)
    given, rest = one.hypotheses + one.positive, one.conclusion
    for i in listed(proof, "factors", *case, x):
        rest = rest * one.positive[position(i, one.positive)]
    parts = [rest]
    terms = listed(proof, "terms", *case, x)
    if terms and one.identity:
        raise Refused(f"expected no terms for the identity {case!r:.200}")
    for c, positions, q in terms:
        if type(c) not in (int, Fraction) or rational(c) < 0:
            raise Refused(f"expected a multiplier of at least 0 for {case!r:.200}")
        product = Polynomial.of(q) * q * -rational(c)
        for i in positions:
            product = product * given[position(i, given)]
        parts.append(product)
    multipliers = listed(proof, "multipliers", *case, x)
    parts += [Polynomial.of(p) * equation * -1 for p, equation in zip(multipliers, one.equations, strict=True)]
    return Polynomial(term for part in parts for term in part.terms.items())


def position(i: Any, given: Sequence[Any]) -> int:
    """A position in a list; others are refused."""
    if type(i) is not int or i not in range(len(given)):
        raise Refused(f"expected positions of what is assumed, found {i!r:.80}")
    return i


def enclosure(statement: dict[str, Any], cases: Sequence[Any], content: dict[str, Any]) -> None:
    """Check an enclosure."""
    for case, tree in zip(cases, content["splits"], strict=True):
        boxes = [box_of(statement, case)]
        for letter in tree:
            box = boxes.pop()
            if letter == ".":
                if not is_positive(statement["value"](*case, tuple(Ball(*side) for side in box))):
                    raise Refused(f"the value is not positive for {case!r:.200} in {box}")
            else:
                low, high = box[int(letter)]
                halves = ((low + high) / 2, high), (low, (low + high) / 2)
                boxes += [[half if k == int(letter) else side for k, side in enumerate(box)] for half in halves]
        if boxes:
            raise Refused("the splits end before the box is covered")


def box_of(statement: dict[str, Any], case: Any) -> list[tuple[Fraction, Fraction]]:
    """The box of a case."""
    box = [(rational(low), rational(high)) for low, high in listed(statement, "sides", *case)]
    if any(low > high for low, high in box):
        raise Refused(f"expected sides with low <= high for {case!r:.200}")
    return box


def is_positive(value: Any) -> bool:
    """Whether a number or what a ball encloses is above 0."""
    return bool(value.arb > 0) if isinstance(value, Ball) else rational(value) > 0


def fails(statement: dict[str, Any], kind: str, case: Any, point: Sequence[Any]) -> bool:
    """Whether a statement is false for one of its cases, at a point."""
    if case not in frozen(statement["cases"]()):
        raise Refused(f"expected the counterexample in a case of the neighbour, found {case!r:.200}")
    if kind == "enumeration":
        return not point and statement["holds"](*case) is False
    if kind == "combination":
        return Implication.stated(statement, case).fails(point)
    x = [rational(one) for one in point]
    inside = all(low <= one <= high for one, (low, high) in zip(x, box_of(statement, case), strict=True))
    value = statement["value"](*case, tuple(Ball(one) for one in x))
    return inside and (bool(value.arb <= 0) if isinstance(value, Ball) else rational(value) <= 0)


KINDS = {"enumeration": enumeration, "combination": combination, "enclosure": enclosure}
OWN = {"enumeration": set(), "combination": {"proof"}, "enclosure": {"splits"}}
"""The field with the proof of each kind; an enumeration is its own proof."""


def numbered(numbers: Iterable[Any]) -> str:
    """Numbers in words.

    >>> numbered([4, 2, 3]), numbered([5]), numbered([1, 3])
    ('2 to 4', '5', '1, 3')
    """
    found = sorted({rational(number) for number in numbers})
    if len(found) > 1 and found == [found[0] + k for k in range(len(found))]:
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found))


def check_sizes(statement: dict[str, Any], cases: Sequence[Any], content: dict[str, Any]) -> None:
    """Compare the sizes that a certificate says with those of its cases."""
    found: dict[str, set[Any]] = {}
    for words, number in {one for case in cases for one in listed(statement, "size", *case)}:
        found.setdefault(words, set()).add(number)
    rest = content["sizes"]
    for words, numbers in found.items():
        said = words.replace("#", numbered(numbers))
        if rest.count(said) != 1:
            raise Refused(f"the cases are for {said}, and the sizes are said to be {content['sizes']}")
        rest = rest.replace(said, "")
    if content["covers"] == "sizes" and (not found or re.search(r"\d", rest)):
        raise Refused(f"expected the sizes of the cases, found {content['sizes']}")


def check_fields(content: dict[str, Any]) -> None:
    """Refuse a certificate whose fields are not those of its kind, or have another form."""
    expected = FIELDS | OWN[content["kind"]]
    if content.keys() != expected:
        raise Refused(f"expected the fields {sorted(expected)}, found {sorted(content)}")
    claims = content["claims"]
    shaped = isinstance(claims, list) and all(
        isinstance(one, str) and re.fullmatch(r"[a-z]\w*(-\w+)+", one) for one in claims
    )
    if not shaped or not claims or len(set(claims)) < len(claims):
        raise Refused(f"expected a list of distinct ids of claims, found {claims!r:.200}")
    if content["covers"] not in ("all", "sizes", "steps", "part") or not content["neighbours"]:
        raise Refused("expected covers to be all, sizes, steps or part, and at least one neighbour")


def check(source: str) -> Proof:
    """Check a certificate, given as text, and return what it proves; raise :class:`Refused` if it proves nothing."""
    try:
        content = tomllib.loads(source)
        check_fields(content)
        kind, definitions, neighbours = content["kind"], functions(content["definitions"]), content["neighbours"]
        statement = defined(definitions)
        cases = frozen(statement["cases"]())
        if type(content["cases"]) is not int or not 0 < len(set(cases)) == len(cases) == content["cases"]:
            raise Refused(f"expected {content['cases']} distinct cases, found {len(cases)}, {len(set(cases))} distinct")
        check_sizes(statement, cases, content)
        KINDS[kind](statement, cases, content)
        for neighbour in neighbours:
            wrong = with_neighbour(definitions, neighbour["definitions"])
            case, point = (evaluated(neighbour.get(at, "()")) for at in ("case", "point"))
            if not fails(wrong, kind, case, point):
                raise Refused(f"the statement {neighbour['says']!r} does not fail at its counterexample")
    except Exception as error:
        raise error if isinstance(error, Refused) else Refused(f"{type(error).__name__}: {error}") from error
    said = [content[field] for field in ("claims", "kind", "covers", "sizes", "says")]
    return Proof._make([*said, len(cases), len(neighbours), hashlib.sha256(source.encode()).hexdigest()])


def evaluated(source: str) -> Any:
    """A case or a point of a counterexample."""
    return frozen(eval(compile(parsed(source, "eval"), "<certificate>", "eval"), dict(FUNCTIONS)))
