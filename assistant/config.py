"""Settings: grouped, typed, read once from environment and file, passed down. Unknown names are refused."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from assistant.errors import BadSetting

PREFIX: Final = "ASSISTANT_"
SEPARATOR: Final = "__"
CONFIG_VARIABLE: Final = "ASSISTANT_CONFIG"
"""Environment variable with the path of the settings file; else `assistant.toml` of the working folder is read if there."""


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class DatabaseSettings(_Group):
    """Where everything is stored."""

    url: str = Field(
        "sqlite+aiosqlite:///var/assistant.db", description="SQLAlchemy URL: sqlite+aiosqlite or postgresql+asyncpg"
    )


class ModelSettings(_Group):
    """Which language model answers."""

    kind: Literal["extractive", "openai", "litellm"] = Field(
        "extractive",
        description="extractive needs nothing; openai streams from any compatible endpoint; litellm reaches every provider",
    )
    name: str = Field("", description="Model name at the endpoint or for litellm")
    base_url: str = Field("", description="Endpoint of a compatible server, for example http://127.0.0.1:11434/v1")
    api_key: SecretStr = Field(SecretStr(""), description="Key of the endpoint")
    window: int = Field(
        0, ge=0, le=10_000_000, description="Tokens of the context window; 0 takes the model's metadata"
    )
    timeout_s: float = Field(60.0, gt=0, le=3600, description="Longest wait for the model's next word, in seconds")
    simple: str = Field(
        "", description="Name of a cheaper model of the same kind and endpoint for turns that need no better"
    )
    vision: bool | None = Field(None, description="Whether the model takes images; not set takes the model's metadata")
    rewrite: bool = Field(False, description="Let the model make follow-ups standalone where the rules are unsure")
    conflicts: bool = Field(False, description="Let the model look for conflicts that the rules do not find")
    summaries: bool = Field(True, description="Let the model write the notes of long conversations, after the answer")
    temperature: float = Field(0.1, ge=0, le=2)
    top_p: float = Field(0.9, gt=0, le=1)
    frequency_penalty: float = Field(0.3, ge=-2, le=2)
    presence_penalty: float = Field(0.1, ge=-2, le=2)


class RetrievalSettings(_Group):
    """How evidence is found and selected."""

    embedder: str = Field("use", description="use, e5 (extra e5), litellm/<model>, or none for words only")
    base_url: str = Field("", description="Endpoint of a litellm embedder, where it is not the provider's own")
    api_key: SecretStr = Field(SecretStr(""), description="Key of a litellm embedder")
    dimension: int = Field(1536, ge=1, le=65536, description="Length of the vectors of a litellm embedder")
    limit: int = Field(24, ge=1, le=500, description="Passages fetched per turn")
    evidence: int = Field(10, ge=1, le=100, description="Most pieces of evidence per turn")
    floor: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Least score of evidence as a share of the best one; not set takes what was calibrated for the embedder",
    )
    floors: Path | None = Field(None, description="File of `assistant eval calibrate --write` with your own floors")


class AnswerSettings(_Group):
    """How answers are made."""

    mode: str = Field(
        "auto", description="Mode of every answer that is not asked for in another; auto lets the policy pick"
    )
    modes: dict[str, str] = Field(default_factory=dict, description="Mode by collection, where its evidence is alone")
    form: str = Field(
        "", description="Few-shot example that fixes the form of answers: a file of prompts/<language>/formats"
    )
    prepare: list[str] = Field(
        default_factory=list,
        description="Steps that prepare the evidence, in order: by_date, newest_first, one_per_source, by_topic, "
        "by_entity, without_low_quality, sliding_windows, or a registered one",
    )
    judge: bool = Field(False, description="In verified, let the model have a say in what the check by rule doubts")
    filter: bool = Field(
        False, description="In refine and compact, ask of each prompt first whether its evidence is relevant"
    )
    parallel: int = Field(
        8, ge=1, le=256, description="Model calls that may run at once, of all parallel modes together"
    )
    most_calls: int = Field(32, ge=1, le=1000, description="Most model calls that the policy plans for one answer")
    most_cost: float = Field(
        0.0, ge=0, description="Most US dollars of input for one answer where the price is known; 0: any"
    )
    deadline_s: float = Field(180.0, gt=0, le=3600, description="Longest time that an answer may take, in seconds")


class BudgetSettings(_Group):
    """How the context window is divided."""

    min_output: int = Field(500, ge=16, le=100_000)
    max_output: int = Field(2048, ge=16, le=100_000)
    output_share: float = Field(0.15, gt=0, lt=0.6)
    margin_share: float = Field(0.03, ge=0, lt=0.3)
    history_share: float = Field(0.25, ge=0, lt=0.6)
    conflict_window_days: int = Field(30, ge=0, le=3650, description="Dates closer than this count as equal")


class AuthSettings(_Group):
    """Who may come in."""

    development_user: str = Field(
        "", description="Everyone is this person. For development only; the server says so loudly"
    )
    development_groups: list[str] = Field(default_factory=list, description="Groups of the development user")
    development_roles: list[str] = Field(
        default_factory=lambda: ["user"], description="Roles of the development user: user, auditor, exporter"
    )
    origins: list[str] = Field(
        default_factory=list, description="Exact origins that may open a websocket, beside the server's own"
    )


class AuditSettings(_Group):
    """How the audit log is signed, and where its checkpoints go."""

    key: Path = Field(
        Path("var/audit.pem"),
        description="File with the Ed25519 key that signs; the server makes it where there is none",
    )
    targets: list[str] = Field(
        default_factory=list,
        description="Files or URLs that checkpoints are added to, best where nobody can change both them and the database",
    )
    every_records: int = Field(1000, ge=1, le=1_000_000, description="A checkpoint after so many records")
    every_minutes: float = Field(
        10.0, gt=0, le=10_080, description="A checkpoint after so many minutes with any record"
    )


class WidgetSettings(_Group):
    """What the page shows."""

    title: str = "Assistant"
    examples: list[str] = Field(default_factory=list, description="Questions offered on the empty page")


class ServerSettings(_Group):
    """Where the server listens, and its limits."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    heartbeat_s: float = Field(20.0, gt=0, le=300)
    running_turns_per_user: int = Field(2, ge=1, le=100)
    starts_per_minute: int = Field(30, ge=1, le=10_000)
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(BaseSettings):
    """All settings; each group is one table of the file and one prefix of the environment.

    The environment wins over the file: ASSISTANT_MODEL__NAME is `name` in `[model]` of assistant.toml.
    """

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter=SEPARATOR, env_ignore_empty=True
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
    widget: WidgetSettings = WidgetSettings()
    server: ServerSettings = ServerSettings()

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
        if isinstance(group, type) and issubclass(group, _Group):
            names.extend(f"{name}.{inner}" for inner in group.model_fields)
        else:
            names.append(name)
    return names


def variable_of(name: str) -> str:
    """The environment variable of a dotted setting name."""
    return PREFIX + name.replace(".", SEPARATOR).upper()


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {variable_of(name) for name in known_names()} | {CONFIG_VARIABLE}
    known |= {name.rsplit(SEPARATOR, 1)[0] for name in known if SEPARATOR in name}
    for variable in sorted(environment):
        if variable.upper().startswith(PREFIX) and variable.upper() not in known:
            nearest = _nearest(variable.upper(), sorted(known))
            hint = f"; did you mean {nearest}?" if nearest else ""
            raise BadSetting(f"unknown setting {variable}{hint}", setting=variable, nearest=nearest)


def _nearest(name: str, known: list[str]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1, cutoff=0.6)), None)
