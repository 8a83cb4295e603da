import { describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { environmentId } from "../support/service.js";
import { useIngest } from "./ingest/fixture.js";

// HTTP answers for an environment that is frozen because it moves to another database.

const fixture = await useIngest();
const { service, owner } = fixture;
const { sql } = service.db;
const place = { project: "app", environment: "test" } as const;
const event = { customerId: "c", event: "paid", idempotencyKey: "k" };
const FROZEN = { code: "SERVICE_UNAVAILABLE", message: "The environment is frozen: it moves to another database." };

await fixture.deploy({});
expect((await fixture.single(event)).status).toBe(202);
await call(sql, "operator_freeze_environment", "acme", place);
const environment = await environmentId(sql, "app", "test");

const admin = (method: string, path: string, body?: unknown) =>
  service.request(method, path, { by: owner, ...(body === undefined ? {} : { body }) });

describe("a frozen environment", () => {
  it("accepts no events, new or repeated, alone or in a batch, which are to be sent again", async () => {
    const before = await fixture.stored();
    const replies = [
      fixture.single({ ...event, idempotencyKey: "new" }),
      fixture.single(event),
      fixture.batch([event]),
    ];
    for (const { status, headers, body } of await Promise.all(replies)) {
      expect([status, headers.get("Retry-After")]).toEqual([503, "10"]);
      expect(body).toMatchObject({ error: FROZEN });
    }
    expect(await fixture.stored()).toEqual(before);
  });

  const url = "https://hooks.example.com/";
  it.each([
    ["deployed to", "POST", "config-versions", { snapshot: { ...EMPTY_SNAPSHOT, strictSchema: true }, force: true }],
    ["given a key", "POST", "keys", { name: "new" }],
    ["given a webhook", "POST", "webhooks", { url, eventTypes: ["*"] }],
    ["recomputed", "POST", "recomputes", { all: true }],
    ["relieved of a customer", "DELETE", "customers/c", undefined],
  ])("is not %s", async (_, method, path, body) => {
    const { status, body: answer } = await admin(method, `/projects/app/${path}?env=test`, body);
    expect({ status, answer }).toMatchObject({ status: 503, answer: { error: FROZEN } });
  });

  it("waits for nothing that holds its rows before it refuses a change", async () => {
    const changes = [
      ["DELETE", "customers/c", undefined],
      ["POST", "customers/release", {}],
      ["POST", "quarantine/discard", {}],
    ] as const;
    await sql.begin(async (tx) => {
      // As its deletion does.
      await tx`insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'c', now())`;
      await tx`insert into svc.retention (environment_id) values (${environment})`;
      for (const [method, path, body] of changes) {
        const { status, body: answer } = await admin(method, `/projects/app/${path}?env=test`, body);
        expect({ path, status, answer }).toMatchObject({ status: 503, answer: { error: FROZEN } });
      }
    });
  });

  it("can be read, and leaves the other environment of its project alone", async () => {
    expect((await admin("GET", "/projects/app/events?env=test")).status).toBe(200);
    expect((await admin("GET", "/projects/app/webhooks?env=test")).status).toBe(200);
    const headers = { Authorization: `Bearer ${fixture.keys.live}` };
    expect((await fixture.batch([event], headers)).status).toBe(202);
    expect((await admin("POST", "/projects/app/keys?env=live", { name: "new" })).status).toBe(201);
  });

  it("continues once it is unfrozen", async () => {
    await call(sql, "operator_unfreeze_environment", "acme", place);
    expect((await fixture.single(event)).body).toMatchObject({ duplicate: true });
    expect((await fixture.single({ ...event, idempotencyKey: "new" })).body).toMatchObject({ duplicate: false });
    const entries = await sql<{ action: string }[]>`
      select action from iam.audit_log where action like 'environment.%' order by at`;
    expect(entries.map(({ action }) => action)).toEqual(["environment.exported", "environment.unfrozen"]);
  });
});
