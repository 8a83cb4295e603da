import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { type Actor, type Service, startService } from "../support/service.js";
import { type RunOptions, svc } from "./support/run-svc.js";

const MODEL = `
  import { defineModel, event, lifecycle, number, segment } from "svc";
  const paid = event("paid", { amount: number() });
  const stages = lifecycle({ initial: "new", states: { new: { to: { customer: paid.happened() } }, customer: {} } });
  export default defineModel({
    strictSchema: true,
    events: { paid },
    lifecycle: stages,
    segments: [segment("payers", { when: paid.happened() })],
  });`;

let service: Service;
let owner: Actor;
let keys: { test: string; live: string };

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  const { stdout } = await run(["projects", "create", "--name", "Shop", "--slug", "shop", "--yes", "--json"]);
  ({ keys } = JSON.parse(stdout));
});
afterAll(() => service.stop());

/** Runs a command as the owner; what differs from run to run is replaced. */
async function run(argv: string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await svc(argv, { at: service.url, by: owner, ...options });
  const shown = (text: string) => text.replaceAll(owner.organizationId, "<org>");
  return { code, stdout: shown(stdout), stderr: shown(stderr) };
}

const inShop = (...argv: string[]) => run([...argv, "--project", "shop"]);

test("svc auth status is the same as svc whoami", async () => {
  const { code, stdout } = await run(["whoami"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("by SVC_ACCESS_TOKEN") as string });
  expect(await run(["auth", "status"])).toEqual({ code, stdout, stderr: "" });
});

test("what the service refuses is told: to a viewer, and to who names another organization's project", async () => {
  const viewer = await service.member(owner, "viewer");
  const cwd = await project({ "svc.config.ts": MODEL });
  const env = { SVC_ACCESS_TOKEN: viewer.token };
  expect(await run(["deploy", "--project", "shop", "--yes"], { cwd, env })).toMatchInlineSnapshot(`
    exit 1
    ! error [FORBIDDEN]: Your role "viewer" may not do this. It needs the role "developer" or a higher one. Ask an owner of the organization for that role, or use the token of somebody who has it.
  `);
  const other = await service.owner("beta");
  const by = { SVC_ACCESS_TOKEN: other.token, SVC_ORGANIZATION: other.organizationId };
  expect((await run(["overview", "--project", "shop"], { env: by })).stderr).toContain("error [PROJECT_NOT_FOUND]");
});

describe("a project's life", () => {
  test("deploy, deploy again, list the versions", async () => {
    const cwd = await project({ "svc.config.ts": MODEL, ".kite/config.json": '{"project":"shop"}' });
    const first = await run(["deploy", "--yes"], { cwd });
    expect({ ...first, stdout: first.stdout.replace(/\([0-9a-f]{12}\)/, "(<hash>)") }).toMatchInlineSnapshot(`
      Deployed v1 to test of shop: 1 event, 2 lifecycle states, 1 segment (<hash>).
    `);
    expect(await run(["deploy", "--yes"], { cwd })).toMatchInlineSnapshot(`
      v1 is active in test of shop already and is the same model; nothing was deployed.
    `);
    const { stdout } = await run(["config", "versions"], { cwd });
    expect(stdout).toMatch(
      /^Version +Active in +Created +Author +Hash\nv1 +test +\d{4}-.* owner@acme\.example +[0-9a-f]{12}\n$/,
    );
  });

  test("send an event, again with its key, and one that does not fit the model", async () => {
    const env = { SVC_API_KEY_TEST: keys.test };
    const send = (props: string, ...more: string[]) =>
      run(["events", "send", "paid", "--customer", "cus_1", "--props", props, ...more], { env });
    const first = await send('{"amount":5}', "--idempotency-key", "k");
    expect(first.stdout).toMatch(/^Accepted as evt_[0-9a-f]{16} in test\.\n$/);
    const again = await send('{"amount":5}', "--idempotency-key", "k");
    expect(again.stdout).toMatch(
      /^The idempotency key was used for the same event before: evt_[0-9a-f]{16} in test\.\n$/,
    );
    expect(await send('{"amount":"5"}')).toMatchInlineSnapshot(`
      exit 1
      ! error [INVALID_PROPERTY_TYPE]: The value of the property "amount" must be a number. It is a text. Send a number, or change the type in the model and deploy it. Field: properties.amount.
    `);
  });

  test("the overview counts", async () => {
    expect(await inShop("overview")).toMatchInlineSnapshot(`
      Project    shop, test
      Model      v1
      Customers  0
      Events     1 accepted, 1 pending
      Emissions  0
      Webhooks   0 delivered, 0 pending, 0 failed

      Lifecycle  Now  Share  Ever
      new          0            0
      customer     0            0

      Segment  Members  Share
      payers         0
    `);
  });

  test("what nobody evaluated yet is not there", async () => {
    expect((await inShop("customers", "inspect", "cus_1")).stderr).toContain("error [CUSTOMER_NOT_FOUND]");
    expect(await inShop("customers", "list", "--inactive", "7d")).toMatchInlineSnapshot(`
      There is no such customer.
    `);
    expect(await inShop("segments", "inspect", "payers")).toMatchInlineSnapshot(`
      payers in test: 0 members

      Condition
        count of "paid" at least 1

      Nobody is in it.
    `);
  });

  test("webhooks: listed with what is wrong, without deliveries yet", async () => {
    const create = ["webhooks", "create", "--url", "https://hooks.example.com/a", "--event-type", "customer.*"];
    const { stdout } = await inShop(...create, "--yes");
    const id = /whk_[0-9a-f]{20}/.exec(stdout)?.[0] ?? "";
    const list = async () => (await inShop("webhooks", "list")).stdout;
    expect(await list()).toMatch(/hooks\.example\.com\/a.* enabled/);
    await service.db.sql`update svc.webhooks set failing_since = '2026-03-02T10:00:00Z' where webhook_id = ${id}`;
    expect(await list()).toMatch(/failing since/);
    expect(await inShop("webhooks", "deliveries", id)).toMatchInlineSnapshot(`
      Nothing was delivered to this webhook yet.
    `);
  });
});
