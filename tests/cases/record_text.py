"""Records what a real mongod answers to text searches: see record_commands.py, which takes the same arguments."""

import sys

from bson.son import SON

from record_commands import BY_ID, FM, create, find, index, insert, main, run, update

TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


SCORE = {"$meta": "textScore"}


def text(search, **options):
    return {"$text": {"$search": search, **{f"${name}": value for name, value in options.items()}}}


@topic
def text_search():
    by_score = {"sort": SON([("s", SCORE), ("_id", 1)]), "projection": {"s": SCORE}}
    words = [
        "the coffee shop", "Coffee coffee shops", "shopping for coffee, coffee and cake", "café au lait",
        "Cafe\u0301 CAFÉ", "a shop-window: no coffee", ["running", "runs", "ran a run"], {"t": "coffee"}, "naïve", 7,
    ]
    yield find("a", text("coffee"))
    yield create(index([("t", "text")]))
    yield insert("a", *({"_id": i, "t": t, "n": i % 3} for i, t in enumerate(words)))
    for search in [
        text("coffee"), text("COFFEE shop"), text("shops -cake"), text('"coffee shop"'), text('coffee -"coffee shop"'),
        text("run"), text("the"), text(""), text("-coffee"), text('"COFFEE" cake -the'), text("cafe"), text("naive cafe lait"),
        text("Café", caseSensitive=True), text("café", diacriticSensitive=True), text("naïve", diacriticSensitive=True),
        text("Cafe", caseSensitive=True, diacriticSensitive=False), text("shops", language="none"),
        text("shops", language="english"), text("running", language="fr"), text('"of'), text("- coffee"), text("--coffee shop"),
        text("coffee\t-shop"), text("coffee-shop"), text("coffee -shop-window run"),
    ]:
        yield find("a", search, **by_score)
    yield find("a", {**text("coffee"), "n": 1}, sort={"_id": 1})
    yield find("a", {"$and": [text("coffee"), {"n": {"$ne": 1}}]}, **by_score)
    yield find("a", {"$or": [text("coffee"), {"_id": 9}]}, **by_score)
    yield find("a", text("coffee"), sort=SON([("n", 1), ("s", SCORE), ("_id", 1)]), skip=1, limit=2)
    yield find("a", text("coffee"), sort={"_id": 1}, projection=SON([("n", 1), ("s", SCORE)]))
    yield find("a", text("coffee"), sort={"_id": 1}, projection=SON([("t", 0), ("s", SCORE)]))
    yield find("a", text("coffee"), sort={"_id": 1}, projection={"n": SCORE, "x.y": SCORE})
    yield find("a", text("coffee"), sort={"_id": 1}, projection={"n": {"$add": [SCORE, 1]}})
    yield {"count": "a", "query": text("coffee")}
    yield {"distinct": "a", "key": "n", "query": text("coffee")}
    yield update("a", {"q": text("cake"), "u": {"$set": {"t": "no more of it"}}, "multi": True})
    yield {"count": "a", "query": text("cake")}
    yield {"count": "a", "query": text("more")}
    yield {FM: "a", "query": text("coffee"), "sort": SON([("s", SCORE), ("_id", 1)]), "remove": True, "fields": {"s": SCORE}}
    yield {"delete": "a", "deletes": [{"q": text("coffee"), "limit": 0}]}
    yield find("a", sort={"_id": 1})


