"""Where the apps keep their schema."""

from __future__ import annotations

from pathlib import Path

from django.apps import apps

from palace.store.schema import Definition, read_definitions


def definitions() -> list[Definition]:
    """The definitions of all installed apps, in the order of INSTALLED_APPS."""
    return read_definitions(Path(app.path) / "schema" for app in apps.get_app_configs())
