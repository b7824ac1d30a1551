"""What must hold for the source itself. One function per rule, and all of them in the table RULES at the end.

A rule takes the project and yields a Problem for each place that breaks it. Its message says what to do.
"""

import posixpath
import re
from typing import Callable, Iterable, NamedTuple

import cpp


class Problem(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Project:
    """A tree of files, with what several rules ask of it. `runs(words)`: whether `evenkeel words…` ends with status 0."""

    def __init__(self, tree, runs: Callable[[list], bool] = lambda words: True):
        self.tree = tree
        self.runs = runs
        self.rows = module_rows(tree)
        self._code = {}

    @property
    def modules(self):
        return self.rows.keys()

    def code(self, path):
        """A source's text without comments and strings."""
        if path not in self._code:
            self._code[path] = cpp.strip(self.tree.text(path))
        return self._code[path]

    def cpp_files(self, folder=""):
        return sorted(self.tree.under(folder, ".h", ".cc"))


ARCHITECTURE = "docs/architecture.md"


def module_rows(tree):
    """Module -> row, 0 the highest, from the first fenced picture under the heading `## Modules`."""
    if ARCHITECTURE not in tree:
        return {}
    section = re.search(r"^## Modules\s*\n(.*?)(?=^## |\Z)", tree.text(ARCHITECTURE), re.MULTILINE | re.DOTALL)
    picture = section and re.search(r"^```[^\n]*\n(.*?)^```", section.group(1), re.MULTILINE | re.DOTALL)
    if not picture:
        return {}
    rows = [line.split() for line in picture.group(1).splitlines() if line.strip()]
    return {module: row for row, modules in enumerate(rows) for module in modules}


def module_of(path):
    """src/base/hash.h and tests/base/hash_test.cc belong to base; other files to no module."""
    match = re.match(r"(?:src|tests)/(\w+)/", path)
    return match.group(1) if match else None


def lines_matching(code, pattern):
    for match in pattern.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, match


def is_excused(lines, number, reason):
    """Whether `reason` matches on the line of that number or in the comment directly above it."""
    above = number - 2
    while above >= 0 and lines[above].lstrip().startswith("//"):
        above -= 1
    return any(re.search(reason, line) for line in lines[above + 1 : number])


# ---------------------------------------------------------------------------------------------------------------- modules


def picture_of_modules(project) -> Iterable[Problem]:
    """The picture in docs/architecture.md names the folders of src; it may name modules that are still to come."""
    if not project.rows:
        yield Problem(ARCHITECTURE, 1, "has no fenced picture under `## Modules`; draw one row per line, modules separated by spaces")
        return
    for folder in sorted({path.split("/")[1] for path in project.tree.under("src/") if path.count("/") > 1}):
        if folder not in project.modules:
            yield Problem(ARCHITECTURE, 1, f"the picture of modules lacks src/{folder}; give it a row")


def layers(project) -> Iterable[Problem]:
    """A module includes only modules of rows strictly below its own. Only cli, tests, benchmarks and examples include sim."""
    if not project.rows:
        return  # said once, by picture_of_modules
    for path in project.cpp_files():
        own = module_of(path) if path.startswith("src/") else None
        for include in cpp.includes(project.tree.text(path)):
            match = re.match(r"evenkeel/(\w+)/", include.path)
            if not match:
                continue
            other = match.group(1)
            if other not in project.modules:
                yield Problem(path, include.line, f"includes {include.path}, and there is no module '{other}'; correct the path")
            elif other == "sim" and own not in ("cli", "sim") and not path.startswith(("tests/", "bench/", "examples/")):
                yield Problem(path, include.line, "includes sim, which only cli, tests, benchmarks and examples may; pass what you need as an interface")
            elif own in project.modules and own != other and project.rows[other] <= project.rows[own]:
                yield Problem(
                    path,
                    include.line,
                    f"{own} may not include {other}, which is not in a row below it in {ARCHITECTURE}; "
                    "move what is shared further down, or hand it in as a value or an interface",
                )


def detail_is_private(project) -> Iterable[Problem]:
    """Headers in a module's detail/ are included by that module and its tests alone; tests/fuzz/MODULE_… is one of them."""
    for path in project.cpp_files():
        for include in cpp.includes(project.tree.text(path)):
            match = re.match(r"evenkeel/(\w+)/(?:.*/)?detail/", include.path)
            if match and match.group(1) != module_of(path) and not path.startswith(f"tests/fuzz/{match.group(1)}_"):
                yield Problem(path, include.line, f"includes {include.path}, which is private to {match.group(1)}; use its public header")


# Quoted, and neither evenkeel/… nor, in tests, tests/…: made by the build.
GENERATED_HEADERS = {"evenkeel_version.h", "evenkeel_openapi.h", "broker/shell/rpc/broker.pb.h", "broker/shell/rpc/broker.grpc.pb.h"}


def includes_by_full_path(project) -> Iterable[Problem]:
    """Our headers are included as "evenkeel/<module>/…", all others in angle brackets."""
    for path in project.cpp_files():
        inside = path.startswith(("src/", "tests/", "bench/")) and not path.startswith("tests/install/")
        for include in cpp.includes(project.tree.text(path)):
            ours = include.path.startswith("evenkeel/")
            allowed = ours or include.path in GENERATED_HEADERS
            allowed = allowed or (path.startswith(("tests/", "bench/")) and include.path.startswith(("tests/", "bench/")))
            # A folder of examples stands alone.
            allowed = allowed or (path.startswith("examples/") and posixpath.join(posixpath.dirname(path), include.path) in project.tree)
            if ".." in include.path.split("/"):
                yield Problem(path, include.line, f"{include.path} has a `..`; write the header's full path")
            elif include.quoted and not allowed:
                yield Problem(path, include.line, f'write "evenkeel/<module>/…" for our own headers and <{include.path}> for others')
            elif ours and not include.quoted and inside:
                yield Problem(path, include.line, f'write "{include.path}" in quotes; angle brackets are for users and examples')


def has_opening_comment(project) -> Iterable[Problem]:
    """A header starts with #pragma once and a comment that says what it is."""
    for path in project.tree.under("", ".h"):
        lines = [line for line in project.tree.lines(path) if line.strip()]
        if not lines or lines[0].strip() != "#pragma once":
            yield Problem(path, 1, "start the header with `#pragma once`")
        elif len(lines) < 2 or not re.match(r"//\s*\S", lines[1]):
            yield Problem(path, 2, "after `#pragma once`, say in a comment what this header is and how it is used")


def own_header_comes_first(project) -> Iterable[Problem]:
    """A source of src includes the header of its name before all others: so it is known that this header includes what it needs."""
    for path in project.tree.under("src/", ".cc"):
        header = path[: -len(".cc")] + ".h"
        if header not in project.tree.paths:
            continue
        first = next(iter(cpp.includes(project.tree.text(path))), None)
        if first is None or first.path != header.replace("src/", "evenkeel/", 1):
            yield Problem(path, first.line if first else 1, f"include {header.replace('src/', 'evenkeel/', 1)} before all others")


def headers_hide_nothing(project) -> Iterable[Problem]:
    """A header has no anonymous namespace: every source that includes it would have types of its own. g++ cannot tell, where it compiles
    several sources as one unit."""
    for path in project.tree.under("", ".h"):
        for number, line in enumerate(project.tree.lines(path), 1):
            if re.match(r"\s*namespace\s*\{", line):
                yield Problem(path, number, "has an anonymous namespace; use detail, or move it to a source")


# ----------------------------------------------------------------------------------------------------------------- purity

WHOLLY_PURE = {"model", "place", "polish"}
PURE_BUT_FOR_SHELL = {"broker", "control", "jobs", "stream", "route"}

# What is forbidden in the pure core: (pattern of an include's path, what it is).
IMPURE_INCLUDES = [
    (r"thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|atomic|pthread\.h", "threads"),
    (r"random|absl/random/.*", "dice; take an Rng&"),
    (r"ctime|time\.h|sys/time\.h|absl/time/clock\.h", "the clock; take an Instant"),
    (r"fstream|iostream|filesystem|fcntl\.h|sys/stat\.h|dirent\.h", "files and streams; take and return text"),
    (r"unistd\.h|sys/socket\.h|sys/epoll\.h|netinet/.*|arpa/.*|netdb\.h|poll\.h|httplib\.h|grpc.*", "the outside world; return effects as values"),
    (r"spdlog/.*|evenkeel/base/log\.h", "the log; return reasons as data"),
    (r"evenkeel/base/(clock|loop|real_loop|virtual_loop)\.h", "the clock; take an Instant"),
    (r"evenkeel/base/file\.h", "files; take and return text"),
    (r"evenkeel/store/.*", "the store; take a snapshot, return effects as values"),
    (r"evenkeel/\w+/shell/.*", "a shell; return effects as values"),
    (r"evenkeel/(?:node|locks|sim|serve)/.*", "the outside world; return effects as values"),
]

# (pattern in the code without comments and strings, what it is).
IMPURE_CODE = [
    (r"::now\s*\(|\bclock_gettime\s*\(|\bgettimeofday\s*\(|\bstd::clock\s*\(|\b(?:std::)?time\s*\(\s*(?:nullptr|NULL|0|&)|\babsl::Now\s*\(", "the clock; take an Instant"),
    (r"\brandom_device\b|\bmt19937(?:_64)?\b|(?<![\w.>])s?rand\s*\(|\bd?rand48\s*\(|\b\w+_int_distribution\b|\bBitGen\b", "dice; take an Rng&"),
    (r"\bstd::(?:ranges::)?(?:shuffle|sample)\b", "a shuffle that differs between standard libraries; use Rng::shuffle"),
    (r"\bstd::(?:this_thread|j?thread|mutex|async|atomic|condition_variable|promise)\b|\bthread_local\b", "threads"),
    (r"(?<![\w.>])(?:u|nano)?sleep\s*\(|\bsleep_(?:for|until)\b", "waiting; return when to be called again"),
    (r"\bstd::system\s*\(", "the outside world; return effects as values"),
    (r"\b(?:secure_)?getenv\s*\(|\bsetenv\s*\(", "the environment; take options"),
    (r"\bfopen\s*\(|\bstd::[iow]?fstream\b|\bstd::c(?:out|err|log|in)\b|(?<!\w)f?printf\s*\(|(?<![\w.>])f?puts\s*\(|\bfmt::print\s*\(", "files and streams; take and return text"),
]
IMPURE_INCLUDES = [(re.compile(pattern), what) for pattern, what in IMPURE_INCLUDES]
IMPURE_CODE = [(re.compile(pattern), what) for pattern, what in IMPURE_CODE]


def is_pure(path):
    module = module_of(path)
    if not path.startswith("src/"):
        return False
    return module in WHOLLY_PURE or (module in PURE_BUT_FOR_SHELL and "/shell/" not in path)


def core_is_pure(project) -> Iterable[Problem]:
    """What decides sees no clock, dice, thread, socket, file or environment."""
    for path in filter(is_pure, project.cpp_files("src/")):
        for include in cpp.includes(project.tree.text(path)):
            for pattern, what in IMPURE_INCLUDES:
                if pattern.fullmatch(include.path):
                    yield Problem(path, include.line, f"<{include.path}> brings in {what}")
        for pattern, what in IMPURE_CODE:
            for line, match in lines_matching(project.code(path), pattern):
                yield Problem(path, line, f"`{match.group(0).strip()}` is {what}")


def core_keeps_order(project) -> Iterable[Problem]:
    """What decides never walks through a hash container: its order differs from run to run. `// Any order: …` says why it may."""
    headers = [project.code(path) for path in project.tree.under("src/", ".h")]
    aliases = set().union(*map(cpp.hashed_aliases, headers))
    in_headers = set().union(*(cpp.hashed_names(code, aliases) for code in headers))
    for path in filter(is_pure, project.cpp_files("src/")):
        names = in_headers | cpp.hashed_names(project.code(path), aliases)
        lines = project.tree.lines(path)
        for line, name in cpp.iterated_names(project.code(path)):
            if name in names and not is_excused(lines, line, r"// Any order: \S"):
                yield Problem(
                    path,
                    line,
                    f"walks through the hash container {name}; sort first or use an ordered one, "
                    "or write `// Any order: …` before the line with the reason why it does not matter",
                )


# ------------------------------------------------------------------------------------------------------------------- size

FUNCTION_LINES_MAX = 60  # a screen
FILE_LINES_MAX = 700


def functions_fit_a_screen(project) -> Iterable[Problem]:
    """No function in src is longer than a screen, unless a comment before it says `// Long because …`."""
    for path in project.cpp_files("src/"):
        lines = project.tree.lines(path)
        for function in cpp.functions(project.tree.text(path)):
            length = function.last - function.first + 1
            if length <= FUNCTION_LINES_MAX:
                continue
            if not is_excused(lines, function.first, r"// Long because \S"):
                yield Problem(
                    path,
                    function.first,
                    f"{function.name} has {length} lines, more than {FUNCTION_LINES_MAX}; "
                    "take leaf functions out of it, or write `// Long because …` above it",
                )


def files_are_short(project) -> Iterable[Problem]:
    """No file in src is longer than 700 lines."""
    for path in project.tree.under("src/"):
        length = project.tree.text(path).count("\n")
        if length > FILE_LINES_MAX:
            yield Problem(path, FILE_LINES_MAX + 1, f"has {length} lines, more than {FILE_LINES_MAX}; make it two files, each with one idea")


# ------------------------------------------------------------------------------------------------------------------ owners

TOP_LEVEL_FILES = {
    ".clang-format",
    ".clang-tidy",
    ".editorconfig",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CMakeLists.txt",
    "CMakePresets.json",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
}
FOLDERS = {".ci", "bench", "cmake", "docs", "examples", "packaging", "scripts"}
TEST_FOLDERS = {"chaos", "fuzz", "install", "source", "story"}
SINGLE_FILES = {"include/evenkeel", "src/CMakeLists.txt", "tests/CMakeLists.txt"}
SOURCES = (".h", ".cc", ".h.in", ".proto")  # no other file of src is read by the rules above, and .proto needs none of them


def files_have_owners(project) -> Iterable[Problem]:
    """Every file belongs to a module, its tests, or a folder whose purpose is known."""
    if not project.rows:
        return  # said once, by picture_of_modules
    for path in project.tree.paths:
        parts = path.split("/")
        known = path in SINGLE_FILES if len(parts) > 1 else path in TOP_LEVEL_FILES
        known = known or (len(parts) > 1 and parts[0] in FOLDERS)
        known = known or (len(parts) > 2 and parts[0] == "src" and parts[1] in project.modules)
        known = known or (len(parts) > 2 and parts[0] == "tests" and (parts[1] in project.modules or parts[1] in TEST_FOLDERS))
        if known and path.startswith("src/") and path not in SINGLE_FILES and not path.endswith(SOURCES):
            yield Problem(path, 1, f"is none of {', '.join(SOURCES)}; name it so, or move it out of src")
        elif not known:
            yield Problem(path, 1, "belongs to no module or known folder; move it, or name its place in tests/source/rules.py")


# ------------------------------------------------------------------------------------------------------------------- tests

UNWELCOME_IN_TESTS = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|GTEST_SKIP|DISABLED_\w*)|(?<![\w.>:])sleep\s*\(")


# Asks servers of others, again and again, whether they are ready: they tell nobody.
ASKS_AGAIN = ("tests/store/backends/processes.cc",)


def tests_do_not_wait_or_skip(project) -> Iterable[Problem]:
    """Tests do not sleep, and none is switched off."""
    for path in project.cpp_files("tests/"):
        if path in ASKS_AGAIN:
            continue
        for line, match in lines_matching(project.code(path), UNWELCOME_IN_TESTS):
            word = match.group(0)
            advice = "use a VirtualLoop, or wait for the event itself" if "sleep" in word else "mend the test or remove it"
            yield Problem(path, line, f"`{word}`: {advice}")


# --------------------------------------------------------------------------------------------------------------- documents

README_LINES_MAX = 100


def readme_is_short(project) -> Iterable[Problem]:
    """README.md exists and has fewer than 100 lines."""
    if "README.md" not in project.tree:
        yield Problem("README.md", 1, "is missing")
    elif project.tree.text("README.md").count("\n") >= README_LINES_MAX:
        yield Problem("README.md", README_LINES_MAX, f"has {README_LINES_MAX} lines or more; move detail to docs/")


def markdown(project):
    return sorted(project.tree.under("", ".md"))


def command_lines(text, inline):
    """(line, command) of what people would type: lines of fenced blocks, and with `inline` also code spans in sentences."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            command = re.sub(r"^\s*(?:\$ |# )?", "", line)
            command = re.sub(r"(?:\s#\s|\s{3,}).*", "", command)  # an explanation to the right
            for part in re.split(r"&&|\|\||[;|]", command):
                yield number, part.strip()
        elif inline:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span.strip()


def make_targets_exist(project) -> Iterable[Problem]:
    """Every `make X` in a document is a target of the Makefile."""
    makefile = project.tree.text("Makefile") if "Makefile" in project.tree else ""
    targets = set(re.findall(r"^([\w-]+):.*## ", makefile, re.MULTILINE))
    for path in markdown(project):
        for line, command in command_lines(project.tree.text(path), inline=True):
            words = re.sub(r"^(?:\w+=\S*\s+|sudo\s+)*", "", command).split()
            if words[:1] != ["make"]:
                continue
            for word in words[1:]:
                if not word.startswith("-") and "=" not in word and word not in targets:
                    yield Problem(path, line, f"`make {word}` is no target of the Makefile; there are: {', '.join(sorted(targets))}")


def commands_exist(project) -> Iterable[Problem]:
    """Every `evenkeel NAME`, or `evenkeel NAME NAME`, in a document's fenced blocks is a command that the program knows."""
    for path in markdown(project):
        for line, command in command_lines(project.tree.text(path), inline=False):
            match = re.match(r"(?:sudo\s+)?(?:\./)?(?:build/)?evenkeel\s+([a-z][\w-]*)(?:\s+([a-z][\w-]*)(?=\s|$))?", command)
            if not match:
                continue
            # A second word after a command without commands of its own is a name or a file: then any would do.
            first, second = match.groups()
            if not project.runs([first, "--help"]):
                yield Problem(path, line, f"the program has no command `evenkeel {first}`; see `evenkeel --help`")
            elif second and not project.runs([first, second, "--help"]):
                yield Problem(path, line, f"the program has no command `evenkeel {first} {second}`; see `evenkeel {first} --help`")


def anchors(text):
    """The names that headings get on the usual web pages: lower case, words joined by hyphens, a number after repeats."""
    found, fenced = set(), False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        heading = None if fenced else re.match(r"#+\s+(.*?)\s*#*$", line)
        if heading:
            name = re.sub(r"[^\w\- ]", "", heading.group(1).lower()).replace(" ", "-")
            count, unique = 0, name
            while unique in found:
                count += 1
                unique = f"{name}-{count}"
            found.add(unique)
    return found


def links_resolve(project) -> Iterable[Problem]:
    """Relative links of Markdown files lead to a file of the project, and to a heading that is there."""
    for path in markdown(project):
        fenced = False
        for number, line in enumerate(project.tree.lines(path), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for target in re.findall(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                file, _, anchor = target.partition("#")
                to = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                if to not in project.tree and not project.tree.has_folder(to):
                    yield Problem(path, number, f"the link to {target} leads nowhere; correct or remove it")
                elif anchor and to.endswith(".md") and anchor not in anchors(project.tree.text(to)):
                    yield Problem(path, number, f"{to} has no heading for #{anchor}; correct the link")


CONDITIONS = "docs/conditions.md"
STRING = r'"(?:[^"\\]|\\.)*"'


def statements(*beginnings):
    """Statements in which one of these stands, with their strings."""
    return re.compile(rf'[^;{{}}]*?(?:{"|".join(beginnings)})(?:[^;"]|{STRING})*;')


# A statement of the controller that says something to people.
SAYING = statements(r"\bsay\(", r"\btrouble =", r"\bwhy \+?=", r"\b(?:why|why_not|reasons)\.(?:push|emplace)_back\(", r"\bcall_off_split\(", r"\bmaintenance_ =", r"\bno_permits_now =")
# One of a node, or of a daemon, that tells its log, whoever waits for it to leave or be ready, or in the place of a handler what went wrong.
LOGGING = statements(r"\blog\((?:Level::|(?=\"))", r"\bcomplain\(", r"log->(?:info|warn|error)\(", r"\berror = fmt", r"\bwhy_no_model =", r"\bfail\(Code::unavailable,", r"\b(?:left|missing)\.push_back\(")
# Why the daemon is not ready; what is to be done about it is said beside that.
WAITING = re.compile(rf"\bWaiting(?: \w+)?\{{{STRING}")
# A function of the controller that says why not.
WHY = re.compile(r"^std::string [\w:]*why_\w+\([^;{]*\{.*?^\}", re.MULTILINE | re.DOTALL)


# A function whose words are shown as they are: how a cluster, a node, a workload or a shard stands.
SHOWING = re.compile(
    r"^[\w:]+ (?:health_of|state_of|going_on|words_of|controller_text|name|maintenance_of|freeze_of)\((?:const )?(?:\w+::)*(?:Snapshot|NodeSurvey|WorkloadSurvey|Row|ReplicaSurvey|ControllerSeen|State)\b[^;{]*\{.*?^\}",
    re.MULTILINE | re.DOTALL,
)


def conditions_are_explained(project) -> Iterable[Problem]:
    """What is said to operators, by controllers, daemons and nodes and where commands show how things stand, is on the page that says what to do about it."""
    page = project.tree.text(CONDITIONS) if CONDITIONS in project.tree.paths else ""
    for pattern in (SAYING, WHY):
        yield from words_explained(project, "src/control", pattern, page, 5)
    for folder in ("src/control/shell", "src/serve/daemon.cc", "src/node"):
        yield from words_explained(project, folder, LOGGING, page, 5)
    yield from words_explained(project, "src/serve/detail/routes.cc", WAITING, page, 5)
    for folder in ("src/control", "src/cli"):
        yield from words_explained(project, folder, SHOWING, page, 4)


def words_explained(project, folder, pattern, page, letters) -> Iterable[Problem]:
    for path in project.cpp_files(folder):
        text = project.tree.text(path)
        for statement in pattern.finditer(text):
            joined = re.sub(r'"\s*\n\s*"', "", re.sub(r"//.*", "", statement.group()))
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', joined):
                # What is filled in is other each time, and what to do is the page's own.
                said = literal.replace('\\"', '"').split(": `")[0]
                for part in re.split(r"\{[^}]*\}", said):
                    part = part.strip(" :,()")
                    # A word alone is one that is shown alone: "there" is on every page.
                    wanted = f"`{part}" if pattern is SHOWING and re.fullmatch(r"\w+", literal) else part
                    if sum(letter.isalpha() for letter in part) >= letters and wanted not in page:
                        line = text.count("\n", 0, statement.end()) + 1
                        yield Problem(path, line, f"says \"{part}\", which {CONDITIONS} does not explain")


# ----------------------------------------------------------------------------------------------------------- what others go by

# Who measures, and the page that names all of it.
MEASURING = {"src/serve/metrics.cc": "docs/serve.md", "src/broker/metrics.cc": "docs/broker-metrics.md"}
# How the sources name metrics: whole, or without what those of a kind begin with.
WHOLE_NAME = re.compile(r'"(evenkeel_\w*[a-z])"')
NAME_WITHOUT = {
    "evenkeel_control_": re.compile(r'\b(?:gauge|family_of|histogram)\(\s*"(\w+)"'),
    "evenkeel_store_": re.compile(r'\b(?:store_gauge\(|family_in\(\s*"evenkeel_store_",)\s*"(\w+)"'),
}


def metrics_exist(project) -> Iterable[Problem]:
    """Each metric that a page, an alert or a dashboard names is one that the daemon or the broker has; and a page of each names them all."""
    measured = {}
    for path in MEASURING:
        text = project.tree.text(path) if path in project.tree.paths else ""
        measured[path] = set(WHOLE_NAME.findall(text))
        for prefix, names in NAME_WITHOUT.items():
            measured[path] |= {prefix + name for name in names.findall(text)}
    known = set().union(*measured.values())
    for path in sorted(project.tree.under("docs/", ".md", ".yaml") + project.tree.under("packaging/", ".json", ".yaml")):
        for number, line in enumerate(project.tree.lines(path), 1):
            for name in re.findall(r"\bevenkeel_\w+", line):
                if name not in known and re.sub("_(?:bucket|sum|count)$", "", name) not in known:
                    yield Problem(path, number, f"names {name}, which nobody measures: not {' nor '.join(MEASURING)}")
    for path, page in MEASURING.items():
        words = set(re.findall(r"\bevenkeel_\w+", project.tree.text(page))) if page in project.tree.paths else measured[path]
        for name in sorted(measured[path] - words):
            yield Problem(page, 1, f"does not name {name}")


# Who answers over HTTP, and the page that says with what.
ANSWERING = {"src/serve": "docs/serve.md", "src/agent": "docs/agent.md", "src/cli": "docs/agent.md"}


def problems_are_listed(project) -> Iterable[Problem]:
    """Programs tell problems over HTTP apart by their type, which is made of the title: a page lists those that there are."""
    for folder, listing in ANSWERING.items():
        page = project.tree.text(listing) if listing in project.tree.paths else ""
        for path in project.cpp_files(folder):
            text = project.tree.text(path)
            for made in re.finditer(r'\bproblem\([^",]+,\s*"([^"]+)"', text):
                name = made.group(1).lower().replace(" ", "-")
                if f"`{name}`" not in page:
                    yield Problem(path, text.count("\n", 0, made.end()) + 1, f"makes a problem of type {name}, which {listing} does not list")


def units_do_not_give_up(project) -> Iterable[Problem]:
    """Units that systemd is to start again are started again for ever: by default five starts in ten seconds are the end."""
    for path in project.tree.under("packaging/", ".service"):
        section, settings = "", {}
        for number, line in enumerate(project.tree.lines(path), 1):
            if line.startswith("["):
                section = line.strip("[] ")
            elif "=" in line and not line.startswith(("#", ";")):
                key, _, value = line.partition("=")
                settings[section, key.strip()] = (value.strip(), number)
        restart, line = settings.get(("Service", "Restart"), ("no", 1))
        if restart != "no" and settings.get(("Unit", "StartLimitIntervalSec"), ("",))[0] != "0":
            yield Problem(path, line, f"Restart={restart} ends after some starts that failed; say StartLimitIntervalSec=0 in [Unit]")


# -------------------------------------------------------------------------------------------------------------------- text

# Kept to the byte: inputs that are wrong on purpose.
BYTES_ON_PURPOSE = ("tests/fuzz/corpus/",)
BINARY = (".png", ".ico", ".gz", ".woff2")


def text_is_tidy(project) -> Iterable[Problem]:
    """Text is UTF-8, ends with a newline, and has no blanks at the ends of lines; C++ has no tabs."""
    for path in project.tree.paths:
        if path in project.tree.links or path.startswith(BYTES_ON_PURPOSE) or path.endswith(BINARY):
            continue
        content = project.tree.bytes(path)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(path, content.count(b"\n", 0, error.start) + 1, "is not UTF-8; save it as UTF-8")
            continue
        if text and not text.endswith("\n"):
            yield Problem(path, text.count("\n") + 1, "does not end with a newline; add one")
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip() and not path.endswith(".story"):
                yield Problem(path, number, "has blanks at the end of the line; remove them")
            if "\t" in line and path.endswith((".h", ".cc")):
                yield Problem(path, number, "has a tab; use spaces, and \\t in strings")


# ------------------------------------------------------------------------------------------------------------------- table

RULES = [
    picture_of_modules,
    layers,
    detail_is_private,
    includes_by_full_path,
    has_opening_comment,
    own_header_comes_first,
    headers_hide_nothing,
    core_is_pure,
    core_keeps_order,
    functions_fit_a_screen,
    files_are_short,
    files_have_owners,
    tests_do_not_wait_or_skip,
    readme_is_short,
    make_targets_exist,
    commands_exist,
    links_resolve,
    conditions_are_explained,
    metrics_exist,
    problems_are_listed,
    units_do_not_give_up,
    text_is_tidy,
]
