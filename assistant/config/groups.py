"""The groups of settings: each is one table of the file and one prefix of the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class Group(BaseModel):
    """A table of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class DatabaseSettings(Group):
    """Where everything is stored."""

    url: str = Field(
        "sqlite+aiosqlite:///var/assistant.db", description="SQLAlchemy URL: sqlite+aiosqlite or postgresql+asyncpg"
    )
    pool_size: int = Field(8, ge=1, le=1000, description="Connections that a process keeps")
    replica_url: str = Field(
        "", description="A PostgreSQL replica that may be behind, for searches and for reading the audit log"
    )
    direct_url: str = Field(
        "", description="Where url goes through a pooler of transactions (pgbouncer): the way past it"
    )
    prepared: bool = Field(
        True, description="Keep prepared statements; false behind a pooler that does not carry them over"
    )


Failure = Literal["unavailable", "overloaded", "overflow"]
"""unavailable: refuses, breaks off or is silent; overloaded: asks to wait; overflow: the prompt is too long for its window."""
FAILURES: Final[tuple[Failure, ...]] = get_args(Failure)


class FallbackSettings(Group):
    """A model that stands in for the main one. What is not set is as the main model has it."""

    name: str = Field(min_length=1, description="Model name at the endpoint or for litellm")
    kind: Literal["", "openai", "litellm"] = ""
    base_url: str = Field("", description="Endpoint, where it is another one; then the key is another one, too")
    api_key: SecretStr = Field(SecretStr(""), description="Key of the endpoint")
    window: int = Field(0, ge=0, le=10_000_000, description="Tokens of the context window; 0 takes its metadata")
    on: tuple[Failure, ...] = Field(
        FAILURES, min_length=1, description="Failures it stands in for; overflow only where its window is larger"
    )


