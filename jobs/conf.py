"""The section `[jobs]` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from palace.configuration import integer, setting

PREFIX = "jobs"


@dataclass(frozen=True, slots=True)
class JobsConfig:
    """How many jobs run at once, how long a stop waits for them, how long a worker owns one without a sign of life."""

    max_concurrency: int = setting(
        integer(1),
        4,
        env="MEMCASTLE_JOBS_MAX_CONCURRENCY",
        help="Jobs that run at the same time.",
    )
    background_concurrency: int = setting(
        integer(1),
        2,
        env="MEMCASTLE_JOBS_BACKGROUND_CONCURRENCY",
        help="Background jobs (mining and the like) among them; one place is always left for other jobs.",
    )
    drain_timeout_secs: int = setting(
        integer(1, 86_400),
        10,
        env="MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS",
        help="Seconds that a stop waits for running jobs to reach a safe point.",
    )
    lease_ttl_secs: int = setting(
        integer(3, 86_400),
        30,
        env="MEMCASTLE_JOBS_LEASE_TTL_SECS",
        help="Seconds that a job stays with a daemon that gives no sign of life.",
    )

    keep_days: int = setting(
        integer(0, 36_500),
        90,
        env="MEMCASTLE_JOBS_KEEP_DAYS",
        help="Days that completed, failed and cancelled jobs are kept after their end; 0 keeps them for ever.",
    )

    @property
    def background_limit(self) -> int:
        """The limit of background jobs in force: never the last place, unless there is only one."""
        return min(self.background_concurrency, max(1, self.max_concurrency - 1))
