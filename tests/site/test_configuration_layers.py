"""Where values come from, which layer wins, and what is said of a value that is not accepted."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import pytest

from jobs.conf import JobsConfig
from memcastle_site.conf import (
    SECTIONS,
    AuthConfig,
    Loaded,
    LoggingConfig,
    PalaceConfig,
    ServerConfig,
    StoreConfig,
    WebConfig,
    described_keys,
    load,
)
from mining.conf import MiningConfig
from palace.configuration import section_keys
from palace.errors import ConfigInvalid, FileFailed


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def loaded(home: Path, text: str = "", *, flags: Any = None, **environ: str) -> Loaded:
    """The configuration of a file with this text at its default place, this environment and these flags."""
    file = home / ".config/memcastle/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return load(flags or {}, {"HOME": str(home), **environ})


def refusal(home: Path, text: str = "", *, flags: Any = None, **environ: str) -> str:
    with pytest.raises(ConfigInvalid) as refused:
        loaded(home, text, flags=flags, **environ)
    return refused.value.message


def test_nothing_configured_means_the_documented_defaults(home: Path) -> None:
    found = load({}, {"HOME": str(home)})

    assert found.section(PalaceConfig).path == home / ".local/share/memcastle/default"
    assert found.section(ServerConfig) == ServerConfig("127.0.0.1", 8420, (), ())
    assert found.section(AuthConfig) == AuthConfig(enabled=False, token=None)
    assert found.section(StoreConfig) == StoreConfig("embedded", "every")
    assert found.section(WebConfig).enable is True
    assert found.section(LoggingConfig) == LoggingConfig("info", "text")
    assert found.section(JobsConfig) == JobsConfig()
    assert found.section(MiningConfig) == MiningConfig()
    assert (found.file, found.file_exists) == (home / ".config/memcastle/config.toml", False)


def test_flag_beats_environment_beats_file_beats_default(home: Path) -> None:
    text = "[server]\nport = 1001\nbind = '0.0.0.0'\n[jobs]\nmax_concurrency = 9\n"
    found = loaded(home, text, flags={"server.port": 1003}, MEMCASTLE_PORT="1002", MEMCASTLE_BIND="::1")

    assert found.section(ServerConfig).port == 1003
    assert found.section(ServerConfig).bind == "::1"
    assert found.section(JobsConfig).max_concurrency == 9
    assert found.section(JobsConfig).background_concurrency == 2


def test_flag_given_as_text_reads_like_the_environment(home: Path) -> None:
    found = loaded(home, flags={"server.port": "0", "palace.path": "/p"})

    assert found.section(ServerConfig).port == 0
    assert found.section(PalaceConfig).path == Path("/p")


@pytest.mark.parametrize("section", [section for _, section in SECTIONS])
def test_every_key_may_be_set_alone_in_its_table(home: Path, section: type[Any]) -> None:
    prefix = next(prefix for prefix, known in SECTIONS if known is section)
    written = {PalaceConfig: "path = '/p'", AuthConfig: "token = '0123456789abcdef'", StoreConfig: "url = 'ws://host'"}
    defaults = section(Path("/p")) if section is PalaceConfig else section()
    for name, _ in section_keys(section):
        value = getattr(defaults, name)
        line = written.get(section) if value is None or section is PalaceConfig else f"{name} = {_toml(value)}"
        loaded(home, f"[{prefix}]\n{line}\n")


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(list(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize("value", ["", "relative/dir", "./here"])
def test_xdg_variable_that_is_empty_or_relative_is_ignored(home: Path, value: str) -> None:
    found = loaded(home, XDG_DATA_HOME=value, XDG_CONFIG_HOME=value, XDG_STATE_HOME=value)

    assert found.places.data == home / ".local/share/memcastle"
    assert found.places.config == home / ".config/memcastle"
    assert found.places.state == home / ".local/state/memcastle"


def test_xdg_variables_move_the_directories(home: Path) -> None:
    environ = {"HOME": str(home), "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    found = load({}, environ)

    assert found.section(PalaceConfig).path == Path("/d/memcastle/default")
    assert found.file == Path("/c/memcastle/config.toml")
    assert found.places.state == Path("/s/memcastle")


def test_without_a_home_there_is_no_default_palace_and_state_goes_to_the_temporary_directory() -> None:
    with pytest.raises(ConfigInvalid, match=r"palace\.path"):
        load({}, {})

    found = load({}, {"MEMCASTLE_PALACE_PATH": "/p"})
    assert found.places.state == Path(tempfile.gettempdir()) / "memcastle"
    assert (found.file, found.file_exists) == (None, False)


@pytest.mark.parametrize("how", ["flag", "variable"])
@pytest.mark.parametrize("name", ["missing.toml", "", "a\0b"])
def test_named_file_that_cannot_be_read_fails(home: Path, tmp_path: Path, how: str, name: str) -> None:
    path = str(tmp_path / name) if name else name
    flags = {"config": path} if how == "flag" else {}
    environ = {"HOME": str(home)} if how == "flag" else {"HOME": str(home), "MEMCASTLE_CONFIG": path}

    with pytest.raises(FileFailed):
        load(flags, environ)


def test_named_file_is_read_instead_of_the_default_one(home: Path, tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text("[server]\nport = 7\n")
    found = loaded(home, "[server]\nport = 8\n", flags={"config": named}, MEMCASTLE_CONFIG="/does/not/matter")

    assert found.section(ServerConfig).port == 7
    assert found.file == named


def test_file_that_is_not_toml_is_refused_with_its_line(home: Path) -> None:
    assert "line 2" in refusal(home, "[server]\nport 8\n")


def test_file_that_is_not_utf8_is_refused(home: Path) -> None:
    file = home / ".config/memcastle/config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"[server]\nbind = '\xff'\n")

    with pytest.raises(ConfigInvalid, match="UTF-8"):
        load({}, {"HOME": str(home)})


def test_byte_order_mark_is_no_mistake(home: Path) -> None:
    assert loaded(home, "\ufeff[server]\nport = 9\n").section(ServerConfig).port == 9


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[server]\nport = '8420'", "server.port"),
        ("[server]\nport = 8420.0", "server.port"),
        ("[server]\nport = true", "server.port"),
        ("[server]\nport = -1", "server.port"),
        ("[server]\nport = 65536", "server.port"),
        ("[server]\nbind = 127", "server.bind"),
        ("[server]\nbind = 'localhost'", "server.bind"),
        ("[server]\nbind = ''", "server.bind"),
        ("[server]\nallowed_hosts = 'memory.example'", "server.allowed_hosts"),
        ("[server]\nallowed_hosts = ['memory.example:80']", "server.allowed_hosts"),
        ("[server]\nallowed_hosts = ['http://memory.example']", "server.allowed_hosts"),
        ("[server]\nallowed_hosts = ['*']", "server.allowed_hosts"),
        ("[server]\nallowed_hosts = [1]", "server.allowed_hosts"),
        ("[server]\nallowed_origins = ['memory.example']", "server.allowed_origins"),
        ("[server]\nallowed_origins = ['null']", "server.allowed_origins"),
        ("[server]\nallowed_origins = ['https://memory.example/']", "server.allowed_origins"),
        ("[auth]\nenabled = 'true'", "auth.enabled"),
        ("[auth]\nenabled = 1", "auth.enabled"),
        ("[auth]\ntoken = 1234567890123456", "auth.token"),
        ("[web]\nenable = 'yes'", "web.enable"),
        ("[logging]\nlevel = 'loud'", "logging.level"),
        ("[logging]\nlevel = 5", "logging.level"),
        ("[logging]\nformat = 'JSON'", "logging.format"),
        ("[palace]\npath = 'relative'", "palace.path"),
        ("[palace]\npath = '~/palace'", "palace.path"),
        ("[palace]\npath = ''", "palace.path"),
        ("[store]\nmode = 'Remote'", "store.mode"),
        ("[store]\nsync = 1", "store.sync"),
        ("[jobs]\nmax_concurrency = 0", "jobs.max_concurrency"),
        ("[jobs]\nlease_ttl_secs = 2", "jobs.lease_ttl_secs"),
        ("[mining]\nchunk_chars = 199", "mining.chunk_chars"),
        ("server = 5", "server"),
        ("[[server]]\nport = 1", "server"),
    ],
)
def test_value_of_the_file_that_is_not_accepted_is_named(home: Path, text: str, key: str) -> None:
    assert refusal(home, text + "\n").startswith(f"{key}: ")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMCASTLE_PORT", ""),
        ("MEMCASTLE_PORT", "80a"),
        ("MEMCASTLE_PORT", "--5"),
        ("MEMCASTLE_PORT", "9" * 5000),
        ("MEMCASTLE_PORT", "٨٤٢٠"),
        ("MEMCASTLE_BIND", "localhost"),
        ("MEMCASTLE_BIND", ""),
        ("MEMCASTLE_PALACE_PATH", ""),
        ("MEMCASTLE_AUTH_ENABLED", "1"),
        ("MEMCASTLE_AUTH_ENABLED", "True"),
        ("MEMCASTLE_AUTH_ENABLED", ""),
        ("MEMCASTLE_WEB_ENABLE", "yes"),
        ("MEMCASTLE_LOG", ""),
        ("MEMCASTLE_LOG", "memcastle="),
        ("MEMCASTLE_LOG_FORMAT", "xml"),
        ("MEMCASTLE_STORE_SYNC", ""),
        ("MEMCASTLE_SERVER_ALLOWED_HOSTS", "a b"),
        ("MEMCASTLE_JOBS_MAX_CONCURRENCY", "0"),
    ],
)
def test_value_of_the_environment_that_is_not_accepted_names_the_variable(home: Path, variable: str, value: str) -> None:
    assert refusal(home, **{variable: value}).startswith(f"{variable} (")


def test_flag_that_is_not_accepted_names_the_flag(home: Path) -> None:
    assert refusal(home, flags={"palace.path": "here"}).startswith("--palace (palace.path): ")
    assert refusal(home, flags={"server.port": "x"}).startswith("--port (server.port): ")


@pytest.mark.parametrize("value", ["127.0.0.1:8420", "localhost:8420", "[::1]:8420"])
def test_address_with_a_port_is_pointed_to_the_port_setting(home: Path, value: str) -> None:
    assert "server.port" in refusal(home, MEMCASTLE_BIND=value)


def test_words_of_the_environment_may_be_written_in_any_case(home: Path) -> None:
    found = loaded(home, MEMCASTLE_LOG_FORMAT=" JSON ", MEMCASTLE_LOG=" Warn,memcastle=DEBUG ", MEMCASTLE_STORE_SYNC=" Never ")

    assert found.section(LoggingConfig).format == "json"
    assert found.section(LoggingConfig).level == "Warn,memcastle=DEBUG"
    assert found.section(StoreConfig).sync == "never"


def test_list_of_the_environment_is_split_at_commas(home: Path) -> None:
    found = loaded(
        home,
        "[server]\nallowed_hosts = ['other.example']\n",
        MEMCASTLE_SERVER_ALLOWED_HOSTS=" Memory.example ,, b.example ",
        MEMCASTLE_SERVER_ALLOWED_ORIGINS="https://A.example:443",
    )

    assert found.section(ServerConfig).allowed_hosts == ("memory.example", "b.example")
    assert found.section(ServerConfig).allowed_origins == ("https://a.example",)
    assert loaded(home, MEMCASTLE_SERVER_ALLOWED_HOSTS="").section(ServerConfig).allowed_hosts == ()


@pytest.mark.parametrize("value", ["every", "never", "101ms", "1s", "2m", " 500MS "])
def test_sync_accepts_words_and_intervals(home: Path, value: str) -> None:
    assert loaded(home, MEMCASTLE_STORE_SYNC=value).section(StoreConfig).sync == value.strip().lower()


@pytest.mark.parametrize("value", ["", "100ms", "0s", "30", "-5s", "1h", "1.5s", "sometimes", "1m30s"])
def test_sync_refuses_other_intervals(home: Path, value: str) -> None:
    assert "store.sync" in refusal(home, f"[store]\nsync = '{value}'\n")


SECRET = "s3cret-s3cret-s3cret"


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        (f"[auth]\ntoken = '{SECRET} '", {}),
        (f"[auth]\ntoken = '{SECRET[:15]}'", {}),
        (f"[auth]\ntoken = '{SECRET}ü'", {}),
        ("", {"MEMCASTLE_AUTH_TOKEN": SECRET[:15]}),
        ("", {"MEMCASTLE_AUTH_TOKEN": f"   {SECRET[:14]}   "}),
        ("", {"MEMCASTLE_AUTH_TOKEN": ""}),
    ],
)
def test_token_that_cannot_work_is_refused_and_never_shown(home: Path, text: str, environ: dict[str, str]) -> None:
    message = refusal(home, text, **environ)

    assert "auth.token" in message
    assert SECRET[:14] not in message


def test_token_of_the_environment_is_trimmed_and_hidden(home: Path) -> None:
    auth = loaded(home, MEMCASTLE_AUTH_TOKEN=f" {SECRET}\n").section(AuthConfig)

    assert auth.token == SECRET
    assert SECRET not in repr(auth)


def test_first_problem_is_reported_in_the_order_of_the_sections(home: Path) -> None:
    text = "[auth]\ntoken = 'short'\n[jobs]\nlease_ttl_secs = 1\nmax_concurrency = 0\n[palace]\npath = 'x'\n"

    assert refusal(home, text).startswith("palace.path")
    assert refusal(home, text.replace("'x'", "'/x'")).startswith("jobs.max_concurrency")


def test_unknown_names_are_reported_not_refused(home: Path) -> None:
    text = "surprise = 1\n[server]\nprot = 1\n[palace.preferences]\ndefault = 'low'\n[db]\nport = 1\n[[miners]]\nname = 'x'\n"
    found = loaded(home, text + "[mining]\ntrust = 'required'\n[extra]\nx = 1\n")

    assert found.unknown == ("surprise", "server.prot", "extra")
    assert found.unused == ("palace.preferences", "miners", "mining.trust")


def test_every_key_is_described(home: Path) -> None:
    described = {key.key: key for key in described_keys()}

    assert len(described) == sum(len(dataclasses.fields(section)) for _, section in SECTIONS)
    assert all(key.help.endswith(".") for key in described.values())
    assert described["palace.path"].default == "$XDG_DATA_HOME/memcastle/default"
    assert (described["server.bind"].default, described["server.bind"].env) == ('"127.0.0.1"', "MEMCASTLE_BIND")
    assert described["web.enable"].default == "true"
    assert described["server.allowed_hosts"].default == "[]"
    assert described["auth.token"].default == ""
