"""Tests of the test of the source: each rule must fail on a small bad sample, at the right line, and be silent on a good one."""

import unittest

import cpp
import rules
import tree

PICTURE = """# Architecture

## Modules

```
 cli
 serve     sim
 control   node
 place
 model     broker    store
 base
```
"""
HEADER = "#pragma once\n// A thing.\n"


def has_command(commands, words):
    """As the program does: validate takes any word, completion has commands of its own."""
    first, second = words[0], words[1]
    return first in commands and (second == "--help" or first != "completion" or f"{first} {second}" in commands)


def problems(rule, files, links=(), commands=("validate", "completion", "completion bash")):
    files = {"docs/architecture.md": PICTURE, **files}
    encoded = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items() if text is not None}
    project = rules.Project(tree.Tree(encoded, links), lambda words: has_command(commands, words))
    return [str(problem) for problem in rule(project)]


# (rule, files, what the one problem's text starts with).
BAD = [
    (rules.picture_of_modules, {"docs/architecture.md": "## Modules\nnone yet\n"}, "docs/architecture.md:1: has no fenced picture"),
    (rules.picture_of_modules, {"docs/architecture.md": None}, "docs/architecture.md:1: has no fenced picture"),
    (rules.picture_of_modules, {"src/mood/a.cc": "\n"}, "docs/architecture.md:1: the picture of modules lacks src/mood"),
    (rules.layers, {"src/base/a.cc": '\n#include "evenkeel/model/m.h"\n'}, "src/base/a.cc:2: base may not include model"),
    (rules.layers, {"src/model/a.cc": '#include "evenkeel/store/s.h"\n'}, "src/model/a.cc:1: model may not include store"),
    (rules.layers, {"src/place/a.cc": '#include "evenkeel/polish/s.h"\n'}, "src/place/a.cc:1: includes evenkeel/polish/s.h, and there is no"),
    (rules.layers, {"src/model/a.cc": '#include "evenkeel/sim/s.h"\n'}, "src/model/a.cc:1: includes sim"),
    (rules.detail_is_private, {"src/model/a.cc": '#include "evenkeel/base/detail/t.h"\n'}, "src/model/a.cc:1: includes evenkeel/base/detail"),
    (rules.detail_is_private, {"tests/model/a.cc": '#include "evenkeel/base/detail/t.h"\n'}, "tests/model/a.cc:1: includes evenkeel/base/de"),
    (rules.detail_is_private, {"tests/fuzz/model_a.cc": '#include "evenkeel/base/detail/t.h"\n'}, "tests/fuzz/model_a.cc:1: includes evenkeel/ba"),
    (rules.includes_by_full_path, {"src/base/a.cc": '#include "a.h"\n'}, 'src/base/a.cc:1: write "evenkeel/<module>'),
    (rules.includes_by_full_path, {"src/base/a.cc": '#include "tests/story/story.h"\n'}, 'src/base/a.cc:1: write "evenkeel/<module>'),
    (rules.includes_by_full_path, {"examples/a/a.cc": '#include "examples/a/a.h"\n', "examples/a/a.h": HEADER}, 'examples/a/a.cc:1: write "evenkeel/<module>'),
    (rules.includes_by_full_path, {"src/base/a.cc": "#include <evenkeel/base/a.h>\n"}, 'src/base/a.cc:1: write "evenkeel/base/a.h" in quotes'),
    (rules.includes_by_full_path, {"src/base/a.cc": '#include "evenkeel/base/../cli/a.h"\n'}, "src/base/a.cc:1: evenkeel/base/../cli/a.h has a `..`"),
    (rules.includes_by_full_path, {"src/base/a.cc": "\n#include <../a.h>\n"}, "src/base/a.cc:2: ../a.h has a `..`"),
    (rules.has_opening_comment, {"src/base/a.h": "// A thing.\n#pragma once\n"}, "src/base/a.h:1: start the header with"),
    (rules.has_opening_comment, {"src/base/a.h": "#pragma once\n\n#include <string>\n"}, "src/base/a.h:2: after `#pragma once`"),
    (rules.own_header_comes_first, {"src/base/a.h": HEADER, "src/base/a.cc": "#include <string>\n"}, "src/base/a.cc:1: include evenkeel/base/a.h before"),
    (rules.own_header_comes_first, {"src/base/a.h": HEADER, "src/base/a.cc": "int a;\n"}, "src/base/a.cc:1: include evenkeel/base/a.h before"),
    (rules.headers_hide_nothing, {"tests/base/a.h": HEADER + "namespace {\n"}, "tests/base/a.h:3: has an anonymous namespace"),
    (rules.conditions_are_explained, {"src/control/a.cc": '\nsay("{} sits on the fence", node);\n'}, 'src/control/a.cc:2: says "sits on the fence"'),
    (rules.conditions_are_explained, {"src/control/a.cc": '\nif (late) return call_off_split("it took too long");\n'}, 'src/control/a.cc:2: says "it took too long"'),
    (rules.conditions_are_explained, {"src/control/a.cc": 'std::string Step::why_not_yet(int a) const {\n  return "the moon is new";\n}\n'}, 'src/control/a.cc:3: says "the moon is new"'),
    (rules.conditions_are_explained, {"src/node/a.cc": '\nlog(Level::warn, "takes a nap", "what");\n', "docs/conditions.md": "`joined`\n"}, 'src/node/a.cc:2: says "takes a nap"'),
    (rules.conditions_are_explained, {"src/control/shell/a.cc": 'log("{} sleeps", {a, fmt::format("for {} years", b)});\n', "docs/conditions.md": "`N sleeps`\n"}, 'src/control/shell/a.cc:1: says "years"'),
    (rules.conditions_are_explained, {"src/serve/detail/routes.cc": 'return Waiting{"the daemon dreams: " + why, "Wake it."};\n'}, 'src/serve/detail/routes.cc:1: says "the daemon dreams"'),
    (rules.conditions_are_explained, {"src/cli/a.cc": 'std::string going_on(const Row& row) {\n  return "copying";\n}\n', "docs/conditions.md": "copying\n"}, 'src/cli/a.cc:3: says "copying"'),
    (rules.conditions_are_explained, {"src/cli/a.cc": 'Health health_of(const control::Snapshot& seen,\n                 bool x) {\n  add("on fire", f("{} burns", n));\n}\n', "docs/conditions.md": "`on fire`\n"}, 'src/cli/a.cc:4: says "burns"'),
    (rules.conditions_are_explained, {"src/control/a.cc": 'trouble =\n    "is not "\n    "taken";\n', "docs/conditions.md": "is taken\n"}, 'src/control/a.cc:3: says "is not taken"'),
    (rules.core_is_pure, {"src/model/a.cc": "#include <thread>\n"}, "src/model/a.cc:1: <thread> brings in threads"),
    (rules.core_is_pure, {"src/model/a.h": '#include "evenkeel/base/clock.h"\n'}, "src/model/a.h:1: <evenkeel/base/clock.h> brings in the clock"),
    (rules.core_is_pure, {"src/control/a.cc": '#include "evenkeel/store/s.h"\n'}, "src/control/a.cc:1: <evenkeel/store/s.h> brings in the store"),
    (rules.core_is_pure, {"src/control/a.cc": '#include "evenkeel/control/shell/a.h"\n'}, "src/control/a.cc:1: <evenkeel/control/shell/a.h> brings in a shell"),
    (rules.core_is_pure, {"src/control/a.cc": '#include "evenkeel/node/a.h"\n'}, "src/control/a.cc:1: <evenkeel/node/a.h> brings in the outside world"),
    (rules.core_is_pure, {"src/broker/a.cc": '#include "evenkeel/locks/a.h"\n'}, "src/broker/a.cc:1: <evenkeel/locks/a.h> brings in the outside world"),
    (rules.core_is_pure, {"src/place/a.cc": "\nauto t = std::chrono::steady_clock::now();\n"}, "src/place/a.cc:2: `::now(` is the clock"),
    (rules.core_is_pure, {"src/place/a.cc": "auto t = time(nullptr);\n"}, "src/place/a.cc:1: `time(nullptr` is the clock"),
    (rules.core_is_pure, {"src/place/a.cc": "auto t = std::clock();\n"}, "src/place/a.cc:1: `std::clock(` is the clock"),
    (rules.core_is_pure, {"src/place/a.cc": "std::random_device d;\n"}, "src/place/a.cc:1: `random_device` is dice"),
    (rules.core_is_pure, {"src/place/a.cc": "int x = rand();\n"}, "src/place/a.cc:1: `rand(` is dice"),
    (rules.core_is_pure, {"src/place/a.cc": "std::shuffle(a, b, g);\n"}, "src/place/a.cc:1: `std::shuffle` is a shuffle"),
    (rules.core_is_pure, {"src/place/a.cc": "std::mutex m;\n"}, "src/place/a.cc:1: `std::mutex` is threads"),
    (rules.core_is_pure, {"src/place/a.cc": "std::condition_variable c;\n"}, "src/place/a.cc:1: `std::condition_variable` is threads"),
    (rules.core_is_pure, {"src/place/a.cc": "std::promise<int> p;\n"}, "src/place/a.cc:1: `std::promise` is threads"),
    (rules.core_is_pure, {"src/place/a.cc": "void f() { std::system(s); }\n"}, "src/place/a.cc:1: `std::system(` is the outside world"),
    (rules.core_is_pure, {"src/place/a.cc": "void f() { std::puts(s); }\n"}, "src/place/a.cc:1: `puts(` is files"),
    (rules.core_is_pure, {"src/place/a.cc": "void f() { usleep(3); }\n"}, "src/place/a.cc:1: `usleep(` is waiting"),
    (rules.core_is_pure, {"src/place/a.cc": 'auto h = getenv("HOME");\n'}, "src/place/a.cc:1: `getenv(` is the environment"),
    (rules.core_is_pure, {"src/place/a.cc": "std::ofstream out;\n"}, "src/place/a.cc:1: `std::ofstream` is files"),
    (
        rules.core_keeps_order,
        {"src/place/a.h": "std::unordered_map<K, std::vector<V>> by_id_;\n", "src/place/a.cc": "\nfor (auto& [k, v] : by_id_) f(k);\n"},
        "src/place/a.cc:2: walks through the hash container by_id_",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "absl::flat_hash_set<K> seen;\nreturn std::vector(seen.begin(), seen.end());\n"},
        "src/place/a.cc:2: walks through the hash container seen",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "using Index = std::unordered_set<int>;\nvoid f(const Index& index) {\n  for (int i : index) g(i);\n}\n"},
        "src/place/a.cc:3: walks through the hash container index",
    ),
    (
        rules.core_keeps_order,  # a header's names and aliases hold in every module
        {
            "src/base/b.h": "using Index = std::unordered_map<K, V>;\n",
            "src/model/m.h": "struct M {\n  Index nodes_by_id;\n};\n",
            "src/place/a.cc": "for (auto& n : m.nodes_by_id) f(n);\n",
        },
        "src/place/a.cc:1: walks through the hash container nodes_by_id",
    ),
    (
        rules.core_keeps_order,
        {"src/model/m.h": "const std::unordered_set<K>& keys() const;\n", "src/place/a.cc": "for (auto& k : m->keys()) f(k);\n"},
        "src/place/a.cc:1: walks through the hash container keys",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "std::unordered_map<K, V> m;\nfor (auto& k : m | std::views::filter(big | small)) f(k);\n"},
        "src/place/a.cc:2: walks through the hash container m",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "std::vector<std::unordered_map<K, V>> maps;\nfor (auto& k : maps[rows[i]]) f(k);\n"},
        "src/place/a.cc:2: walks through the hash container maps",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "std::unordered_set<int> seen;\nstd::ranges::copy(this->seen, out);\n"},
        "src/place/a.cc:2: walks through the hash container seen",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "std::unordered_set<int> m;\n// Any order:\nfor (int i : m) sum += i;\n"},
        "src/place/a.cc:3: walks through the hash container m",
    ),
    (
        rules.core_keeps_order,
        {"src/place/a.cc": "std::unordered_set<int> m;\n// Any order: a sum.\n\nfor (int i : m) sum += i;\n"},
        "src/place/a.cc:4: walks through the hash container m",
    ),
    (rules.functions_fit_a_screen, {"src/base/a.cc": "\nint f() {\n" + "  g();\n" * 60 + "}\n"}, "src/base/a.cc:2: f has 62 lines"),
    (rules.functions_fit_a_screen, {"src/base/a.h": "// Long.\nint f() {\n" + "\n" * 60 + "}\n"}, "src/base/a.h:2: f has 62 lines"),
    (rules.files_are_short, {"src/base/a.cc": "int a;\n" * 701}, "src/base/a.cc:701: has 701 lines"),
    (rules.files_have_owners, {"notes.txt": "\n"}, "notes.txt:1: belongs to no module"),
    (rules.files_have_owners, {"src/mood/a.cc": "\n"}, "src/mood/a.cc:1: belongs to no module"),
    (rules.files_have_owners, {"src/a.cc": "\n"}, "src/a.cc:1: belongs to no module"),
    (rules.files_have_owners, {"tests/mood/a.cc": "\n"}, "tests/mood/a.cc:1: belongs to no module"),
    (rules.files_have_owners, {"src/base/a.inc": "\n"}, "src/base/a.inc:1: is none of .h, .cc, .h.in"),
    (rules.files_have_owners, {"src/base/detail/notes.md": "\n"}, "src/base/detail/notes.md:1: is none of .h, .cc, .h.in"),
    (rules.files_have_owners, {"tools/a.py": "\n"}, "tools/a.py:1: belongs to no module"),
    (rules.tests_do_not_wait_or_skip, {"tests/base/a.cc": "std::this_thread::sleep_for(1s);\n"}, "tests/base/a.cc:1: `sleep_for`: use a"),
    (rules.tests_do_not_wait_or_skip, {"tests/base/a.cc": "\nTEST(A, DISABLED_b) {}\n"}, "tests/base/a.cc:2: `DISABLED_b`: mend"),
    (rules.tests_do_not_wait_or_skip, {"tests/base/a.cc": "GTEST_SKIP();\n"}, "tests/base/a.cc:1: `GTEST_SKIP`: mend"),
    (rules.readme_is_short, {}, "README.md:1: is missing"),
    (rules.readme_is_short, {"README.md": "a\n" * 100}, "README.md:100: has 100 lines or more"),
    (rules.make_targets_exist, {"Makefile": "test: ## Test\n", "README.md": "Run `make toast`.\n"}, "README.md:1: `make toast` is no target"),
    (
        rules.make_targets_exist,
        {"Makefile": "test: ## Test\nhidden:\n", "docs/a.md": "```sh\n$ cd x && make -j2 test hidden A=b\n```\n"},
        "docs/a.md:2: `make hidden` is no target",
    ),
    (rules.commands_exist, {"docs/a.md": "```\n$ build/evenkeel fly --to moon\n```\n"}, "docs/a.md:2: the program has no command `evenkeel fly`"),
    (rules.commands_exist, {"docs/a.md": "```\ncat a | evenkeel fly\n```\n"}, "docs/a.md:2: the program has no command `evenkeel fly`"),
    (rules.commands_exist, {"docs/a.md": "```\nevenkeel completion tcsh\n```\n"}, "docs/a.md:2: the program has no command `evenkeel completion tcsh`"),
    (rules.links_resolve, {"docs/a.md": "\nSee [this](b.md).\n"}, "docs/a.md:2: the link to b.md leads nowhere"),
    (rules.links_resolve, {"docs/a.md": "# One\n\n[two](#two)\n"}, "docs/a.md:3: docs/a.md has no heading for #two"),
    (rules.metrics_exist, {"src/serve/metrics.cc": 'gauge("shards", "…")', "packaging/prometheus-alerts.yaml": "\nevenkeel_control_shard > 0\n"}, "packaging/prometheus-alerts.yaml:2: names evenkeel_control_shard,"),
    (rules.metrics_exist, {"src/serve/metrics.cc": 'gauge("shards", "…")', "docs/serve.md": "none\n"}, "docs/serve.md:1: does not name evenkeel_control_shards"),
    (rules.metrics_exist, {"src/serve/metrics.cc": 'family_in("evenkeel_store_", "full", "…"), store_gauge("bytes", "…")', "docs/a.md": "evenkeel_store_full\nevenkeel_store_byte > 0\n"}, "docs/a.md:2: names evenkeel_store_byte,"),
    (rules.metrics_exist, {"src/broker/metrics.cc": '{.name = "evenkeel_broker_held"}', "docs/broker-metrics.md": "evenkeel_broker_helt\nevenkeel_broker_held\n"}, "docs/broker-metrics.md:1: names evenkeel_broker_helt,"),
    (rules.problems_are_listed, {"src/serve/a.cc": '\nproblem(404, "Not found", "…");\n', "docs/serve.md": "none\n"}, "src/serve/a.cc:2: makes a problem of type not-found"),
    (rules.problems_are_listed, {"src/cli/a.cc": 'problem(404, "Not found", "…");\n', "docs/serve.md": "`not-found`\n"}, "src/cli/a.cc:1: makes a problem of type not-found, which docs/agent.md"),
    (rules.units_do_not_give_up, {"packaging/a.service": "[Unit]\n[Service]\nRestart=always\nStartLimitIntervalSec=0\n"}, "packaging/a.service:3: Restart=always ends after"),
    (rules.text_is_tidy, {"a.txt": b"good\n\xff\n"}, "a.txt:2: is not UTF-8"),
    (rules.text_is_tidy, {"a.txt": "no newline"}, "a.txt:1: does not end with a newline"),
    (rules.text_is_tidy, {"a.txt": "a \n"}, "a.txt:1: has blanks at the end"),
    (rules.text_is_tidy, {"a.cc": "\tint a;\n"}, "a.cc:1: has a tab"),
]

