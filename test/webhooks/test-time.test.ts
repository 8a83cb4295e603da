import { expect, it } from "vitest";
import type { Sql } from "postgres";
import { testWebhook } from "../../src/db/api/webhooks.js";
import { rolledBack, useDatabase } from "../support/database.js";
import { TestEnvironment } from "../tasks/support/environment.js";
import { createWebhook } from "./support/fixtures.js";

const { sql } = await useDatabase();

it("the time of a webhook test is the database's, whatever date style the session uses", async () => {
  const environment = await TestEnvironment.create(sql);
  const { webhookId } = await createWebhook(sql, environment.environmentId, "https://hooks.example.com/");
  const { at } = await rolledBack(sql, async (tx) => {
    await tx.unsafe("set local datestyle = 'SQL, DMY'; set local timezone = 'Asia/Kolkata'");
    const message = { id: "test_1", type: "webhook.test" };
    return testWebhook(tx as unknown as Sql, environment.by, environment.place, webhookId, message);
  });
  expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(60_000);
});
