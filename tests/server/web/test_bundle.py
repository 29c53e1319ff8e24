"""Bundles of JavaScript modules: behaviour, contents, and modules that cannot be bundled."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from arena.server.web.bundle import make_bundles
from arena.server.web.static_files import PAGE_FOLDER
from testkit.tools import skip_without

FILES = {
    "js/main.js": b"""// The beginning.
import { grow, size as height } from "./parts/tree.js";
import { said } from "./words.js";

const mine = /["\\$`]/.test("a") ? 0 : 1;
grow(mine);
export const told = [said("main"), height(), new URL(import.meta.url).pathname];
export const opened = async () => (await import("./views/leaf.js")).Leaf;
""",
    "js/parts/tree.js": b"""import { said } from "../words.js";
import { Codec } from "../../vendor/codec.mjs";

const mine = new Codec();
let tall = 0;

export function grow(by) {
  // a comment that is left out
  tall += by + mine.n; // 41, left out with its "quote
}

export const size = () => `${said("tree")} ${tall}`; // left out
export const address = ["http://tree // kept", `tree // kept`];
""",
    "js/words.js": b"""const mine = "!";

export const said = (word) => word + mine;
""",
    "js/views/leaf.js": b"""import { size } from "../parts/tree.js";
import { green } from "../parts/green.js";

export class Leaf {
  words = `${green()} ${size()}`;
}
""",
    "js/parts/green.js": b"""export async function never() {}
export function green() {
  return "green";
}
""",
    "vendor/codec.mjs": b"class n{constructor(){this.n=41}}export{n as Codec};\n",
}

BUNDLE, FURTHER = "js/main.bundle.js", "js/views.bundle.js"
RUN = """
import { pathToFileURL } from "node:url";
const [, , path] = process.argv;
const { told, opened } = await import(pathToFileURL(path));
const Leaf = await opened();
console.log(JSON.stringify([told.map((each) => String(each).split("/").slice(-2).join("/")), new Leaf().words]));
"""


def test_a_bundle_behaves_like_its_modules(tmp_path: Path) -> None:
    skip_without("node")
    # A bundle does not export what its first module exports, so the test adds these exports.
    bundle = make_bundles(FILES, "js/main.js", BUNDLE, FURTHER)
    first = bundle[BUNDLE].decode()
    name = re.findall(r"^const (m\d+) =", first, re.MULTILINE)[-1]
    bundle[BUNDLE] = f"{first}export const {{ told, opened }} = {name};\n".encode()
    for path, text in (
        FILES | bundle | {"package.json": b'{"type": "module"}', "run.mjs": RUN.encode()}
    ).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    apart, together = (
        json.loads(
            subprocess.run(
                ["node", "run.mjs", path], cwd=tmp_path, check=True, capture_output=True, timeout=500
            ).stdout
        )
        for path in ("js/main.js", BUNDLE)
    )
    assert apart == [["main!", "tree! 42", "js/main.js"], "green tree! 42"]
    assert together == apart


def test_a_module_needed_by_both_bundles_is_only_in_the_first() -> None:
    bundle = make_bundles(FILES, "js/main.js", BUNDLE, FURTHER)
    held = {
        path: [each for each in FILES if f"// {each}\n".encode() in text] for path, text in bundle.items()
    }
    assert held == {
        BUNDLE: ["js/main.js", "js/parts/tree.js", "js/words.js", "vendor/codec.mjs"],
        FURTHER: ["js/views/leaf.js", "js/parts/green.js"],
    }
    assert list(make_bundles(FILES, "js/words.js", BUNDLE, FURTHER)) == [BUNDLE], (
        "without dynamic imports, there is one bundle"
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("export let tall = 0;", "export let tall"),
        ("export default 1;", "export default"),
        ('export * from "./words.js";', "export *"),
        ('import * as words from "./words.js";', "import *"),
        ('import "./words.js";', "import"),
        (
            "const verse = `roses",
            "a template literal must be on one line to be bundled: 'const verse = `roses'",
        ),
        ('import { said } from "./parts/tree.js"', "import"),
        ('import { grow } from "./parts/tree.js";', "imports itself, through js/main.js, js/parts/tree.js"),
    ],
)
def test_a_module_that_cannot_be_bundled_is_refused(line: str, why: str) -> None:
    files = {**FILES, "js/words.js": f"{line}\n".encode()}
    with pytest.raises(ValueError, match=r"^js/(words|parts/tree)\.js(:| imports) ") as refused:
        make_bundles(files, "js/main.js", BUNDLE, FURTHER)
    assert why in str(refused.value)


def test_comments_and_indentation_are_left_out() -> None:
    bundle = make_bundles(FILES, "js/main.js", BUNDLE, FURTHER)[BUNDLE].decode()
    assert "left out" not in bundle
    assert "\ntall += by + mine.n;\n" in bundle
    assert '\nconst address = ["http://tree // kept", `tree // kept`];\n' in bundle


def test_an_import_that_would_need_a_third_bundle_is_refused() -> None:
    leaf = FILES["js/views/leaf.js"] + b'export const more = () => import("../other.js");\n'
    with pytest.raises(
        ValueError,
        match=r"^js/views/leaf\.js: replace the dynamic import of js/other\.js by a static one; a dynamic import in this module would need a third bundle",
    ):
        make_bundles({**FILES, "js/views/leaf.js": leaf}, "js/main.js", BUNDLE, FURTHER)


def test_every_module_of_the_page_is_in_one_of_its_bundles() -> None:
    files = {
        path.relative_to(PAGE_FOLDER).as_posix(): path.read_bytes() for path in PAGE_FOLDER.rglob("*.*js")
    }
    page = b"".join(make_bundles(files, "js/main.js", BUNDLE, FURTHER).values())
    assert sorted(path for path in files if f"// {path}\n".encode() not in page) == ["js/embed.js", "sw.js"]
