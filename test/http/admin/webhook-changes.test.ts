import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSecret, sealingKey } from "../../../src/webhooks/secret.js";
import { envelope } from "../../support/service.js";
import { startWebhooks, type Webhook, type WebhookFixture } from "./support/webhooks.js";

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhooks();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const sql = () => fixture.service.db.sql;
const patch = (id: string, body: unknown, query = "") => fixture.request("PATCH", `/webhooks/${id}${query}`, body);
const remove = (id: string, query = "") => fixture.request("DELETE", `/webhooks/${id}${query}`);
const rotate = (id: string, body: unknown = {}, query = "") =>
  fixture.request("POST", `/webhooks/${id}/rotate-secret${query}`, body);
/** A webhook as it is shown, without the secret. */
const shown = ({ secret: _, ...webhook }: Webhook & { secret: string }): Webhook => webhook;
const noSuch = (id: string) => ({
  status: 404,
  body: envelope("WEBHOOK_NOT_FOUND", `There is no webhook "${id}" in this environment.`),
});

describe("a request without a body", () => {
  it("says nothing where nothing has to be said", async () => {
    const { id } = await fixture.create();
    const reply = await fixture.request("POST", `/webhooks/${id}/rotate-secret`);
    expect(reply).toMatchObject({ status: 201, body: { webhook: { id, previousSecretExpiresAt: timestamp } } });
  });

  it("is refused where something has to be said", async () => {
    const { id } = await fixture.create();
    const refused = { status: 415, body: envelope("UNSUPPORTED_MEDIA_TYPE", expect.any(String) as string) };
    expect(await fixture.request("POST", `/webhooks/${id}/resend`)).toMatchObject(refused);
    expect(await fixture.request("PATCH", `/webhooks/${id}`)).toMatchObject(refused);
    expect(await fixture.request("POST", "/webhooks")).toMatchObject(refused);
  });
});

describe("GET /projects/:project/webhooks/:webhook", () => {
  it("shows a webhook, with what waits to be delivered there and since when", async () => {
    const webhook = await fixture.create();
    expect(await fixture.read(webhook.id)).toEqual({ ...shown(webhook), pending: 0, oldestPendingAt: null });
    const [old, done] = await fixture.emit([{}, {}]);
    await fixture.emit([{}]);
    await fixture.setDelivery(webhook.id, done!, { status: "delivered", attempts: 1 });
    await sql()`update svc.emissions set created_at = '2026-01-01T08:00:00Z' where emission_seq = svc.emission_seq(${old!})`;
    expect(await fixture.read(webhook.id)).toMatchObject({ pending: 2, oldestPendingAt: "2026-01-01T08:00:00.000Z" });
  });

  it("counts what waits up to 10,000", async () => {
    const webhook = await fixture.create();
    await fixture.emit(Array.from({ length: 10_001 }, () => ({})));
    expect(await fixture.read(webhook.id)).toMatchObject({ pending: 10_000, oldestPendingAt: timestamp });
  });
});