@topic
def text_pipelines():
    yield create(index([("t", "text")]))
    yield insert("a", *({"_id": i, "t": t, "n": [i, 0]} for i, t in enumerate(["one", "one two", "one one", "two"])))
    found = {"$match": text("one")}
    by_score = {"$sort": SON([("s", SCORE), ("_id", 1)])}
    yield run(found, BY_ID)
    yield run(found, by_score)
    yield run(found, {"$project": {"s": SCORE}}, BY_ID)
    yield run(found, by_score, {"$limit": 2}, {"$set": {"s": SCORE}})
    yield run(found, {"$unwind": "$n"}, {"$project": {"n": 1}}, by_score, {"$set": {"s": SCORE}})
    yield run(found, {"$group": {"_id": None, "most": {"$max": SCORE}, "sum": {"$sum": SCORE}}})
    yield run(found, {"$replaceRoot": {"newRoot": {"s": SCORE}}}, {"$sort": {"s": 1}})
    yield run({"$limit": 1}, found)
    yield run(found, found)
    yield run({"$project": {"s": SCORE}})
    yield run(by_score)
    yield run(found, {"$match": {"$expr": {"$gt": [SCORE, 1]}}})
    yield run(found, {"$set": {"s": {"$meta": "searchScore"}}}, BY_ID)
    yield run({"$set": {"s": {"$meta": ["textScore"]}}})
    yield run({"$set": {"s": {"$meta": "score"}}})


@topic
def text_specifications():
    """Specifications in the form that `listIndexes` tells, as dumps have them."""
    stored = [("_fts", "text"), ("_ftsx", 1)]
    weights = {"weights": {"b": 5, "a": 1}}
    for parts, options in [
        (stored, weights), (stored, {}), (stored, {"weights": {}}), (stored, {"weights": "a"}),
        (stored, {"weights": {"a": "x"}}), (stored, {"weights": {"a": 0}}), (stored, {"weights": {"$**": 1}}),
        (stored, {"weights": {"a": 1}, "default_language": "klingon"}),
        ([("p", 1), *stored, ("q", -1)], weights), ([("_fts", "text")], weights), (stored[::-1], weights),
        ([("_fts", "text"), ("b", 1), ("_ftsx", 1)], weights), ([("_fts", "text"), ("_ftsx", 2)], weights),
        ([("_fts", "text"), ("_ftsx", 1.0)], weights), ([("_fts", "text"), ("_ftsx", "text")], weights),
        ([*stored, ("b", "text")], weights), ([("b", "text"), *stored], weights), ([("a", "text"), ("_ftsx", 1)], {}),
        ([("_ftsx", 1), ("a", "text")], {}), ([("p", 1), ("_ftsx", 1), ("_fts", "text")], weights),
        ([*stored, ("_ftsx2", 1)], weights), ([("_ftsx", 1)], {}), ([("a", "text")], {"weights": {"a": "x"}}),
        ([("a", "text")], {"weights": {"a": 99_999}}), ([("a", "text")], {"weights": {"a": 100_000}}),
    ]:
        yield create(index(parts, **options))
        yield {"listIndexes": "a"}
        yield insert("a", {"_id": 0, "a": "word", "b": "other", "_fts": "third", "p": 1})
        for search in ["word", "other", "third"]:
            yield find("a", {**text(search), "p": 1})
        yield {"drop": "a"}


@topic
def text_indexes():
    long = {"a": "word", "b": {"c": ["word word", {"d": "word"}]}, "p": 1}
    french = {"_id": 1, "a": "les mots", "language": "fr", "b": {"language": "none", "c": "les mots"}}
    for parts, options in [
        ([("a", "text"), ("b.c", "text")], {"weights": {"a": 5, "b.c.d": 2}}),
        ([("$**", "text")], {}),
        ([("$**", "text")], {"weights": {"b.c": 10, "$**": 3}, "default_language": "french"}),
        ([("a", "text")], {"language_override": "in", "default_language": "none"}),
        ([("p", 1), ("a", "text"), ("q", -1)], {}),
        ([("a", "text")], {"partialFilterExpression": {"p": {"$gt": 0}}}),
    ]:
        yield create(index(parts, **options))
        yield insert("a", {"_id": 0, **long}, french, {"_id": 2, "a": "Word", "in": "none"})
        for search in ["word", "les", "mot", "mots"]:
            yield find("a", {**text(search), "p": 1}, sort={"_id": 1}, projection={"s": SCORE})
        yield insert("a", {"_id": 3, "language": "klingon"})
        yield insert("a", {"_id": 4, "language": 4})
        yield insert("a", {"_id": 5, "a": "word", "p": [1]})
        yield {"drop": "a"}
    yield create(index([("a", "text")]))
    yield create(index([("b", "text")], name="other"))
    yield create(index([("a", "text"), ("b", 1), ("c", "text")], name="apart"))
    yield create(index([("a", "text")], default_language="porter"), collection="b")
    yield create(index([("a", "text")], default_language="klingon"), collection="b")


