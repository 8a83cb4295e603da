import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "vitest";

import { emissionTypes } from "../../src/cli/commands/webhooks/emission-types.js";
import { type Condition, EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { startReceiver } from "../webhooks/support/receiver.js";
import { brokenServer } from "./support/broken-server.js";
import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";
import { startShop, untilQuiet } from "./support/shop.js";

const shop = await startShop();
const id = shop.webhookId;
afterAll(() => shop.stop());

const plain = { terminal: true, env: { NO_COLOR: "1" } };
const webhooks = (...argv: string[]) => shop.run(["webhooks", ...argv]);

describe("svc webhooks create and list", () => {
  test("create with limits and print the secret once", async () => {
    const limits = ["--max-event-age", "7d", "--max-concurrency", "5", "--max-per-second", "50"];
    const included = ["--include", "name, url", "--include", "traits.plan"];
    const what = ["--event-type", "customer.*", ...included, ...limits];
    const argv = ["webhooks", "create", "--url", "https://crm.example/hook", ...what];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Send customer.* in test of project shop at <service> to https://crm.example/hook from now on? (y/N) y
      Created the webhook whk_<id> in test. Keep its secret in a safe place: it is not shown again.

      URL      https://crm.example/hook
      Events   customer.*
      Include  name, url, traits.plan
      Format   json
      Limits   7d old at most, 5 at once, 50 per second
      Secret   whsec_<secret>
    `);
  });

  test("warn before the question about a type that the active model never emits", async () => {
    const types = "segment.entred segmnt.* customer.departed plan.reviewed customer.trial health.* *".split(" ");
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
    const changed = await shop.run(["webhooks", "update", id, "--event-type", "signal.rised"], {
      ...plain,
      input: "n\n",
    });
    expect(changed.stderr.split("\n")[0]).toBe(
      "warning: v1, active in test, emits nothing of the type signal.rised; did you mean signal.raised?",
    );
  });

  test("warn about included traits that the active model does not declare, or that the format cannot hold", async () => {
    const argv = ["webhooks", "create", "--url", "https://crm.example/hook", "--yes"];
    const { code, stderr } = await shop.run([
      ...argv,
      "--include",
      "traits.plam,traits.plan,name",
      "--format",
      "slack",
    ]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        "warning: v1, active in test, declares no trait plam; did you mean plan?\n" +
        "warning: messages in the format slack do not contain traits.plam, traits.plan, name: include has no effect on them\n",
    });
    await shop.db.sql`delete from svc.webhooks where format = 'slack'`;
  });

  test("warn about an address of a chat that gets no messages in its format", async () => {
    const limits = { maxEventAge: null, maxConcurrency: 10, maxPerSecond: null };
    const warningOf = async (address: string, format: string) => {
      const webhook = { id: "whk_1", url: address, eventTypes: ["*"], format, ...limits };
      const { url } = await cannedServer(({ method }) =>
        method === "POST" ? json({ ...webhook, secret: "whsec_1" }, 201) : json({ data: [], nextCursor: null }),
      );
      const argv = ["webhooks", "create", "--url", address, "--format", format, "--yes", "--project", "shop"];
      return (await svc(argv, { at: url })).stderr;
    };
    const slack = "https://hooks.slack.com/services/T0/B0/x";
    expect(await warningOf(slack, "json")).toBe(
      "warning: slack refuses deliveries in the format json; change it with --format slack\n",
    );
    expect(await warningOf("https://prod-1.westeurope.logic.azure.com:443/workflows/1", "json")).toContain(
      "--format teams",
    );
    expect(await warningOf(slack, "slack")).toBe("");
    expect(await warningOf("https://crm.example/?to=https://hooks.slack.com/", "json")).toBe("");
  });

  test.each([
    ["is newer than this program", json({ version: "v7", hash: "h", active: ["test"], snapshot: { format: 99 } })],
    ["may not be read", json({ error: { code: "FORBIDDEN", message: "Not yours.", requestId: "r" } }, 403)],
    ["the service fails to read", json({ error: { code: "INTERNAL_ERROR", message: "Failed.", requestId: "r" } }, 500)],
  ])("still create without advice about types if a model %s", async (_, model) => {
    const limits = { maxEventAge: null, maxConcurrency: 10, maxPerSecond: null };
    const webhook = { id: "whk_1", url: "https://crm.example/hook", eventTypes: ["customer.*"], ...limits };
    const { url, seen } = await cannedServer(({ method, url: path }) => {
      if (method === "POST") return json({ ...webhook, secret: "whsec_1" }, 201);
      return path.includes("/config-versions/") ? model : json({ data: [{ version: "v7" }], nextCursor: null });
    });
    const argv = ["webhooks", "create", "--url", webhook.url, "--event-type", "customer.*", "--yes", "--json"];
    const { code, stderr } = await shop.run(argv, { env: { SVC_API_URL: url } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(seen.map(({ method }) => method)).toEqual(["GET", "GET", "POST"]);
  });

  test("list webhooks, at 80 columns and at any width", async () => {
    // Webhooks are ordered by id, which is random.
    await shop.db.sql`update svc.webhooks set webhook_id = 'whk_ffffffffffffffffffff' where webhook_id <> ${id}`;
    expect(await webhooks("list")).toMatchInlineSnapshot(`
      Webhook                   URL                           Events      Include                 Format  Created                     Status   Limits
      whk_<id>  <receiver>  *           none                    json    <time>  enabled  10 at once
      whk_<id>  https://crm.example/hook      customer.*  name, url, traits.plan  json    <time>  enabled  7d old at most, 5 at once, 50 per second
    `);
    expect((await shop.run(["webhooks", "list"], plain)).stdout).toMatchInlineSnapshot(`
      "Webhook                   URL                           Events      Status
      whk_<id>  <receiver>  *           enabled
      whk_<id>  https://crm.example/hook      customer.*  enabled
      The terminal is too narrow for: Include, Format, Created, Limits.
      "
    `);
    expect(await webhooks("list", "--env", "live")).toMatchInlineSnapshot(`
      There is no webhook.
    `);
  });
});

describe("svc webhooks test", () => {
  test("shows the receiver's answer", async () => {
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

  test("fails if the receiver rejects the message, and shows its answer", async () => {
    const broken = await startReceiver((response) => response.writeHead(500).end("out of\norder"));
    const lead = (to: string) => shop.db.sql`update svc.webhooks set url = ${to} where webhook_id = ${id}`;
    await lead(broken.url);
    const shown = await webhooks("test", id);
    const document = await webhooks("test", id, "--json");
    await lead(shop.receiver.url);
    await broken.close();
    expect({ ...shown, stderr: unmeasured(shown.stderr) }).toMatchInlineSnapshot(`
      exit 1
      ! error [NOT_DELIVERED]: The receiver did not accept the message: 500 after <n> ms. It answered "out of\\norder". Repair the receiver, or correct the webhook: \`svc webhooks update <webhookId> --url <url>\`.
    `);
    expect(document).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(document.stdout)).toMatchObject({
      error: { code: "NOT_DELIVERED", value: { delivered: false, statusCode: 500, response: "out of\norder" } },
    });
  });
});

