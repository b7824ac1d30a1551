"""The files of the project: those git tracks and those it would, with their text."""

import os
import pathlib
import subprocess


class Tree:
    """Paths are relative to the root, with forward slashes, sorted. Symbolic links are listed, and have no text."""

    def __init__(self, files, links=()):
        self._files = dict(files)  # path -> bytes, or a function that reads them
        self.links = set(links)
        self.paths = sorted(set(self._files) | self.links)
        self._text = {}

    @staticmethod
    def of_folder(root):
        root = pathlib.Path(root)
        listing = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True
        )
        if listing.returncode == 0:
            paths = listing.stdout.decode().split("\0")[:-1]
        else:  # an unpacked archive
            paths = [
                os.path.relpath(os.path.join(folder, name), root)
                for folder, folders, names in os.walk(root)
                for name in names + [f for f in folders if os.path.islink(os.path.join(folder, f))]
                if not os.path.relpath(folder, root).startswith(("build", ".git"))
            ]
        # Deleted and not yet committed: git still lists it.
        paths = [path for path in set(paths) if os.path.lexists(root / path)]
        links = {path for path in paths if (root / path).is_symlink()}
        return Tree({path: (root / path).read_bytes for path in paths if path not in links}, links)

    def bytes(self, path):
        content = self._files[path]
        return content() if callable(content) else content

    def text(self, path):
        if path not in self._text:
            self._text[path] = self.bytes(path).decode("utf-8", errors="replace")
        return self._text[path]

    def lines(self, path):
        return self.text(path).split("\n")

    def __contains__(self, path):
        return path in self._files or path in self.links

    def has_folder(self, path):
        return path in ("", ".") or any(p.startswith(path.rstrip("/") + "/") for p in self.paths)

    def under(self, folder, *endings):
        return [p for p in self._files if p.startswith(folder) and (not endings or p.endswith(endings))]
