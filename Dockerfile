# `stile serve` in a container: make dist && docker build --tag stile . (docs/serve.md)

FROM python:3.13.9-slim-bookworm AS build
WORKDIR /src
COPY requirements/cli.txt requirements/
COPY infra/build_server.sh infra/
COPY dist/*.whl dist/
RUN ["bash", "-c", "infra/build_server.sh /opt/stile dist/*.whl"]

FROM python:3.13.9-slim-bookworm
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
COPY --from=build /opt/stile /opt/stile
WORKDIR /endpoints
# A number, so that Kubernetes can tell that it is not root. The user owns no file of the image.
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 CMD ["/opt/stile/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["/opt/stile/bin/stile", "serve"]
CMD ["/endpoints", "--host", "0.0.0.0", "--port", "8000"]
