from django.apps import AppConfig


class MemCastleSiteConfig(AppConfig):
    name = "memcastle_site"
