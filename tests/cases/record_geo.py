"""Records what a real mongod answers to geospatial queries: shapes by hand and at random.

    python3 record_geo.py mongodb://127.0.0.1:27717/?directConnection=true [TOPIC…]

The topics of `record_commands.py` that are about places; the files are of the same kind. `geo_random=SEED` draws other
shapes than the ones that are kept.
"""

import math
import random
import sys

from bson import Decimal128

import record_commands

def ring(*points):
    return [*points, points[0]]


def square(low, high):
    return {"type": "Polygon", "coordinates": [ring([low, low], [high, low], [high, high], [low, high])]}


def shape(kind, *coordinates, **more):
    return {"type": kind, "coordinates": list(coordinates), **more}


def system(name):
    return {"crs": {"type": "name", "properties": {"name": name}}}


STRICT = system("urn:x-mongodb:crs:strictwinding:EPSG:4326")
NAN, INF = float("nan"), float("inf")
AT = shape("Point", 1, 1)
HOLED = shape("Polygon", ring([-1, -1], [7, -1], [7, 7], [-1, 7]), ring([0.5, 0.5], [4.5, 0.5], [4.5, 4.5], [0.5, 4.5]))

STORED = {
    "point": AT, "corner": shape("Point", 0, 0), "edge": shape("Point", 0, 1), "below": shape("Point", 1, 0),
    "pair": [1, 1], "named": {"x": 1, "y": 1}, "three": [1, 1, 5], "pairs": [[1, 1], [50, 50]], "word": ["a", 1],
    "out": [200, 1], "nested": [[50, 50], [1, 1]], "points": shape("MultiPoint", [1, 1], [2, 2]),
    "far": shape("MultiPoint", [1, 1], [20, 20]), "line": shape("LineString", [1, 1], [2, 2]),
    "leaving": shape("LineString", [1, 1], [20, 20]),
    "lines": shape("MultiLineString", [[1, 1], [2, 2]], [[30, 30], [31, 31]]), "polygon": square(1, 2),
    "same": square(0, 5), "over": square(4, 6), "beside": shape("Polygon", ring([5, 0], [6, 0], [6, 5], [5, 5])),
    "touching": square(5, 6), "around": square(-1, 7),
    "polygons": shape("MultiPolygon", square(1, 2)["coordinates"], square(3, 4)["coordinates"]),
    "all": {"type": "GeometryCollection", "geometries": [AT, square(1, 2)]},
    "some": {"type": "GeometryCollection", "geometries": [shape("Point", 50, 1), square(1, 2)]}, "null": None,
    "nothing": {}, "empty": [], "unknown": shape("Foo", 1, 1), "open": shape("Polygon", [[1, 1], [2, 1], [2, 2]]),
    "list": [AT, shape("Point", 50, 50)], "holed": HOLED, "system": {**AT, **system("urn:ogc:def:crs:OGC:1.3:CRS84")},
    "strange": {**AT, **system("foo")}, "strict": {**square(1, 2), **STRICT}, "more": shape("Point", 1, 1, 9),
    "short": shape("Point", 1), "fields": {"a": 1, "b": 1, "c": 3}, "label": {"n": "x", "a": 1, "b": 1},
    "members": {"type": "Point", "coordinates": {"a": 1, "b": 1}}, "inner": {"geo": AT},
    "stays": shape("LineString", [1, 1], [1, 1]), "single": shape("LineString", [1, 1]), "infinite": [INF, 1],
    "nan": [NAN, 1], "both": {"a": 1, "b": 2, **shape("Point", 50, 50)}, "number": 5, "text": "x", "one": [1],
    "mixed": [[1, 1], "x"], "deep": [[[1, 1]]], "hollow": [[]], "objects": [{"x": 1, "y": 1}, {"x": 2, "y": 2}],
    "crossed": shape("Polygon", ring([0, 0], [1, 1], [0, 1], [1, 0])),
}


def near(point, **more):
    return {"$near": {"$geometry": shape("Point", *point), **more}}


def geometry(value, operator="$geoWithin"):
    return {operator: {"$geometry": value}}


def queries():
    for value in [square(0, 5), HOLED, shape("Polygon", ring([0, 0], [0, 5], [5, 5], [5, 0])),
                  shape("MultiPolygon", square(0, 5)["coordinates"], square(10, 25)["coordinates"]),
                  {"type": "GeometryCollection", "geometries": [AT, square(0, 5)]}]:
        yield geometry(value)
        yield geometry(value, "$geoIntersects")
    for value in [AT, shape("LineString", [-1, 1], [3, 1]), shape("MultiPoint", [1, 1], [6.5, 6.5]), [1, 1],
                  {"x": 1, "y": 1}, {"type": "GeometryCollection", "geometries": [shape("Point", 50, 1)]},
                  shape("MultiLineString", [[1, 1], [2, 2]], [[30, 29], [30, 31]])]:
        yield geometry(value, "$geoIntersects")
    for operator in ["$geoWithin", "$within"]:
        yield {operator: {"$box": [[0, 0], [5, 5]]}}
        yield {operator: {"$polygon": [[0, 0], [0, 5], [5, 5], [5, 0]]}}
        yield {operator: {"$polygon": {"a": [0, 0], "b": [0, 5], "c": [5, 5]}}}
        yield {operator: {"$center": [[0, 0], 2]}}
        yield {operator: {"$center": [[0, 0], 1]}}
        yield {operator: {"$centerSphere": [[0, 0], 0.1]}}
    yield {"$geoWithin": {"$center": [[0, 0], INF]}}
    yield {"$geoWithin": {"$centerSphere": [[0, 0], 4]}}
    yield {"$geoWithin": {"$centerSphere": [[0, 0], INF]}}
    yield {"$geoWithin": {"$box": [{"x": 5, "y": 5}, {"x": 0, "y": 0}]}}
    yield {"$geoIntersects": {"$centerSphere": [[0, 0], 0.1]}}
    yield {"$not": {"$geoWithin": {"$box": [[0, 0], [5, 5]]}}}
    yield {"$geoWithin": {"$uniqueDocs": True, "$box": [[0, 0], [5, 5]]}}
    yield {"$geoWithin": {"$geometry": square(0, 1), "$box": [[0, 0], [5, 5]]}}


