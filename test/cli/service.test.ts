import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import type { Actor, Service } from "../support/service.js";
import { startService } from "../support/service.js";
import type { RunOptions } from "./support/run-svc.js";
import { svc } from "./support/run-svc.js";

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
  const session = { SVC_ACCESS_TOKEN: owner.token, SVC_ORGANIZATION: owner.organizationId };
  const result = await svc(argv, { ...options, env: { SVC_API_URL: service.url, ...session, ...options.env } });
  const shown = (text: string) => text.replaceAll(service.url, "<service>").replaceAll(owner.organizationId, "<org>");
  return { code: result.code, stdout: shown(result.stdout), stderr: shown(result.stderr) };
}

const inShop = (...argv: string[]) => run([...argv, "--project", "shop"]);

test("svc whoami, and auth status, which is the same", async () => {
  const result = await run(["whoami"]);
  expect(result).toMatchInlineSnapshot(`
    User          owner@acme.example
    Organization  acme (<org>), as owner
    API           <service>
    Signed in     by SVC_ACCESS_TOKEN
  `);
  expect(await run(["auth", "status"])).toEqual(result);
  expect(JSON.parse((await run(["whoami", "--json"])).stdout)).toEqual({
    user: { email: "owner@acme.example" },
    organization: { id: "<org>", slug: "acme", role: "owner" },
    api: { url: "<service>" },
    credentials: { from: "SVC_ACCESS_TOKEN" },
    organizations: [{ id: "<org>", slug: "acme", role: "owner" }],
  });
});

test("svc projects create prints both keys; a slug that is taken is refused", async () => {
  const { code, stdout } = await run(["projects", "create", "--name", "Other", "--slug", "other", "--yes"]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/_[0-9a-f]{48}/g, "_<key>")).toMatchInlineSnapshot(`
    "Created the project other. Keep its keys in a safe place: they are not shown again.

    Test key  svc_test_<key>
    Live key  svc_live_<key>
    "
  `);
  expect(await run(["projects", "create", "--name", "Other", "--slug", "other", "--yes"])).toMatchInlineSnapshot(`
    exit 1
    ! error [SLUG_TAKEN]: This organization already has a project "other". Choose another --slug. Field: slug.
  `);
});

test("an unknown token and another organization are told in one line", async () => {
  expect(await run(["whoami"], { env: { SVC_ACCESS_TOKEN: "svc_token_unknown" } })).toMatchInlineSnapshot(`
    exit 1
    ! error [INVALID_SESSION]: The access token is missing, unknown, expired or revoked. Set SVC_ACCESS_TOKEN to another token, or unset it and sign in: \`svc auth login\`.
  `);
  const other = await service.owner("beta");
  const { code, stderr } = await run(["overview", "--project", "shop"], {
    env: { SVC_ACCESS_TOKEN: other.token, SVC_ORGANIZATION: other.organizationId },
  });
  expect({ code, stderr }).toMatchInlineSnapshot(`
    {
      "code": 1,
      "stderr": "error [PROJECT_NOT_FOUND]: There is no project "shop" in this organization. Correct --project or "project" of .kite/config.json: \`svc projects list\` shows those of this organization; for those of another one, set SVC_ORGANIZATION or "organization" of .kite/config.json.
    ",
    }
  `);
});

test("a viewer may not deploy", async () => {
  const viewer = await service.member(owner, "viewer");
  const cwd = await project({ "svc.config.ts": MODEL });
  const env = { SVC_ACCESS_TOKEN: viewer.token };
  expect(await run(["deploy", "--project", "shop", "--yes"], { cwd, env })).toMatchInlineSnapshot(`
    exit 1
    ! error [FORBIDDEN]: Your role "viewer" may not do this. It needs the role "developer" or a higher one. Ask an owner of the organization for that role, or use the token of somebody who has it.
  `);
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
    expect(await inShop("customers", "inspect", "cus_1")).toMatchInlineSnapshot(`
      exit 1
      ! error [CUSTOMER_NOT_FOUND]: There is no customer "cus_1" in this environment. A customer exists from the evaluation of its first operation on. Check the id and --env; \`svc customers list\` shows whom there is.
    `);
    expect(await inShop("customers", "list", "--inactive", "7d")).toMatchInlineSnapshot(`
      There is no such customer.
    `);
    expect(await inShop("segments", "inspect", "payers")).toMatchInlineSnapshot(`
      payers in test: 0 members

      Condition
        count of "paid" at least 1

      Nobody is in it.
    `);
    expect(await inShop("segments", "inspect", "players")).toMatchInlineSnapshot(`
      exit 1
      ! error [SEGMENT_NOT_FOUND]: There is no segment "players" in this environment. Check the id and --env; \`svc overview\` shows the segments.
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