@topic
def text_refusals():
    yield create(index([("t", "text")]))
    yield insert("a", {"_id": 1, "t": "a word", "z": [1, 2]})
    yield insert("b", {"_id": 1})
    word = text("word")
    for filter in [
        {"$text": 1}, {"$text": {}}, {"$text": {"$search": 1}}, text("a", language=1), text("a", language="klingon"),
        text("a", caseSensitive=1), text("a", diacriticSensitive="x"), text("a", fast=True), {"$and": [word, word]},
        {"$nor": [word]}, {"x": word}, {"x": {"$not": word}}, {"x": {"$elemMatch": word}},
    ]:
        yield find("a", filter)
    yield find("b", word)
    yield find("a", word, hint="_id_")
    yield find("a", word, sort={"$natural": 1})
    yield find("a", sort={"s": SCORE})
    yield find("a", projection={"s": SCORE})
    for meta in ["fast", 1, "searchScore", "searchHighlights", "recordId"]:
        yield find("a", word, sort={"s": {"$meta": meta}})
    yield find("a", word, sort={"s": {"x": 1}})
    yield find("a", word, sort={"s": SON([("$meta", "textScore"), ("x", 1)])})
    yield find("a", word, projection={"s": {"$meta": "fast"}})
    yield find("a", word, projection={"s": {"$meta": 1}})
    yield find("a", {**word, "z": 2}, projection={"z.$": 1})
    yield update("a", {"q": {"_id": 1}, "u": {"$pull": {"z": word}}})
    yield update("a", {"q": {"_id": 1}, "u": {"$set": {"z.$[x]": 1}}, "arrayFilters": [{"x": 1, **word}]})
    yield update("a", {"q": {**word, "z": 2}, "u": {"$set": {"z.$": 9}}})
    yield find("a")
    yield {"create": "c", "validator": word}
    yield create(index([("q", 1)], name="q", partialFilterExpression=word))


@topic
def text_words():
    """Words that are none: stop words of another language, marks of the order of bytes, and terms that only an alternative has."""
    by_id = {"sort": {"_id": 1}, "projection": {"s": SCORE}}
    yield create(index([("t", "text")]))
    yield insert("a", {"_id": 0, "t": "a cat in the house", "language": "none"}, {"_id": 1, "t": "a cat in the house"})
    yield insert("a", {"_id": 2, "t": "la maison et le chat", "language": "fr"}, {"_id": 3, "t": "chat", "language": "fr"})
    for search in ["cat -a", "cat -the", "chat -le", "house cat -in -dog"]:
        for language in ["english", "none", "french", "swedish"]:
            yield find("a", text(search, language=language), **by_id)
            yield find("a", text(search, language=language, caseSensitive=True), **by_id)
    yield {"drop": "a"}
    yield create(index([("t", "text")]))
    yield insert("a", *({"_id": at, "t": t} for at, t in enumerate(
        ["x y", "\ufeffx y", "a\ufeffb", "\ufeffX", "X", "the \ufeffthe", "\ufeff", "`the^ X^", "^", "x\ufeff\ufeffy"])))
    for search in ["x", "X", "\ufeffX", "ab", "a\ufeffb", "the", "\ufeff", '"\ufeffX" x', '"\ufeffthe" x', '-"\ufeffx" x', "-\ufeffX x", '"ab" ab', '"`X" x', "^"]:
        for options in [{}, {"caseSensitive": True}, {"diacriticSensitive": True}, {"caseSensitive": True, "diacriticSensitive": True}]:
            yield find("a", text(search, **options), **by_id)
    yield {"drop": "a"}
    yield create(index([("t", "text")]), index([("q", 1)], name="q"))
    yield insert("a", *({"_id": at, "t": "x " * (at % 3 + 1) + ("y" if at == 4 else ""), "p": at % 3, "q": at % 2} for at in range(6)))
    for search in ['"x zork" x', "x -y", '"x y"', "y"]:
        word = text(search)
        for filter in [
            {"$or": [word, {"_id": 1}]}, {"$or": [{"$or": [word, {"_id": 1}]}, {"_id": 2}]},
            {"$or": [{"$and": [word, {"p": 1}]}, {"_id": {"$in": [1, 2]}}]},
            {"$or": [{"$and": [{"$or": [word, {"_id": 1}]}, {"p": 1}]}, {"q": 1}]},
            {"$and": [{"$or": [word, {"_id": 1}]}, {"p": 1}]},
        ]:
            yield find("a", filter, **by_id)