def refusals():
    polygon = [1, {}, {"type": "Foo"}, {"type": "Polygon"}, {"type": "Polygon", "coordinates": 1}, shape("Polygon"),
               shape("Polygon", 1), shape("Polygon", [1, 2]), shape("Polygon", []), shape("Polygon", [[0, 0], [1, 1], [0, 1]]),
               shape("Polygon", ring([0, 0], [1, 1])), STORED["crossed"], shape("Polygon", ring([0, 0], [1, 1], [0, 1], [1, 1])),
               shape("Polygon", ring([0, 0], [200, 1], [0, 1])), shape("Polygon", ring([0, 0], ["a", 1], [0, 1])),
               shape("Polygon", ring([0, 0], [1], [0, 1])), {"coordinates": [1, 1]}, {"type": 1, "coordinates": [1, 1]},
               shape("Polygon", square(0, 3)["coordinates"][0], ring([5, 5], [6, 5], [6, 6])),
               shape("Polygon", square(0, 3)["coordinates"][0], ring([1, 1], [6, 1], [6, 2])),
               shape("Polygon", square(0, 5)["coordinates"][0], ring([1, 1], [3, 1], [3, 3]), ring([2, 1.5], [4, 1.5], [4, 4])),
               shape("Polygon", square(0, 3)["coordinates"][0], square(0, 3)["coordinates"][0]),
               shape("Polygon", square(0, 9)["coordinates"][0], square(1, 5)["coordinates"][0], square(2, 3)["coordinates"][0]),
               {**shape("Polygon", *square(0, 5)["coordinates"], square(1, 2)["coordinates"][0]), **STRICT},
               {**square(0, 1), **system("x")}, {**square(0, 1), "crs": 1}, {**square(0, 1), "crs": {}},
               {**square(0, 1), "crs": {"type": "name"}}, {**square(0, 1), "crs": {"type": "foo"}},
               {**square(0, 1), "crs": {"type": "name", "properties": {"name": 1}}}, AT, [1, 1],
               {**shape("MultiPolygon", square(0, 5)["coordinates"]), **STRICT}]
    for value in polygon:
        yield geometry(value)
    other = [shape("Point", 200, 1), {"type": "Point", "coordinates": 1}, shape("Point", 1), shape("Point", "a", "b"),
             shape("Point", 200.5, 1234567.891), shape("Point", INF, 1), shape("LineString", [1, 1]),
             shape("LineString", [1, 1], [1, 1]), {"type": "LineString", "coordinates": 1}, shape("LineString", 1, 2),
             shape("LineString", [1], [2]), shape("MultiPoint"), shape("MultiPoint", 1), {"type": "MultiPoint"},
             shape("MultiLineString"), shape("MultiLineString", 1), shape("MultiLineString", [[1, 1]]), {"type": "MultiLineString"},
             shape("MultiPolygon"), shape("MultiPolygon", 1), {"type": "MultiPolygon"}, {"type": "GeometryCollection"},
             {"type": "GeometryCollection", "geometries": []}, {"type": "GeometryCollection", "geometries": [1]},
             {"type": "GeometryCollection", "geometries": [{"type": "Foo"}]},
             {"type": "GeometryCollection", "geometries": [{"type": "GeometryCollection", "geometries": []}]},
             {"type": "GeometryCollection", "geometries": [shape("Point", 200, 1)]}, ["a", 1], [], [200, 1], [INF, 1],
             {**AT, **system("foo")}, {**AT, **STRICT}]
    for value in other:
        yield geometry(value, "$geoIntersects")
    for value in [1, {}, {"$foo": 1}, [[0, 0], [1, 1]], {"$box": 1}, {"$box": []}, {"$box": [[0, 0]]}, {"$box": [[0, 0], [1]]},
                  {"$box": [[0, 0], ["a", 1]]}, {"$polygon": []}, {"$polygon": [[0, 0], [1, 1]]}, {"$polygon": 1},
                  {"$polygon": [1, 2, 3]}, {"$center": [[0, 0]]}, {"$center": 1}, {"$center": []}, {"$center": [[0, 0], -1]},
                  {"$center": [[0, 0], "a"]}, {"$center": [[0, 0], 1, 2]}, {"$center": [1, 2]}, {"$center": [[0, 0], NAN]},
                  {"$centerSphere": [[200, 0], 1]}, {"$centerSphere": [[0, 0], -4]}, {"$centerSphere": [AT, 1]},
                  {"$box": [[0, 0], [5, 5]], "$foo": 1}, {"$geometry": square(0, 1), "$maxDistance": 1}]:
        yield {"$geoWithin": value}
    for value in [1, {}, {"$foo": 1}, {"$box": [[0, 0], [5, 5]]}, {"$center": [[0, 0], 1]}, {"$polygon": [[0, 0], [1, 1], [2, 0]]}]:
        yield {"$geoIntersects": value}
    box = {"$geoWithin": {"$box": [[0, 0], [5, 5]]}}
    yield from [{**box, "$eq": 1}, {**box, "$maxDistance": 1}, {"$exists": True, **box}, {**box, "$near": [1, 1]}, {"$all": [box]}]
    for name in ["$maxDistance", "$minDistance", "$geometry", "$uniqueDocs"]:
        yield {name: 1}
    for value in [1, {}, [], [1], ["a", 1], [1, 1], [1, 1, 1], [1, 1, -1], [1, 1, "x"], [1, 1, 1, 1], True, [NAN, 1], [500, 1],
                  {"x": 1, "y": 1}, {"x": 1, "y": 1, "$maxDistance": 3}, {"x": 1, "y": 1, "z": 2, "w": 3}, {"a": "b"}, AT,
                  {"x": 1, "$maxDistance": 3}, {**AT, "$maxDistance": 4}, {**AT, **system("foo")}, {"$maxDistance": 1},
                  {"$geometry": 1}, {"$geometry": {}}, {"$geometry": shape("Polygon")}, {"$geometry": square(0, 1)},
                  {"$geometry": AT, "$maxDistance": -1}, {"$geometry": AT, "$maxDistance": "a"}, {"$geometry": AT, "$minDistance": -1},
                  {"$geometry": AT, "$foo": 1}, {"$geometry": [1, 1]}, {"$geometry": shape("Point", 200, 1)},
                  {"$geometry": {**AT, **system("foo")}}, {"$maxDistance": 1, "$geometry": AT}, {"$geometry": shape("Foo", 1, 1)}]:
        yield {"$near": value}
    for more in [{"$maxDistance": -1}, {"$maxDistance": "a"}, {"$minDistance": -1}, {"$minDistance": "a"}, {"$maxDistance": NAN},
                 {"$eq": 1}, {"$foo": 1}, {"$geometry": 1}, {"$uniqueDocs": True}, {"$minDistance": 2, "$maxDistance": 1}]:
        yield {"$near": [1, 1], **more}
    yield {"$near": {"$geometry": AT}, "$maxDistance": 1}
    for value in [[200, 1], [1, 1], AT, {"$geometry": AT, "$maxDistance": 5}]:
        yield {"$nearSphere": value}
    yield from [{"$geoNear": 1}, {"$geoNear": [1, 1]}, {"$not": {"$near": [1, 1]}}, {"$elemMatch": {"$near": [1, 1]}}]
    yield from [{"$eq": 1, "$near": [1, 1]}, {"$minDistance": 2, "$near": [1, 1]}]


