"""Just enough C++ to ask questions of a source file without compiling it: code without comments and strings, includes, functions.

Nothing here knows the project. Lines are counted from 1, and blanking keeps every line where it was.
"""

import re
from typing import NamedTuple


class Include(NamedTuple):
    line: int
    path: str  # what stands between the quotes or angle brackets
    quoted: bool


class Function(NamedTuple):
    name: str  # as written before its parameters, for messages
    first: int  # the line its declaration starts on, `template <…>` included
    last: int  # the line of its closing brace


_LEXEME = re.compile(
    r"""
      (?P<comment> //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<raw>     \b(?:u8|u|U|L)?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)" )
    | (?P<string>  "(?:\\.|[^"\\\n])*" )
    | (?P<number>  \b\d(?:'?[\w.])* )
    | (?P<char>    '(?:\\.|[^'\\\n])+' )
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip(text):
    """The code with comments blanked, and with strings and characters emptied: "a" becomes "" and spaces."""

    def replace(match):
        found = match.group(0)
        if match.group("comment"):
            return _blank(found)
        if match.group("number"):
            return found
        return found[-1] * 2 + _blank(found[2:])

    return _LEXEME.sub(replace, text)


def includes(text):
    bare = _LEXEME.sub(lambda m: _blank(m.group(0)) if m.group("comment") or m.group("raw") else m.group(0), text)
    found = []
    for number, line in enumerate(bare.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            found.append(Include(number, match.group(2), match.group(1) == '"'))
    return found


def without_preprocessor(code):
    """Directives blanked; of #if … #else … #endif the first branch stays, so that braces match."""
    lines, dropping, continued = [], [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w*)", line)
        if continued or directive:
            if directive and not continued:
                word = directive.group(1)
                if word in ("if", "ifdef", "ifndef"):
                    dropping.append(False)
                elif word in ("else", "elif", "elifdef", "elifndef") and dropping:
                    dropping[-1] = True
                elif word == "endif" and dropping:
                    dropping.pop()
            continued = line.endswith("\\")
            lines.append("")
        else:
            lines.append("" if any(dropping) else line)
    return "\n".join(lines)


class _Token(NamedTuple):
    text: str
    line: int


_TOKEN = re.compile(r"::|->|\.\.\.|==|!=|<=>|<=|>=|[+\-*/%&|^]=|&&|\|\||\w+|[^\w\s]")


def _tokens(code):
    found = []
    for number, line in enumerate(code.split("\n"), 1):
        found.extend(_Token(match.group(0), number) for match in _TOKEN.finditer(line))
    return found


_OPENING = {"(": ")", "[": "]", "{": "}"}


def _skip(tokens, at):
    """The index after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        if tokens[at].text in _OPENING:
            depth += 1
        elif tokens[at].text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def _skip_angles(tokens, at):
    """The index after the > that closes the < at `at`. What is in brackets in between is skipped whole."""
    depth = 0
    while at < len(tokens):
        text = tokens[at].text
        if text in _OPENING:
            at = _skip(tokens, at)
            continue
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def _head(tokens):
    """A declaration's tokens at its top level: template parameters and attributes removed, every (…) and […] one token each."""
    flat, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == "template" and at + 1 < len(tokens) and tokens[at + 1].text == "<":
            at = _skip_angles(tokens, at + 1)
        elif token.text == "[" and at + 1 < len(tokens) and tokens[at + 1].text == "[":
            at = _skip(tokens, at)
        elif token.text == "alignas" or (token.text == "__attribute__"):
            at = _skip(tokens, at + 1)
        elif token.text in _OPENING:
            flat.append(_Token(token.text + _OPENING[token.text], token.line))
            at = _skip(tokens, at)
        else:
            flat.append(token)
            at += 1
    return flat


def _kind(head):
    """What the { after this head opens: "scope", "function", "member" (a brace in a constructor's initialisers) or "value"."""
    words = [token.text for token in head]
    if not words:
        return "value"
    if "namespace" in words[:2] or words == ["extern", '"', '"']:
        return "scope"
    is_operator = "operator" in words
    for index in range(len(words) - 1, -1, -1):
        if words[index] in ("class", "struct", "union", "enum"):
            if "()" not in words[index:] and "=" not in words[index:] and not is_operator:
                return "scope"
            break
    if words[-1] == "requires" or (len(words) > 1 and words[-1] == "()" and words[-2] == "requires"):
        return "member"
    if "=" in words and not is_operator:
        return "function" if "[]" in words[words.index("=") :] and words[words.index("=") + 1] == "[]" else "value"
    if "()" not in words:
        return "value"
    if ":" in words[words.index("()") :] and re.fullmatch(r"\w+|>", words[-1]):
        return "member"
    return "function"


def _name(head):
    words = [token.text for token in head]
    if "operator" in words:
        at = words.index("operator")
        return "operator" + "".join(words[at + 1 : at + 2])
    if "=" in words:
        return words[words.index("=") - 1]
    at = next(i for i, word in enumerate(words) if word == "()" and words[max(i - 1, 0)] not in ("requires", "decltype", "noexcept"))
    start = at - 1
    while start >= 2 and words[start - 1] == "::" and re.fullmatch(r"\w+", words[start - 2]):
        start -= 2
    return "".join(words[max(start, 0) : at]) or "?"


def functions(text):
    """All functions with a body, a lambda counting as part of the one around it, in the order of their closing braces."""
    tokens = _tokens(without_preprocessor(strip(text)))
    found, start, at = [], 0, 0  # `start`: the first token of the declaration that `at` is in
    while at < len(tokens):
        text = tokens[at].text
        if text in ("(", "["):
            at = _skip(tokens, at)
        elif text == "template" and at + 1 < len(tokens) and tokens[at + 1].text == "<":
            at = _skip_angles(tokens, at + 1)
        elif text == "{":
            head = _head(tokens[start:at])
            kind = _kind(head)
            if kind == "scope":
                at += 1
                start = at
            elif kind == "function":
                end = _skip(tokens, at)
                found.append(Function(_name(head), tokens[start].line, tokens[end - 1].line))
                at = start = end
            else:
                at = _skip(tokens, at)
        elif text in (";", "}") or (text == ":" and tokens[at - 1].text in ("public", "private", "protected")):
            at += 1
            start = at
        else:
            at += 1
    return found


_HASHED = re.compile(r"\b(?:unordered_(?:multi)?(?:map|set)|(?:flat|node)_hash_(?:map|set))\b\s*<")


def _after_angles(code, at):
    depth = 0
    for index in range(at, len(code)):
        if code[index] == "<":
            depth += 1
        elif code[index] == ">":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(code)


def hashed_aliases(code):
    """Names that `using` gives to hash containers, or to what holds them."""
    return {match.group(1) for match in re.finditer(r"\busing\s+(\w+)\s*=([^;]*);", code) if _HASHED.search(match.group(2))}


def hashed_names(code, aliases=frozenset()):
    """Names of variables, members, parameters and functions whose type is a hash container, by itself, inside another type as in
    `vector<unordered_set<int>> names`, or through an alias: one of this code or of `aliases`."""
    names = set()
    for match in _HASHED.finditer(code):
        end = _after_angles(code, match.end() - 1)
        if re.search(r"\busing\s+\w+\s*=[^;]*$", code[: match.start()]):
            continue
        name = re.match(r"[\s>]*(?:const\b)?[\s>&*]*(\w+)", code[end:])
        if name and name.group(1) != "const":
            names.add(name.group(1))
    for alias in hashed_aliases(code) | aliases:
        names.update(re.findall(rf"\b{alias}\b[\s>]*(?:const\b)?[\s>&*]*\b(\w+)\s*[;,=({{)]", code))
    return names


def _cut_at_pipe(text):
    """What stands before the first | outside of brackets. || is another thing."""
    depth = 0
    for match in re.finditer(r"[(\[{)\]}]|\|\|?", text):
        if match.group(0) == "|" and depth == 0:
            return text[: match.start()]
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(match.group(0), 0)
    return text


def _last_name(expression):
    """The name of what an expression reads: `index` of `*it->index`, `shards().index()`, `index[i]` and `index | views::keys`."""
    text = _cut_at_pipe(expression).rstrip()
    while text.endswith((")", "]")):
        depth, at = 0, len(text)
        while at > 0:
            at -= 1
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text[at], 0)
            if depth == 0:
                break
        before, inside = text[:at].rstrip(), text[at + 1 : -1]
        text = before if re.search(r"[\w\])>]$", before) else inside.rstrip()  # a call or a subscript, else mere brackets
    name = re.search(r"(\w+)$", text)
    return name.group(1) if name else None


