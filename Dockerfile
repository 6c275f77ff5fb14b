# Built by BuildKit with what is inside it: no frontend is fetched. Both bases may be named by digest, or at a mirror; an index
# or registry of your own comes as a secret, which no layer keeps: --secret id=pip,src=pip.conf --secret id=npm,src=.npmrc
ARG NODE=node:20-bookworm-slim
ARG PYTHON=python:3.11-slim-bookworm

# The page.
FROM ${NODE} AS page
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN --mount=type=cache,target=/root/.npm --mount=type=secret,id=npm,target=/root/.npmrc \
    npm ci --no-audit --no-fund --ignore-scripts
COPY web/ ./
RUN npm run build

# The packages: wheels only, each by its hash, into a tree without pip. What is never imported goes: tests, commands, the page of litellm's proxy.
FROM ${PYTHON} AS packages
RUN python -m venv --without-pip /venv
COPY requirements-server.lock /tmp/
WORKDIR /venv/lib/python3.11/site-packages
RUN --mount=type=cache,target=/root/.cache/pip --mount=type=secret,id=pip,target=/etc/pip.conf \
    python -m pip --disable-pip-version-check --python /venv/bin/python install --only-binary=:all: --require-hashes -r /tmp/requirements-server.lock \
  && find . -type d -name tests -prune -exec rm -r {} + \
  && rm -r litellm/proxy/_experimental litellm/proxy/swagger \
  && find /venv/bin -type f -delete

# The program beside them, compiled: a read-only tree cannot keep bytecode later, and every start would compile everything anew.
FROM packages AS program
COPY assistant/ /venv/lib/python3.11/site-packages/assistant/
COPY migrations/ /venv/lib/python3.11/site-packages/assistant/_migrations/
COPY --from=page /src/assistant/web /venv/lib/python3.11/site-packages/assistant/web
RUN /venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /venv/lib/python3.11/site-packages/assistant \
  && printf '#!/venv/bin/python\nfrom assistant.__main__ import main\n\nmain()\n' > /venv/bin/assistant \
  && chmod 755 /venv/bin/assistant \
  && /venv/bin/assistant --version \
  && LITELLM_LOCAL_MODEL_COST_MAP=True /venv/bin/python -c 'import litellm'

# What runs: no compiler, no pip, no root. All but /data and /tmp may be read-only: docker run --read-only --tmpfs /tmp.
FROM ${PYTHON}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="assistant" \
      org.opencontainers.image.description="A chat assistant backend that grounds every turn in the company's own documents" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
RUN groupadd --system --gid 10001 assistant \
  && useradd --system --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin assistant \
  && install --directory --owner=10001 --group=10001 --mode=700 /data \
  && python -m pip uninstall --yes --root-user-action=ignore pip setuptools wheel
COPY LICENSE /usr/share/doc/assistant/
COPY --from=packages /venv /venv
COPY --from=program /venv/bin/assistant /venv/bin/
COPY --from=program /venv/lib/python3.11/site-packages/assistant /venv/lib/python3.11/site-packages/assistant
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1 LITELLM_LOCAL_MODEL_COST_MAP=True \
    ASSISTANT_ENVIRONMENT=production \
    ASSISTANT_DATABASE__URL=sqlite+aiosqlite:////data/assistant.db \
    ASSISTANT_SERVER__HOST=0.0.0.0 ASSISTANT_SERVER__LOG_FORMAT=json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
# SIGTERM: 3 s to send clients elsewhere, 10 s for running turns, 5 s to end those that are left. Give it 30.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('ASSISTANT_SERVER__PORT', '8000') + '/healthz', timeout=3)"]
ENTRYPOINT ["assistant"]
CMD ["serve"]
