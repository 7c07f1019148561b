# The server in an image of its own.
#   docker build -t callhouse .                    every role, with the embedded engine
#   docker build --target roles -t callhouse .     ingest, worker and query only: without the engine, a tenth of the size

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script: the engine comes as a package, and the image has its own Node.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node node_modules/node-bin-* /root/.npm

FROM node:24-bookworm-slim AS page
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts && rm -rf /root/.npm
COPY scripts scripts
COPY schemas schemas
COPY services services
RUN node scripts/build-page.ts

FROM packages AS packages-roles
RUN rm -rf node_modules/@chdb

FROM node:24-bookworm-slim AS base
WORKDIR /app
ENV NODE_ENV=production UV_THREADPOOL_SIZE=24 CALLHOUSE_HOST=0.0.0.0 CALLHOUSE_DATA_DIR=/data
COPY package.json ./
COPY schemas schemas
COPY clickhouse clickhouse
COPY services services
COPY --from=page /app/services/web/dist services/web/dist
RUN mkdir -p /data/blobs && chown -R node:node /data
USER node
VOLUME /data
EXPOSE 6400 4317 4318
ENTRYPOINT ["node", "services/main.ts"]
CMD ["serve"]

FROM base AS roles
COPY --from=packages-roles /app/node_modules node_modules

FROM base AS full
COPY --from=packages /app/node_modules node_modules
