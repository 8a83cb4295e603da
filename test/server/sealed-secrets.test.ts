import { expect, it } from "vitest";
import { warnOfUnreadableSecrets } from "../../src/server/sealed-secrets.js";
import { capturedLog } from "../support/captured-log.js";
import { useDatabase } from "../support/database.js";
import { newEndpoint, SERVICE_SECRET } from "../webhooks/support/fixtures.js";

it("a start with another SVC_SECRET than the one of the webhooks' signing secrets warns of it", async () => {
  const { sql } = await useDatabase();
  const { webhookId } = await newEndpoint(sql);
  const { log, lines } = capturedLog();
  await warnOfUnreadableSecrets(sql, SERVICE_SECRET, log);
  expect(lines).toEqual([]);
  await warnOfUnreadableSecrets(sql, "another secret", log);
  expect(lines).toMatchObject([
    { webhooks: 1, of: 1, webhookId, msg: expect.stringContaining("set SVC_SECRET") as string },
  ]);
});
