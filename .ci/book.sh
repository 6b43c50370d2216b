# Functions that build the book and check its links, for .ci/run and .ci/site. They read `cache`, the folder of programs that
# stay, and `scratch`, a folder of the run. A condition calls them without `set -e`: they chain what must succeed.
# shellcheck shell=bash disable=SC2154

mdbook_version=0.5.4
mdbook=$cache/mdbook-$mdbook_version-search/bin/mdbook

# Rendering and the index of the search are all that is asked of it: the snippets run as doc tests. An unoptimized one compiles
# in half the time.
fetch_mdbook() {
    [ -x "$mdbook" ] && return
    CARGO_TARGET_DIR=$scratch/mdbook nice cargo install mdbook --version "$mdbook_version" --locked --debug \
        --no-default-features --features search --root "$cache/mdbook-$mdbook_version-search"
}

# render_book FOLDER
render_book() {
    "$mdbook" build book --dest-dir "$1" && compgen -G "$1/searchindex-*.js" >/dev/null
}

# check_links FOLDER [ABSENT…]: ABSENT are folders of the site that are built apart.
check_links() {
    python3 .ci/links.py "$@"
}
