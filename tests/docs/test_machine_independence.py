"""The project belongs to no machine: no file names a directory of one, or the host of a package registry."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, project_files

_MACHINE = re.compile(r"(?<![\w.~$*)}-])/(?:work|root|farm)/")
# Spelled in halves, so that this file does not name what it forbids.
_HOSTS = re.compile(
    "|".join(map(re.escape, ("pypi" + ".org", "python" + "hosted.org", "npm" + "js.", "crates" + ".io", "yarn" + "pkg.com")))
)


def test_no_file_names_a_directory_of_a_machine_or_a_package_registry() -> None:
    found = []
    for file in project_files():
        content = file.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if _MACHINE.search(line) or _HOSTS.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []
