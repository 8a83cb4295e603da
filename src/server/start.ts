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
  const stop = receiveStopSignal();
  // Listens before anything else, so that the probes are answered while the database is started and migrated.
  const http = role === "worker" ? null : await openHttp(config, logger);
  const parts: Stoppable[] = http === null ? [] : [http];
  try {
    const database = await openDatabase(config, logger);
    parts.push({ stop: () => database.release() });
    if (stop.signal.aborted) return;
    const secret = await resolveSecret(config);
    const { url: databaseUrl, useRoles } = database;
    if (role !== "http") {
      const options: WorkerRoleOptions = {
        databaseUrl,
        useRoles,
        settleSeconds: config.settleSeconds,
        attemptDays: config.deliveryAttemptDays,
        recomputeAttempts: config.recomputeAttempts,
        secret,
        allowPrivateWebhooks: config.webhookAllowPrivate,
      };
      const worker =
        role === "worker"
          ? await runWorkerRole(options, logger)
          : await startWorkerThread(options, config.logLevel, logger);
      // Before the database, which it needs to finish its jobs.
      parts.splice(-1, 0, worker);
    }
    http?.serve({ databaseUrl, useRoles, secret });
    process.stdout.write(http === null ? "svc-server working\n" : `svc-server listening on ${http.address}\n`);
    logger.info({ signal: await stop.received }, "stopping");
  } finally {
    await stopAll(parts);
  }
}

interface Stoppable {
  stop(): Promise<void>;
}

/** One after the other, also where one of them fails; throws the first failure then. What was left running would keep the process alive. */
async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) await part.stop().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface StopSignal {
  /** The first SIGTERM or SIGINT. A second one ends the process as usual. */
  received: Promise<NodeJS.Signals>;
  /** Aborted by it. */
  signal: AbortSignal;
}

function receiveStopSignal(): StopSignal {
  const stopping = new AbortController();
  const received = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, resolve);
  });
  void received.then(() => stopping.abort());
  return { received, signal: stopping.signal };
}