class ModelSettings(Group):
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
    first_s: float = Field(60.0, gt=0, le=3600, description="Longest wait for the model's first word, in seconds")
    connect_s: float = Field(5.0, gt=0, le=300, description="Longest wait for a connection to the endpoint, in seconds")
    whole_s: float = Field(0.0, ge=0, le=3600, description="Longest time of one call, in seconds; 0: any")
    retries: int = Field(2, ge=0, le=10, description="How often a call is tried again that has said nothing yet")
    most_open: int = Field(128, ge=1, le=10_000, description="Calls that may be open at one endpoint; more are refused")
    failures: int = Field(5, ge=1, le=1000, description="Failures in a row after which an endpoint is left alone")
    rest_s: float = Field(5.0, gt=0, le=600, description="For how long at first, in seconds; doubled up to two minutes")
    fallbacks: list[FallbackSettings] = Field(
        default_factory=list,
        description="Models that stand in, in order: names at the same endpoint, or [[model.fallbacks]] in the file",
    )
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

    @field_validator("fallbacks", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """A bare name is a model of the same kind at the same endpoint."""
        named = value if isinstance(value, list) else []
        return [{"name": item} if isinstance(item, str) else item for item in named] or value


class ExternalSettings(Group):
    """A search outside of this program, whose passages are evidence too."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$", description="Its name, and that of its collection")
    url: str = Field("", description="https, or http at a loopback address; empty: registered in Python by this name")
    secret: SecretStr = Field(SecretStr(""), description="Signs who asks (HS256); at least 32 bytes")
    weight: float = Field(1.0, gt=0, le=10, description="What its passages count against built-in ones of their rank")
    timeout_s: float = Field(5.0, gt=0, le=60, description="Longest wait for its answer, in seconds")


class RetrievalSettings(Group):
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
    builtin: bool = Field(True, description="Search the knowledge base; false leaves it to the external searches")
    external: list[ExternalSettings] = Field(
        default_factory=list, description="Searches beside or instead of the built-in one, as [[retrieval.external]]"
    )


class AnswerSettings(Group):
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
    judge_citations: bool = Field(
        False,
        description="Ask the model which evidence carries the sentences of an answer that words do not tie to any",
    )
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


class BudgetSettings(Group):
    """How the context window is divided."""

    min_output: int = Field(500, ge=16, le=100_000)
    max_output: int = Field(2048, ge=16, le=100_000)
    output_share: float = Field(0.15, gt=0, lt=0.6)
    margin_share: float = Field(0.03, ge=0, lt=0.3)
    history_share: float = Field(0.25, ge=0, lt=0.6)
    conflict_window_days: int = Field(30, ge=0, le=3650, description="Dates closer than this count as equal")


class AuthSettings(Group):
    """Who may come in."""

    development_user: str = Field(
        "", description="Everyone is this person. For development only; the server says so loudly"
    )
    development_groups: list[str] = Field(default_factory=list, description="Groups of the development user")
    development_roles: list[str] = Field(
        default_factory=lambda: ["user"], description="Roles of the development user: user, auditor, exporter, admin"
    )
    origins: list[str] = Field(
        default_factory=list, description="Exact origins that may open a websocket, beside the server's own"
    )
    key: Path = Field(
        Path("var/auth.key"),
        description="File with the secret that signs the server's own access tokens; made where there is none",
    )
    access_minutes: float = Field(15.0, gt=0, le=1440, description="Life of the server's own access tokens")
    audience: str = Field("assistant", min_length=1, description="The aud that a token must name")
    issuer: str = Field("", description="The iss that a token must name; empty: any")
    portal_secret: SecretStr = Field(
        SecretStr(""), description="Secret shared with one portal, whose HS256 tokens are taken; at least 32 bytes"
    )
    jwks_url: str = Field(
        "", description="Where the keys of RS256, ES256 and EdDSA tokens are; https, or a loopback address"
    )
    jwks_file: Path | None = Field(None, description="File with such keys, instead of a URL")
    private_network: bool = Field(
        False, description="The keys and the OpenID provider may be at private addresses, as in an intranet"
    )
    service_keys_only: bool = Field(
        False, description="API keys of services are the only way in; production otherwise wants one for people"
    )
    longest_s: float = Field(600.0, gt=0, le=86_400, description="Longest life of a token from outside, in seconds")
    single_use: bool = Field(True, description="A token from outside is taken once; it must then have a jti")
    leeway_s: float = Field(10.0, ge=0, le=120, description="How far clocks may differ, in seconds")
    user_claim: str = Field("sub", min_length=1)
    groups_claim: str = Field("groups", min_length=1)
    roles_claim: str = Field("roles", min_length=1)
    groups: dict[str, list[str]] = Field(
        default_factory=dict, description="Groups here for each group of a token; empty: the same names"
    )
    roles: dict[str, list[str]] = Field(
        default_factory=dict, description="Roles here for each role or group of a token; empty: the same names"
    )
    oidc_issuer: str = Field("", description="OpenID provider that signs people in to the stand-alone pages")
    oidc_client: str = Field("", description="Client id at the provider")
    oidc_secret: SecretStr = Field(SecretStr(""), description="Client secret, where the provider wants one")
    oidc_scopes: str = Field("openid profile", description="Scopes that are asked for")
    public_url: str = Field(
        "", description="Address under which people reach this server, for the way back from the provider"
    )


class AuditSettings(Group):
    """How the audit log is signed, and where its checkpoints go."""

    key: Path = Field(
        Path("var/audit.pem"),
        description="File with the Ed25519 key that signs; the server makes it where there is none",
    )
    secret: Path = Field(
        Path("var/audit.secret"),
        description="File with the secret that keys pseudonyms and wraps the keys of persons; made where there is none. "
        "Back it up apart from the database: without it no sealed text opens",
    )
    targets: list[str] = Field(
        default_factory=list,
        description="Files or URLs that checkpoints are added to, best where nobody can change both them and the database",
    )
    every_records: int = Field(1000, ge=1, le=1_000_000, description="A checkpoint after so many records")
    every_minutes: float = Field(
        10.0, gt=0, le=10_080, description="A checkpoint after so many minutes with any record"
    )


class RetentionPolicySettings(Group):
    """One policy: what goes when it is older than so many days. A legal hold wins over it."""

    what: Literal["conversations", "texts", "versions"] = Field(
        description="conversations; texts: the sealed text of audit records; versions: of documents, that no kept answer cites"
    )
    keep_days: int = Field(ge=1, le=36_500)
    collection: str = Field("", max_length=200, description="Only what was shown of this collection; empty: all")
    tenant: str = Field("", max_length=64, description="Only of this tenant; empty: all")


class RetentionSettings(Group):
    """How long things are kept. Without a policy everything stays."""

    policies: list[RetentionPolicySettings] = Field(
        default_factory=list, description="As [[retention.policies]] in the file"
    )
    every_hours: float = Field(24.0, gt=0, le=8760, description="How often the server applies the policies")


class CacheSettings(Group):
    """Whether an answer may be given again to the same question."""

    enabled: bool = Field(True, description="Answer a question of the same meaning and evidence from the store")
    hours: float = Field(24.0, gt=0, le=8760, description="How long an answer may be given again")
    entries: int = Field(10_000, ge=1, le=10_000_000, description="Most answers that are kept for this")
    modes: list[str] = Field(default_factory=list, description="Custom modes whose answers may be given again, too")


class LimitSettings(Group):
    """What a person and a whole tenant may use in a day (UTC); 0: any."""

    user_turns: int = Field(0, ge=0)
    user_tokens: int = Field(0, ge=0)
    user_cost: float = Field(0.0, ge=0, description="US dollars")
    tenant_turns: int = Field(0, ge=0)
    tenant_tokens: int = Field(0, ge=0)
    tenant_cost: float = Field(0.0, ge=0, description="US dollars")
    upload_bytes: int = Field(20_000_000, ge=1, le=1_000_000_000, description="Largest document that may be sent in")
    files_per_session: int = Field(10, ge=0, le=1000, description="Files that a person may attach to one session")


class JobSettings(Group):
    """Work that nobody waits for."""

    in_server: bool = Field(True, description="The server does jobs, too; false leaves them to `assistant worker`")
    parallel: int = Field(2, ge=1, le=64, description="Jobs that a process does at once")
    lease_s: float = Field(
        60.0,
        ge=1,
        le=3600,
        description="A process that was not seen for so long is taken for gone, and its jobs begin again",
    )


class WidgetSettings(Group):
    """What the page shows, and who may embed it."""

    title: str = "Assistant"
    portals: list[str] = Field(
        default_factory=list, description="Exact origins of pages that may show the assistant in a frame"
    )
    examples: list[str] = Field(default_factory=list, description="Questions offered on the empty page")


class ServerSettings(Group):
    """Where the server listens, and its limits."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    heartbeat_s: float = Field(20.0, gt=0, le=300)
    running_turns_per_user: int = Field(2, ge=1, le=100)
    starts_per_minute: int = Field(30, ge=1, le=10_000)
    lease_s: float = Field(
        30.0,
        ge=1,
        le=3600,
        description="A worker that was not seen for so long is taken for gone; it is seen six times in it",
    )
    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port of its own for Prometheus, open to all who reach it; 0: none"
    )
    metrics_token: SecretStr = Field(
        SecretStr(""), description="Bearer token for GET /metrics on the server's own port; empty: there is none"
    )
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class TelemetrySettings(Group):
    """What traces hold. Whether and where they go is said by the OTEL_* variables."""

    content: bool = Field(False, description="Write prompts and answers into the spans of model calls")
