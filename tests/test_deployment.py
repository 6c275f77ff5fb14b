"""What the image, the compose file and the manifests say fits the program: every variable is a setting, nothing runs as root or writes its own tree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from pathspec import PathSpec

from assistant import __version__
from assistant.commands.serve import DRAIN_S, server_options
from assistant.config import known_names, variable_of

IMAGE = Path("Dockerfile").read_text("utf-8")
LAST = IMAGE.rpartition("\nFROM ")[2]
COMPOSE: dict[str, Any] = yaml.safe_load(Path("docs/deploy/compose.yaml").read_text("utf-8"))
OURS = sorted(name for name in COMPOSE["services"] if name != "database")
MANIFESTS = Path("docs/deploy/kubernetes.yaml").read_text("utf-8")
OBJECTS: dict[str, dict[str, Any]] = {
    f"{item['kind']}/{item['metadata']['name']}": item for item in yaml.safe_load_all(MANIFESTS)
}
PODS = {name: item["spec"]["template"] for name, item in OBJECTS.items() if "template" in item.get("spec", {})}
KNOWN = {variable_of(name) for name in known_names()}
COMMANDS = {"serve", "worker", "migrate"}
STOPS_WITHIN_S = DRAIN_S + server_options()["timeout_graceful_shutdown"]


def instruction(name: str) -> list[Any]:
    """The argument of an instruction of the last stage, which has to be in the exec form."""
    found = re.findall(rf"^ *{name} (\[.+\])$", LAST, re.MULTILINE)
    assert len(found) == 1
    words: list[Any] = json.loads(found[0])
    return words


def sources(*folders: str) -> list[str]:
    """The files of these folders without what is built or cached."""
    files = [file for folder in folders for file in Path(folder).rglob("*") if file.is_file()]
    made = ("__pycache__", "assistant/web/", ".pyc")
    return [str(file) for file in files if not any(part in str(file) for part in made)]


def ignored_by_docker() -> PathSpec[Any]:
    """.dockerignore anchors every pattern at the root, and `*` means all below it; otherwise it matches as .gitignore does."""
    lines = Path(".dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    return PathSpec.from_lines(
        "gitignore", ["/**" if line == "*" else re.sub(r"^(!?)", r"\1/", line) for line in patterns]
    )


def test_every_variable_is_a_setting() -> None:
    said = set(re.findall(r"\b(ASSISTANT_\w+)=", IMAGE)) | set(re.findall(r"\bASSISTANT_\w+", MANIFESTS))
    for name in OURS:
        said |= {key for key in COMPOSE["services"][name]["environment"] if key.startswith("ASSISTANT_")}
    assert said - KNOWN == set()
    assert len(said) > 8


def test_the_image_runs_in_production_and_not_as_root() -> None:
    assert re.search(r"^USER 10001:10001$", LAST, re.MULTILINE)
    assert "ASSISTANT_ENVIRONMENT=production" in LAST
    assert LAST.index("RUN ") < LAST.index("USER ") < LAST.index("HEALTHCHECK ") < LAST.index("ENTRYPOINT ")
    assert f"ARG VERSION={__version__}\n" in LAST


def test_the_image_starts_the_command_without_a_shell_that_would_keep_signals() -> None:
    assert instruction("ENTRYPOINT") == ["assistant"]
    assert LAST.rstrip().endswith('CMD ["serve"]')
    assert LAST.count("\nCMD ") == 1


def test_the_health_check_is_a_program_that_asks_the_port_that_is_set() -> None:
    check = re.search(r'^  CMD \["python", "-c", "(.+)"\]$', LAST, re.MULTILINE)
    assert check is not None
    compile(check[1], "health", "exec")
    assert "/healthz" in check[1]
    assert set(re.findall(r"ASSISTANT_\w+", check[1])) == {"ASSISTANT_SERVER__PORT"}


def test_no_frontend_and_no_package_without_its_hash_is_fetched() -> None:
    assert "syntax=" not in IMAGE
    assert "--require-hashes" in IMAGE
    assert "--only-binary=:all:" in IMAGE
    assert "npm ci" in IMAGE
    assert not re.search(r"\b(curl|wget|apt-get|ADD)\b", IMAGE)


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert {"assistant/", "migrations/", "web/"} <= set(names)
    assert [name for name in names if not Path(name).exists()] == []
    assert list(ignored_by_docker().match_files(name for name in names if not name.endswith("/"))) == []


def test_every_file_of_the_program_reaches_the_image() -> None:
    """Files that begin with a dot too: the demo has its dates in `.meta.yaml`."""
    files = sources("assistant", "migrations", "web/src", "web/public", "web/dev")
    assert "assistant/demo/18f-handbook/.meta.yaml" in files
    assert list(ignored_by_docker().match_files(files)) == []


@pytest.mark.parametrize(
    "name", ["tests/conftest.py", ".git/config", "var/auth.key", "web/node_modules/a/b.js", "assistant/web/index.html",
             "assistant/core/__pycache__/text.cpython-311.pyc", "README.md", "assistant.toml", ".env"]
)  # fmt: skip
def test_nothing_else_reaches_it(name: str) -> None:
    assert ignored_by_docker().match_file(name)


@pytest.mark.parametrize("name", OURS)
def test_every_service_of_ours_has_a_tree_that_is_read_only(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["tmpfs"] == ["/tmp"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert int(service["stop_grace_period"].removesuffix("s")) > STOPS_WITHIN_S
    assert service.get("command", ["serve"])[0] in COMMANDS
    assert not any(str(port).startswith(("0.0.0.0", "8")) for port in service.get("ports", ()))


def test_no_secret_has_a_value_of_its_own() -> None:
    text = Path("docs/deploy/compose.yaml").read_text("utf-8")
    secret = re.findall(r"(?:PASSWORD|SECRET|API_KEY): (.+)", text)
    assert len(secret) >= 3
    assert [value for value in secret if not value.startswith(("${", "/data/keys/"))] == []
    assert not [name for name in OBJECTS if name.startswith("Secret/")]
    held = {key for key in OBJECTS["ConfigMap/assistant"]["data"] if re.search(r"PASSWORD|_SECRET$|API_KEY|URL", key)}
    assert held == {"ASSISTANT_AUDIT__SECRET"}
    assert OBJECTS["ConfigMap/assistant"]["data"]["ASSISTANT_AUDIT__SECRET"].startswith("/keys/")


@pytest.mark.parametrize("version", ["1.29", "1.37"])
@pytest.mark.parametrize("name", OBJECTS)
def test_a_manifest_is_one_to_kubernetes(name: str, version: str) -> None:
    kubernetes_validate.validate(OBJECTS[name], version, strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found() -> None:
    wrong = {**OBJECTS["Service/assistant"], "specs": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.37", strict=True)


@pytest.mark.parametrize("name", PODS)
def test_every_pod_is_restricted(name: str) -> None:
    spec = PODS[name]["spec"]
    [container] = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == spec["securityContext"]["fsGroup"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False, "links of the Service would be settings that nobody knows"
    assert container["args"][0] in COMMANDS
    assert container["image"] == f"assistant:{__version__}"
    assert {"/tmp", "/data"} <= {mount["mountPath"] for mount in container["volumeMounts"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}


def test_a_server_has_the_time_that_it_takes_to_stop() -> None:
    spec = PODS["Deployment/assistant-server"]["spec"]
    pause = int(spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert spec["terminationGracePeriodSeconds"] > pause + STOPS_WITHIN_S


def test_the_service_and_the_policies_reach_the_pods_that_they_mean() -> None:
    labels = PODS["Deployment/assistant-server"]["metadata"]["labels"]
    assert OBJECTS["Service/assistant"]["spec"]["selector"] == labels
    for name in ("Deployment/assistant-server", "PodDisruptionBudget/assistant-server"):
        assert OBJECTS[name]["spec"]["selector"]["matchLabels"] == labels
    assert OBJECTS["NetworkPolicy/assistant-server"]["spec"]["podSelector"]["matchLabels"] == labels
    everyone = OBJECTS["NetworkPolicy/assistant-rest"]["spec"]["podSelector"]["matchLabels"].items()
    assert all(everyone <= pod["metadata"]["labels"].items() for pod in PODS.values())
    [container] = PODS["Deployment/assistant-server"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    settings = OBJECTS["ConfigMap/assistant"]["data"]
    assert ports == {"http": 8000, "metrics": int(settings["ASSISTANT_SERVER__METRICS_PORT"])}
