import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Overview } from "../../src/cli/commands/overview.js";
import type { Problem, SchemaViolation } from "../../src/cli/diagnosis.js";
import type { Snapshot } from "../../src/snapshot/types.js";
import { environmentId, snapshot, startService } from "../support/service.js";
import type { Actor, Service } from "../support/service.js";
import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const HEALTHY: Overview = {
  environment: "test",
  configVersion: "v4",
  customers: 10,
  customersSetAside: 0,
  events: { accepted: 50, pending: 2, ahead: 2 },
  lifecycle: [],
  segments: [],
  webhooks: { delivered: 0, pending: 0, failed: 0 },
  emissions: {},
};

const VIOLATION: SchemaViolation = {
  configVersion: "v4",
  event: "order",
  code: "INVALID_PROPERTY_TYPE",
  path: "properties.amount",
  operations: 1_200,
  firstSeenAt: "2026-03-01T09:30:00.000Z",
  lastSeenAt: "2026-03-14T09:30:00.000Z",
  lastEventId: "evt_0000000000000400",
  lastCustomerId: "cus_42",
};
/** What is said of an environment; the canned server gives its overview and its violations in the same answer. */
async function diagnose(changes: Partial<Overview>, violations: object[] = [], ...options: string[]) {
  const { url, seen } = await cannedServer(json({ ...HEALTHY, ...changes, data: violations, nextCursor: null }));
  const env = { SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o", SVC_API_URL: url };
  const result = await svc(["diagnose", "--project", "shop", ...options], { env });
  return { ...result, asked: seen.map(({ method, url: path }) => `${method} ${path}`) };
}

test("where nothing is wrong it says so; operations whose time has not come are nothing wrong", async () => {
  expect(await diagnose({})).toEqual({
    code: 0,
    stdout: "No problems found.\n",
    stderr: "",
    asked: [
      "GET /projects/shop/overview?env=test",
      "GET /projects/shop/schema-violations?env=test&version=v4&limit=200",
    ],
  });
  expect((await diagnose({}, [], "--env", "live", "--json")).stdout).toBe('{"environment":"live","problems":[]}\n');
});

test("each problem is told with what to do about it, and is no failure", async () => {
  const events = { accepted: 50, pending: 7, ahead: 2 };
  const { code, stdout, stderr } = await diagnose({ customersSetAside: 1, events }, [VIOLATION]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "problem SCHEMA_VIOLATIONS Accepted operations violate the schema of the active version v4 in 1 way.
      fix: Correct what sends them, or declare in the model what they hold and deploy it. A strict schema (strictSchema: true) refuses them.

    Event  Code                   Path               Operations  Last seen       Example
    order  INVALID_PROPERTY_TYPE  properties.amount       1,200  30 minutes ago  cus_42, evt_0000000000000400

    problem CUSTOMERS_SET_ASIDE 1 customer is set aside because their evaluation failed; their operations wait.
      fix: See why: svc customers list --set-aside --env test. Once the cause is mended, release them: svc customers release --all --env test

    problem OPERATIONS_WAITING 5 operations wait to be evaluated, those of customers that are set aside included.
      fix: This is usual for some seconds after they were accepted. If the number does not fall, check that a worker runs: GET /readyz of the service says so.

    3 problems found in test.
    "
  `);
});

test("an environment without a configuration", async () => {
  const { code, stdout } = await diagnose({ environment: "live", configVersion: null }, [], "--env", "live");
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "problem CONFIGURATION_MISSING No configuration is deployed in live: any event and any trait is taken, and nothing is derived of them.
      fix: Deploy a model: svc deploy --env live

    1 problem found in live.
    "
  `);
});

test("of violations without end it reads a thousand, and says that there are more", async () => {
  const page = { data: Array.from({ length: 200 }, () => VIOLATION), nextCursor: "next" };
  const { url, seen } = await cannedServer(json({ ...HEALTHY, ...page }));
  const env = { SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o", SVC_API_URL: url };
  const { stdout } = await svc(["diagnose", "--project", "shop"], { env });
  expect(stdout).toContain("violate the schema of the active version v4 in more than 1,000 ways.");
  expect(stdout).toContain("\nThe 20 most frequent; --json has all.\nThere are more than were read.\n");
  expect(seen.slice(2).map(({ url: path }) => path)).toEqual(
    Array.from({ length: 4 }, () => "/projects/shop/schema-violations?env=test&version=v4&limit=200&cursor=next"),
  );
});

test("names from elsewhere cannot rewrite the terminal", async () => {
  const { stdout } = await diagnose({}, [{ ...VIOLATION, event: "a\u001b[2Jb", lastCustomerId: "x\ny" }]);
  expect(stdout).toContain("a\\u001b[2Jb");
  expect(stdout).toContain("x\\u000ay");
});

test("with --json it is one document with the violations as the service gives them", async () => {
  const { code, stdout } = await diagnose({ customersSetAside: 2 }, [VIOLATION], "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    environment: "test",
    problems: [
      {
        code: "SCHEMA_VIOLATIONS",
        message: "Accepted operations violate the schema of the active version v4 in 1 way.",
        fix: expect.stringMatching(/^Correct what sends them/) as string,
        violations: [VIOLATION],
        moreViolations: false,
      },
      {
        code: "CUSTOMERS_SET_ASIDE",
        message: "2 customers are set aside because their evaluation failed; their operations wait.",
        fix: expect.stringContaining("svc customers release --all --env test") as string,
        customers: 2,
      },
    ],
  });
});

test("it fails only where it cannot ask", async () => {
  const { url } = await cannedServer(json({ error: { code: "FORBIDDEN", message: "No.", requestId: "r" } }, 403));
  const env = { SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o", SVC_API_URL: url };
  expect(await svc(["diagnose", "--project", "shop"], { env })).toMatchObject({ code: 1, stdout: "" });
  expect(await svc(["diagnose"], { env })).toMatchObject({ code: 1, stdout: "" });
});

describe("of a service", () => {
  let service: Service;
  let owner: Actor;
  let key: string;
  beforeAll(async () => {
    service = await startService();
    owner = await service.owner("acme");
    const project = { name: "Shop", slug: "shop" };
    const reply = await service.request("POST", "/projects", { by: owner, body: project });
    key = (reply.body as { keys: { test: string } }).keys.test;
  });
  afterAll(() => service.stop());

  async function deploy(changes: Partial<Snapshot> = {}): Promise<void> {
    const body = { snapshot: snapshot(changes) };
    const reply = await service.request("POST", "/projects/shop/config-versions?env=test", { by: owner, body });
    expect(reply.status).toBe(201);
  }

  async function problems(): Promise<Problem[]> {
    const session = { SVC_ACCESS_TOKEN: owner.token, SVC_ORGANIZATION: owner.organizationId };
    const { code, stdout } = await svc(["diagnose", "--project", "shop", "--json"], {
      env: { ...session, SVC_API_URL: service.url },
    });
    expect(code).toBe(0);
    return (JSON.parse(stdout) as { problems: Problem[] }).problems;
  }

  const insert = async (from: number, to: number) =>
    service.db.sql`
      insert into svc.schema_violations
      select ${await environmentId(service.db.sql, "shop", "test")}, 1, 'order', 'UNKNOWN_PROPERTY',
        'properties.p' || to_char(n, 'FM0000'), 1, now(), now(), n
      from generate_series(${from}::integer, ${to}::integer) as n`;

  test("it finds that nothing is deployed, and no problem once a model is", async () => {
    expect(await problems()).toMatchObject([{ code: "CONFIGURATION_MISSING" }]);
    await deploy();
    expect(await problems()).toEqual([]);
  });

  test("it reads all violations, page by page, up to a thousand", async () => {
    await insert(1, 1_000);
    const [all] = await problems();
    expect(all).toMatchObject({ code: "SCHEMA_VIOLATIONS", moreViolations: false });
    const paths = all?.violations?.map(({ path }) => path) ?? [];
    expect(paths).toEqual(Array.from({ length: 1_000 }, (_, n) => `properties.p${String(n + 1).padStart(4, "0")}`));

    await insert(1_001, 1_001);
    const [more] = await problems();
    expect(more).toMatchObject({ moreViolations: true });
    expect(more?.violations).toHaveLength(1_000);
  });

  test("it tells which accepted operations violate the schema, with the last of each kind", async () => {
    await service.db.sql`truncate svc.schema_violations`;
    await deploy({ strictSchema: false });
    const events = [
      { customerId: "ann", event: "login", properties: { seats: 1 } },
      { customerId: "bob", event: "login", properties: { seats: { paid: 1 } } },
      { type: "identify", customerId: "cleo", traits: { colour: "red" } },
    ];
    const headers = { Authorization: `Bearer ${key}` };
    const reply = await service.request("POST", "/v1/events/batch", { body: { events }, headers });
    const { eventIds } = reply.body as { eventIds: string[] };
    const common = { configVersion: "v2", operations: 1 };
    expect(await problems()).toMatchObject([
      {
        code: "SCHEMA_VIOLATIONS",
        message: "Accepted operations violate the schema of the active version v2 in 2 ways.",
        violations: [
          { ...common, event: null, code: "UNKNOWN_TRAIT", path: "traits.colour", lastCustomerId: "cleo" },
          {
            ...{ ...common, event: "login", code: "INVALID_STRUCTURE", path: "properties.seats" },
            ...{ lastEventId: eventIds[1], lastCustomerId: "bob" },
          },
        ],
      },
      { code: "OPERATIONS_WAITING", operations: 3 },
    ]);
  });
});
