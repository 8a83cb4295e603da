import { Worker } from "node:worker_threads";
import type { RunningWorker } from "../tasks/worker.js";
import type { ServerConfig } from "./config.js";
import { openDatabase } from "./database.js";
import { runHttpRole } from "./http-role.js";
import type { Logger } from "./log.js";
import { resolveSecret } from "./secret.js";
import { runWorkerRole, type WorkerRoleOptions } from "./worker-role.js";

export const ROLES = ["all", "http", "worker"] as const;
export type Role = (typeof ROLES)[number];

/** `svc-server start`: serves until SIGTERM or SIGINT; then drains requests, then jobs. */
export async function startCommand(config: ServerConfig, logger: Logger, role: Role): Promise<void> {
  const stopSignal = receiveStopSignal();
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
    let ready = "svc-server working";
    if (role !== "worker") {
      const http = await runHttpRole({ config, databaseUrl, useRoles, secret, logger });
      running.unshift(() => http.stop());
      ready = `svc-server listening on ${http.address}`;
    }
    process.stdout.write(`${ready}\n`);
    logger.info({ signal: await stopSignal }, "stopping");
  } finally {
    for (const stop of running) await stop();
  }
}

/** The worker in a thread of its own, off the HTTP event loop. A worker that dies takes the process with it, to be started again. */
async function startWorkerThread(options: WorkerRoleOptions, logLevel: string, logger: Logger): Promise<RunningWorker> {
  const thread = new Worker(new URL("./worker-thread.js", import.meta.url), { workerData: { options, logLevel } });
  let stopping = false;
  const exited = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    thread.once("message", () => resolve());
    thread.once("error", reject);
  });
  thread.on("error", (error) => logger.fatal({ err: error }, "the worker failed"));
  thread.once("exit", () => {
    if (!stopping) process.exit(1);
  });
  return {
    async stop() {
      stopping = true;
      thread.postMessage("stop");
      await exited;
    },
  };
}

/** The first SIGTERM or SIGINT. A second one ends the process as usual. */
function receiveStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });
}
