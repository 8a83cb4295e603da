import type { ServerConfig } from "./config.js";
import { openDatabase } from "./database.js";
import { openHttp } from "./http-role.js";
import type { Logger } from "./log.js";
import { resolveSecret } from "./secret.js";
import { runWorkerRole, type WorkerRoleOptions } from "./worker-role.js";
import { startWorkerThread } from "./worker-thread-keeper.js";

export const ROLES = ["all", "http", "worker"] as const;
export type Role = (typeof ROLES)[number];

/** `svc-server start`: serves until SIGTERM or SIGINT; then drains requests, then jobs. */
export async function startCommand(config: ServerConfig, logger: Logger, role: Role): Promise<void> {
  const stopSignal = receiveStopSignal();
  // Listens before anything else, so that the probes are answered while the database is started and migrated.
  const http = role === "worker" ? null : await openHttp(config, logger);
  // Stopped last to first, also where a later part cannot start: what was left running would keep the process alive.
  const running: (() => Promise<void>)[] = [];
  try {
    const database = await openDatabase(config, logger);
    running.unshift(() => database.release());
    const secret = await resolveSecret(config);
    const { url: databaseUrl, useRoles } = database;
    if (role !== "http") {
      const options: WorkerRoleOptions = {
        databaseUrl,
        useRoles,
        settleSeconds: config.settleSeconds,
        secret,
        allowPrivateWebhooks: config.webhookAllowPrivate,
      };
      const worker =
        role === "worker"
          ? await runWorkerRole(options, logger)
          : await startWorkerThread(options, config.logLevel, logger);
      running.unshift(() => worker.stop());
    }
    http?.serve({ databaseUrl, useRoles, secret });
    process.stdout.write(http === null ? "svc-server working\n" : `svc-server listening on ${http.address}\n`);
    logger.info({ signal: await stopSignal }, "stopping");
  } finally {
    await http?.stop();
    for (const stop of running) await stop();
  }
}

/** The first SIGTERM or SIGINT. A second one ends the process as usual. */
function receiveStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });
}
