"""How commands begin: settings read, logging set, the database looked at."""

from __future__ import annotations

from assistant.config import Settings, load_settings
from assistant.errors import BadSetting
from assistant.telemetry import configure_logging


def command_settings() -> Settings:
    """The settings, with logging as they say."""
    settings = load_settings()
    configure_logging(settings.server.log_format, settings.server.log_level)
    return settings


async def check_migrated(settings: Settings) -> None:
    """Raises BadSetting for a database that is not of the newest form."""
    from assistant.store.migrations import current_and_head

    current, head = await current_and_head(settings.database.url)
    if current != head:
        raise BadSetting("the database is not up to date; run `assistant migrate`", setting="database.url")