describe("PATCH /projects/:project/webhooks/:webhook", () => {
  it.each([
    [{ url: "https://example.org/other" }],
    [{ eventTypes: ["segment.entered", "customer.*"] }],
    [{ maxEventAge: "7d" }],
    [{ maxConcurrency: 100 }],
    [{ maxPerSecond: 1000 }],
    [{ url: "https://example.org", eventTypes: ["*"], maxEventAge: "5256000m", maxConcurrency: 1, maxPerSecond: 1 }],
  ])("changes %j and nothing else", async (changes) => {
    const webhook = await fixture.create({ maxEventAge: "4w" });
    const reply = await patch(webhook.id, changes);
    expect(reply).toMatchObject({ status: 200, body: { ...shown(webhook), ...changes } });
    expect(await fixture.read(webhook.id)).toMatchObject({ ...shown(webhook), ...changes });
  });

  it("takes limits away with null", async () => {
    const { id } = await fixture.create({ maxEventAge: "7d", maxPerSecond: 5 });
    const reply = await patch(id, { maxEventAge: null, maxPerSecond: null });
    expect(reply).toMatchObject({ status: 200, body: { maxEventAge: null, maxPerSecond: null } });
  });

  it("disables: nothing is made for it, and who did it is its reason", async () => {
    const webhook = await fixture.create();
    const [waiting] = await fixture.emit([{}]);
    const reply = await patch(webhook.id, { disabled: true });
    const disabled = { disabledAt: timestamp, disabledReason: "Disabled by owner@acme.example." };
    expect(reply).toMatchObject({ status: 200, body: { ...shown(webhook), ...disabled } });
    const [missed] = await fixture.emit([{}]);
    expect(await fixture.delivery(webhook.id, missed!)).toBeUndefined();
    expect(await fixture.delivery(webhook.id, waiting!)).toMatchObject({ status: "pending" });
  });

  it("keeps when and why it was disabled, however often it is disabled", async () => {
    const { id } = await fixture.create();
    await sql()`
      update svc.webhooks set disabled_at = '2026-01-01Z', disabled_reason = 'The endpoint answered 410 Gone.'
      where webhook_id = ${id}`;
    const reply = await patch(id, { disabled: true, maxConcurrency: 3 });
    expect(reply.body).toMatchObject({
      maxConcurrency: 3,
      disabledAt: "2026-01-01T00:00:00.000Z",
      disabledReason: "The endpoint answered 410 Gone.",
    });
  });

  it("enables: forgets since when it failed, and tells the workers", async () => {
    const webhook = await fixture.create();
    await sql()`
      update svc.webhooks
      set failing_since = '2026-01-01Z', active_since = '2026-01-01Z', disabled_at = '2026-01-06Z', disabled_reason = 'No attempt has succeeded.'
      where webhook_id = ${webhook.id}`;
    const told = new Promise<void>((resolve) => {
      void sql().listen(
        "svc_deliveries",
        () => resolve(),
        () => void patch(webhook.id, { disabled: false }),
      );
    });
    await told;
    expect(await fixture.read(webhook.id)).toMatchObject(shown(webhook));
    const [row] = await sql()`
      select active_since > now() - interval '1 minute' as anew from svc.webhooks where webhook_id = ${webhook.id}`;
    expect(row).toEqual({ anew: true });
  });

  it("leaves since when it fails, where it was not disabled", async () => {
    const { id } = await fixture.create();
    await sql()`update svc.webhooks set failing_since = '2026-01-01Z' where webhook_id = ${id}`;
    expect(await patch(id, { disabled: false })).toMatchObject({ body: { failingSince: "2026-01-01T00:00:00.000Z" } });
  });

  it.each([
    ["another address", { url: "https://example.org/repaired" }, true],
    ["the same address", { url: "https://example.com/hook" }, false],
    ["a limit", { maxConcurrency: 3 }, false],
  ])(
    "given %s, forgets since when it failed and what was attempted before: %j, %s",
    async (_what, changes, forgets) => {
      const { id } = await fixture.create();
      await sql()`
      update svc.webhooks set failing_since = '2026-01-02Z', active_since = '2026-01-01Z' where webhook_id = ${id}`;
      expect(await patch(id, changes)).toMatchObject({
        body: { failingSince: forgets ? null : "2026-01-02T00:00:00.000Z" },
      });
      const [row] = await sql()`
      select active_since > now() - interval '1 minute' as anew from svc.webhooks where webhook_id = ${id}`;
      expect(row).toEqual({ anew: forgets });
    },
  );

  it("writes down what was changed: of the address the host, as its path may hold a secret", async () => {
    const { id } = await fixture.create();
    await patch(id, {
      url: "https://hooks.example.org:8443/T0/s3cret?token=s3cret",
      maxEventAge: null,
      disabled: true,
    });
    expect((await fixture.audit())[1]).toEqual({
      action: "webhook.updated",
      project: fixture.slug(),
      environment: "test",
      target: id,
      details: { host: "hooks.example.org:8443", maxEventAge: null, disabled: true },
      actor: "owner@acme.example",
      request_id: "req",
    });
  });

  it("writes nothing down where nothing changes", async () => {
    const { id } = await fixture.create({ maxPerSecond: 5 });
    expect(await patch(id, { maxPerSecond: 5, disabled: false })).toMatchObject({ status: 200 });
    expect((await fixture.audit()).map(({ action }) => action)).toEqual(["webhook.created"]);
  });

  it("keeps both of two changes at once", async () => {
    const { id } = await fixture.create();
    await Promise.all([patch(id, { maxPerSecond: 7 }), patch(id, { maxEventAge: "9d" })]);
    expect(await fixture.read(id)).toMatchObject({ maxPerSecond: 7, maxEventAge: "9d" });
  });

  it.each<[string, unknown, string | undefined, string | RegExp]>([
    ["nothing to change", {}, undefined, "The body must have at least one member."],
    ["another address than the web's", { url: "ftp://example.com" }, "url", /must begin with https/],
    ["a private address", { url: "http://10.0.0.1/" }, "url", /not delivered to 10\.0\.0\.1/],
    ["an address with a password", { url: "https://a:b@example.com/" }, "url", /must not contain a user name/],
    ["a line break", { url: "https://example.com/\n" }, "url", /must not hold spaces/],
    ["null for an address", { url: null }, "url", "`url` must be a string."],
    ["no event types", { eventTypes: [] }, "eventTypes", "`eventTypes` must not be empty."],
    ["event types twice", { eventTypes: ["a", "a"] }, "eventTypes", /same item twice/],
    [
      "an age that is no duration",
      { maxEventAge: "soon" },
      "maxEventAge",
      /^`maxEventAge` must be a whole number and a/,
    ],
    ["an age of nothing", { maxEventAge: "0d" }, "maxEventAge", /^`maxEventAge` must be a whole number and a unit/],
    ["an age past the longest", { maxEventAge: "3651d" }, "maxEventAge", "`maxEventAge` is too long."],
    ["an age of another type", { maxEventAge: 7 }, "maxEventAge", "`maxEventAge` must be a string or null."],
    ["no concurrency", { maxConcurrency: 0 }, "maxConcurrency", "`maxConcurrency` must be at least 1."],
    ["too much of it", { maxConcurrency: 101 }, "maxConcurrency", "`maxConcurrency` must be at most 100."],
    ["null for it", { maxConcurrency: null }, "maxConcurrency", "`maxConcurrency` must be an integer."],
    ["half of it", { maxConcurrency: 1.5 }, "maxConcurrency", "`maxConcurrency` must be an integer."],
    ["no rate", { maxPerSecond: 0 }, "maxPerSecond", "`maxPerSecond` must be at least 1."],
    ["too high a rate", { maxPerSecond: 1001 }, "maxPerSecond", "`maxPerSecond` must be at most 1000."],
    ["a rate in words", { maxPerSecond: "5" }, "maxPerSecond", "`maxPerSecond` must be an integer or null."],
    ["a state of another type", { disabled: "yes" }, "disabled", "`disabled` must be a boolean."],
    ["a secret of one's own", { secret: "whsec_x" }, "secret", "`secret` is not known here."],
  ])("refuses %s", async (_what, changes, field, message) => {
    const webhook = await fixture.create();
    const reply = await patch(webhook.id, changes);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    const { error } = reply.body as { error: { message: string; field?: string } };
    expect(error.message).toMatch(message);
    expect(error.field).toBe(field);
    expect(await fixture.read(webhook.id)).toMatchObject(shown(webhook));
  });
});