def find(condition, **more):
    return {"find": "a", "filter": {"g": condition}, "projection": {"_id": 1}, **more}


def store():
    return [{"insert": "a", "documents": [{"_id": name, "g": value}]} for name, value in STORED.items()]


def conversation():
    """Every stored form against every query, what is refused, and what the indexes say."""
    yield from store()
    for condition in queries():
        yield find(condition, sort={"_id": 1})
    for condition in refusals():
        yield find(condition)
    for keys in [{"g": "2dsphere"}, {"g": "2d"}, {"g": "2dsphere", "h": 1}]:
        yield {"drop": "a"}
        yield {"createIndexes": "a", "indexes": [{"key": keys, "name": "n"}]}
        yield from store()
        yield find({"$exists": True}, sort={"_id": 1})
        for condition in queries():
            yield find(condition, sort={"_id": 1})
        yield find({"$gt": []}, hint="n", sort={"_id": 1})
        for condition in [near([1, 1]), {"$near": [1, 1]}, {"$nearSphere": [1, 1]}, {"$nearSphere": {"$geometry": AT}}]:
            yield find(condition, sort={"_id": 1})
            yield {"find": "a", "filter": {"g": condition, "_id": "point"}}
    for keys, options in [({"g": "2d"}, {"bits": 33}), ({"g": "2d"}, {"bits": 0}), ({"g": "2d"}, {"min": 5, "max": 1}),
                          ({"g": "2d", "h": "2d"}, {}), ({"a": 1, "g": "2d"}, {}), ({"g": "2d"}, {"min": -500, "max": 500, "bits": 10}),
                          ({"g": "2dsphere", "h": "2d"}, {})]:
        yield {"createIndexes": "b", "indexes": [{"key": keys, "name": "n", **options}]}
    yield {"insert": "b", "documents": [{"_id": 1, "g": [400, -400]}, {"_id": 2, "g": [501, 0]}]}
    yield {"createIndexes": "c", "indexes": [{"key": {"a.b": "2dsphere"}, "name": "n"}]}
    for value in [{"b": 5}, [{"b": 5}], [{"b": [1, 1]}, {"b": [2, 2]}], 5]:
        yield {"insert": "c", "documents": [{"_id": str(value), "a": value}]}
    yield {"find": "c", "filter": {"a.b": {"$geoWithin": {"$centerSphere": [[2, 2], 0.001]}}}}
    for keys in [{"g": "2dsphere"}]:
        yield {"createIndexes": "d", "indexes": [{"key": keys, "name": "n", "unique": True}]}
        for at, value in enumerate([[1, 1], [1, 1], None, [], [2, 2]]):
            yield {"insert": "d", "documents": [{"_id": at, "g": value}]}
        yield {"insert": "d", "documents": [{"_id": 9}]}
    yield {"createIndexes": "e", "indexes": [{"key": {"g": "2d"}, "name": "n", "unique": True}]}
    for at, value in enumerate([[1, 1], [1, 1], [2, 2]]):
        yield {"insert": "e", "documents": [{"_id": at, "g": value}]}
    grid = [{"_id": f"{x},{y}", "g": [x, y]} for x in range(-1, 7) for y in range(-1, 7)]
    yield {"insert": "g", "documents": grid}
    for corners in [[[0, 0], [5, 0], [5, 5]], [[0, 0], [0, 5], [5, 5]], [[0, 0], [4, 2], [4, 6], [0, 4]], [[0, 0], [3, 3], [6, 0]],
                    [[0, 0], [6, 3], [0, 6]], [[0, 3], [3, 0], [6, 3], [3, 6]], [[0, 0], [5, 5], [0, 5], [5, 0]]]:
        yield {"find": "g", "filter": {"g": {"$geoWithin": {"$polygon": corners}}}, "projection": {"_id": 1}}
        yield {"find": "g", "filter": {"g": geometry(shape("Polygon", ring(*corners)))}, "projection": {"_id": 1}}
    yield {"insert": "f", "documents": [{"_id": 1, "g": 5}]}
    yield {"createIndexes": "f", "indexes": [{"key": {"g": "2dsphere"}, "name": "n"}]}


def commands():
    """`$near` in the commands that choose documents, and where it may not stand."""
    yield {"createIndexes": "a", "indexes": [{"key": {"g": "2dsphere"}, "name": "g"}]}
    yield {"insert": "a", "documents": [{"_id": at, "g": [at, 0], "b": at % 2} for at in range(8)]}
    here = {"g": near([2.2, 0])}
    yield {"find": "a", "filter": here}
    yield {"find": "a", "filter": here, "skip": 1, "limit": 2}
    yield {"find": "a", "filter": {**here, "b": 1}}
    yield {"find": "a", "filter": here, "sort": {"_id": -1}}
    yield {"find": "a", "filter": here, "sort": {"$natural": 1}}
    for hint in [{"$natural": 1}, {"_id": 1}, "g", {"g": "2dsphere"}]:
        yield {"find": "a", "filter": here, "hint": hint}
    for clauses in [{"$and": [here, {"_id": {"$gt": 2}}]}, {"$or": [here]}, {"$or": [here, {"b": 1}]}, {"$nor": [here]},
                    {"g": here["g"], "h": here["g"]}, {"$and": [here, here]}, {"g": {"$elemMatch": {"b": near([1, 1])}}}]:
        yield {"find": "a", "filter": clauses}
    yield {"find": "a", "filter": {"h": near([1, 1])}}
    yield {"find": "a", "filter": {"h": near([1, 1]), "b": 1}}
    yield {"find": "none", "filter": here}
    yield {"count": "a", "query": here}
    yield {"count": "a", "query": {"g": near([2.2, 0], **{"$maxDistance": 200000, "$minDistance": 80000})}}
    yield {"distinct": "a", "key": "_id", "query": {"g": near([2.2, 0], **{"$maxDistance": 200000})}}
    yield {"update": "a", "updates": [{"q": here, "u": {"$set": {"c": 1}}}]}
    yield {"update": "a", "updates": [{"q": {"h": near([1, 1])}, "u": {"$set": {"c": 1}}}]}
    yield {"delete": "a", "deletes": [{"q": {"g": near([6.8, 0])}, "limit": 1}]}
    yield {"findAndModify": "a", "query": {"g": {"$nearSphere": [3.9, 0]}}, "update": {"$set": {"c": 2}}}
    yield {"find": "a"}
    yield {"aggregate": "a", "pipeline": [{"$match": here}], "cursor": {}}
    yield {"aggregate": "a", "pipeline": [{"$match": {"g": geometry(square(-1, 3))}}], "cursor": {}}
    yield {"aggregate": "a", "pipeline": [{"$limit": 1}, {"$match": here}], "cursor": {}}
    yield {"find": "a", "filter": {}, "projection": {"g": {"$elemMatch": here["g"]}}}
    yield {"update": "a", "updates": [{"q": {}, "u": {"$pull": {"g": here["g"]}}}]}
    yield {"update": "a", "updates": [{"q": {}, "u": {"$set": {"k.$[x]": 1}}, "arrayFilters": [{"x": here["g"]}]}]}
    yield {"createIndexes": "a", "indexes": [{"key": {"z": 1}, "name": "z", "partialFilterExpression": here}]}
    yield {"createIndexes": "a", "indexes": [{"key": {"z": 1}, "name": "z", "partialFilterExpression": {"g": geometry(square(0, 5))}}]}
    yield {"create": "v", "validator": here}
    within = {"g": geometry(square(0, 5))}
    for name, validator in [("v", within), ("w", {"$nor": [within]}), ("x", {"g": geometry(square(0, 5), "$geoIntersects")})]:
        yield {"create": name, "validator": validator}
        for at, value in enumerate([[1, 1], [50, 50], 5, AT, [[50, 50], [60, 60]]]):
            yield {"insert": name, "documents": [{"_id": at, "g": value}]}
        yield {"insert": name, "documents": [{"_id": 9}]}
    for keys in [{"b": 1, "g": "2dsphere"}, {"g": "2dsphere", "b": 1}, {"b": -1, "g": "2dsphere", "c": 1}]:
        yield {"dropIndexes": "a", "index": "*"}
        yield {"createIndexes": "a", "indexes": [{"key": keys, "name": "n"}]}
        for condition in [here["g"], {"$nearSphere": [2.2, 0], "$maxDistance": 0.05}, {"$near": [2.2, 0]}, geometry(square(-1, 3))]:
            for more in [{}, {"b": 1}, {"b": {"$gte": 0}}, {"c": 1}, {"b": 1, "c": {"$exists": False}}]:
                if "$near" in condition and "$geometry" not in condition["$near"] and more not in [{}, {"b": 1}]:
                    continue
                order = {} if "$near" in condition or "$nearSphere" in condition else {"sort": {"_id": 1}}
                yield {"find": "a", "filter": {"g": condition, **more}, **order}
    yield {"dropIndexes": "a", "index": "*"}
    yield {"createIndexes": "a", "indexes": [{"key": {"g": "2d", "b": 1}, "name": "n"}]}
    for condition in [{"$near": [2.2, 0]}, {"$near": [2.2, 0], "$maxDistance": 2}, {"$nearSphere": [2.2, 0]}, here["g"],
                      {"$nearSphere": [2.2, 0], "$maxDistance": 0.03, "$minDistance": 0.01}, {"$near": [500, 0]}]:
        for more in [{}, {"b": 1}, {"c": 1}]:
            yield {"find": "a", "filter": {"g": condition, **more}}


def point(source, spread):
    lng, lat = source.uniform(-180, 180), source.uniform(-85, 85)
    return [lng, lat] if spread is None else [max(-180, min(180, spread[0] + source.gauss(0, spread[2]))),
                                              max(-89, min(89, spread[1] + source.gauss(0, spread[2])))]


