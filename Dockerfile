# syntax=docker/dockerfile:1
# Stage 1: the page.
FROM node:20-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build

# Stage 2: the packages, with hashes checked; the program itself is copied beside them, nothing else is fetched.
FROM python:3.11-slim AS build
RUN python -m venv /venv
COPY requirements-server.lock /tmp/
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements-server.lock && /venv/bin/pip uninstall --yes pip setuptools
COPY assistant/ /venv/lib/python3.11/site-packages/assistant/
COPY migrations/ /venv/lib/python3.11/site-packages/assistant/_migrations/
COPY --from=web /src/assistant/web /venv/lib/python3.11/site-packages/assistant/web
# A read-only tree cannot keep bytecode later; without it every start compiles everything anew.
RUN /venv/bin/python -m compileall -q /venv/lib/python3.11/site-packages/assistant

# Stage 3: what runs; no compiler, no root. Everything but /data and /tmp may be read-only: docker run --read-only --tmpfs /tmp.
FROM python:3.11-slim
RUN groupadd --system --gid 10001 assistant \
  && useradd --system --uid 10001 --gid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin assistant
COPY --from=build /venv /venv
USER 10001:10001
WORKDIR /data
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 LITELLM_LOCAL_MODEL_COST_MAP=True \
    ASSISTANT_ENVIRONMENT=production \
    ASSISTANT_DATABASE__URL=sqlite+aiosqlite:////data/assistant.db \
    ASSISTANT_SERVER__HOST=0.0.0.0 ASSISTANT_SERVER__LOG_FORMAT=json
VOLUME /data
EXPOSE 8000
# SIGTERM: 3 s to send clients elsewhere, 10 s for running turns, 5 s to end those that are left. Give it 30.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["python", "-m", "assistant", "serve"]
