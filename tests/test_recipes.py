"""The recipes for a server are what systemd, nginx and Caddy take, where these programs are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "examples" / "book" / "running" / "deploy.qmd"


def blocks(name: str) -> list[str]:
    """The files of that name in the chapter."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf'filename="[^"]*{re.escape(name)}"\}}\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


def check(program: str, *arguments: object) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    done = subprocess.run(
        [program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    (unit,) = blocks("ask-book.service")
    unit = unit.replace("/srv/ask-book/venv/bin/ask-book", "/bin/true").replace("User=books", "User=root")
    (tmp_path / "ask-book.service").write_text(unit)
    check("systemd-analyze", "verify", tmp_path / "ask-book.service")


def test_nginx_takes_both_sites(tmp_path: Path) -> None:
    (site,), (location,) = blocks("ask.example.org"), blocks("In the server block of example.org")
    site = re.sub(r" +ssl_certificate.*\n", "", site).replace("443 ssl", "8443")
    folders = "".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    http = f"{folders} access_log off; {site} server {{ listen 8444; server_name example.org; {location} }}"
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}} http {{ {http} }}"
    )
    check("nginx", "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf")


def test_caddy_takes_both_sites(tmp_path: Path, home: Path) -> None:
    one, two = blocks("Caddyfile")
    (tmp_path / "Caddyfile").write_text(f"{one}\n{two}")
    check("caddy", "validate", "--adapter", "caddyfile", "--config", tmp_path / "Caddyfile")