def polygon(source, spread, holes=True):
    center = point(source, spread)
    size = (spread[2] if spread else 20) * source.uniform(0.2, 2)
    count = source.randint(3, 9)
    angles = sorted(source.uniform(0, 2 * math.pi) for _ in range(count))

    def loop(factor):
        return ring(*([max(-180, min(180, center[0] + math.cos(angle) * factor * size)),
                       max(-89, min(89, center[1] + math.sin(angle) * factor * size))] for angle in angles))

    rings = [loop(1)]
    if holes and source.random() < 0.3:
        rings.append(loop(0.3))
    if source.random() < 0.3:
        rings[0].reverse()
    return rings


def drawn(source, spread, kinds):
    kind = source.choice(kinds)
    some = range(source.randint(1, 3))
    if kind == "pair":
        return point(source, spread)
    if kind == "Point":
        return shape(kind, *point(source, spread))
    if kind == "MultiPoint":
        return shape(kind, *(point(source, spread) for _ in some))
    if kind == "LineString":
        return shape(kind, *(point(source, spread) for _ in range(source.randint(2, 5))))
    if kind == "MultiLineString":
        return shape(kind, *([point(source, spread), point(source, spread)] for _ in some))
    if kind == "Polygon":
        return shape(kind, *polygon(source, spread))
    if kind == "MultiPolygon":
        return shape(kind, *(polygon(source, spread) for _ in some))
    return {"type": kind, "geometries": [drawn(source, spread, KINDS[1:-1]) for _ in some]}


KINDS = ["pair", "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"]


def condition(source, spread):
    kind = source.randint(0, 9)
    if kind <= 2:
        value = drawn(source, spread, ["Polygon", "Polygon", "MultiPolygon"])
        if source.random() < 0.2:
            value = {**shape("Polygon", polygon(source, spread, False)[0]), **STRICT}
        return geometry(value)
    if kind <= 5:
        return geometry(drawn(source, spread, KINDS[1:]), "$geoIntersects")
    size = spread[2] if spread else 40
    if kind == 6:
        return {"$geoWithin": {"$centerSphere": [point(source, spread), source.uniform(0, 2) * size / 57.3]}}
    if kind == 7:
        return {"$geoWithin": {"$box": [point(source, spread), point(source, spread)]}}
    if kind == 8:
        return {"$geoWithin": {"$polygon": [point(source, spread) for _ in range(source.randint(3, 7))]}}
    return {"$geoWithin": {"$center": [point(source, spread), source.uniform(0, 2) * size]}}


