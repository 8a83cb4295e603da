import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startReceiver } from "../webhooks/support/receiver.js";
import { brokenServer } from "./support/broken-server.js";
import { cannedServer, json } from "./support/canned-server.js";
import { startShop } from "./support/shop.js";
import type { Shop } from "./support/shop.js";

let shop: Shop;
let id: string;
beforeAll(async () => {
  shop = await startShop();
  id = shop.webhookId;
});
afterAll(() => shop.stop());

const plain = { terminal: true, env: { NO_COLOR: "1" } };
const webhooks = (...argv: string[]) => shop.run(["webhooks", ...argv]);

describe("svc webhooks create and list", () => {
  test("beyond the plan, told with what to do", async () => {
    const { sql } = shop.db;
    await sql`update iam.plans set webhooks = 0`;
    const argv = ["webhooks", "create", "--url", "https://crm.example/hook", "--event-type", "customer.*", "--yes"];
    const { code, stdout, stderr } = await shop.run(argv, plain);
    await sql`update iam.plans set webhooks = default`;
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "error [QUOTA_EXCEEDED]: The plan allows 0 webhooks in an environment. There are as many already. " +
        "Delete a webhook that is not used, or ask the operator of this service for a larger plan.\n",
    });
  });

  test("with limits; the secret is printed once", async () => {
    const limits = ["--max-event-age", "7d", "--max-concurrency", "5", "--max-per-second", "50"];
    const argv = ["webhooks", "create", "--url", "https://crm.example/hook", "--event-type", "customer.*", ...limits];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Send customer.* in test of project shop at <service> to https://crm.example/hook from now on? (y/N) y
      Created the webhook whk_<id> in test. Keep its secret in a safe place: it is not shown again.

      URL     https://crm.example/hook
      Events  customer.*
      Limits  7d old at most, 5 at once, 50 per second
      Secret  whsec_<secret>
    `);
  });

  test("a type that the active model never emits is told of before the question", async () => {
    const types = [
      "segment.entred",
      "segmnt.*",
      "customer.departed",
      "plan.reviewed",
      "customer.trial",
      "health.*",
      "*",
    ];
    const argv = ["webhooks", "create", "--url", "https://crm.example/hook"];
    const given = types.flatMap((type) => ["--event-type", type]);
    const { code, stderr } = await shop.run([...argv, ...given], { ...plain, input: "n\n" });
    expect(code).toBe(1);
    expect(stderr.split("\n").filter((line) => line.startsWith("warning"))).toEqual([
      "warning: v1, active in test, emits nothing of the type segment.entred; did you mean segment.entered?",
      "warning: v1, active in test, emits nothing of the type segmnt.*",
      "warning: v1, active in test, emits nothing of the type customer.departed",
      "warning: v1, active in test, emits nothing of the type plan.reviewed",
    ]);
    const change = ["webhooks", "update", id, "--event-type", "signal.rised"];
    const changed = await shop.run(change, { ...plain, input: "n\n" });
    expect(changed.stderr.split("\n")[0]).toBe(
      "warning: v1, active in test, emits nothing of the type signal.rised; did you mean signal.raised?",
    );
  });

  test.each([
    ["is newer than this program", json({ version: "v7", hash: "h", active: ["test"], snapshot: { format: 99 } })],
    ["may not be read", json({ error: { code: "FORBIDDEN", message: "Not yours.", requestId: "r" } }, 403)],
    ["the service fails to read", json({ error: { code: "INTERNAL_ERROR", message: "Failed.", requestId: "r" } }, 500)],
  ])("a model that %s only costs the advice about types", async (_, model) => {
    const limits = { maxEventAge: null, maxConcurrency: 10, maxPerSecond: null };
    const webhook = { id: "whk_1", url: "https://crm.example/hook", eventTypes: ["customer.*"], ...limits };
    const { url, seen } = await cannedServer({
      ...json({ data: [{ version: "v7" }], nextCursor: null }),
      respond: ({ method, url: path }) => {
        if (method === "POST") return json({ ...webhook, secret: "whsec_1" }, 201);
        return path.includes("/config-versions/") ? model : json({ data: [{ version: "v7" }], nextCursor: null });
      },
    });
    const argv = ["webhooks", "create", "--url", webhook.url, "--event-type", "customer.*", "--yes", "--json"];
    const { code, stderr } = await shop.run(argv, { env: { SVC_API_URL: url } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(seen.map(({ method }) => method)).toEqual(["GET", "GET", "POST"]);
  });

  test("what no limit can be is refused before anything is sent", async () => {
    const url = ["--url", "https://crm.example/hook", "--yes"];
    expect(await webhooks("create", ...url, "--max-event-age", "long")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --max-event-age is "long". Give a whole number and a unit, such as 30m, 24h, 7d or 4w, or none.
    `);
    expect(await webhooks("create", ...url, "--max-per-second", "0")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --max-per-second is "0". Give a whole number from 1 to 1000, or none.
    `);
    expect(await webhooks("create", ...url, "--max-concurrency", "101")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --max-concurrency is "101". Give a whole number from 1 to 100.
    `);
  });

  test("listed, at 80 columns, at any width and as JSON", async () => {
    // They are in the order of their ids, which are random.
    await shop.db.sql`update svc.webhooks set webhook_id = 'whk_ffffffffffffffffffff' where webhook_id <> ${id}`;
    expect(await webhooks("list")).toMatchInlineSnapshot(`
      Webhook                   URL                           Events      Created                     Status   Limits
      whk_<id>  <receiver>  *           <time>  enabled  10 at once
      whk_<id>  https://crm.example/hook      customer.*  <time>  enabled  7d old at most, 5 at once, 50 per second
    `);
    expect((await shop.run(["webhooks", "list"], plain)).stdout).toMatchInlineSnapshot(`
      "Webhook                   URL                           Events      Status
      whk_<id>  <receiver>  *           enabled
      whk_<id>  https://crm.example/hook      customer.*  enabled
      Too narrow for: Created, Limits.
      "
    `);
    expect(await webhooks("list", "--json")).toMatchInlineSnapshot(`
      {"data" : [{"id" : "whk_<id>", "url" : "<receiver>", "eventTypes" : ["*"], "maxEventAge" : null, "maxConcurrency" : 10, "maxPerSecond" : null, "createdAt" : "<instant>", "previousSecretExpiresAt" : null, "failingSince" : null, "disabledAt" : null, "disabledReason" : null},{"id" : "whk_<id>", "url" : "https://crm.example/hook", "eventTypes" : ["customer.*"], "maxEventAge" : "7d", "maxConcurrency" : 5, "maxPerSecond" : 50, "createdAt" : "<instant>", "previousSecretExpiresAt" : null, "failingSince" : null, "disabledAt" : null, "disabledReason" : null}], "nextCursor" : null}
    `);
    expect(await webhooks("list", "--env", "live")).toMatchInlineSnapshot(`
      There is no webhook.
    `);
  });
});

