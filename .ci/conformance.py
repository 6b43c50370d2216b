"""What .ci/conformance needs beside bash, with nothing but Python's own library (3.11 or later).

    conformance.py suites                  prints the names of the suites
    conformance.py show SUITE KEY          prints a value of a suite, a list one line each
    conformance.py whole FILE              fails if pytest did not come to its end in the run that noted this file
    conformance.py again SUITE RESULTS     prints the tests whose outcome is not the same on both servers
    conformance.py differences RESULTS     prints what .ci/conformance.toml does not explain; fails if an entry explains nothing
    conformance.py page RESULTS MINUTES    writes book/src/conformance.md; MINUTES is how long the suites took

pytest loads it as a plugin, too: it leaves out tests, leads connections to the server under test and notes the outcomes.
"""

import collections
import json
import os
import pathlib
import re
import sys
import threading
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = {"skip": [], "difference": [], "finding": []} | tomllib.loads((ROOT / ".ci/conformance.toml").read_text())
SERVERS = ("mongod", "odm-server")


def matches(pattern, text):
    """Whether the text is what the pattern says, in which only `*` is special."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def shortened(text):
    return text if len(text) <= 2000 else f"{text[:1000]} … {text[-1000:]}"


# The plugin.


class Plugin:
    """Sees the tests of one suite on one server."""

    def __init__(self):
        self.suite = os.environ["ODM_CONFORMANCE_SUITE"]
        self.port = int(os.environ["ODM_CONFORMANCE_PORT"])
        self.output = open(os.environ["ODM_CONFORMANCE_OUTPUT"], "a", buffering=1)
        self.requests = 0
        self.before = 0
        self.reports = []
        self.lead()

    def lead(self):
        """Most suites have the address in their sources: connections to MongoDB's usual port reach the server under test."""
        import socket
        import weakref

        plugin = self
        connections = weakref.WeakSet()

        def led(call):
            def connect(this, address):
                if isinstance(address, tuple) and address[1] == 27017:
                    if this.family == socket.AF_INET6 and address[0] == "::1":
                        raise ConnectionRefusedError(111, "this server listens on 127.0.0.1")
                    if address[0] in ("127.0.0.1", "localhost"):
                        address = ("127.0.0.1", plugin.port)
                if isinstance(address, tuple) and address[1] == plugin.port:
                    connections.add(this)
                return call(this, address)

            return connect

        def counted(call):
            def send(this, *arguments):
                # What a driver's own threads send says nothing about the test.
                if this in connections and "pymongo_" not in threading.current_thread().name:
                    plugin.requests += 1
                return call(this, *arguments)

            return send

        for name in ("connect", "connect_ex"):
            setattr(socket.socket, name, led(getattr(socket.socket, name)))
        for name in ("send", "sendall", "sendmsg"):
            setattr(socket.socket, name, counted(getattr(socket.socket, name)))

    def note(self, **fields):
        self.output.write(json.dumps(fields) + "\n")

    def pytest_collection_modifyitems(self, config, items):
        kept, left_out = [], []
        for item in items:
            entries = [entry for entry in LIST["skip"] if entry["suite"] == self.suite]
            found = [entry for entry in entries if any(matches(p, item.nodeid) for p in entry["tests"])]
            (left_out if found else kept).append(item)
            if found:
                self.note(left_out=item.nodeid)
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid):
        self.reports = []
        self.before = self.requests

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtest_logfinish(self, nodeid):
        failed = [report for report in self.reports if report.failed]
        called = [report for report in self.reports if report.when == "call" and report.passed]
        if failed:
            outcome = "failed"
        else:
            outcome = "passed" if called else "skipped"
        error = ""
        if failed:
            crash = getattr(failed[0].longrepr, "reprcrash", None)
            error = crash.message if crash else str(failed[0].longrepr)
        elif outcome == "skipped" and self.reports:
            error = f"skipped: {self.reports[0].longrepr}"
        self.note(test=nodeid, outcome=outcome, error=shortened(error), asks=self.requests > self.before)
        if failed:
            self.expect_server()

    def expect_server(self):
        """Ends the run if the server has ended: every later test would wait for it, and then say nothing about it."""
        import socket

        import pytest

        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=30).close()
        except ConnectionRefusedError:
            pytest.exit("the server has ended", returncode=3)

    def pytest_collectreport(self, report):
        if report.failed:
            self.note(test=report.nodeid, outcome="failed", error=shortened(str(report.longrepr)), asks=False)

    def pytest_sessionfinish(self, session, exitstatus):
        # 1 says that tests failed; above it stand the faults of pytest itself.
        if exitstatus <= 1:
            self.note(end=True)


def pytest_configure(config):
    config.pluginmanager.register(Plugin(), "conformance-of-a-server")


# Reading what the plugin noted.