# (rule, files): close to what is forbidden, and allowed.
GOOD = [
    (rules.picture_of_modules, {"src/base/a.cc": "\n", "src/CMakeLists.txt": "\n"}),
    (rules.layers, {"src/model/a.cc": '#include "evenkeel/base/a.h"\n#include "evenkeel/model/b.h"\n// #include "evenkeel/cli/c.h"\n'}),
    (rules.layers, {"tests/base/a.cc": '#include "evenkeel/sim/a.h"\n', "src/cli/a.cc": '#include "evenkeel/sim/a.h"\n'}),
    (rules.layers, {"src/base/a.cc": 'auto s = R"(\n#include "evenkeel/cli/c.h"\n)";\n'}),
    (rules.detail_is_private, {"src/base/detail/a.cc": '#include "evenkeel/base/detail/t.h"\n', "tests/base/a.cc": '#include "evenkeel/base/detail/t.h"\n'}),
    (rules.detail_is_private, {"tests/fuzz/base_a.cc": '#include "evenkeel/base/detail/t.h"\n'}),
    (rules.includes_by_full_path, {"src/cli/a.cc": '#include "evenkeel/cli/a.h"\n#include "evenkeel_version.h"\n#include <vector>\n'}),
    (rules.includes_by_full_path, {"examples/a/a.cc": '#include "a.h"\n', "examples/a/a.h": HEADER}),
    (rules.includes_by_full_path, {"tests/base/a.cc": '#include "tests/story/story.h"\n', "examples/a.cc": "#include <evenkeel/base/a.h>\n"}),
    (rules.has_opening_comment, {"src/base/a.h": HEADER}),
    (rules.own_header_comes_first, {"src/base/a.h": HEADER, "src/base/a.cc": '#include "evenkeel/base/a.h"\n\n#include <string>\n'}),
    (rules.own_header_comes_first, {"src/base/a.h": HEADER, "src/base/b.cc": "#include <string>\n"}),
    (rules.headers_hide_nothing, {"src/base/a.h": HEADER + "namespace detail {\n", "src/base/a.cc": "namespace {\n"}),
    (rules.conditions_are_explained, {"src/cli/a.cc": 'std::string_view state_of(const WorkloadSurvey& one) {\n  return "errors";\n}\nstd::string other() {\n  return "never mind";\n}\n', "docs/conditions.md": "`errors`\n"}),
    (rules.conditions_are_explained, {"src/control/a.cc": 'say("{} waits: `wait`", n);\nensure(x, "never mind this");\n', "docs/conditions.md": "NODE waits\n"}),
    (rules.conditions_are_explained, {"src/node/a.cc": 'return fail(Code::invalid, "a caller\'s mistake");\nlog->debug("never mind this");\n', "src/serve/api.cc": 'log(Level::warn, "of no daemon");\n'}),
    (rules.core_is_pure, {"src/control/shell/a.cc": "#include <thread>\nauto t = clock::now();\n", "src/base/a.cc": "#include <thread>\n"}),
    (rules.core_is_pure, {"src/place/a.cc": '// rand() and ::now() are forbidden\nauto s = "getenv(x)"; Instant time() const; int grand(int); x.time();\n'}),
    (rules.core_is_pure, {"src/place/a.cc": "broker.sleep(3); broker->puts(x); int asleep(int); auto c = clock(); Promise p;\n"}),
    (rules.core_is_pure, {"src/control/shell/a.cc": '#include "evenkeel/control/shell/a.h"\n#include "evenkeel/node/a.h"\n'}),
    (rules.core_keeps_order, {"src/place/a.cc": "std::unordered_map<int, int> m;\nif (m.find(1) != m.end()) f();\nfor (int i : v) g(i);\n"}),
    (rules.core_keeps_order, {"src/place/a.cc": "std::unordered_set<int> m;\n// Any order: a sum of integers.\nfor (int i : m) sum += i;\n"}),
    (rules.core_keeps_order, {"src/place/a.cc": "std::unordered_set<int> m;\n// Any order: a sum of\n// integers.\nfor (int i : m) sum += i;\n"}),
    (rules.core_keeps_order, {"src/place/a.cc": "std::unordered_set<int> m;\nfor (int i : sorted(m)) f(i);\nstd::ranges::sort(v, m);\nfor (int i : m2[m.at(1)]) f(i);\n"}),
    (rules.core_keeps_order, {"src/place/a.cc": "std::unordered_set<int> m;\nfor (int i = a ? 1 : 2; i < 3; ++i) m.insert(i);\n"}),
    (rules.functions_fit_a_screen, {"src/base/a.cc": "int f() {\n" + "  g();\n" * 58 + "}\n"}),
    (rules.functions_fit_a_screen, {"src/base/a.cc": "// Reads all.\n// Long because it is a table.\n// Really.\nint f() {\n" + "\n" * 90 + "}\n"}),
    (rules.functions_fit_a_screen, {"src/base/a.cc": "namespace a {\nclass B final : public C<int> {\n" + "  int d() { return 1; }\n" * 80 + "};\n}\n"}),
    (rules.files_are_short, {"src/base/a.cc": "int a;\n" * 700, "docs/a.md": "a\n" * 900}),
    (rules.files_have_owners, {"Makefile": "\n", "src/base/a.h": "\n", "tests/model/stories/a.story": "\n", "tests/source/a.py": "\n", "src/CMakeLists.txt": "\n"}),
    (rules.files_have_owners, {"src/base/detail/a.cc": "\n", "src/cli/version.h.in": "\n"}),
    (rules.tests_do_not_wait_or_skip, {"tests/base/a.cc": "// never sleep_for\nint asleep(int);\n", "src/base/a.cc": "usleep(1);\n"}),
    (rules.readme_is_short, {"README.md": "a\n" * 99}),
    (rules.make_targets_exist, {"Makefile": "test: dep ## Test\n", "README.md": "To make sure, `make test A=b`, or `make`.\n```\nmake test  # make sure\n```\n"}),
    (rules.commands_exist, {"docs/a.md": "evenkeel fly\n```\n$ build/evenkeel validate -f a.yaml\nevenkeel --version\nevenkeel::fly()\nevenkeel completion bash\nevenkeel validate pages\n```\n"}),
    (rules.links_resolve, {"docs/a.md": "# The End!\n[a](../README.md) [b](#the-end) [c](https://x.example) [d](.) `[e](nowhere)`\n", "README.md": "\n"}),
    (rules.metrics_exist, {"src/serve/metrics.cc": 'histogram("step_seconds", "…")', "docs/serve.md": "`evenkeel_control_step_seconds`\n", "packaging/grafana-dashboard.json": "evenkeel_control_step_seconds_bucket{}\n"}),
    (rules.metrics_exist, {"src/serve/metrics.cc": 'store_gauge(\n    "keys", "…"); .name = "evenkeel_build_info"', "docs/serve.md": "evenkeel_build_info, evenkeel_store_keys, evenkeel_*.deb\n"}),
    (rules.problems_are_listed, {"src/serve/a.cc": 'problem(404, "Not found", "…");\n', "docs/serve.md": "`not-found`\n"}),
    (rules.units_do_not_give_up, {"packaging/a.service": "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=always\n", "packaging/b.service": "[Service]\n# Restart=always\n"}),
    (rules.text_is_tidy, {"a.story": "blanks \n", "tests/fuzz/corpus/x/1": b"\xff", "Makefile": "a:\n\tb\n", "empty": ""}),
]