describe("svc webhooks test", () => {
  test("shows what the receiver answered", async () => {
    const tested = await webhooks("test", id);
    expect({ ...tested, stdout: unmeasured(tested.stdout) }).toMatchInlineSnapshot(`
      Message  test_<id>
      Answer   204 in <n> ms
    `);
    const { stdout } = await webhooks("test", id, "--type", "customer.activated", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      delivered: true,
      statusCode: 204,
      request: { headers: { "webhook-id": expect.stringMatching(/^test_/) as unknown } },
    });
  });

  test("fails where the receiver does not take the message, and shows its answer", async () => {
    const broken = await startReceiver((response) => response.writeHead(500).end("out of\norder"));
    const [{ was }] = await shop.db.sql<
      [{ was: string }]
    >`select url as was from svc.webhooks where webhook_id = ${id}`;
    await shop.db.sql`update svc.webhooks set url = ${broken.url} where webhook_id = ${id}`;
    const shown = await webhooks("test", id);
    const document = await webhooks("test", id, "--json");
    await shop.db.sql`update svc.webhooks set url = ${was} where webhook_id = ${id}`;
    await broken.close();
    expect({ ...shown, stderr: unmeasured(shown.stderr) }).toMatchInlineSnapshot(`
      exit 1
      ! error [NOT_DELIVERED]: The receiver did not take the message: 500 after <n> ms. It answered "out of\\norder". Mend the receiver, or correct the webhook with \`svc webhooks update\`.
    `);
    expect(document).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(document.stdout)).toMatchObject({
      error: { code: "NOT_DELIVERED", value: { delivered: false, statusCode: 500, response: "out of\norder" } },
    });
  });

  test("a webhook that is not there", async () => {
    expect(await webhooks("test", "whk_none")).toMatchInlineSnapshot(`
      exit 1
      ! error [WEBHOOK_NOT_FOUND]: There is no webhook "whk_none" in this environment. Check the id and --env; \`svc webhooks list\` shows what there is.
    `);
  });
});

