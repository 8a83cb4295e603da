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

const run = (argv: string[], options: RunOptions = {}) => svc(argv, { at: service.url, by: owner, ...options });
const inShop = (...argv: string[]) => run([...argv, "--project", "shop"]);

describe("a project's life", () => {
  test("what is deployed again is not", async () => {
    const cwd = await project({ "svc.config.ts": MODEL, ".kite/config.json": '{"project":"shop"}' });
    expect((await run(["deploy", "--yes"], { cwd })).code).toBe(0);
    expect(await run(["deploy", "--yes"], { cwd })).toMatchInlineSnapshot(`
      v1 is active in test of shop already and is the same model; nothing was deployed.
    `);
  });

  test("an event that is sent again with its key is told as such", async () => {
    const argv = ["events", "send", "paid", "--customer", "cus_1", "--props", '{"amount":5}', "--idempotency-key", "k"];
    const send = async () => (await run(argv, { env: { SVC_API_KEY_TEST: keys.test } })).stdout;
    const [, id] = /^Accepted as (evt_[0-9a-f]{16}) in test\.\n$/.exec(await send())!;
    expect(await send()).toBe(`The idempotency key was used for the same event before: ${id} in test.\n`);
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
