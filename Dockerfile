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
COPY requirements.lock /tmp/
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock
COPY assistant/ /venv/lib/python3.11/site-packages/assistant/
COPY migrations/ /venv/lib/python3.11/site-packages/assistant/_migrations/
COPY --from=web /src/assistant/web /venv/lib/python3.11/site-packages/assistant/web

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
CMD ["python", "-m", "assistant", "serve"]
