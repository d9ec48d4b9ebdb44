# One memory for several clients, over HTTP:
#   docker build -t hermes-mcp .
#   docker run -p 127.0.0.1:7523:7523 -v ~/.hermes:/home/hermes/.hermes --user "$(id -u)" hermes-mcp
# The bearer token is in ~/.hermes/mcp/token afterwards. The port is published
# to this machine alone; beyond it put a proxy with TLS in front.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags nethttpomithttp2 '-gcflags=net/...=-l' '-gcflags=github.com/mark3labs/...=-l' '-gcflags=github.com/spf13/...=-l' '-gcflags=github.com/santhosh-tekuri/...=-l' '-gcflags=crypto/tls=-l' '-gcflags=crypto/x509=-l' '-gcflags=github.com/pelletier/...=-l' '-gcflags=github.com/tailscale/...=-l' -trimpath -ldflags='-s -w' -o /hermes-mcp ./cmd/hermes-mcp \
 && mkdir -p /image/home/hermes/.hermes /image/tmp /image/etc/ssl/certs \
 && chmod 1777 /image/home/hermes /image/home/hermes/.hermes /image/tmp \
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
LABEL io.modelcontextprotocol.server.name="io.github.hermes-mcp/hermes-mcp"
LABEL org.opencontainers.image.source="https://github.com/hermes-mcp/hermes-mcp"
COPY --from=build /hermes-mcp /hermes-mcp
COPY --from=build /image /
ENV HOME=/home/hermes
USER 1000
EXPOSE 7523
ENTRYPOINT ["/hermes-mcp"]
CMD ["serve", "--transport", "http", "--addr", "0.0.0.0:7523", "--behind-proxy"]
