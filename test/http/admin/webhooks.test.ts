import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSecret, sealingKey } from "../../../src/webhooks/secret.js";
import { envelope, startService, type Actor, type Service } from "../../support/service.js";

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

/** What a webhook is whose maker says no more than where and what, and that has not delivered anything. */
const UNLESS_GIVEN = {
  maxEventAge: null,
  maxConcurrency: 10,
  maxPerSecond: null,
  previousSecretExpiresAt: null,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
};

describe("POST /projects/:project/webhooks", () => {
  it("adds a webhook, shows its secret once and stores it sealed", async () => {
    const reply = await create({ url: "https://example.com/hook", eventTypes: ["customer.*", "segment.entered"] });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-f]{20}$/) as unknown,
      url: "https://example.com/hook",
      eventTypes: ["customer.*", "segment.entered"],
      ...UNLESS_GIVEN,
      createdAt: timestamp,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/) as unknown,
    });
    const { id, secret } = reply.body as { id: string; secret: string };
    const [row] = await service.db.sql<[{ sealed_secret: Buffer }]>`
      select sealed_secret from svc.webhooks where webhook_id = ${id}`;
    expect(openSecret(row.sealed_secret, sealingKey("a secret of the tests"))).toBe(secret);
  });

  it("takes limits, the age as it was written", async () => {
    const limits = { maxEventAge: "168h", maxConcurrency: 50, maxPerSecond: 20 };
    const reply = await create({ url: "https://example.com", eventTypes: ["*"], ...limits });
    expect(reply).toMatchObject({ status: 201, body: limits });
    const none = { maxEventAge: null, maxPerSecond: null };
    expect(await create({ url: "https://example.com", eventTypes: ["*"], ...none })).toMatchObject({ body: none });
  });

  it("writes down what was made, without its secret or the path of its address", async () => {
    const { body } = await create({ url: "https://audited.example.com/T0/s3cret", eventTypes: ["segment.*"] });
    const { id } = body as { id: string };
    const entries = await service.db.sql`
      select action, project, environment, details, actor, request_id from iam.audit_log where target = ${id}`;
    expect([...entries]).toEqual([
      {
        action: "webhook.created",
        project: "app",
        environment: "test",
        details: { host: "audited.example.com", eventTypes: ["segment.*"] },
        actor: "owner@acme.example",
        request_id: "req",
      },
    ]);
  });

  it.each([
    ["http://127.0.0.1/hook", "Webhooks are not delivered to 127.0.0.1 (loopback)."],
    ["http://169.254.169.254/latest/meta-data", "Webhooks are not delivered to 169.254.169.254 (linkLocal)."],
  ])("refuses the address %s, and says how to develop on one's own machine", async (url, message) => {
    const reply = await create({ url, eventTypes: ["*"] });
    expect(reply.status).toBe(400);
    const fix =
      "Give an address that the internet reaches; for receivers on your own machine, start the service with SVC_WEBHOOK_ALLOW_PRIVATE=1.";
    expect(reply.body).toEqual(envelope("VALIDATION_ERROR", message, { field: "url", fix }));
  });

  it.each([
    ["ftp://example.com", "The URL must begin with https:// or http://."],
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

describe("limits that cannot be", () => {
  it.each([
    [{ maxEventAge: "7 days" }, "maxEventAge", /whole number and a unit/],
    [{ maxEventAge: "600w" }, "maxEventAge", /^`maxEventAge` is too long\.$/],
    [{ maxConcurrency: 0 }, "maxConcurrency", /at least 1/],
    [{ maxConcurrency: null }, "maxConcurrency", /must be an integer/],
    [{ maxPerSecond: 1001 }, "maxPerSecond", /at most 1000/],
    [{ disabled: true }, "disabled", /not known here/],
  ])("are refused: %j", async (limits, field, message) => {
    const reply = await create({ url: "https://example.com", eventTypes: ["*"], ...limits });
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
          ...UNLESS_GIVEN,
          createdAt: timestamp,
        },
      ],
      nextCursor: null,
    });
  });
});
