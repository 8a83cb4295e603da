import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSecret, sealingKey } from "../../../src/webhooks/secret.js";
import { environmentId, envelope, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
});
afterAll(() => service.stop());

const create = (body: unknown, env = "test") =>
  service.request("POST", `/projects/app/webhooks?env=${env}`, { by: owner, body });
const get = (path: string) => service.request("GET", `/projects/app${path}`, { by: owner });
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

describe("POST /projects/:project/webhooks", () => {
  it("adds a webhook, shows its secret once and stores it sealed", async () => {
    const reply = await create({ url: "https://example.com/hook", eventTypes: ["customer.*", "segment.entered"] });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-f]{20}$/) as unknown,
      url: "https://example.com/hook",
      eventTypes: ["customer.*", "segment.entered"],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/) as unknown,
      createdAt: timestamp,
    });
    const { id, secret } = reply.body as { id: string; secret: string };
    const [row] = await service.db.sql<[{ sealed_secret: Buffer }]>`
      select sealed_secret from svc.webhooks where webhook_id = ${id}`;
    expect(openSecret(row.sealed_secret, sealingKey("a secret of the tests"))).toBe(secret);
  });

  it.each([
    ["ftp://example.com", "The URL must begin with https:// or http://."],
    ["http://127.0.0.1/hook", "Webhooks are not delivered to 127.0.0.1 (loopback)."],
    ["http://169.254.169.254/latest/meta-data", "Webhooks are not delivered to 169.254.169.254 (linkLocal)."],
    ["nowhere", "This is not a URL; write it in full, for example https://example.com/webhooks."],
  ])("refuses the address %s", async (url, message) => {
    const reply = await create({ url, eventTypes: ["*"] });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(envelope("VALIDATION_ERROR", message, { field: "url" }));
  });

  it.each([
    ["no event types", [], "eventTypes", "`eventTypes` must not be empty."],
    ["an empty event type", [""], "eventTypes[0]", "`eventTypes[0]` must not be empty."],
    ["one twice", ["a", "a"], "eventTypes", "`eventTypes` must not hold the same item twice."],
    [
      "a * in the middle",
      ["customer.*.x"],
      "eventTypes[0]",
      /^`eventTypes\[0\]` must be an event type, or the beginning/,
    ],
  ])("refuses %s", async (_what, eventTypes, field, message) => {
    const reply = await create({ url: "https://example.com", eventTypes });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field } } });
    expect((reply.body as { error: { message: string } }).error.message).toMatch(message);
  });
});

describe("GET /projects/:project/webhooks", () => {
  it("lists the webhooks of the environment without their secrets", async () => {
    const { body } = await create({ url: "https://live.example.com", eventTypes: ["*"] }, "live");
    const reply = await get("/webhooks?env=live");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: [
        {
          id: (body as { id: string }).id,
          url: "https://live.example.com",
          eventTypes: ["*"],
          createdAt: timestamp,
          disabledAt: null,
          disabledReason: null,
        },
      ],
      nextCursor: null,
    });
  });
});

describe("GET /projects/:project/webhooks/:webhook/deliveries", () => {
  it("lists deliveries newest first with their last attempt", async () => {
    const { body } = await create({ url: "https://deliveries.example.com", eventTypes: ["*"] });
    const webhook = (body as { id: string }).id;
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "test");
    await sql`insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
      )
      values (${id}, 1, 'a', 'customer.created', 'lifecycle', '{}', now(), 'event'),
        (${id}, 2, 'b', 'segment.entered', 'segment', '{}', now(), 'timer')`;
    await sql`insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, attempts, next_attempt_at, finished_at)
      values (${id}, ${webhook}, 1, 'delivered', 2, '2026-01-01Z', '2026-01-01 00:00:05Z'),
        (${id}, ${webhook}, 2, 'pending', 0, '2026-01-02Z', null)`;
    await sql`insert into svc.delivery_attempts (
        environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
      )
      values (${id}, ${webhook}, 1, 1, '2026-01-01Z', 15000, null, 'timeout', null),
        (${id}, ${webhook}, 1, 2, '2026-01-01 00:00:05Z', 12, 204, null, '')`;
    const first = await get(`/webhooks/${webhook}/deliveries?limit=1`);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: [
        {
          id: "emi_0000000000000002",
          type: "segment.entered",
          customerId: "b",
          status: "pending",
          attempts: 0,
          nextAttemptAt: "2026-01-02T00:00:00.000Z",
          finishedAt: null,
          lastAttempt: null,
        },
      ],
      nextCursor: expect.any(String) as string,
    });
    const { nextCursor } = first.body as { nextCursor: string };
    expect((await get(`/webhooks/${webhook}/deliveries?limit=1&cursor=${nextCursor}`)).body).toEqual({
      data: [
        {
          id: "emi_0000000000000001",
          type: "customer.created",
          customerId: "a",
          status: "delivered",
          attempts: 2,
          nextAttemptAt: null,
          finishedAt: "2026-01-01T00:00:05.000Z",
          lastAttempt: { at: "2026-01-01T00:00:05.000Z", latencyMs: 12, statusCode: 204, error: null, response: "" },
        },
      ],
      nextCursor: null,
    });
  });

  it("answers WEBHOOK_NOT_FOUND for an unknown webhook and for one of the other environment", async () => {
    const { body } = await create({ url: "https://elsewhere.example.com", eventTypes: ["*"] }, "live");
    const { id } = body as { id: string };
    for (const webhook of ["whk_unknown", id]) {
      const reply = await get(`/webhooks/${webhook}/deliveries?env=test`);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(
        envelope("WEBHOOK_NOT_FOUND", `There is no webhook "${webhook}" in this environment.`),
      );
    }
  });
});
