"""The [store] keys of a palace on a server: all there, in the file only, the secret ones never told."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from memcastle_site import conf
from palace.errors import ConfigInvalid, FileFailed
from palace.store.remote import without_userinfo
from tests.remote.support import Host, configured, guest, started
from tests.support import Daemon

REMOTE = {
    "mode": "remote",
    "url": "ws://127.0.0.1:1",
    "namespace": "n",
    "database": "d",
    "username": "u",
    "password": "the-password",
}


def loaded(home: Path, store: dict[str, object], **environ: str) -> conf.Loaded:
    configured(home, store)
    return conf.load({}, {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), **environ})


def test_a_complete_table_is_accepted(tmp_path: Path) -> None:
    found = loaded(tmp_path, REMOTE)
    config = found.section(conf.StoreConfig)
    assert (config.mode, config.url, config.query_timeout_secs) == ("remote", "ws://127.0.0.1:1", 30)
    assert (found.unknown, found.unused) == ((), ())
    assert "the-password" not in repr(config)


@pytest.mark.parametrize("key", conf.REMOTE_KEYS)
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigInvalid, match=rf"^store\.{key}: it is missing"):
        loaded(tmp_path, {name: value for name, value in REMOTE.items() if name != key})


def test_all_missing_keys_are_named_in_the_help(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        loaded(tmp_path, {"mode": "remote"})
    assert all(f"store.{key}" in refused.value.help for key in conf.REMOTE_KEYS)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "http://host",
        "ws://",
        "ws://u:url-secret@host:99999",
        "ws://h/?a=b",
        "ws://h/#f",
        "ws://h t",
        "ws://[",
    ],
)
def test_a_url_that_is_no_address_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"^store\.url: it must be a URL such as ws://") as refused:
        loaded(tmp_path, {**REMOTE, "url": url})
    assert "url-secret" not in refused.value.message


@pytest.mark.parametrize("key", ["namespace", "database", "username", "password"])
def test_an_empty_value_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigInvalid, match=rf"^store\.{key}:"):
        loaded(tmp_path, {**REMOTE, key: ""})


@pytest.mark.parametrize("seconds", [0, 3601, "30"])
def test_the_time_limit_has_a_range(tmp_path: Path, seconds: object) -> None:
    with pytest.raises(ConfigInvalid, match=r"^store\.query_timeout_secs: .* from 1 to 3600"):
        loaded(tmp_path, {**REMOTE, "query_timeout_secs": seconds})


def test_no_variable_sets_them(tmp_path: Path) -> None:
    environ = {f"MEMCASTLE_STORE_{key.upper()}": "ws://other" for key in (*conf.REMOTE_KEYS, "mode", "query_timeout_secs")}
    assert loaded(tmp_path, REMOTE, **environ) == loaded(tmp_path, REMOTE)


def test_the_sync_variable_is_checked_for_a_remote_palace_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="MEMCASTLE_STORE_SYNC"):
        loaded(tmp_path, REMOTE, MEMCASTLE_STORE_SYNC="now and then")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("ws://host:1", "ws://host:1"),
        ("ws://user:password@host:1/path", "ws://host:1/path"),
        ("wss://us@er:pass@host/a@b", "wss://host/a@b"),
        ("wss://user@[::1]:1", "wss://[::1]:1"),
        ("ws://host/path@other?q=a@b", "ws://host/path@other?q=a@b"),
    ],
)
def test_user_and_password_are_taken_out_of_the_authority_only(url: str, shown: str) -> None:
    assert without_userinfo(url) == shown


def test_doctor_tells_of_an_embedded_palace_with_keys_of_a_remote_one(tmp_path: Path) -> None:
    configured(tmp_path, {**REMOTE, "mode": "embedded"})
    report = json.loads(Daemon(tmp_path).manage("doctor").stdout)
    (finding,) = [found for found in report["findings"] if found["check"] == "store"]
    assert finding["status"] == "warning"
    assert all(f"store.{key}" in finding["summary"] for key in conf.REMOTE_KEYS)


def test_commands_and_routes_tell_the_address_and_no_secret(tmp_path: Path, host: Host) -> None:
    url = host.url.replace("ws://", "ws://ada:url-secret@")
    daemon = guest(tmp_path / "home", host, store={"url": url, "database": "told"})
    with started(daemon):
        told = [daemon.request("GET", path).text for path in ("/api/status", "/api/config", "/ui/")]
        told += [daemon.manage(*words).stdout for words in (["doctor"], ["status"], ["migrate", "--status"], ["config"])]
    told += [daemon.log.read_text()]
    assert host.url in told[0]
    assert '"remote"' in told[0]
    assert "store.sync has no effect" in told[3]
    for text in told:
        assert "url-secret" not in text
    assert tomllib.loads((tmp_path / "home" / "config" / "memcastle" / "config.toml").read_text())["store"]["url"] == url


def test_a_palace_directory_with_other_things_is_refused(tmp_path: Path, host: Host) -> None:
    directory = tmp_path / "home" / "data" / "memcastle" / "default"
    directory.mkdir(parents=True)
    (directory / "letter.txt").write_text("Dear Ada")
    answer = guest(tmp_path / "home", host).manage("migrate", "--status")
    assert answer.returncode == 1
    assert "is no palace" in answer.stderr


def test_a_second_daemon_of_the_same_directory_is_refused(tmp_path: Path, host: Host) -> None:
    first = guest(tmp_path / "home", host, store={"database": "alone"})
    with started(first):
        answer = first.manage("serve")
    assert answer.returncode == 1
    assert "another daemon uses the palace directory" in answer.stderr or "already" in answer.stderr
    assert FileFailed.code not in answer.stderr