def noted(path):
    """The tests of one run, and those that were left out."""
    tests, left_out, whole = {}, set(), False
    for line in path.read_text().splitlines():
        fields = json.loads(line)
        if "test" in fields:
            tests[fields["test"]] = fields
        elif "left_out" in fields:
            left_out.add(fields["left_out"])
        whole = "end" in fields
    if not whole:
        sys.exit(f"{path} breaks off: pytest did not come to its end")
    return tests, left_out


class Suite:
    """The outcomes of a suite on both servers."""

    def __init__(self, suite, results):
        self.suite = suite
        self.name = suite["name"]
        runs = [noted(results / f"{self.name}.{server}.jsonl") for server in SERVERS]
        self.left_out = runs[0][1]
        self.here, self.there = runs[1][0], runs[0][0]
        if self.here.keys() != self.there.keys():
            odd = sorted(self.here.keys() ^ self.there.keys())
            sys.exit(f"{self.name}: not the same tests on both servers: {' '.join(odd[:5])}")
        # A test that ends otherwise on one server runs again on both; one pass is enough.
        for server, tests in zip(SERVERS, (self.there, self.here)):
            for path in results.glob(f"{self.name}.{server}.again*.jsonl"):
                for test, fields in noted(path)[0].items():
                    if fields["outcome"] == "passed":
                        tests[test] = fields

    def ids(self, there, here):
        """The tests with these outcomes."""
        return sorted(t for t in self.there if (self.there[t]["outcome"], self.here[t]["outcome"]) == (there, here))

    def unlike(self):
        return sorted(t for t in self.there if self.there[t]["outcome"] != self.here[t]["outcome"])

    def differs(self):
        """Ends otherwise, and does not pass on odm-server."""
        return [test for test in self.unlike() if self.here[test]["outcome"] != "passed"]

    def explained(self, test, kind):
        """The first entry of the list that has the test."""
        for entry in LIST[kind]:
            patterns = entry.get("tests", ["*"])
            if any(matches(p, f"{self.name}: {test}") for p in patterns) and matches(
                entry.get("error", "*"), self.here[test]["error"]
            ):
                return entry
        return None


def checked(found, stale_is_fatal=True):
    """The tests by what explains them; fails where an entry has none."""
    by_entry = collections.defaultdict(list)
    unexplained = []
    for suite in found:
        for test in suite.differs():
            entry = suite.explained(test, "difference") or suite.explained(test, "finding")
            if entry:
                by_entry[entry["cause"]].append((suite, test))
            else:
                unexplained.append((suite, test))
    entries = LIST["difference"] + LIST["finding"]
    stale = [entry["cause"] for entry in entries if entry["cause"] not in by_entry]
    for entry in LIST["skip"]:
        for suite in found:
            if suite.name == entry["suite"]:
                stale += [p for p in entry["tests"] if not any(matches(p, test) for test in suite.left_out)]
    for entry in LIST["difference"]:
        chapter, words = entry["book"], entry["entry"]
        text = " ".join((ROOT / "book/src" / chapter).read_text().split())
        if " ".join(words.split()) not in text:
            stale.append(f"{entry['cause']} ({chapter} does not say {words!r})")
    if stale and stale_is_fatal:
        sys.exit("these entries of .ci/conformance.toml explain nothing:\n" + "\n".join(stale))
    return by_entry, unexplained


# What the commands do.


def show(name, key):
    suite = {suite["name"]: suite for suite in LIST["suite"]}[name]
    if key == "version":
        print(suite["package"].partition("==")[2])
        return
    value = suite.get(key, [] if key == "edits" else "")
    for line in value if isinstance(value, list) else [value]:
        print(line)


def load(results, names):
    names = names or [suite["name"] for suite in LIST["suite"]]
    return [Suite(suite, pathlib.Path(results)) for suite in LIST["suite"] if suite["name"] in names]


def differences(results, *names):
    found = load(results, names)
    by_entry, unexplained = checked(found, stale_is_fatal=not names)
    for cause, tests in by_entry.items():
        print(f"{len(tests):5} {cause}")
    for suite, test in unexplained:
        error = " ".join(suite.here[test]["error"].split())
        print(f"not explained: {suite.name}: {test}\n    {error[:300]}")


# The page.

HEAD = """\
# Conformance

Other projects have tests that need a MongoDB server. This page says how [`odm-server`](server.md), the in-memory engine
behind a port, does on them beside a real mongod 6.0.5. Both run the same tests, each as a replica set of one member that
starts empty and accepts test commands. One command fetches the suites, runs them on both, and writes this page:

```sh
.ci/conformance
```

It needs Python 3.11 with pip. The runs behind this page took {minutes} minutes, so `.ci/run` does not include them.
"""

TABLE = """
A test that ends otherwise on one server runs again on both, up to three times, and one pass is enough. *Asks* counts the
tests that send a request to the server: many test a library without one. *Failed on both* are tests with which the suite or
its surroundings have trouble: they want an older driver, or a package that the suite does not depend on, for example. A test
*differs* if it ends otherwise on odm-server, and does not pass there. Tests differ as *expected* if the book names the reason,
and are *findings* if it does not.
"""


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def wrapped(text, width=118):
    import textwrap

    return "\n".join(textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False))