def randomly(seed, rounds, documents=25, questions=40):
    """Random shapes, some over the whole sphere and some close together, asked with and without an index."""
    source = random.Random(seed)
    for at in range(rounds):
        spread = source.choice([None, [*point(source, None), source.choice([0.001, 0.1, 5])]])
        name = f"r{at}"
        keys = source.choice([None, {"g": "2dsphere"}, {"b": 1, "g": "2dsphere"}, {"g": "2d"}])
        kinds = KINDS[:1] if keys == {"g": "2d"} else KINDS
        if keys:
            yield {"createIndexes": name, "indexes": [{"key": keys, "name": "n"}]}
        for number in range(documents):
            yield {"insert": name, "documents": [{"_id": number, "b": number % 3, "g": drawn(source, spread, kinds)}]}
        for _ in range(questions):
            filter = {"g": condition(source, spread)}
            if source.random() < 0.3:
                filter["b"] = 1
            yield {"find": name, "filter": filter, "projection": {"_id": 1}, "sort": {"_id": 1}}
        for _ in range(questions // 4 if keys else 0):
            more = {"b": 1} if "b" in keys or source.random() < 0.3 else {}
            where = point(source, spread)
            metres = {name: source.uniform(0, 2e6) for name in ["$maxDistance", "$minDistance"] if source.random() < 0.3}
            radians = {name: value / 6378100 for name, value in metres.items()}
            asked = [near(where, **metres)] if "2dsphere" in keys.values() else [{"$near": where, **radians}]
            for question in [*asked, {"$nearSphere": where, **radians}]:
                yield {"find": name, "filter": {"g": question, **more}, "projection": {"_id": 1}}


def grids():
    """2d indexes that tell few squares apart, 2dsphere ones of old versions, and what an index refuses."""
    places = [[0, -5], [[4, -1]], [3, 5], {"x": -4, "y": -1}, [], [0, -1], [[-6, -5], [-6, 2, 1]], [[-1, 6]], None, [-4, 3], [5, 5]]
    regions = [{"$box": [[-3, 0], [4, -5]]}, {"$box": [[-6, 6], [-1, 0]]}, {"$center": [[-4, 4], 3]}, {"$center": [[2, -4], 5]},
               {"$polygon": [[-3, 5], [0, 5], [0, 7], [-3, 7]]}, {"$centerSphere": [[0, 0], 0.1]}]
    for options in [{"bits": 1}, {"bits": 2}, {"bits": 5}, {"bits": 32}, {"bits": 3, "min": -10, "max": 10}, {"bits": 2.9, "min": -6, "max": 6}]:
        yield {"createIndexes": "a", "indexes": [{"key": {"g": "2d"}, "name": "g", **options}]}
        for number, place in enumerate(places):
            yield {"insert": "a", "documents": [{"_id": number, "g": place}]}
        for region in regions:
            yield {"find": "a", "filter": {"g": {"$geoWithin": region}}, "sort": {"_id": 1}, "projection": {"_id": 1}}
        yield {"find": "a", "filter": {"g": {"$near": [-4, 2.5], "$maxDistance": 4}}, "projection": {"_id": 1}}
        yield {"drop": "a"}
    arrays = [[{"g": None}, {"g": None}], [{"g": []}, {"g": None}], [{"g": [0, 0]}, {"g": None}], [{"g": [0, 0]}, {"g": []}], [{"g": [0, 0]}, {"g": {}}],
              [{"g": []}, {"g": {}}], [{}, {"g": [0, 0]}], [{"g": []}], {"g": []}, [{"g": [0, 0]}, {"g": [0, 0]}], [{"g": 5}, {"g": [0, 0]}]]
    alone = [None, [], {}, 5, shape("MultiPoint", [1, 1]), {"type": "GeometryCollection", "geometries": [AT]}, [1, 1], {"x": 1, "y": 1}, [[1, 1], [2, 2]],
             square(0, 1), shape("LineString", [0, 0], [1, 1]), shape("MultiPolygon", square(0, 1)["coordinates"])]
    for version in [1, 2, 3]:
        yield {"createIndexes": "b", "indexes": [{"key": {"a.g": "2dsphere"}, "name": "g", "2dsphereIndexVersion": version}]}
        yield from ({"insert": "b", "documents": [{"_id": number, "a": value}]} for number, value in enumerate([*arrays, *({"g": value} for value in alone)]))
        yield {"find": "b", "filter": {"a.g": geometry(square(-1, 2), "$geoIntersects")}, "sort": {"_id": 1}, "projection": {"_id": 1}}
        yield {"drop": "b"}
    for before in [[], [{"create": "c"}], [{"insert": "c", "documents": [{"_id": 1}]}]]:
        for key, options in [({"g": "2d"}, {"bits": 0}), ({"g": "2d"}, {"bits": 33}), ({"g": "2d"}, {"max": NAN}), ({"g": "2d"}, {"min": 5.5, "max": 5.5}),
                             ({"n": 1, "g": "2d"}, {}), ({"g": "2d", "n": "2d"}, {}), ({"g": "2dsphere"}, {"finestIndexedLevel": 40}), ({"g": "hashed"}, {"unique": True})]:
            yield from before
            yield {"createIndexes": "c", "indexes": [{"key": key, "name": "g", **options}]}
            yield {"drop": "c"}


def distances():
    """Odd distances, hints, strict polygons of several rings, and the antimeridian's two names."""
    yield {"insert": "a", "documents": [{"_id": number, "g": [number, 0], "n": 1} for number in range(5)]}
    yield {"createIndexes": "a", "indexes": [{"key": {"g": "2d"}, "name": "flat"}, {"key": {"g": "2dsphere"}, "name": "round"}, {"key": {"n": 1}, "name": "n"}]}
    origin = shape("Point", 0, 0)
    for value in [INF, -INF, NAN, -0.0, -1, 0, 1e308, Decimal128("Infinity"), Decimal128("-0"), True, "x", None]:
        for name in ["$maxDistance", "$minDistance"]:
            for asked in [{"$near": {"$geometry": origin, name: value}}, {"$near": [0, 0], name: value}, {"$nearSphere": origin, name: value}]:
                yield {"find": "a", "filter": {"g": asked}, "projection": {"_id": 1}}
        yield {"find": "a", "filter": {"g": {"$near": [0, 0, value]}}, "projection": {"_id": 1}}
    for hint in ["flat", "round", "zork", {"zork": 1}, {"g": "2d"}]:
        for asked in [{"$near": [0, 0]}, {"$near": {"$geometry": origin}}]:
            yield {"find": "a", "filter": {"g": asked}, "projection": {"_id": 1}, "hint": hint}
    crossed = ring([6, 2], [-1, -2], [-6, 5], [-4, 6], [1, -3])
    for rings in [[], [crossed, crossed], [crossed], [square(0, 1)["coordinates"][0], []]]:
        yield {"find": "a", "filter": {"g": geometry(shape("Polygon", *rings, **STRICT))}, "projection": {"_id": 1}}
    yield {"insert": "b", "documents": [{"_id": number, "g": value} for number, value in enumerate(
        [[180, -89], [-180, -89], shape("Point", 180, -89), shape("Point", -180, -89), shape("MultiPoint", [-180, -89], [180, -89])])]}
    for longitude in [180, -180]:
        for radius in [0, 1e-300, 1e-12, 1e-9]:
            yield {"find": "b", "filter": {"g": {"$geoWithin": {"$centerSphere": [[longitude, -89], radius]}}}, "projection": {"_id": 1}}
    # A point is as large as a cell of a centimetre.
    around = [[x + by, y + by] for x, y in [[10, 10], [90, 0], [45, 45]] for by in [0, 1e-10, 3e-9, 1e-8, 1e-7, -1e-8]]
    yield {"insert": "d", "documents": [{"_id": number, "g": value} for number, value in enumerate(around)]}
    for center in around:
        for radius in [0, 1e-12, 1e-9 / 3]:
            yield {"find": "d", "filter": {"g": {"$geoWithin": {"$centerSphere": [center, radius]}}}, "projection": {"_id": 1}}



def geo_near_stage():
    """$geoNear: which documents, in which order, with which distances."""
    here = shape("Point", 0, 0)
    sphere = {"near": here, "distanceField": "d"}
    plane = {"near": [0, 0], "distanceField": "d"}
    index, insert, run, create = record_commands.index, record_commands.insert, record_commands.run, record_commands.create
    stage = lambda spec, **more: {"$geoNear": {**spec, **more}}
    yield insert("s", *({"_id": at, "n": at % 3, "loc": shape("Point", at * 0.1, 0.0), "in": {"p": [at, at]}} for at in range(6)),
                 {"_id": 9, "loc": shape("MultiPoint", [0.05, 0], [0.02, 0])}, {"_id": 10, "loc": shape("LineString", [0.3, 0.1], [0.4, 0.1])}, {"_id": 11}, {"_id": 12, "loc": [7, 7]})
    yield insert("f", *({"_id": at, "loc": [at, at], "n": at % 2} for at in range(6)), {"_id": 9, "loc": [[0.5, 0], [0, 0.25]]}, {"_id": 10, "loc": {"x": 1, "y": 1.5}}, {"_id": 11})
    for name in ("both", "two", "planes", "same"):
        yield insert(name, *({"_id": at, "g": [at, at], "h": [at, -at / 2]} for at in range(4)))
    yield from [create(index([("loc", "2dsphere")], "loc"), collection="s"), create(index([("loc", "2d")], "loc"), collection="f"), create(index([("loc", "2dsphere")], "loc"), collection="empty")]
    yield from [create(index([("g", "2dsphere")], "g"), index([("h", "2d")], "h"), collection="both"), create(index([("g", "2dsphere")], "g"), index([("h", "2dsphere")], "h"), collection="two")]
    yield from [create(index([("g", "2d")], "g"), index([("h", "2d")], "h"), collection="planes"), create(index([("g", "2dsphere")], "s"), index([("g", "2d")], "p"), collection="same")]
    yield insert("none", {"_id": 1, "loc": [0, 0]})
    for more in ({}, {"includeLocs": "at.x"}, {"query": {"n": 1}}, {"query": {"n": {"$gt": 0}, "_id": {"$lt": 5}}}, {"maxDistance": 20000, "minDistance": 5000}, {"distanceMultiplier": 0.001, "maxDistance": 20000}, {"key": "loc", "spherical": True}, {"spherical": False},
                 {"distanceMultiplier": 0}, {"distanceField": "loc"}, {"distanceField": "_id"}, {"distanceField": "loc.type"}, {"distanceField": "n.x"}, {"includeLocs": "d.x"}, {"includeLocs": "d"}, {"maxDistance": Decimal128("20000")}, {"near": shape("Point", 0.25, 0.05), "query": {"_id": {"$lt": 9}}}):
        yield run(stage(sphere, **more), collection="s")
    for more in ({}, {"near": {"x": 0, "y": 0}}, {"maxDistance": 0.004}, {"minDistance": 0.002, "includeLocs": "l"}):
        yield run(stage(plane, spherical=True, **more), collection="s")
    for more in ({}, {"distanceField": "d.e", "includeLocs": "l", "distanceMultiplier": 2}, {"spherical": True}, {"maxDistance": 2, "minDistance": 1.2}, {"near": [0, 0, 2]}, {"query": {"n": 1}, "includeLocs": "l"}, {"near": [500, 0]}, {"near": here, "spherical": True}, {"near": here}):
        yield run(stage(plane, **more), collection="f")
    for collection in ("both", "two", "planes", "same", "none", "nope", "empty"):
        for spec in (sphere, plane, {**sphere, "key": "g"}, {**plane, "key": "h"}):
            yield run(stage(spec), {"$limit": 2}, collection=collection)
    # The rest of a pipeline, and where the stage may stand.
    yield run(stage(sphere), {"$match": {"d": {"$lt": 20000}}}, {"$group": {"_id": None, "n": {"$sum": 1}, "most": {"$max": "$d"}}}, collection="s")
    yield run({"$match": {}}, stage(sphere), {"$limit": 1}, collection="s")
    for before in ({"$match": {"n": 1}}, {"$limit": 5}, stage(sphere), {"$project": {"loc": 1}}):
        yield run(before, stage(sphere), collection="s")
    yield run({"$facet": {"x": [stage(sphere)]}}, collection="s")
    yield from [{**run(stage(sphere), {"$limit": 1}, collection="s"), "hint": hint} for hint in ("loc", "_id_", {"loc": "2dsphere"}, "nope")]
    yield {**run(stage(sphere), collection="s"), "cursor": {"batchSize": 2}}
    yield from [run(stage(sphere, maxDistance=15000), {"$out": "out"}, collection="s"), record_commands.find("out", sort={"d": 1})]
    # Variables.
    lets = {"p": here, "x": 0.13, "k": 1, "w": "x"}
    for more in ({"near": "$$p"}, {"near": {"type": "Point", "coordinates": ["$$x", 0]}}, {"near": ["$$x", 0], "spherical": True}, {"query": {"$expr": {"$eq": ["$n", "$$k"]}}}, {"near": "$$w"}, {"near": "$a"}, {"near": "$$nope"}, {"maxDistance": "$$k"}, {"near": {"$literal": here}}):
        yield {**run(stage(sphere, **more), {"$limit": 2}, collection="s"), "let": lets}
    yield insert("q", {"_id": 1, "p": here}, {"_id": 2, "p": shape("Point", 0.4, 0)})
    near_each = stage(sphere, near="$$p", maxDistance=15000)
    yield run({"$lookup": {"from": "s", "let": {"p": "$p"}, "pipeline": [near_each, {"$project": {"d": 1}}], "as": "l"}}, collection="q")
    yield run({"$lookup": {"from": "s", "pipeline": [stage(sphere), {"$limit": 1}], "as": "l"}}, collection="q")
    yield run({"$lookup": {"from": "s", "let": {"p": "$_id"}, "pipeline": [near_each], "as": "l"}}, collection="q")
    yield run({"$unionWith": {"coll": "s", "pipeline": [stage(sphere), {"$limit": 2}]}}, collection="q")
    # Views.
    yield from [{"create": "whole", "viewOn": "s", "pipeline": []}, {"create": "part", "viewOn": "s", "pipeline": [{"$match": {"n": 1}}]}, {"create": "close", "viewOn": "s", "pipeline": [stage(sphere, maxDistance=20000)]}]
    yield from [run(stage(sphere), {"$limit": 1}, collection="whole"), run(stage(sphere), collection="part"), run(collection="close"), run({"$match": {"n": 0}}, collection="close"), record_commands.find("close", {"n": 1}), run(stage(sphere), collection="close")]
    yield from [run({"$lookup": {"from": name, "pipeline": stages, "as": "l"}}, collection="q") for name, stages in (("close", [{"$project": {"d": 1}}]), ("whole", [stage(sphere), {"$limit": 1}]))]


def geo_near_faults():
    """Specifications of $geoNear that are wrong."""
    sphere = {"near": shape("Point", 0, 0), "distanceField": "d"}
    yield record_commands.insert("a", {"_id": 1, "loc": [0, 0]})
    yield record_commands.create(record_commands.index([("loc", "2dsphere")], "loc"))
    for spec in (5, "x", {}, {"near": sphere["near"]}, {"distanceField": "d"}):
        yield record_commands.run({"$geoNear": spec})
    for more in ({"distanceField": 5}, {"distanceField": ""}, {"distanceField": "$a"}, {"distanceField": "a..b"}, {"includeLocs": 1}, {"includeLocs": ""}, {"includeLocs": "$a"}, {"key": 1}, {"key": ""}, {"key": "$x"}, {"key": "a..b"}, {"key": None},
                 {"maxDistance": "x"}, {"maxDistance": -1}, {"maxDistance": None}, {"minDistance": "x"}, {"minDistance": -1}, {"distanceMultiplier": "x"}, {"distanceMultiplier": -2}, {"query": 1}, {"query": {"$near": 1}}, {"query": {"loc": {"$near": [0, 0]}}}, {"query": {"$zork": 1}}, {"query": {"a": {"$zork": 1}}},
                 {"limit": 2}, {"num": 2}, {"near": "x"}, {"near": 5}, {"near": None}, {"near": [1]}, {"near": ["a", "b"]}, {"near": shape("Polygon", ring([0, 0], [1, 0], [1, 1]))}, {"near": shape("Point", 200, 0)}, {"near": [200, 100], "spherical": True}, {"near": {}}, {"near": {"x": 1}}, {"spherical": "x"}, {"spherical": 0}, {"spherical": None}):
        yield record_commands.run({"$geoNear": {**sphere, **more}})


def geo_near_metadata():
    """$meta of a distance and of the nearest point."""
    here, distance, point = shape("Point", 0, 0), {"$meta": "geoNearDistance"}, {"$meta": "geoNearPoint"}
    stage = {"$geoNear": {"near": here, "distanceField": "d"}}
    run = lambda *stages: record_commands.run(*stages, collection="s")
    yield record_commands.insert("s", *({"_id": at, "n": at % 3, "loc": shape("Point", at * 0.1, 0.0)} for at in range(6)), {"_id": 9, "loc": shape("MultiPoint", [0.05, 0], [0.02, 0])})
    yield record_commands.insert("f", *({"_id": at, "n": at % 3, "loc": [at, at]} for at in range(6)), {"_id": 9, "loc": [[0.5, 0], [0, 0.25]]})
    yield from [record_commands.create(record_commands.index([("loc", "2dsphere")], "loc"), collection="s"), record_commands.create(record_commands.index([("loc", "2d")], "loc"), collection="f")]
    for rest in ([{"$project": {"m": distance, "p": point}}], [{"$addFields": {"m": distance, "p": point}}], [{"$sort": {"x": distance}}, {"$project": {"d": 1}}], [{"$sort": {"n": 1, "x": distance}}, {"$project": {"d": 1}}], [{"$sort": {"x": point}}], [{"$group": {"_id": None, "m": {"$max": distance}}}],
                 [{"$match": {"$expr": {"$gt": [distance, 10000]}}}], [{"$unwind": "$loc.coordinates"}, {"$project": {"m": distance}}], [{"$replaceRoot": {"newRoot": {"a": distance}}}], [{"$sort": {"_id": -1}}, {"$project": {"m": distance}}], [{"$match": {"n": 1}}, {"$skip": 1}, {"$project": {"m": {"$add": [distance, 1]}}}],
                 [{"$lookup": {"from": "f", "pipeline": [], "as": "l"}}, {"$limit": 1}, {"$project": {"m": distance}}], [{"$lookup": {"from": "s", "pipeline": [stage, {"$skip": 3}, {"$limit": 1}, {"$project": {"m": distance}}], "as": "l"}}, {"$project": {"m": distance, "l": 1}}], [{"$sort": {"x": {"$meta": "textScore"}}}], [{"$project": {"m": {"$meta": "textScore"}}}]):
        yield run(stage, *rest)
    for stages in ([{"$project": {"m": distance}}], [{"$sort": {"x": distance}}], [{"$match": {"n": 1}}, {"$addFields": {"m": point}}], [{"$match": {"$expr": distance}}], [{"$lookup": {"from": "s", "pipeline": [stage], "as": "l"}}, {"$project": {"m": distance}}]):
        yield run(*stages)
    for collection, query in (("s", {"loc": {"$near": {"$geometry": here}}}), ("s", {"loc": {"$nearSphere": [0, 0]}}), ("f", {"loc": {"$near": [0, 0]}}), ("f", {"n": 1, "loc": {"$near": [0, 0], "$maxDistance": 3}}), ("f", {"loc": {"$geoWithin": {"$center": [[0, 0], 3]}}}), ("f", {"n": 1}), ("nope", {})):
        for options in ({"projection": {"m": distance, "p": point}}, {"sort": {"m": distance}}, {"sort": {"m": distance}, "projection": {"m": distance}}, {"sort": {"_id": -1}, "projection": {"m": distance}, "limit": 2}, {"projection": {"_id": 1, "m": distance}, "skip": 1}):
            yield record_commands.find(collection, query, **options)
    for fields in ({"m": distance}, {"m": point}):
        yield {"findAndModify": "f", "query": {"loc": {"$near": [1, 1]}}, "update": {"$inc": {"k": 1}}, "fields": fields}
    yield {"findAndModify": "f", "query": {"n": 1}, "update": {"$inc": {"k": 1}}, "fields": {"m": distance}}


TOPICS = {"geo": conversation, "geo_commands": commands, "geo_distances": distances, "geo_grids": grids, "geo_random": lambda: randomly(1, 8),
          "geo_near_stage": geo_near_stage, "geo_near_faults": geo_near_faults, "geo_near_metadata": geo_near_metadata}

if __name__ == "__main__":
    topics = dict(TOPICS)
    for argument in sys.argv[2:]:
        name, _, seed = argument.partition("=")
        if seed:
            topics[name] = lambda seed=seed: randomly(int(seed), 60)
    record_commands.main(sys.argv[1], *(argument.partition("=")[0] for argument in sys.argv[2:]), topics=topics)