class Rules(unittest.TestCase):
    def test_bad_samples_fail(self):
        for rule, files, start in BAD:
            with self.subTest(rule=rule.__name__, expected=start):
                found = problems(rule, files)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(start), found[0])

    def test_good_samples_pass(self):
        for rule, files in GOOD:
            with self.subTest(rule=rule.__name__, files=files):
                self.assertEqual(problems(rule, files), [])

    def test_every_rule_has_both(self):
        self.assertEqual({rule for rule, _, _ in BAD}, set(rules.RULES))
        self.assertEqual({rule for rule, _ in GOOD}, set(rules.RULES))

    def test_links_have_no_text(self):
        self.assertEqual(problems(rules.text_is_tidy, {}, links=["include/evenkeel"]), [])
        self.assertEqual(problems(rules.files_have_owners, {}, links=["include/evenkeel"]), [])


TRICKY = r'''#include <string>
namespace evenkeel {
namespace {
constexpr int table[] = {1, 2, 3};
const char* brace = "{";  // {
char quote = '\'', open = '{';
auto raw = R"x(} ")" {)x";
int million = 1'000'000;
enum class Kind : int { a, b };
}  // namespace

struct [[nodiscard]] alignas(8) Point : Base<int> {
  int x{0};
  std::function<void()> f = [] {};
  Point() = default;
  explicit Point(int v)
      : Base<int>{v}, x{v}, y_(v) {
    go();
  }
  friend auto operator<=>(const Point&, const Point&) = default;
  bool operator()(int a) const noexcept { return a; }
  operator bool() const {
    return true;
  }
 private:
  int y_ = 0;
};

template <class T, int n = (3 > 2)>
  requires requires(T t) { t.size(); }
auto Outer<T>::inner(T t) const& -> std::vector<T> {
  auto f = [&](int a) {
    if (a) {
      return 1;
    }
    return 2;
  };
  return {t, f(1)};
}

#if defined(A)
int chosen() {
#else
int other() {
#endif
  return 1;
}

#define MACRO(x) \
  do {           \
  } while (0)

extern "C" {
int c_function() { return 1; }
}
extern "C" int entry(const char* data) {
  return *data;
}

template <class T>
concept Sized = requires(T t) {
  { t.size() } -> std::integral;
};

const auto global_lambda = [](int a) {
  return a;
};

bool operator==(const Point& a, const Point& b) {
  return a.x == b.x;
}
std::string operator""_s(const char* text) {
  return text;
}
}  // namespace evenkeel
'''


