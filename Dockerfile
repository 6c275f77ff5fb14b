# syntax=docker/dockerfile:1
# Stage 1: the page.
FROM node:20-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build

# Stage 2: the packages, with hashes checked.
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /venv
COPY requirements.lock ./
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock && /venv/bin/pip install --no-cache-dir hatchling
COPY pyproject.toml README.md LICENSE ./
COPY assistant/ assistant/
COPY migrations/ migrations/
COPY --from=web /src/assistant/web assistant/web
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

# Stage 3: what runs; no compiler, no root, everything but /data may be read-only.
FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home assistant
COPY --from=build /venv /venv
USER assistant
WORKDIR /data
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 \
    ASSISTANT_DATABASE__URL=sqlite+aiosqlite:////data/assistant.db \
    ASSISTANT_SERVER__HOST=0.0.0.0 ASSISTANT_SERVER__LOG_FORMAT=json
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["assistant", "serve"]
