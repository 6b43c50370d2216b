"""Drops recorded cases that repeat what the cases before them in the same file show.

    python3 thin.py [FILE…]

A case is a set of features: each operator or option of the command with the class of its argument (BSON type, sign,
magnitude, length, characters), and the outcome, which is the error's code and message without names and numbers, or
the reply's fields with the classes of their values. The first case that shows a pair of features is kept; a case whose
pairs were all shown is dropped. The recorders call `thin` on each file that they write. Answers are never changed.

A step of a conversation is dropped alone only if it changes nothing: a read, or a write that is refused or matches
nothing. The command and reply of the last write and of the last change of a definition count as features of the steps
after it. Other steps are dropped with the whole period that they belong to: the steps from a write up to the next
time that the same write is repeated (as a reset of the data), or all steps of a database.
"""

import collections
import itertools
import json
import re
import sys
from pathlib import Path

NUMBERS = {"$numberInt": "int", "$numberLong": "long", "$numberDouble": "double", "$numberDecimal": "decimal"}
SCALARS = {"$oid", "$date", "$timestamp", "$binary", "$code", "$symbol", "$undefined", "$minKey", "$maxKey", "$dbPointer", "$uuid", "$missing"}
# Numbers at which types end.
EDGES = {str(sign * 2**bits + by) for bits in (31, 32, 53, 63) for sign in (1, -1) for by in (-1, 0, 1)}
# Names, reports and values that the machine gives.
VARIABLE = re.compile(r"\{.*\}|\[.*\]|[\d.]+|'[^']*'|\"[^\"]*\"|[0-9a-f]{8}-[0-9a-f-]{27}")
READS = {"find", "count", "distinct", "explain", "aggregate", "listIndexes", "listCollections", "listDatabases", "collStats", "dataSize", "dbStats", "validate", "hello", "ping", "buildInfo"}
DEFINITIONS = {"create", "createIndexes", "dropIndexes", "drop", "collMod", "dropDatabase", "renameCollection", "convertToCapped"}
# Commands that hold a state of their own, beside those of a session.
STATEFUL = {"getMore", "killCursors", "commitTransaction", "abortTransaction", "configureFailPoint", "setParameter", "profile"}
ENDS = {"commitTransaction", "abortTransaction"}
# Files whose cases differ by values that no class tells apart (patterns, words, the text of messages), or whose replies
# count the reads before them.
UNTHINNED = {"command/regex_syntax", "command/statistics_stages", "query/regex", "query/refusals", "query/values_in_errors"}
# Folders of cases that were written one by one.
WRITTEN = {"expression", "stage", "names", "value"}


def number(kind, text):
    """Type, sign, magnitude, and what is special: the digits of a decimal, fractions, and the edges of types."""
    if text in ("NaN", "Infinity", "-Infinity") or text in EDGES:
        return f"{kind} {text}"
    value = float(text)
    size = abs(value)
    limits = ((0, "0"), (1e-9, "tiny"), (1, "<1"), (1.0000001, "1"), (16, "<16"), (2**31, "<2^31"), (2**63, "<2^63"))
    name = next((name for limit, name in limits if size <= limit), "huge")
    sign = "-" if text.startswith("-") else ""
    fraction = "fraction" if size < 2**53 and value != int(value) else ""
    if kind == "decimal":
        digits = len(re.sub(r"[eE].*|\D", "", text).lstrip("0"))
        exponent = re.search(r"[eE]([+-])", text)
        fraction += ("digit" if digits < 2 else "digits" if digits < 34 else "34 digits") + (exponent[1] if exponent else "")
    return f"{kind} {sign}{name} {fraction}"


def path(name):
    """The form of a path: positions, numbers and the id are kept, other names are alike."""
    return ".".join(part if part.startswith("$") or part in ("", "_id") else "0" if part.isdigit() else "f" for part in name.split("."))


def string(text, is_data):
    if text.startswith("$"):
        first, dot, rest = text.partition(".")
        return (first if first.startswith("$$") else "$f") + dot + path(rest)
    if not is_data and 2 < len(text) < 100:
        return text  # may be the name of a type, a unit, a format …
    marks = [len(text) > 99 and "long", not text.isascii() and "not ASCII", "\0" in text and "NUL", not text and "empty"]
    return " ".join(["string", *filter(None, marks)])


def scalar(value, is_data=False):
    """The class of a value that is no document and no array, or nothing."""
    if isinstance(value, str):
        return string(value, is_data)
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    name = next(iter(value), "") if isinstance(value, dict) else ""
    if name in NUMBERS and isinstance(value[name], str):
        return number(NUMBERS[name], value[name])
    if name in ("$regularExpression", "$type"):
        return json.dumps(value)
    if name in SCALARS:
        return name + ("-" if '"-' in json.dumps(value) else "")
    return None