class Cpp(unittest.TestCase):
    def test_functions(self):
        found = [(f.name, f.first, f.last) for f in cpp.functions(TRICKY)]
        lines = TRICKY.split("\n")

        def at(start):
            return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(start))

        expected = [
            ("f", at("std::function"), at("std::function")),
            ("Point", at("explicit Point"), at("explicit Point") + 4 - 1),
            ("operator()", at("bool operator()"), at("bool operator()")),
            ("operatorbool", at("operator bool"), at("operator bool") + 2),
            ("inner", at("template <class T, int"), at("return {t, f(1)}") + 1),
            ("chosen", at("int chosen"), at("int other") + 3),
            ("c_function", at("int c_function"), at("int c_function")),
            ("entry", at('extern "C" int'), at('extern "C" int') + 2),
            ("global_lambda", at("const auto global"), at("const auto global") + 2),
            ("operator==", at("bool operator=="), at("bool operator==") + 2),
            ("operator\"", at("std::string operator"), at("std::string operator") + 2),
        ]
        self.assertEqual(found, expected)

    def test_strip_keeps_lines_and_columns(self):
        stripped = cpp.strip(TRICKY)
        self.assertEqual(len(stripped), len(TRICKY))
        self.assertEqual(stripped.count("\n"), TRICKY.count("\n"))
        self.assertNotIn(")x", stripped)
        self.assertIn("1'000'000", stripped)


if __name__ == "__main__":
    unittest.main()
