from __future__ import annotations

import pytest

from jobs.conf import PREFIX, JobsConfig
from palace.configuration import read_section
from palace.errors import ConfigInvalid


def read(table: dict[str, object] | None = None, environ: dict[str, str] | None = None) -> JobsConfig:
    return read_section(JobsConfig, PREFIX, table or {}, environ or {}, {})


def test_defaults() -> None:
    assert read() == JobsConfig(4, 2, 10, 30)


@pytest.mark.parametrize(("total", "background", "in_force"), [(4, 2, 2), (4, 9, 3), (2, 2, 1), (1, 1, 1), (1, 5, 1)])
def test_background_jobs_never_take_the_last_place(total: int, background: int, in_force: int) -> None:
    assert read({"max_concurrency": total, "background_concurrency": background}).background_limit == in_force


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_concurrency", 0),
        ("background_concurrency", 0),
        ("drain_timeout_secs", 0),
        ("drain_timeout_secs", 86_401),
        ("lease_ttl_secs", 2),
        ("lease_ttl_secs", 86_401),
    ],
)
def test_values_out_of_range_name_their_key_or_variable(key: str, value: int) -> None:
    with pytest.raises(ConfigInvalid, match=f"jobs.{key}"):
        read({key: value})
    with pytest.raises(ConfigInvalid, match=f"MEMCASTLE_JOBS_{key.upper()}"):
        read(environ={f"MEMCASTLE_JOBS_{key.upper()}": str(value)})