KINDS = (
    "Query operators: of a document",
    "Query operators: of a field",
    "Projection operators",
    "Update operators",
    "Modifiers, positions and stages of updates",
    "Stages",
    "Expressions",
    "Accumulators",
    "Window operators",
)


def operators():
    """The numbers of names in the sections of the support table, by what becomes of them."""
    chapter = (ROOT / "book/src/support.md").read_text()
    for section in chapter.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        if heading not in KINDS:
            continue
        counts = collections.Counter()
        for line in body.splitlines():
            row = re.fullmatch(r"\| ([^|]+) \| (`.*) \|", line)
            if row:
                counts[row[1].partition(":")[0]] += len(re.findall("`[^`]+`", row[2]))
        yield heading, counts


def page(results, minutes):
    found = load(results, ())
    by_entry, unexplained = checked(found)
    lines = [HEAD.format(minutes=minutes), "## Suites"]
    lines.append(TABLE)
    columns = ["suite", "tests", "asks", "passed on both", "failed on both", "skipped", "expected", "findings"]
    columns.append("odm-server alone passes")
    lines.append(f"| {' | '.join(columns)} |")
    lines.append(f"|---|{'--:|' * (len(columns) - 1)}")
    total = collections.Counter()
    explained = {(suite.name, test) for entry in LIST["difference"] for suite, test in by_entry[entry["cause"]]}
    for suite in found:
        differing = suite.differs()
        expected = sum((suite.name, test) in explained for test in differing)
        row = [
            len(suite.there),
            sum(fields["asks"] for fields in suite.there.values()),
            len(suite.ids("passed", "passed")),
            len(suite.ids("failed", "failed")),
            len(suite.ids("skipped", "skipped")),
            expected,
            len(differing) - expected,
            len(suite.unlike()) - len(differing),
        ]
        total.update(dict(enumerate(row)))
        lines.append(f"| {suite.suite['package'].replace('==', ' ')} | {' | '.join(map(str, row))} |")
    lines.append(f"| all | {' | '.join(str(total[column]) for column in range(len(columns) - 1))} |")
    lines.append("")
    for suite in found:
        edited = f"; on both servers {suite.suite['edited']}" if "edited" in suite.suite else ""
        part = f". {suite.suite['part']}" if "part" in suite.suite else ""
        lines.append(wrapped(f"- {suite.name}: {suite.suite['about']}{edited}{part}."))
    for entry in LIST["skip"]:
        left_out = [test for suite in found if suite.name == entry["suite"] for test in suite.left_out]
        count = sum(any(matches(p, test) for p in entry["tests"]) for test in left_out)
        lines.append(wrapped(f"- Left out on both: {count} tests of {entry['suite']}, which {entry['because']}."))

    lines.append("\n## Expected differences\n")
    lines.append("| cause | where the book says it | tests |\n|---|---|--:|")
    for entry in sorted(LIST["difference"], key=lambda entry: -len(by_entry[entry["cause"]])):
        chapter = entry["book"]
        title = (ROOT / "book/src" / chapter).read_text().partition("\n")[0].removeprefix("# ")
        lines.append(f"| {cell(entry['cause'])} | [{title}]({chapter}) | {len(by_entry[entry['cause']])} |")

    lines.append("\n## Findings\n")
    if any(by_entry[entry["cause"]] for entry in LIST["finding"]) or unexplained:
        lines.append("| cause | tests | one of them |\n|---|--:|---|")
        for entry in sorted(LIST["finding"], key=lambda entry: -len(by_entry[entry["cause"]])):
            tests = by_entry[entry["cause"]]
            suite, test = tests[0]
            lines.append(f"| {cell(entry['cause'])} | {len(tests)} | {suite.name}: `{test.rpartition('::')[2]}` |")
        for suite, test in unexplained:
            lines.append(f"| not looked into | 1 | {suite.name}: `{test.rpartition('::')[2]}` |")
    else:
        lines.append("None.")

    lines.append("\n## Operators\n")
    lines.append(wrapped("[What the engine supports](support.md) lists every name of MongoDB 6.0. These are their numbers:"))
    lines.append("\n| kind | supported | planned | refused |\n|---|--:|--:|--:|")
    for heading, counts in operators():
        lines.append(f"| {heading} | {counts['supported']} | {counts['planned']} | {counts['refused']} |")
    (ROOT / "book/src/conformance.md").write_text("\n".join(lines) + "\n")


def again(name, results):
    for suite in load(results, (name,)):
        for test in suite.unlike():
            print(test)


if __name__ == "__main__":
    commands = {
        "suites": lambda: print(*(suite["name"] for suite in LIST["suite"]), sep="\n"),
        "show": show,
        "whole": lambda path: noted(pathlib.Path(path)),
        "again": again,
        "differences": differences,
        "page": page,
    }
    commands[sys.argv[1]](*sys.argv[2:])
