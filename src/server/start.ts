import { createServer } from "node:net";
import { call } from "../db/api/call.js";
import { isDoneWithin } from "../tasks/wakeup.js";
import type { ProcessRole, ServerConfig } from "./config.js";
import { migrateServer, reachServer } from "./database.js";
import type { OpenHttp } from "./http-role.js";
import type { Logger } from "./log.js";
import { checkPooler } from "./pooler.js";
import { resolveSecret } from "./secret.js";
import { listenOn } from "./start-failure.js";
import type { WorkerRoleOptions } from "./worker-role.js";

/**
 * Limits for stopping each part. Requests have 10 s, deliveries to webhooks 20 s; a job runs one transaction at a time, which is rolled
 * back if it takes longer, and repeated by another worker.
 */
const STOP_MS_MAX = { requests: 20_000, jobs: 25_000, database: 90_000 };
/** Limit for stopping the embedded database after a second signal, which waits for nothing else. */
const HURRIED_MS_MAX = 10_000;

/**
 * `svc-server start`: serves until SIGTERM, SIGINT or SIGHUP; then readiness fails, requests are drained, and jobs are finished. A second
 * signal ends the process as soon as the embedded database has stopped, a third one at once.
 */
export async function startCommand(config: ServerConfig, logger: Logger, role: ProcessRole): Promise<void> {
  if (role !== "worker") await requireFreePort(config);
  const stop = receiveStopSignals();
  const { reaching, waiting } = startReaching(config, logger);
  const release = async () => (await reaching.catch(() => undefined))?.stop();
  const parts: Part[] = [{ name: "database", msMax: STOP_MS_MAX.database, stop: release }];
  void stop.hurried.then(async (signal) => {
    const released = release().catch((err: unknown) => logger.error({ err }, "the embedded database did not stop"));
    await isDoneWithin(HURRIED_MS_MAX, released);
    process.kill(process.pid, signal);
  });
  let abandoned = false;
  try {
    let http: OpenHttp | null = null;
    if (role !== "worker") {
      await waiting;
      // Listens before using the database, so that the probes are answered while it is started and migrated.
      const opened = await (await import("./http-role.js")).openHttp(config, logger);
      const msMax = config.stopDelaySeconds * 1000 + STOP_MS_MAX.requests;
      parts.unshift({ name: "requests", msMax, stop: () => opened.stop() });
      http = opened;
    }
    // A migration may wait for that of another process, or for a server that does not answer; a stop signal does not wait for it.
    const migrated = migrateServer(reaching, config, logger);
    const settings = migrated.then(async (database): Promise<WorkerRoleOptions> => {
      if (http !== null) await checkPooler(config.poolerUrl, database, logger);
      const secret = await resolveSecret(config);
      const [{ runAsOperator }, { warnOfUnreadableSecrets }] = await Promise.all([
        import("./operator.js"),
        import("./sealed-secrets.js"),
      ]);
      await runAsOperator(database.url, async (sql) => {
        // For links in deliveries: workers cannot know the address.
        if (http !== null) await call(sql, "store_public_url", config.publicUrl ?? http.address);
        await warnOfUnreadableSecrets(sql, secret, logger);
      });
      return {
        databaseUrl: database.url,
        useRoles: database.useRoles,
        settleSeconds: config.settleSeconds,
        attemptDays: config.deliveryAttemptDays,
        recomputeAttempts: config.recomputeAttempts,
        secret,
        allowPrivateWebhooks: config.webhookAllowPrivate,
      };
    });
    const startWorker = async () =>
      (await import("./worker-thread-keeper.js")).startWorkerThread(settings, config.logLevel, logger);
    const working = role === "http" ? null : startWorker();
    working?.catch(() => undefined); // awaited below
    const ready = await Promise.race([settings, stop.received.then(() => null)]);
    if (ready === null) {
      logger.info({ signal: await stop.received }, "stopping before the database is ready");
      abandoned = true;
      return;
    }
    const worker = await working;
    // Stopped before the database, which it needs to finish its jobs.
    if (worker !== null) parts.splice(-1, 0, { name: "jobs", msMax: STOP_MS_MAX.jobs, stop: () => worker.stop() });
    http?.serve(ready);
    process.stdout.write(http === null ? "svc-server working\n" : `svc-server listening on ${http.address}\n`);
    if (http !== null && process.stdout.isTTY)
      await printConsole(ready.databaseUrl, config.publicUrl ?? http.address, logger);
    logger.info({ signal: await stop.received }, "stopping");
  } finally {
    await stopAll(parts, logger).finally(stop.release);
    // Ends the migration, which may still be waiting; the server rolls it back.
    if (abandoned) process.exit();
  }
}

/** Prints how to open the console. A failure is only logged. */
async function printConsole(databaseUrl: string, publicUrl: string, logger: Logger): Promise<void> {
  try {
    const { consoleInWords } = await import("./links.js");
    process.stdout.write(`${await consoleInWords(databaseUrl, publicUrl)}\n`);
  } catch (err) {
    logger.warn({ err }, "the link to the console could not be made");
  }
}

/** Throws if the port cannot be used, before the embedded database is created. The HTTP server itself listens later, once its code is loaded. */
async function requireFreePort(config: ServerConfig): Promise<void> {
  const probe = createServer();
  await listenOn(probe, config);
  await new Promise((resolve) => probe.close(resolve));
}

/**
 * Starts reaching the database server. `waiting` resolves when that only waits for other processes, so that this one can load the rest of its
 * code meanwhile; loading blocks the event loop, so it must not begin earlier.
 */
function startReaching(config: ServerConfig, logger: Logger) {
  let onWait = () => {};
  const waiting = new Promise<void>((resolve) => (onWait = resolve));
  const reaching = reachServer(config, logger, { onWait });
  reaching.then(onWait, onWait); // the caller handles a failure of `reaching`
  return { reaching, waiting };
}

/** A part of the process that must be stopped within `msMax` milliseconds. */
interface Part {
  name: keyof typeof STOP_MS_MAX;
  msMax: number;
  stop: () => Promise<void>;
}

/**
 * Stops the parts one after the other, even if one of them fails; then throws the first failure. Exits if a part did not stop in time, because
 * it would keep the process alive.
 */
async function stopAll(parts: readonly Part[], logger: Logger): Promise<void> {
  const failures: unknown[] = [];
  const late: string[] = [];
  for (const { name, msMax, stop } of parts) {
    const stopped = stop().catch((error: unknown) => failures.push(error));
    if (!(await isDoneWithin(msMax, stopped))) late.push(name);
  }
  if (late.length > 0) {
    logger.error(
      { parts: late },
      "the shutdown timed out: unfinished transactions are rolled back, and other workers repeat them",
    );
    process.exit(1);
  }
  if (failures.length > 0) throw failures[0];
}

/** SIGHUP comes when a terminal is closed, also under `nohup`, which Node.js undoes. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Promises of the first and of the second of these signals. A third one ends the process at once. */
function receiveStopSignals() {
  const waiting: ((name: NodeJS.Signals) => void)[] = [];
  const next = () => new Promise<NodeJS.Signals>((resolve) => waiting.push(resolve));
  const signals = { received: next(), hurried: next() };
  // Without listeners, the next signal ends the process.
  const release = () => {
    for (const name of STOP_SIGNALS) process.off(name, receive);
  };
  const receive = (name: NodeJS.Signals) => {
    waiting.shift()?.(name);
    if (waiting.length === 0) release();
  };
  for (const name of STOP_SIGNALS) process.on(name, receive);
  return { ...signals, release };
}