def _first_argument(code, at):
    """The text from `at`, after an opening bracket, to the comma or the bracket that ends the argument."""
    depth = 0
    for index in range(at, len(code)):
        if code[index] in "([{":
            depth += 1
        elif code[index] in ")]}" or (code[index] == "," and depth == 0):
            if depth == 0:
                return code[at:index]
            depth -= 1
    return code[at:]


def iterated_names(code):
    """(line, name) of everything walked through in order: a range-for's range, what begin() is called on, what std::ranges:: gets."""
    found = []

    def add(at, expression):
        name = _last_name(expression)
        if name:
            found.append((code.count("\n", 0, at) + 1, name))

    for match in re.finditer(r"\bfor\s*\(", code):
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(code)):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            if depth == 0:
                break
        inside = code[match.end() : end]
        colon = re.search(r"(?<!:):(?!:)", inside)
        if colon and ";" not in inside[colon.end() :]:
            add(match.start(), inside[colon.end() :])
    for match in re.finditer(r"[\w)\]]\s*(?:\.|->)\s*c?r?begin\s*\(", code):
        add(match.start(), code[max(match.start() - 200, 0) : match.start() + 1])
    for match in re.finditer(r"\bstd::(?:c?r?begin|(?:ranges|views)::(?:\w+::)*\w+)\s*\(", code):
        add(match.start(), _first_argument(code, match.end()))
    return found