describe("POST /projects/:project/webhooks/:webhook/rotate-secret", () => {
  interface Rotated {
    webhook: Webhook;
    secret: string;
  }
  const stored = async (id: string) => {
    const [row] = await sql()<[{ now: Buffer; before: Buffer | null; until: Date | null }]>`
      select sealed_secret as now, previous_sealed_secret as before, previous_secret_expires_at as until
      from svc.webhooks where webhook_id = ${id}`;
    const open = (sealed: Buffer | null) => sealed && openSecret(sealed, sealingKey("a secret of the tests"));
    return { now: open(row.now), before: open(row.before), until: row.until };
  };

  it("makes a new secret, shown once and stored sealed; the old one is good for 24 hours more", async () => {
    const { secret: old, ...webhook } = await fixture.create();
    const began = Date.now();
    const reply = await rotate(webhook.id);
    expect(reply.status).toBe(201);
    const { secret } = reply.body as Rotated;
    expect(reply.body).toEqual({
      webhook: { ...webhook, previousSecretExpiresAt: timestamp },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/) as unknown,
    });
    expect(secret).not.toBe(old);
    const { now, before, until } = await stored(webhook.id);
    expect([now, before]).toEqual([secret, old]);
    expect(until!.getTime()).toBeGreaterThanOrEqual(began + 86_400_000 - 1_000);
    expect(until!.getTime()).toBeLessThanOrEqual(Date.now() + 86_400_000);
  });

  it("drops the old secret at once without a grace", async () => {
    const { id } = await fixture.create();
    const { webhook, secret } = (await rotate(id, { grace: "0m" })).body as Rotated;
    expect(webhook.previousSecretExpiresAt).toBeNull();
    expect(await stored(id)).toEqual({ now: secret, before: null, until: null });
  });

  it("drops the older of two old secrets", async () => {
    const { id } = await fixture.create();
    const second = (await rotate(id)).body as Rotated;
    const third = (await rotate(id, { grace: "1h" })).body as Rotated;
    expect(await stored(id)).toMatchObject({ now: third.secret, before: second.secret });
  });

  it("makes one after the other where two ask at once: what both were shown is good", async () => {
    const { id } = await fixture.create();
    const replies = await Promise.all([rotate(id), rotate(id)]);
    const secrets = replies.map(({ body }) => (body as Rotated).secret);
    const { now, before } = await stored(id);
    expect([now, before].sort()).toEqual(secrets.sort());
  });

  it("tells no more of an old secret whose time is over", async () => {
    const { id } = await fixture.create();
    await rotate(id, { grace: "1h" });
    await sql()`update svc.webhooks set previous_secret_expires_at = now() where webhook_id = ${id}`;
    expect(await fixture.read(id)).toMatchObject({ previousSecretExpiresAt: null });
  });

  it("writes down that it was done, without any secret", async () => {
    const { id } = await fixture.create();
    const { webhook } = (await rotate(id)).body as Rotated;
    expect((await fixture.audit())[1]).toMatchObject({
      action: "webhook.secret_rotated",
      target: id,
      details: { previousSecretExpiresAt: webhook.previousSecretExpiresAt },
    });
    const [row] = await sql()`select count(*) from iam.audit_log where details::text like '%whsec_%'`;
    expect(row!["count"]).toBe("0");
  });

  it.each([
    ["no duration", "soon", "`grace` is not a duration."],
    ["a negative one", "-1h", "`grace` is not a duration."],
    ["more than 24 hours", "25h", "`grace` is too long."],
    ["more than 24 hours in minutes", "1441m", "`grace` is too long."],
  ])("refuses a grace that is %s", async (_what, grace, message) => {
    const { id, secret } = await fixture.create();
    const refused = { status: 400, body: { error: { code: "VALIDATION_ERROR", field: "grace", message } } };
    expect(await rotate(id, { grace })).toMatchObject(refused);
    expect(await stored(id)).toMatchObject({ now: secret, before: null });
  });
});

