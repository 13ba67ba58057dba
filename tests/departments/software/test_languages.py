"""`software.run` on programs that are not in Python: what works, what does not, and what cannot be judged here."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from chatdev.workspace.languages import is_startable, languages
from tests.departments.software.conftest import Judge

pytestmark = pytest.mark.tool

JAVA = "public class Main {{ public static void main(String[] args) {{ {} }} }}"
GO = "package main\n{}\nfunc main() {{ {} }}\n"
C = "#include <stdio.h>\nint main(void) {{ {} }}\n"
CPP = "#include <iostream>\nint main() {{ {} }}\n"


@pytest.mark.parametrize(("files", "rule", "shown"), [
    ({"app.js": "const {twice} = require('./lib/twice');\nconsole.log(twice(4))",
      "lib/twice.js": "exports.twice = n => 2 * n", "app.test.js": "throw 1"}, "clean_exit", "8"),
    ({"words.js": "const {twice} = require('./lib/twice.js');\nconsole.log(twice(4))",
      "lib/twice.js": "exports.twice = n => 2 * n"}, "clean_exit", "8"),
    ({"count.mjs": "import {x} from './lib/x.mjs'\nconsole.log(x)", "lib/x.mjs": "export const x = 'modern'"},
     "clean_exit", "modern"),
    ({"greet.sh": '. "$(dirname "$0")/lib/words.sh"\nsay', "lib/words.sh": "say() { echo hello; }"}, "clean_exit",
     "hello"),
    ({"main.mjs": "import {x} from './x.mjs'\nconsole.log(x)", "x.mjs": "export const x = 'modern'"}, "clean_exit",
     "modern"),
    ({"package.json": '{"main": "src/go.js"}', "src/go.js": "console.log('declared')", "main.js": "throw 1"},
     "clean_exit", "declared"),
    ({"server.js": "require('http').createServer().listen(8080); console.log('up')", "index.html": "<p>"}, "started",
     "up"),
    ({"main.js": "process.stdin.on('data', data => data.x.y); console.log('name?')"}, "started", "name?"),
    ({"shop/Main.java": "package shop;\n" + JAVA.format("new Till().open();"),
      "shop/Till.java": 'package shop;\nclass Till { void open() { System.out.println("open"); } }'}, "clean_exit",
     "open"),
    ({"Main.java": JAVA.format('System.out.println("name?"); new java.util.Scanner(System.in).nextLine();')}, "started",
     "name?"),
    ({"main.go": GO.format('import "fmt"', "fmt.Println(answer())"),
      "answer.go": "package main\nfunc answer() int { return 42 }", "answer_test.go": "package main\nbroken"},
     "clean_exit", "42"),
    ({"go.mod": "module shop\n\ngo 1.18\n", "till/till.go": 'package till\nconst Name = "till"',
      "cmd/shop/main.go": GO.format('import ("fmt"; "shop/till")', "fmt.Print(till.Name)")}, "clean_exit", "till"),
    ({"main.go": GO.format('import ("bufio"; "os")', "bufio.NewReader(os.Stdin).ReadString('\\n')")}, "started", ""),
    ({"main.c": '#include <math.h>\n#include <stdio.h>\n#include "twice.h"\nint main(int argc, char **argv) '
                '{ printf("%.0f", sqrt(twice(8) * argc)); }',
      "include/twice.h": "int twice(int n);", "src/twice.c": '#include "twice.h"\nint twice(int n) { return 2 * n; }',
      "tests/test_twice.c": "int main(void) { return 1; }", "demo.c": "int main(void) { return 1; }"},
     "clean_exit", "4"),
    ({"main.c": C.format('int n; if (scanf("%d", &n) != 1) return 3;')}, "started", ""),
    ({"main.cpp": '#include <iostream>\n#include "a.hpp"\nint main()\n{\n std::cout << a();\n}', "a.hpp": "int a();",
      "a.cpp": "int a() { return 17; }"}, "clean_exit", "17"),
    ({"game.cpp": CPP.format("std::string s; if (!(std::cin >> s)) return 3;")}, "started", ""),
    ({"run.sh": "set -eu\n. ./lib.sh\ntwice 21", "lib.sh": "twice() { echo $(( 2 * $1 )); }"}, "clean_exit", "42"),
    ({"main.sh": "read -r name || exit 1\necho $name"}, "started", ""),
    ({"main.sh": "echo 'usage: main.sh FILE' >&2; exit 2"}, "wants_arguments", ""),
    ({"index.html": "<!doctype html>\n<link rel=stylesheet href='css/a%20b.css?1'><p>Hi<script src=app.js></script>",
      "css/a b.css": "h1 {color: red}", "app.js": "alert('hi'); document.body.append('!')"}, "page_opened", "shows"),
    ({"index.html": "<p>Hi<script>const name = prompt('name?')</script>"}, "asks_for_input", "asks for input"),
    ({"my page.html": "<canvas></canvas><script src=https://cdn.example/stats.js></script>"}, "page_opened", "shows"),
])
def test_what_works_passes(judge: Judge, files: dict[str, str], rule: str, shown: str) -> None:
    verdict = judge(files)
    assert verdict.evidence["rule"] == rule, verdict.report
    assert (verdict.passed, verdict.judged, verdict.score) == (True, True, 10)
    assert shown in verdict.report


@pytest.mark.parametrize(("files", "rule", "shown"), [
    ({"main.js": "let a = 1;\nfunction (\n"}, "does_not_compile", "main.js:2\n  function ("),
    ({"main.js": "const chalk = require('chalk')"}, "missing_module", "`chalk` is not available: do without it."),
    ({"main.mjs": "import chalk from 'chalk'"}, "missing_module", "`chalk` is not available"),
    ({"main.js": "require('./nowhere')"}, "crashed", "Cannot find module './nowhere'"),
    ({"main.js": "function f(x) {\n  return x.y.z\n}\nf({})"}, "crashed", "at f (main.js:2:14)"),
    ({"main.js": "setTimeout(() => {}, 1e5); Promise.reject(new Error('late'))"}, "crashed", "Error: late"),
    ({"main.js": "process.exitCode = 3"}, "failed_status", "exit status 3"),
    ({"a.js": "1", "b.js": "2"}, "nothing_to_run", "(a.js, b.js) and none is called main.js"),
    ({"Main.java": JAVA.format('int n = "";')}, "does_not_compile", "Main.java:1: error: incompatible types"),
    ({"Main.java": "import org.json.JSONObject;\n" + JAVA.format("")}, "missing_module", "`org.json` is not available"),
    ({"Main.java": JAVA.format("Object o = args[0];")}, "crashed", "at Main.main(Main.java:1)"),
    ({"main.go": GO.format('import "fmt"', "n := 1")}, "does_not_compile",
     './main.go:2:8: imported and not used: "fmt"'),
    ({"main.go": GO.format('import "github.com/fatih/color"', 'color.Red("x")')}, "missing_module",
     "`github.com/fatih/color` is not available"),
    ({"main.go": GO.format("", "var a []int; _ = a[len(a)]")}, "crashed", "index out of range"),
    ({"main.c": C.format("return 1")}, "does_not_compile", "main.c:2:"),
    ({"main.c": "#include <sdl9.h>\n" + C.format("")}, "missing_module", "`sdl9.h` is not available"),
    ({"main.c": "int twice(int n);\n" + C.format("return twice(0);")}, "does_not_compile",
     "undefined reference to `twice'"),
    ({"main.c": C.format("int *p = 0; return *p;")}, "killed", "SIGSEGV"),
    ({"main.cpp": CPP.format("std::cout << missing;")}, "does_not_compile", "main.cpp:2:"),
    ({"main.cpp": CPP.format('throw std::string("oh");')}, "killed", "SIGABRT"),
    ({"main.sh": "if true; then\necho"}, "does_not_compile", "main.sh: line 3: syntax error"),
    ({"main.sh": "nosuchcommand 3\necho done"}, "missing_module", "`nosuchcommand` is not available"),
    ({"main.sh": "set -e\nls /nowhere"}, "failed_status", "No such file"),
    ({"index.html": "<p>\n<script src='js/app.js'></script>", "js/app.js": "1;\n  nothing.there()"}, "script_failed",
     "js/app.js:2: Uncaught ReferenceError: nothing is not defined\n    nothing.there()"),
    ({"index.html": "<p><script>\nfunction (</script>"}, "script_failed", "index.html:2: Uncaught SyntaxError"),
    ({"index.html": "<p><script type=module src=a.js></script>", "a.js": "1"}, "script_failed", "use plain scripts"),
    ({"index.html": "<p><script src=app.js></script><link rel=icon href=none.ico>"}, "missing_file",
     "`app.js`, and there is no"),
    ({"index.html": "<p><script src=https://cdn.example/vue.js></script><script>Vue.x</script>"}, "missing_module",
     "`https://cdn.example/vue.js` is not available"),
    ({"index.html": "<body>\n<script>1</script></body>"}, "empty_page", "shows nothing"),
    ({"index.html": "<p>", "data.json": "{"}, "does_not_compile", "data.json:1"),
])
def test_what_does_not_work_fails(judge: Judge, files: dict[str, str], rule: str, shown: str) -> None:
    verdict = judge(files)
    assert (verdict.passed, verdict.judged, verdict.evidence["rule"]) == (False, True, rule), verdict.report
    assert shown in verdict.report
    assert "/tmp" not in verdict.report.replace("/tmp/…", "")
    assert "/box" not in verdict.report


SOURCES = {"HTML": "index.html", "JavaScript": "main.js", "Java": "Main.java", "Go": "main.go", "C++": "main.cpp",
           "C": "main.c", "Shell": "main.sh"}
STARTING = {"Java": JAVA.format(""), "Go": GO.format("", ""), "C": C.format(""), "C++": CPP.format("")}


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.name)
def test_without_its_toolchain_software_is_not_judged(judge: Judge, language: Any, monkeypatch: pytest.MonkeyPatch,
                                                      tmp_path_factory: pytest.TempPathFactory) -> None:
    programs = tmp_path_factory.mktemp("bin")
    for name in ("bwrap", "setpriv", "prlimit"):
        (programs / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(programs))
    verdict = judge({SOURCES[language.name]: STARTING.get(language.name, "<p>")})
    assert (verdict.passed, verdict.judged, verdict.evidence["rule"]) == (True, False, "no_toolchain")
    assert f"apt-get install {language.install}" in verdict.report
    assert "no fault of the software" in verdict.report


def test_a_language_nobody_can_run_is_not_judged(judge: Judge) -> None:
    verdict = judge({"main.rs": "fn main() {}", "lib.rb": ""})
    assert (verdict.passed, verdict.judged, verdict.evidence["rule"]) == (True, False, "unsupported_language")
    assert "in Ruby or Rust; what can be run is Python, HTML, JavaScript" in verdict.report


def test_a_java_window_opens_on_a_display_of_its_own(judge: Judge) -> None:
    assert shutil.which("Xvfb"), "install the X server: apt-get install xvfb"
    window = JAVA.format('var w = new javax.swing.JFrame("hi"); w.setVisible(true); System.out.println(w.isShowing());')
    verdict = judge({"Main.java": window})
    assert verdict.evidence["rule"] == "started", verdict.report
    assert "true" in verdict.report


def test_a_program_finds_neither_network_nor_the_host(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret: Path = tmp_path_factory.mktemp("home") / "key"
    secret.write_text("sk-secret")
    verdict = judge({"main.sh": f"cat {secret} ; exec 3<>/dev/tcp/127.0.0.1/22"})
    assert not verdict.passed
    assert "sk-secret" not in verdict.report


@pytest.mark.parametrize("judge", ["none"], indirect=True)
@pytest.mark.parametrize("files", [
    {"main.c": C.format('puts("hi");')}, {"index.html": "<p>Hi"}, {"main.js": "console.log('hi')"}])
def test_the_table_works_without_a_sandbox(judge: Judge, files: dict[str, str]) -> None:
    assert judge(files).passed


@pytest.mark.parametrize("files", [{"main.js": "null.x"}, {"index.html": "<p><script>null.x</script>"}])
def test_the_report_is_the_same_every_time(judge: Judge, files: dict[str, str]) -> None:
    assert judge(files).report == judge(files).report


@pytest.mark.parametrize(("files", "can"), [
    ({"main.py": b""}, True), ({"a.py": b"", "b.py": b"", "index.html": b""}, False), ({"index.html": b""}, True),
    ({"a.js": b"", "b.js": b""}, False), ({"main.rs": b""}, False), ({}, False)])
def test_what_can_be_started_is_known(files: dict[str, bytes], can: bool) -> None:
    assert is_startable(files) == can