describe("svc webhooks update", () => {
  test("shows what changes, and asks", async () => {
    const argv = ["webhooks", "update", id, "--event-type", "segment.*", "--max-per-second", "9", "--disable"];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Webhook whk_<id> in test of project shop at <service>
      !   Events: * → segment.*
      !   Limits: 10 at once → 10 at once, 9 per second
      !   Disabled: nothing is delivered
      ! Change it? (y/N) y
      Changed the webhook whk_<id> in test.

      URL     <receiver>
      Events  segment.*
      Limits  10 at once, 9 per second
      Status  Disabled by owner@acme.example.
    `);
  });

  test("enabled again, without limits, as JSON", async () => {
    const { code, stdout } = await webhooks("update", id, "--enable", "--max-per-second", "none", "--yes", "--json");
    expect({ code, stdout }).toMatchInlineSnapshot(`
      {"id" : "whk_<id>", "url" : "<receiver>", "eventTypes" : ["segment.*"], "maxEventAge" : null, "maxConcurrency" : 10, "maxPerSecond" : null, "createdAt" : "<instant>", "previousSecretExpiresAt" : null, "failingSince" : null, "disabledAt" : null, "disabledReason" : null}
    `);
  });

  test("n changes nothing, and says so where nothing would be different", async () => {
    const { code, stdout, stderr } = await shop.run(["webhooks", "update", id, "--max-per-second", "none"], {
      ...plain,
      input: "n\n",
    });
    expect({ code, stdout, stderr }).toMatchInlineSnapshot(`
      exit 1
      ! Webhook whk_<id> in test of project shop at <service>
      !   Nothing is different
      ! Change it? (y/N) n
      ! error [CANCELLED]: Cancelled, nothing was changed.
    `);
  });

  test("what contradicts itself or changes nothing is refused, and so is what nobody confirmed", async () => {
    expect(await webhooks("update", id)).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: It is not said what to change. See \`svc webhooks update --help\`.
    `);
    expect(await webhooks("update", id, "--enable", "--disable")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --disable and --enable exclude each other. Give one of them.
    `);
    expect(await webhooks("update", id, "--enable")).toMatchInlineSnapshot(`
      exit 1
      ! error [CONFIRMATION_REQUIRED]: Changing a webhook needs a confirmation, and there is no terminal to ask on. Add --yes.
    `);
    expect(await webhooks("update", id, "--url", "ftp://example.com", "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [VALIDATION_ERROR]: The URL must begin with https:// or http://. Correct what the error names, then send the request again. Field: url.
    `);
  });
});

describe("svc webhooks rotate-secret", () => {
  test("asks and prints the new secret once", async () => {
    const argv = ["webhooks", "rotate-secret", id, "--grace", "18h"];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Give the webhook to <receiver> in test of project shop at <service> a new secret? The old one signs too for 18h. (y/N) y
      Gave the webhook whk_<id> in test a new secret. Keep it in a safe place: it is not shown again.

      URL         <receiver>
      Secret      whsec_<secret>
      Old secret  signs too until <time> (in 5 hours)
    `);
  });

  test("without a grace, as JSON, and with one that is none", async () => {
    expect(await webhooks("rotate-secret", id, "--grace", "0m", "--yes")).toMatchInlineSnapshot(`
      Gave the webhook whk_<id> in test a new secret. Keep it in a safe place: it is not shown again.

      URL         <receiver>
      Secret      whsec_<secret>
      Old secret  signs no more
    `);
    expect((await webhooks("rotate-secret", id, "--yes", "--json")).stdout).toContain('"secret":"whsec_<secret>"');
    expect(await webhooks("rotate-secret", id, "--grace", "12")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --grace is "12". Give a whole number and a unit, such as 30m, 24h, 7d or 4w.
    `);
  });
});

