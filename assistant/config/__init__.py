"""Settings: grouped, typed, read once from environment and file, passed down. Unknown names are refused."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from assistant.config.groups import (
    FAILURES,
    AnswerSettings,
    AuditSettings,
    AuthSettings,
    BudgetSettings,
    CacheSettings,
    DatabaseSettings,
    ExternalSettings,
    Failure,
    FallbackSettings,
    Group,
    JobSettings,
    LimitSettings,
    ModelSettings,
    RetentionPolicySettings,
    RetentionSettings,
    RetrievalSettings,
    ServerSettings,
    TelemetrySettings,
    WidgetSettings,
)
from assistant.errors import BadSetting

__all__ = [
    "CONFIG_VARIABLE",
    "FAILURES",
    "PREFIX",
    "SEPARATOR",
    "AnswerSettings",
    "AuditSettings",
    "AuthSettings",
    "BudgetSettings",
    "CacheSettings",
    "DatabaseSettings",
    "ExternalSettings",
    "Failure",
    "FallbackSettings",
    "JobSettings",
    "LimitSettings",
    "ModelSettings",
    "RetentionPolicySettings",
    "RetentionSettings",
    "RetrievalSettings",
    "ServerSettings",
    "Settings",
    "TelemetrySettings",
    "WidgetSettings",
    "known_names",
    "load_settings",
    "variable_of",
]

PREFIX: Final = "ASSISTANT_"
SEPARATOR: Final = "__"
CONFIG_VARIABLE: Final = "ASSISTANT_CONFIG"
"""Environment variable with the path of the settings file; else `assistant.toml` of the working folder is read if there."""
TOKEN_VARIABLE: Final = "ASSISTANT_TOKEN"  # noqa: S105 - the name of a variable
"""The token of the client in the terminal; no setting."""


class Settings(BaseSettings):
    """All settings; each group is one table of the file and one prefix of the environment.

    The environment wins over the file: ASSISTANT_MODEL__NAME is `name` in `[model]` of assistant.toml.
    """

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter=SEPARATOR, env_ignore_empty=True
    )

    environment: Literal["development", "production"] = Field(
        "development", description="production refuses a development identity"
    )
    tenant: str = Field("default", min_length=1, max_length=64, description="The company or unit whose data this is")
    prompts: Path | None = Field(None, description="Folder with prompt files that replace the built-in ones")
    database: DatabaseSettings = DatabaseSettings()
    model: ModelSettings = ModelSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    answers: AnswerSettings = AnswerSettings()
    budget: BudgetSettings = BudgetSettings()
    auth: AuthSettings = AuthSettings()
    audit: AuditSettings = AuditSettings()
    retention: RetentionSettings = RetentionSettings()
    cache: CacheSettings = CacheSettings()
    limits: LimitSettings = LimitSettings()
    jobs: JobSettings = JobSettings()
    widget: WidgetSettings = WidgetSettings()
    server: ServerSettings = ServerSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values given in code, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _file())


def _file() -> Path:
    return Path(os.environ.get(CONFIG_VARIABLE, "assistant.toml"))


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; raises BadSetting that names the setting, what is wrong, and the nearest known name."""
    _refuse_unknown_variables(os.environ if environment is None else environment)
    if CONFIG_VARIABLE in os.environ and not _file().is_file():
        raise BadSetting("the settings file does not exist", setting=CONFIG_VARIABLE)
    try:
        return Settings()
    except ValidationError as error:
        raise _explained(error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"the settings file cannot be read: {error}", setting=_file().name) from None


def _explained(error: ValidationError) -> BadSetting:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    nearest = _nearest(name, known_names()) if first["type"] == "extra_forbidden" else None
    hint = f"; did you mean {nearest}?" if nearest else ""
    return BadSetting(f"setting {name}: {first['msg']}{hint}", setting=name, nearest=nearest)


def known_names() -> list[str]:
    """The dotted names of all settings."""
    names: list[str] = []
    for name, field in Settings.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, Group):
            names.extend(f"{name}.{inner}" for inner in group.model_fields)
        else:
            names.append(name)
    return names


def variable_of(name: str) -> str:
    """The environment variable of a dotted setting name."""
    return PREFIX + name.replace(".", SEPARATOR).upper()


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {variable_of(name) for name in known_names()} | {CONFIG_VARIABLE, TOKEN_VARIABLE}
    known |= {name.rsplit(SEPARATOR, 1)[0] for name in known if SEPARATOR in name}
    for variable in sorted(environment):
        if variable.upper().startswith(PREFIX) and variable.upper() not in known:
            nearest = _nearest(variable.upper(), sorted(known))
            hint = f"; did you mean {nearest}?" if nearest else ""
            raise BadSetting(f"unknown setting {variable}{hint}", setting=variable, nearest=nearest)


def _nearest(name: str, known: list[str]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1, cutoff=0.6)), None)