def features(value, of="", inside="", is_data=False):
    """Each name with the one around it and the class of its value."""
    one = scalar(value, is_data)
    if one is not None:
        yield inside, of, one
    elif isinstance(value, list):
        yield inside, of, ("[]", "[1]", "[2]", "[…]")[min(len(value), 3)]
        for item in value:
            yield from features(item, of, inside, is_data)
    elif not value:
        yield inside, of, "{}"
    else:
        yield inside, of, "{…}"
        for name, item in value.items():
            is_field = not name.startswith("$") and (is_data or "." in name or (len(name) < 3 and of))
            yield from features(item, path(name) if is_field else name, of, is_data or name == "documents")


def message(text):
    return VARIABLE.sub("#", text)[:80]


def outcome(reply):
    """The features of a reply, or of a case's answer."""
    reply = {**reply, **reply.get("error", {})}
    text = reply.get("errmsg", reply.get("message", ""))
    if "code" in reply:
        return {("error", json.dumps(reply["code"]), message(text))}
    errors = {("error", json.dumps(error["code"]), message(error.get("errmsg", ""))) for error in reply.get("writeErrors", ())}
    form = ", ".join(sorted(f"{name}: {type_of(scalar(value, True) or type(value).__name__)}" for name, value in reply.items()))
    return errors or {("reply", "", form), *features(reply, "reply", is_data=True)}


def coarse_class(one):
    """The class of a number without its magnitude: type and sign, and what is special."""
    kind, _, rest = one.partition(" ")
    if kind not in NUMBERS.values() or rest.split(" ")[0] in ("0", "-0", "NaN", "Infinity", "-Infinity"):
        return one
    return f"{kind} {rest[:1] if rest.startswith('-') else '+'}"


def coarse(found, classed=coarse_class):
    return {(*names, classed(one)) for *names, one in found}


def type_of(one):
    kind = one.split(" ")[0]
    return kind if kind in NUMBERS.values() else one


def pairs(own, answer, around=()):
    """Each class with each part of the answer, which also shows the order of faults, and with what came before. Where
    nothing is refused, also each two names that were asked for together."""
    is_refused = any(of == "error" for of, *_ in answer)
    names = sorted({(inside, of) for *_, inside, of, one in own})
    return {*(() if is_refused else itertools.combinations(names, 2)), *itertools.product(own, answer), *itertools.product(own, around)}


def kept(cases, parts):
    """The cases that show a new pair; `parts` takes a case apart, into what was asked and the answer."""
    seen, out = set(), []
    for case in cases:
        asked, answer = parts(case)
        # The answers tell magnitudes apart.
        shown = pairs(coarse(features(asked), type_of), coarse(answer))
        if not shown <= seen:
            out.append(case)
            seen |= shown
    return out


def matched(documents, ids):
    """The types that a filter matched."""
    found = [document for document in documents if document["_id"] in ids]
    return {(json.dumps(sorted(coarse(features(found, is_data=True)))),)}


def effect(step):
    """Whether a step reads, changes nothing, writes, or is of a session or cursor."""
    command, reply = step["command"], step["reply"]
    name, text = next(iter(command)), json.dumps(command)
    id = reply.get("cursor.id") or reply.get("cursor", {}).get("id") or {}
    if "txnNumber" in command or "lsid" in command or name in STATEFUL or id.get("$numberLong", "0") != "0":
        return "session"
    if name == "explain" or (name in READS and '"$merge"' not in text and '"$out"' not in text):
        return "read"
    if "code" in reply:
        several = any(len(command.get(statements) or ()) > 1 for statements in ("documents", "updates", "deletes"))
        return "write" if several or "PlanExecutor" in reply.get("errmsg", "") else "none"
    changed = "nModified" if name == "update" else "n"
    count = reply.get(changed, reply.get("lastErrorObject", {}).get("n"))
    return "none" if count == {"$numberInt": "0"} and "upserted" not in reply else "write"


def written(step):
    """A step as a text, without the number of the transaction that it ends."""
    is_end = ENDS & set(step["command"])
    return json.dumps([step["db"], {name: value for name, value in step["command"].items() if not (is_end and name == "txnNumber")}])


def resets(steps, effects):
    """Where the steps end that are repeated most often, with those that mostly follow them, outside of transactions."""
    texts, outside, is_open = [written(step) for step in steps], [], False
    for at, step in enumerate(steps):
        is_open = "startTransaction" in step["command"] or (is_open and not ENDS & set(step["command"]))
        if not is_open and effects[at] != "read":
            outside.append(at)
    text, times = next(iter(collections.Counter(texts[at] for at in outside).most_common(1)), (None, 0))
    places = [at for at in outside if texts[at] == text]
    while times > 3:
        following = collections.Counter(texts[at + 1] for at in places if at + 1 < len(texts) and effects[at + 1] != "read")
        text, times = next(iter(following.most_common(1)), (None, 0))
        if times < 0.6 * len(places):
            return places
        places = [at + 1 for at in places if at + 1 < len(texts) and texts[at + 1] == text]
    return []


