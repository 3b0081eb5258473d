"""The `mining` section of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from palace.configuration import integer, setting

PREFIX = "mining"


@dataclass(frozen=True, slots=True)
class MiningConfig:
    """How documents are cut and how much one job takes in."""

    chunk_chars: int = setting(
        integer(200, 100_000),
        6000,
        env="MEMCASTLE_MINING_CHUNK_CHARS",
        help="Longest chunk of a mined document, in characters. A change applies to documents filed from then on.",
    )
    max_file_bytes: int = setting(
        integer(1, 67_108_864),
        2_097_152,
        env="MEMCASTLE_MINING_MAX_FILE_BYTES",
        help="Largest file that the directory source reads, in bytes; larger ones are skipped and counted.",
    )
    max_documents: int = setting(
        integer(1, 1_000_000),
        2000,
        env="MEMCASTLE_MINING_MAX_DOCUMENTS",
        help="Most documents that one mine job files; what is left waits for the next job.",
    )
