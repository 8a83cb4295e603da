import type { Logger } from "pino";
import { runWorkerRole } from "../../src/server/worker-role.js";

/** A worker in this process, which lets no time pass before timers fire after late events; `secret` is the SVC_SECRET that webhooks' secrets are sealed with. */
export function startWorker(databaseUrl: string, logger: Logger, secret: string, allowPrivateWebhooks = false) {
  const evaluation = { useRoles: true, settleSeconds: 0, attemptDays: 30, recomputeAttempts: 10 };
  return runWorkerRole({ databaseUrl, ...evaluation, secret, allowPrivateWebhooks }, logger);
}