def periods(steps, effects):
    """The period of each step that is in one, as its first and last step."""
    if len({step["db"] for step in steps}) > 9:
        databases = [list(group) for _, group in itertools.groupby(range(len(steps)), lambda at: steps[at]["db"])]
        ranges = [(group[0], group[-1]) for group in databases]
    else:
        ranges = [(first + 1, last) for first, last in itertools.pairwise(resets(steps, effects))]
    return {at: (first, last) for first, last in ranges for at in range(first, last + 1)}


def kept_steps(steps):
    effects = [effect(step) for step in steps]
    shown, last = [], {"definition": set(), "write": set()}
    for step, effect_ in zip(steps, effects):
        name = next(iter(step["command"]))
        asked = {(name, *feature) for feature in coarse(features(step["command"]))}
        answer = coarse(outcome(step["reply"]))
        shown.append(pairs(asked, answer, () if effect_ == "none" and "code" in step["reply"] else last["definition"]) | {*itertools.product(last["write"], answer)})
        if effect_ in ("write", "session"):
            kind = "definition" if name in DEFINITIONS else "write"
            last[kind] = {(kind, *feature) for feature in asked}
    within, seen, existing, out = periods(steps, effects), set(), set(), []
    at = 0
    while at < len(steps):
        first, last = within.get(at, (None, None))
        if at == first and set().union(*shown[first : last + 1]) <= seen:
            at = last + 1
            continue
        name, collection = next(iter(steps[at]["command"].items()))
        place = (steps[at]["db"], str(collection))
        # NamespaceNotFound: such a step may be part of a reset, though.
        is_missing = at not in within and steps[at]["reply"].get("code") == {"$numberInt": "26"}
        may_drop = effects[at] == "read" or (effects[at] == "none" and (place in existing or is_missing))
        if not (may_drop and shown[at] <= seen):
            seen |= shown[at]
            out.append(steps[at])
            if name in ("insert", "create", "createIndexes") and effects[at] == "write":
                existing.add(place)
            elif name in ("drop", "dropDatabase", "renameCollection"):
                existing.clear()
        at += 1
    return out


def kept_grid(case):
    """The rows and columns that show a new pair of values with its answer."""
    rows, columns = list(range(len(case["a"]))), list(range(len(case["b"])))
    classes = {name: [grid_class(value) for value in case[name]] for name in "ab"}

    def shown(row, column):
        a, b = classes["a"][row], classes["b"][column]
        answer = case["answers"][row * len(case["b"]) + column]
        found = json.dumps(answer) if "v" not in answer else grid_class(answer["v"])
        cells = {(name, type_of(one), found) for name, one in (("a", a), ("b", b))}
        if type_of(found) != found:
            cells |= {(name, one, type_of(found)) for name, one in (("a", a), ("b", b))}
        return cells

    def chosen(lines, cells):
        seen, out = set(), []
        for line in lines:
            new = set().union(*cells(line))
            if not new <= seen:
                out.append(line)
                seen |= new
        return out

    rows = chosen(rows, lambda row: (shown(row, column) for column in columns))
    columns = chosen(columns, lambda column: (shown(row, column) for row in rows))
    answers = [case["answers"][row * len(case["b"]) + column] for row in rows for column in columns]
    errors = []
    for at, answer in enumerate(answers):
        if "$numberInt" in answer:
            error = case["errors"][int(answer["$numberInt"])]
            errors += [error] if error not in errors else []
            answers[at] = {"$numberInt": str(errors.index(error))}
    return {**case, "a": [case["a"][row] for row in rows], "b": [case["b"][column] for column in columns], "errors": errors, "answers": answers}


def grid_class(value):
    one = scalar(value, is_data=True)
    return one if one is not None else json.dumps(sorted(set(features(value, is_data=True))))


def lines(values):
    return "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]\n"


def thin(file):
    """Writes the file again, without the cases that show nothing new."""
    file = Path(file)
    folder, name = file.parent.name, file.stem
    if folder in WRITTEN or f"{folder}/{name}" in UNTHINNED:
        return
    cases = json.loads(file.read_text())
    if folder == "command":
        text = lines(kept_steps(cases))
    elif folder == "grid":
        text = lines(map(kept_grid, cases))
    elif folder == "query" and "queries" in cases[0]:
        texts = []
        for case in cases:
            queries = kept(case["queries"], lambda query: (query["filter"], outcome(query) if "code" in query else matched(case["documents"], query["ids"])))
            texts.append(f'{{"documents": {json.dumps(case["documents"])},\n"queries": {lines(queries).strip()}}}')
        text = "[" + ",\n".join(texts) + "]\n"
    else:
        names = {"result", "modified", "error", "errmsg", "code", "details", "index"}
        text = lines(kept(cases, lambda case: (
            {name: value for name, value in case.items() if name not in names},
            outcome({name: value for name, value in case.items() if name in names}),
        )))
    before = file.read_text()
    file.write_text(text)
    if text != before:
        thin(file)  # a dropped case may have been what came before another


if __name__ == "__main__":
    here = Path(__file__).parent
    for file in sys.argv[1:] or sorted(here.glob("*/*.json")):
        thin(file)
