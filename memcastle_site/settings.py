"""Django's settings.

Only what Django itself must know stands here. What an operator configures (addresses, limits, logging,
authentication) is read by `memcastle_site.conf`; memory lives in SurrealDB, so Django has no database.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from memcastle_site import __version__ as __version__

BASE_DIR = Path(__file__).resolve().parent.parent

# Nothing signed with this key outlives the process: there are no sessions, and forms carry no state across restarts.
SECRET_KEY = secrets.token_urlsafe(48)
DEBUG = False
# Host names are judged by memcastle_site.gate before a request reaches Django.
ALLOWED_HOSTS = ["*"]

INSTALLED_APPS = [
    "django.contrib.staticfiles",
    "palace",
    "jobs",
    "search",
    "mining",
    "plugins",
    "memcastle_site",
]
MIDDLEWARE = ["memcastle_site.middleware.ApiAnswers"]
ROOT_URLCONF = "memcastle_site.urls"
APPEND_SLASH = False
DATABASES: dict[str, dict[str, str]] = {}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"], "string_if_invalid": ""},
    }
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

# The daemon and the commands configure logging themselves, before Django is set up.
LOGGING_CONFIG = None

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