describe("svc webhooks deliveries and resend", () => {
  /** The id of the newest delivery to the webhook. */
  async function newest(): Promise<string> {
    const [row] = await shop.db.sql<[{ id: string }]>`
      select svc.emission_id(max(emission_seq)) as id from svc.deliveries where webhook_id = ${id}`;
    return row.id;
  }

  test("deliveries by status, type and customer", async () => {
    const { stdout } = await webhooks("deliveries", id, "--customer", "globex", "--type", "customer.activated");
    // The width of "Answer" follows the time the answer took, so the columns are closed up.
    expect(unmeasured(stdout).replaceAll(/ {2,}/g, "  ")).toMatchInlineSnapshot(`
      "Event  Type  Customer  Status  Tries  Answer  At
      emi_<id>  customer.activated  globex  delivered  1  204 in <n> ms  <time>
      "
    `);
    expect(await webhooks("deliveries", id, "--status", "failed")).toMatchInlineSnapshot(`
      There is no such delivery.
    `);
    expect(await webhooks("deliveries", id, "--status", "faild")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --status is "faild"; did you mean failed? Give one of: pending, delivered, failed.
    `);
  });

  test("one delivery", async () => {
    const argv = ["webhooks", "resend", id, await newest()];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Send again to <receiver>, in test of project shop at <service>: emi_<id>? (y/N) y
      Queued emi_<id> (signal.raised). See what comes of it: svc webhooks deliveries whk_<id> --env test
    `);
  });

  test("a span of time", async () => {
    expect(await webhooks("resend", id, "--since", "7d", "--yes")).toMatchInlineSnapshot(`
      There is nothing of that to send again.
    `);
    const argv = [
      "webhooks",
      "resend",
      id,
      "--since",
      "7d",
      "--until",
      "1h",
      "--status",
      "failed",
      "--status",
      "missing",
    ];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Send again to <receiver>, in test of project shop at <service>: what was emitted since 7d ago and before 1h ago and is failed or missing? (y/N) y
      There is nothing of that to send again.
    `);
    const all = await webhooks("resend", id, "--since", "7d", "--status", "delivered", "--yes", "--json");
    expect(all).toMatchInlineSnapshot(`
      {"queued":22}
    `);
  });

  test("goes on until the span ends; where that fails it says how far it came", async () => {
    let pages = 0;
    const { url } = await brokenServer({
      changed: () => (++pages === 1 ? json({ queued: 10, nextCursor: "c" }) : undefined),
    });
    const argv = ["webhooks", "resend", id, "--since", "7d", "--yes"];
    const { code, stderr } = await shop.run(argv, { env: { SVC_API_URL: url } });
    expect({ code, stderr: stderr.replaceAll(url, "<other>") }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "Queued before that: 10 deliveries. To go on from there, add --cursor c to the same command.
      error [OUTCOME_UNKNOWN]: <other> cannot be reached (connection closed); it is not known whether this was carried out. See for yourself: svc webhooks deliveries whk_<id> --env test.
      ",
      }
    `);
  });

  test("goes on where a run before failed", async () => {
    const { url, seen } = await cannedServer(json({ queued: 3, nextCursor: null }));
    const argv = ["webhooks", "resend", id, "--since", "7d", "--cursor", "c", "--yes", "--json"];
    expect(await shop.run(argv, { env: { SVC_API_URL: url } })).toMatchObject({ code: 0, stdout: '{"queued":3}\n' });
    expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ since: "7d", cursor: "c" }]);
  });

  test("what cannot be meant is refused before anything is sent", async () => {
    expect(await webhooks("resend", id, "--yes")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: Say what to send again: either a delivery's id or --since. See \`svc webhooks resend --help\`.
    `);
    expect(await webhooks("resend", id, "emi_1", "--until", "2h", "--yes")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --until, --status and --cursor go with --since only. Leave them out.
    `);
    expect(await webhooks("resend", id, "--since", "yesterday", "--yes")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --since is "yesterday". Write how long ago, such as 7d, or a date such as 2026-03-01 or <instant>.
    `);
    expect(await webhooks("resend", id, "--since", "2h", "--status", "lost", "--yes")).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --status is "lost". Give one of: failed, missing, pending, delivered.
    `);
    expect(await webhooks("resend", id, "--since", "1h", "--until", "2h", "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [VALIDATION_ERROR]: \`until\` is not later than \`since\`. Name a span: since its beginning, until its end, which is not included. Field: until.
    `);
    expect(await webhooks("resend", id, "emi_0000000000009999", "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [DELIVERY_NOT_FOUND]: There is no delivery "emi_<id>" to this webhook. Check the ids and --env; \`svc webhooks deliveries\` shows what there is.
    `);
  });

  test("a disabled webhook gets nothing", async () => {
    expect((await webhooks("update", id, "--disable", "--yes")).code).toBe(0);
    expect(await webhooks("resend", id, "--since", "2h", "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [WEBHOOK_DISABLED]: The webhook "whk_<id>" is disabled: nothing is delivered there. Disabled by owner@acme.example. Enable it first: \`svc webhooks update <webhookId> --enable\`.
    `);
  });
});

describe("svc webhooks delete", () => {
  test("asks with what goes along, and deletes", async () => {
    expect(await shop.run(["webhooks", "delete", id], { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Delete the webhook to <receiver> in test of project shop at <service>, with the log of its deliveries? (y/N) y
      Deleted the webhook whk_<id> to <receiver> in test.
    `);
  });

  test("what is not there any more", async () => {
    expect(await webhooks("delete", id, "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [WEBHOOK_NOT_FOUND]: There is no webhook "whk_<id>" in this environment. Check the id and --env; \`svc webhooks list\` shows what there is.
    `);
  });
});

/** Latencies differ, and ids of tests. */
function unmeasured(text: string): string {
  return text.replaceAll(/\d+ ms/g, "<n> ms").replaceAll(/\btest_[0-9a-f]{20}/g, "test_<id>");
}
