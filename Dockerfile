# The arena and its bots in one image. docker-compose.yml runs a ladder of it; alone it is the command:
#   docker build -t riskless-arena . && docker run --rm riskless-arena maps show m2
# an engine that cannot pull may have the image of another Python: `--build-arg PYTHON_VERSION=3.13`
ARG PYTHON_VERSION=3.14
FROM python:${PYTHON_VERSION}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/build && python -m venv --without-pip /opt/arena
WORKDIR /src
# The dependencies are a layer of their own: a change of the sources does not install them again.
COPY requirements.lock requirements-build.lock ./
RUN python -m pip --python /opt/arena/bin/python install --quiet --require-hashes -r requirements.lock \
 && /opt/build/bin/python -m pip install --quiet --require-hashes -r requirements-build.lock
COPY . .
RUN /opt/build/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /tmp/wheel . \
 && python -m pip --python /opt/arena/bin/python install --quiet --no-deps /tmp/wheel/*.whl \
 && find /opt/arena/lib -type d -name tests -prune -exec rm -rf {} +

FROM python:${PYTHON_VERSION}-slim
# What is compiled at run time is kept where the arena's own user may write, also where the root is read-only.
ENV PATH=/opt/arena/bin:$PATH PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/tmp/cache
RUN useradd --system --create-home --uid 10001 arena && install -d -o arena -g arena /record
COPY --from=build /opt/arena /opt/arena
USER arena
WORKDIR /record
EXPOSE 8765
# The command stops on SIGTERM by itself, and has no children that an init would have to reap.
STOPSIGNAL SIGTERM
ENTRYPOINT ["arena"]
CMD ["serve", "--host", "0.0.0.0", "--db", "sqlite:////record/arena.db", "--record", "/record/matches.jsonl"]
HEALTHCHECK --interval=2s --timeout=5s --start-period=10s --retries=15 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