describe("svc webhooks update", () => {
  test("shows what changes, and asks; enables a webhook again, without limits, as JSON", async () => {
    const changes = ["--event-type", "segment.*", "--include", "name", "--max-per-second", "9", "--disable"];
    const argv = ["webhooks", "update", id, ...changes];
    expect(await shop.run(argv, { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
      ! Webhook whk_<id> in test of project shop at <service>
      !   Events: * → segment.*
      !   Include: none → name
      !   Limits: 10 at once → 10 at once, 9 per second
      !   Disabled: nothing is delivered
      ! Change it? (y/N) y
      Changed the webhook whk_<id> in test.

      URL      <receiver>
      Events   segment.*
      Include  name
      Format   json
      Limits   10 at once, 9 per second
      Status   Disabled by owner@acme.example.
    `);
    const back = ["--enable", "--include", "none", "--max-per-second", "none"];
    const { code, stdout } = await webhooks("update", id, ...back, "--yes", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      eventTypes: ["segment.*"],
      include: [],
      maxPerSecond: null,
      disabledAt: null,
    });
  });

  test("says so if nothing would change; reports a refusal by the service", async () => {
    const same = ["webhooks", "update", id, "--max-per-second", "none"];
    expect((await shop.run(same, { ...plain, input: "n\n" })).stderr).toContain("\n  No difference\nChange it? (y/N)");
    expect(await webhooks("update", id, "--url", "ftp://example.com", "--yes")).toMatchInlineSnapshot(`
      exit 1
      ! error [VALIDATION_ERROR]: The URL must begin with https:// or http://. Correct what the error reports, then send the request again. Field: url.
    `);
  });
});

test("svc webhooks rotate-secret asks and prints the new secret once", async () => {
  const argv = ["webhooks", "rotate-secret", id, "--grace"];
  expect(await shop.run([...argv, "18h"], { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
    ! Give the webhook to <receiver> in test of project shop at <service> a new secret? The old one also signs for 18h. (y/N) y
    Gave the webhook whk_<id> in test a new secret. Keep it in a safe place: it is not shown again.

    URL         <receiver>
    Secret      whsec_<secret>
    Old secret  also signs until <time> (in 5 hours)
  `);
  expect((await shop.run([...argv, "0m", "--yes"])).stdout).toContain("\nOld secret  no longer signs\n");
  expect((await shop.run([...argv, "1h", "--yes", "--json"])).stdout).toContain('"secret":"whsec_<secret>"');
});

describe("svc webhooks deliveries and resend", () => {
  test("list deliveries by status, type and customer", async () => {
    const { stdout } = await webhooks("deliveries", id, "--customer", "globex", "--type", "customer.activated");
    // The width of "Answer" depends on the latency, so spaces are collapsed.
    expect(unmeasured(stdout).replaceAll(/ {2,}/g, "  ")).toMatchInlineSnapshot(`
      "Event  Type  Customer  Status  Tries  Answer  At
      emi_<id>  customer.activated  globex  delivered  1  204 in <n> ms  <time>
      "
    `);
    expect(await webhooks("deliveries", id, "--status", "failed")).toMatchInlineSnapshot(`
      There is no such delivery.
    `);
  });

  test("resend one delivery, or those of a period", async () => {
    const [newest] = await shop.db.sql<[{ id: string }]>`
      select svc.emission_id(max(emission_seq)) as id from svc.deliveries where webhook_id = ${id}`;
    expect((await webhooks("resend", id, newest.id, "--yes")).stdout).toMatch(
      /^Queued emi_<id> \([\w.]+\)\. See the result: svc webhooks deliveries whk_<id> --env test\n$/,
    );
    expect(await webhooks("resend", id, "--since", "7d", "--yes")).toMatchInlineSnapshot(`
      There is nothing to send again.
    `);
    await untilQuiet(shop.db);
    const all = await webhooks("resend", id, "--since", "7d", "--status", "delivered", "--yes", "--json");
    expect(all).toMatchInlineSnapshot(`
      {"queued":22}
    `);
  });

  test("resend until the period ends, or say how far it got and how to continue if that fails", async () => {
    let pages = 0;
    const { url } = await brokenServer({
      changed: () => (++pages === 1 ? json({ queued: 10, nextCursor: "c" }) : undefined),
    });
    const argv = ["webhooks", "resend", id, "--since", "7d", "--yes"];
    const { code, stderr } = await shop.run(argv, { env: { SVC_API_URL: url } });
    expect({ code, stdout: "", stderr: stderr.replaceAll(url, "<other>") }).toMatchInlineSnapshot(`
      exit 1
      ! Already queued: 10 deliveries. To continue from there, add --cursor c to the same command.
      ! error [OUTCOME_UNKNOWN]: <other> cannot be reached (connection closed); it is not known whether this was carried out. See for yourself: \`svc webhooks deliveries whk_<id> --env test\`.
    `);
    const { url: at, seen } = await cannedServer(json({ queued: 3, nextCursor: null }));
    const rest = await shop.run([...argv, "--cursor", "c", "--json"], { env: { SVC_API_URL: at } });
    expect(rest).toMatchObject({ code: 0, stdout: '{"queued":3}\n' });
    expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ since: "7d", cursor: "c" }]);
  });

  test("what the service refuses is told", async () => {
    const errorOf = async (...argv: string[]) => (await webhooks("resend", id, ...argv, "--yes")).stderr;
    expect(await errorOf("--since", "1h", "--until", "2h")).toBe(
      "error [VALIDATION_ERROR]: `until` is not later than `since`. Send the beginning of the span as `since` and its end, which is not included, as `until`. Field: until.\n",
    );
    expect(await errorOf("emi_0000000000009999")).toContain("error [DELIVERY_NOT_FOUND]");
    expect((await webhooks("update", id, "--disable", "--yes")).code).toBe(0);
    expect(await errorOf("--since", "2h")).toContain("error [WEBHOOK_DISABLED]");
  });
});

test("svc webhooks delete deletes a webhook, and reports one that no longer exists", async () => {
  expect(await webhooks("delete", id, "--yes")).toMatchInlineSnapshot(`
    Deleted the webhook whk_<id> to <receiver> in test.
  `);
  for (const argv of [
    ["delete", id, "--yes"],
    ["test", id],
  ])
    expect((await webhooks(...argv)).stderr).toContain("error [WEBHOOK_NOT_FOUND]");
});

/** Replaces latencies and ids of tests. */
function unmeasured(text: string): string {
  return text.replaceAll(/\d+ ms/g, "<n> ms").replaceAll(/\btest_[0-9a-f]{20}/g, "test_<id>");
}

const when: Condition = { kind: "inactiveFor", duration: "1d" };

const WHOLE: Snapshot = {
  ...EMPTY_SNAPSHOT,
  lifecycle: { initial: "new", states: [{ name: "new", transitions: [] }] },
  journeys: [{ id: "j", start: when, steps: [{ id: "s", when }] }],
  segments: [{ id: "s" }],
  health: { components: [], bands: [{ id: "b", from: 0 }] },
  signals: [{ id: "s", severity: "info" }],
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "own" } }],
};

test("a model with every part emits the types that docs/webhooks.md lists, and one without a part none of that part", async () => {
  const guide = await readFile(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
  const listed = [...guide.matchAll(/^\| (?:`([\w.<>]+)`|your own, as `emit` says) +\| `(?:\w+)` +\|/gm)];
  const types = listed.map(([, type]) => type?.replace("<state>", "new") ?? "own");
  expect(emissionTypes(WHOLE)).toEqual(new Set(types));
  expect(emissionTypes(EMPTY_SNAPSHOT)).toEqual(new Set(["webhook.test"]));
});