describe("DELETE /projects/:project/webhooks/:webhook", () => {
  it("makes a webhook gone at once, with its deliveries", async () => {
    const webhook = await fixture.create();
    const other = await fixture.create();
    const [emission] = await fixture.emit([{}]);
    expect(await remove(webhook.id)).toMatchObject({ status: 200, body: shown(webhook) });
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", { disabled: true }],
      ["DELETE", ""],
      ["POST", "/rotate-secret", {}],
      ["POST", "/test", {}],
      ["POST", "/resend", { since: "1d" }],
      ["GET", "/deliveries"],
      ["GET", `/deliveries/${emission}`],
      ["POST", `/deliveries/${emission}/resend`, {}],
    ] as const)
      expect(await fixture.request(method, `/webhooks/${webhook.id}${path}`, body)).toMatchObject(noSuch(webhook.id));
    expect((await fixture.request("GET", "/webhooks")).body).toMatchObject({ data: [{ id: other.id }] });
    const { body } = await fixture.request("GET", `/emissions/${emission}`);
    expect(body).toMatchObject({ deliveries: [{ webhookId: other.id }] });
    const seen = await sql()`select from svc_inspect.deliveries where webhook_id = ${webhook.id}`;
    expect([...seen, ...(await sql()`select from svc_inspect.webhooks where webhook_id = ${webhook.id}`)]).toEqual([]);
    expect((await fixture.request("GET", "/overview")).body).toMatchObject({ webhooks: { pending: 1 } });
  });

  it("receives nothing any more, also where emissions are under way meanwhile", async () => {
    const { id } = await fixture.create();
    await Promise.all([...Array.from({ length: 8 }, () => fixture.emit([{}, {}])), remove(id)]);
    const count = async () => (await sql()`select from svc.deliveries where webhook_id = ${id}`).length;
    const before = await count();
    await fixture.emit([{}]);
    expect(await count()).toBe(before);
    expect(await fixture.request("GET", `/webhooks/${id}`)).toMatchObject(noSuch(id));
  });

  it("is written down once, however many ask at once", async () => {
    const { id } = await fixture.create();
    const replies = await Promise.all(Array.from({ length: 4 }, () => remove(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await fixture.audit()).slice(1)).toMatchObject([
      { action: "webhook.deleted", target: id, details: { host: "example.com" } },
    ]);
  });
});

describe("a webhook that is not there", () => {
  const changes = [
    ["GET", "", undefined],
    ["PATCH", "", { disabled: true }],
    ["DELETE", "", undefined],
    ["POST", "/rotate-secret", {}],
    ["POST", "/test", {}],
    ["POST", "/resend", { since: "1d" }],
  ] as const;

  it.each(changes)("is one of the other environment: %s …%s", async (method, path, body) => {
    const webhook = await fixture.create({}, "live");
    const reply = await fixture.request(method, `/webhooks/${webhook.id}${path}?env=test`, body);
    expect(reply).toMatchObject(noSuch(webhook.id));
    expect((await fixture.request("GET", `/webhooks/${webhook.id}?env=live`)).body).toMatchObject(shown(webhook));
  });
});
