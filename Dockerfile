# One image for the arena and its bots. docker-compose.yml runs a ladder with it. By itself, the image is the command `arena`:
#   docker build -t riskless-arena . && docker run --rm riskless-arena maps show m2
# `--build-arg PYTHON_VERSION=3.13` builds on the image of another Python, for example if Docker cannot pull images.
ARG PYTHON_VERSION=3.14
# `--build-arg PYTHON_DIGEST=@sha256:…` builds on exactly the image with this digest.
ARG PYTHON_DIGEST=
FROM python:${PYTHON_VERSION}-slim${PYTHON_DIGEST} AS dependencies
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv --without-pip /opt/arena
WORKDIR /src
# The dependencies are a layer of their own, so that a change of the sources does not install them again.
COPY requirements.lock ./
RUN python -m pip --python /opt/arena/bin/python install --quiet --require-hashes -r requirements.lock

# The searches are compiled here, so that no bot has to compile them while a match waits: for the processor of this machine, or
# with `--build-arg PROCESSOR=generic` for any processor of its architecture. The stage needs only these sources, and is built
# in parallel with the wheel.
FROM dependencies AS searches
COPY arena arena
COPY games games
COPY bots bots
ARG PROCESSOR=
RUN export XDG_CACHE_HOME=/kernels; [ -z "$PROCESSOR" ] || export NUMBA_CPU_NAME="$PROCESSOR"; \
    /opt/arena/bin/python -m arena.bots.compiled --networks

FROM python:${PYTHON_VERSION}-slim${PYTHON_DIGEST} AS wheel
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv --without-pip /opt/build
WORKDIR /src
COPY requirements-build.lock ./
RUN python -m pip --python /opt/build/bin/python install --quiet --require-hashes -r requirements-build.lock
COPY . .
RUN python -m pip --python /opt/build/bin/python wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheel .

FROM dependencies AS installed
COPY --from=wheel /wheel /wheel
RUN python -m pip --python /opt/arena/bin/python install --quiet --no-deps /wheel/*.whl \
 && find /opt/arena/lib -type d -name tests -prune -exec rm -rf {} +

FROM python:${PYTHON_VERSION}-slim${PYTHON_DIGEST}
# Code that is compiled at run time is stored in a folder that the arena's user can write to, even if the root file system is
# read-only. ARENA_KERNELS lists the folders with compiled code: in a volume, and in the image.
ENV PATH=/opt/arena/bin:$PATH PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/tmp/cache \
    ARENA_KERNELS=/var/cache/arena:/opt/arena/kernels
RUN groupadd --system --gid 10001 arena && useradd --system --create-home --uid 10001 --gid 10001 arena \
 && install -d -o arena -g arena /record /store /var/cache/arena
COPY --from=installed /opt/arena /opt/arena
COPY --from=searches /kernels /opt/arena/kernels
COPY --chmod=755 docker/as-owner /usr/local/bin/
USER arena
WORKDIR /record
EXPOSE 8765
# The command `arena` stops on SIGTERM, and leaves no child processes, so no init process is needed.
STOPSIGNAL SIGTERM
ENTRYPOINT ["arena"]
CMD ["serve", "--host", "0.0.0.0", "--db", "sqlite:////record/arena.db", "--set", "store.record=/record/matches.jsonl"]
# Within the first minute, Docker checks every 5 s until the server is healthy.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
