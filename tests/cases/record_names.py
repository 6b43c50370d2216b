"""Records every name that a server knows: commands, stages, expressions, accumulators, query operators.

    python3 tests/cases/record_names.py 'mongodb://127.0.0.1:27017/?directConnection=true'

Names that begin with an underscore are the server's own (between its members), and are left out.
"""

import json
import pathlib
import sys

import pymongo

client = pymongo.MongoClient(sys.argv[1])
metrics = client.admin.command("serverStatus")["metrics"]
counters = metrics["operatorCounters"]
known = {
    "version": client.server_info()["version"],
    "commands": client.admin.command("listCommands")["commands"],
    "stages": metrics["aggStageCounters"],
    "expressions": counters["expressions"],
    "accumulators": counters["groupAccumulators"],
    "window": counters["windowAccumulators"],
    "filters": counters["match"],
}
for kind, names in known.items():
    if kind != "version":
        known[kind] = sorted(n for n in names if not n.startswith(("_", "$_")))
path = pathlib.Path(__file__).parent / "names" / "server.json"
path.write_text(json.dumps(known, indent=1) + "\n")