@topic
def text_partial():
    """What a filter must say of types before a partial text index serves; and a unique one."""
    for partial in [{"p": {"$type": "int"}}, {"p": {"$type": "number"}}, {"p": {"$type": ["int", "string"]}}, {"p": {"$gt": 0}}, {"p": {"$exists": True}}]:
        yield create(index([("t", "text")], partialFilterExpression=partial))
        yield insert("a", {"_id": 0, "t": "word", "p": 1}, {"_id": 1, "t": "word", "p": "s"}, {"_id": 2, "t": "word", "p": [1, "s"]}, {"_id": 3, "t": "word"})
        for given in [{"p": {"$type": "int"}}, {"p": {"$type": "number"}}, {"p": {"$type": ["int", "string"]}}, {"p": {"$type": "string"}}, {"p": 1}, {"p": {"$gt": 0}}, {"p": {"$exists": True}}]:
            yield {"count": "a", "query": {**text("word"), **given}, "$only": ["n", "code", "ok"]}
        yield {"drop": "a"}
    for parts in [[("t", "text")], [("p", 1), ("t", "text"), ("q", -1)]]:
        yield create(index(parts, unique=True))
        yield insert("a", {"_id": 0, "t": "a word or two", "p": 1, "q": "x"})
        yield insert("a", {"_id": 1, "t": "two, or a word", "p": 1, "q": "x"})
        yield insert("a", {"_id": 2, "t": "no word", "p": 1.0, "q": "y"})
        yield {"drop": "a"}
        yield insert("a", {"_id": 0, "t": "word"}, {"_id": 1, "t": "word"})
        yield create(index(parts, unique=True))
        yield {"drop": "a"}


@topic
def text_prefix():
    """What is an equality for the fields before the words, and which fault of a pipeline with $text is told."""
    documents = [{"_id": at, "t": "x " * (at + 1), "q": at % 2, "p": at % 3 or None} for at in range(6)]
    equal = {"p": {"$elemMatch": {"$eq": 1}}}
    for options in [{}, {"sparse": True}]:
        yield create(index([("p", 1), ("t", "text")], **options))
        yield insert("a", *documents)
        for beside in [
            {"p": {"$all": [1]}}, {"$and": [{"$and": [{"p": 1}]}]}, {"p": None}, {"p": {"$in": [None]}}, {"$or": [{"p": 1}]}, {"p": {"$all": [1, 2]}}, equal,
            {"p": {"$eq": 1, "$gt": 0}}, {"$nor": [{"p": {"$ne": 1}}]}, {"p": {"$not": {"$ne": 1}}}, {"p": {"$gte": 1, "$lte": 1}}, {"p": [1]}, {"p": {}},
            {"p": {"$exists": False}}, {"p": {"$type": "null"}}, {"$expr": {"$eq": ["$p", 1]}}, {"p": {"$all": [None]}}, {"p": {"$in": [1, 1]}}, {"$or": [{"p": 1}, {"p": 1}]},
        ]:
            yield {"count": "a", "query": {**text("x"), **beside}, "$only": ["n", "code", "ok"]}
        yield {"drop": "a"}
    yield create(index([("t", "text")]))
    yield insert("a", *documents)
    word, first = text("x"), {"$limit": 1}
    for stages in [
        [{"$match": {"t": word}}, {"$project": {"s": SCORE}}], [{"$match": {"$expr": word}}, {"$sort": {"s": SCORE}}], [{"$match": {"t": {"$elemMatch": word}}}, {"$set": {"s": SCORE}}],
        [first, {"$match": text("x", fast=True)}], [first, {"$match": word}], [{"$project": {"s": SCORE}}, {"$limit": 0}], [{"$match": word}, {"$limit": 0}], [{"$limit": 0}, {"$match": word}],
        [{"$sort": {"s": SCORE}}, {"$match": {"$foo": 1}}], [first, {"$match": word}, {"$match": {"$expr": {"$gt": [SCORE, 1]}}}], [{"$match": {"$expr": {"$gt": [SCORE, 1]}}}],
        [{"$match": {"t": {"p": 1, **word}}}, {"$set": {"s": SCORE}}],
    ]:
        yield run(*stages)


