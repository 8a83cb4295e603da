import type { Logger } from "pino";
import { runWorkerRole } from "../../src/server/worker-role.js";

/** Starts a worker in this process without a settling time; `secret` is the SVC_SECRET with which webhooks' secrets are sealed. */
export function startWorker(databaseUrl: string, logger: Logger, secret: string, allowPrivateWebhooks = false) {
  const evaluation = { useRoles: true, settleSeconds: 0, attemptDays: 30, recomputeAttempts: 10 };
  return runWorkerRole({ databaseUrl, ...evaluation, secret, allowPrivateWebhooks }, logger);
}
