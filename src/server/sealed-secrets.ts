import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import type { SealedSecret } from "../db/api/environments.js";
import { openSecret, SealedSecretError, sealingKey } from "../webhooks/secret.js";
import type { Logger } from "./log.js";

/**
 * Warns at a start if SVC_SECRET is not the one with which signing secrets of webhooks were stored. Each of their deliveries would fail, and
 * only its record would say why.
 */
export async function warnOfUnreadableSecrets(sql: Sql, secret: string, logger: Logger): Promise<void> {
  const sealed = await call(sql, "operator_sealed_secrets", null);
  const unreadable = unreadableSecrets(sealed, secret);
  if (unreadable.length === 0) return;
  logger.warn(
    { webhooks: unreadable.length, of: sealed.length, webhookId: unreadable[0]!.webhookId },
    "the signing secrets of webhooks cannot be read, so nothing is delivered to them; set SVC_SECRET to that of the service that stored them, " +
      "or give each a new one: svc webhooks rotate-secret",
  );
}

/** Those that were sealed with another SVC_SECRET, or are damaged. */
export function unreadableSecrets(sealed: readonly SealedSecret[], secret: string): SealedSecret[] {
  const key = sealingKey(secret);
  return sealed.filter((one) => {
    try {
      openSecret(Buffer.from(one.secret, "base64"), key);
      return false;
    } catch (error) {
      if (!(error instanceof SealedSecretError)) throw error;
      return true;
    }
  });
}