@topic
def text_modify():
    """What a findAndModify is refused before it has a plan."""
    yield insert("a", {"_id": 1, "t": "word"})
    word = text("word")
    for _ in range(2):
        for filter, options in [
            (word, {"hint": "_id_"}), (word, {"hint": {"$natural": 1}}), (text("word", language="zork"), {}), (word, {"sort": {"$natural": 1}}),
            ({"$and": [word, {"g": {"$near": [1, 1]}}]}, {}), ({}, {"sort": {"s": SCORE}}), (word, {"hint": "zork"}), ({"$nor": [word, word]}, {}), ({"$nor": [word]}, {}),
        ]:
            yield {FM: "a", "query": filter, "update": {"$set": {"x": 1}}, **options}
        yield create(index([("t", "text")]))
    yield find("a", {"$and": [word, {"g": {"$near": [1, 1]}}]})
    yield find("a")


@topic
def text_hints():
    """A text index that is hinted for a query without $text: it is walked from end to end, and lacks what has no words."""
    words = ["apple", "running", "the", "plum fig", "été", None, 5, ["fig", "x1"], "pear pear fig"]
    documents = [{"_id": at, "n": at % 3, "a": at % 2, "t": words[at % len(words)]} for at in range(18)]
    for parts, options in (([("t", "text")], {}), ([("n", -1), ("t", "text")], {}), ([("t", "text"), ("n", 1)], {"partialFilterExpression": {"a": 1}}), ([("$**", "text")], {})):
        yield from [{"drop": "h"}, {"insert": "h", "documents": documents}, {"createIndexes": "h", "indexes": [{"key": SON(parts), "name": "t", **options}]}]
        for query in ({}, {"n": 1}, {"t": "apple"}, {"_id": {"$lt": 9}, "a": {"$ne": 0}}):
            asked = {"find": "h", "filter": query, "hint": "t"}
            yield from [asked] + [{**asked, "sort": sort} for sort in ({"t": 1}, {"n": 1}, {"_id": -1})] + [{**asked, "projection": {"n": 1, "_id": 0}, "limit": 4}]
            yield from [{"count": "h", "query": query, "hint": "t"}, {"aggregate": "h", "pipeline": [{"$match": query}, {"$project": {"n": 1}}], "hint": "t", "cursor": {}}]
            yield {"update": "h", "updates": [{"q": query, "u": {"$inc": {"k": 1}}, "hint": "t", "multi": True}]}
        yield {"explain": {"find": "h", "filter": {"a": 1}, "hint": "t"}, "verbosity": "queryPlanner", "$only": ["queryPlanner.winningPlan"]}
    yield from [{"find": "h", "hint": "t", "filter": {"$text": {"$search": "fig"}}}, {"find": "h", "hint": SON([("_fts", "text"), ("_ftsx", 1)])}, {"find": "h", "hint": {"$**": "text"}}]


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
