"""Checks a built site: each relative link leads to a file and an anchor that exist, and no page loads anything from another host.

.ci/links.py FOLDER [ABSENT…]   ABSENT are folders that are built apart: links into them are not followed.
"""

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a page loads without a click; a `link` element only for these relations.
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}
LOADING = {"stylesheet", "icon", "alternate icon", "shortcut icon", "preload", "modulepreload", "prefetch"}

# Links of rustdoc to nothing: lists of implementations that are empty, and paths in the documentation of other crates' traits.
RUSTDOC = re.compile(r"/(trait|type)\.impl/|^\w+(::|$)")


class Page(HTMLParser):
    """The anchors of a page, its links without repetitions, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, {}, []
        self.base = None
        self.is_of_rustdoc = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "base":
            self.base = values.get("href")
            return
        if tag == "meta" and values.get("name") == "generator":
            self.is_of_rustdoc = values.get("content") == "rustdoc"
        for name in ("href", "src"):
            target = values.get(name)
            if target is None:
                continue
            self.links[target] = None
            if (tag, name) in LOADED and (tag != "link" or values.get("rel") in LOADING):
                self.loads.append(target)


def main():
    root, absent = os.path.realpath(sys.argv[1]), sys.argv[2:]
    files = {os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names}
    pages = {file: Page(Path(file).read_text()) for file in sorted(files) if file.endswith(".html")}
    apart = tuple(os.path.join(root, folder) + os.sep for folder in absent)
    wrong, links = [], 0
    for path, page in pages.items():
        shown = os.path.relpath(path, root)
        wrong += [f"{shown} loads {target}" for target in page.loads if urlsplit(target).netloc]
        if page.base:
            wrong.append(f"{shown} has the base {page.base}: its links work in one place only")
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            if page.is_of_rustdoc and RUSTDOC.search(parts.path):
                continue
            links += 1
            file = path
            if parts.path:
                file = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
            if file not in files:
                file = os.path.join(file, "index.html")
            if file.startswith(apart):
                continue
            if parts.path.startswith("/"):
                wrong.append(f"{shown} links to {target}: it works in the root of a host only")
            elif file not in files:
                wrong.append(f"{shown} links to {target}: there is no such file")
            elif page.is_of_rustdoc and pages.get(file, page).is_of_rustdoc:
                # rustdoc checks its anchors itself, and makes some at hidden items and by scripts.
                continue
            elif file in pages and not has_anchor(pages[file], parts.fragment):
                wrong.append(f"{shown} links to {target}: there is no such anchor")
    for path in sorted(file for file in files if file.endswith(".css")):
        for target in re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^"')]*""", Path(path).read_text()):
            wrong.append(f"{os.path.relpath(path, root)} loads {target}")
    print("\n".join(wrong[:100]))
    print(f"{len(pages)} pages, {links} relative links, {len(wrong)} wrong")
    print(f"test result: {'FAILED' if wrong else 'ok'}. {int(not wrong)} passed; {int(bool(wrong))} failed")
    return bool(wrong) or not links


def has_anchor(page, anchor):
    return anchor in page.anchors or unquote(anchor) in page.anchors


if __name__ == "__main__":
    sys.exit(main())
