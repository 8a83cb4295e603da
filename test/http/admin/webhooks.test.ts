import { describe, expect, it } from "vitest";
import { openSecret, sealingKey } from "../../../src/webhooks/secret.js";
import { INSTANT, invalid, refused } from "./support/api.js";
import { useWebhooks, type Webhook } from "./support/webhooks.js";

const { api, create, patch, show, emit, emitOne, delivery, setDelivery, untilNotified } = useWebhooks();
const { ask, get, post, read, audit, entry } = api;
const remove = (id: string) => ask("DELETE", `/webhooks/${id}`);
const rotate = (id: string, body: unknown = {}) => post(`/webhooks/${id}/rotate-secret`, body);
/** A webhook as shown, without the secret. */
const shown = ({ secret: _, ...webhook }: Webhook & { secret: string }): Webhook => webhook;
const NOT_FOUND = refused(404, "WEBHOOK_NOT_FOUND");
const GOOD = { url: "https://example.com/hook", eventTypes: ["*"] };

/** A new webhook with default settings that has not delivered anything. */
const LIMITS = { maxEventAge: null, maxConcurrency: 10, maxPerSecond: null, include: [], format: "json" };
const STATE = { previousSecretExpiresAt: null, failingSince: null, disabledAt: null, disabledReason: null };

/** The decrypted secrets of a webhook. */
const stored = async (id: string) => {
  const [row] = await api.sql<[{ now: Buffer; before: Buffer | null; until: Date | null }]>`
    select sealed_secret as now, previous_sealed_secret as before, previous_secret_expires_at as until
    from svc.webhooks where webhook_id = ${id}`;
  const open = (sealed: Buffer | null) => sealed && openSecret(sealed, sealingKey("a secret of the tests"));
  return { now: open(row.now), before: open(row.before), until: row.until };
};

describe("POST /projects/:project/webhooks", () => {
  it("adds a webhook, shows its secret once, stores it sealed, and logs neither it nor the path of its address", async () => {
    const wanted = { url: "https://hooks.example.com/T0/s3cret", eventTypes: ["customer.*", "segment.entered"] };
    const { status, body } = await post("/webhooks", wanted);
    const { id, secret } = body as { id: string; secret: string };
    const made = { id, ...wanted, ...LIMITS, ...STATE, createdAt: INSTANT };
    expect([status, body]).toEqual([201, { ...made, secret }]);
    expect(id).toMatch(/^whk_[0-9a-f]{20}$/);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(await stored(id)).toMatchObject({ now: secret });
    expect(await read("/webhooks")).toEqual({ data: [made], nextCursor: null });
    expect(await read("/webhooks?env=live")).toMatchObject({ data: [] });
    const details = { host: "hooks.example.com", eventTypes: wanted.eventTypes, include: [], format: "json" };
    expect(await audit("webhook")).toEqual([entry("webhook.created", id, details)]);
    for (const role of ["viewer", "developer", "administrator"]) {
      const by = await api.service.member(api.owner, role);
      const seen = role === "administrator" ? made : { ...made, url: "https://hooks.example.com/…" };
      expect((await get("/webhooks", by)).body, role).toEqual({ data: [seen], nextCursor: null });
      expect((await get(`/webhooks/${id}`, by)).body, role).toMatchObject(seen);
    }
  });
});

it("a webhook is neither created nor changed with invalid settings", async () => {
  // test/webhooks/address.test.ts has all addresses.
  const ofInclude = /^`include\[0\]` must be name, owner, renewal, url, facts, or traits\. and/;
  const wrong: [field: string, value: unknown, message: string | RegExp][] = [
    ["url", "http://127.0.0.1/", /^Webhooks are not delivered to 127\.0\.0\.1 \(loopback\)\.$/],
    ["url", "https://a:b@example.com/", /must not contain a user name/],
    ["url", null, "must be a string."],
    ["eventTypes", [], "must not be empty."],
    ["eventTypes[0]", [""], "must not be empty."],
    ["eventTypes", ["a", "a"], "must not have the same item twice."],
    ["eventTypes[0]", ["a.*.x"], /^`eventTypes\[0\]` must be an event type, or the beginning/],
    ["maxEventAge", "soon", /^`maxEventAge` must be a whole number and a unit/],
    ["maxEventAge", "0d", /whole number and a unit/],
    ["maxEventAge", "3651d", "is too long."],
    ["maxEventAge", 7, "must be a string or null."],
    ["maxConcurrency", 0, "must be at least 1."],
    ["maxConcurrency", 101, "must be at most 100."],
    ["maxConcurrency", null, "must be an integer."],
    ["maxPerSecond", 0, "must be at least 1."],
    ["maxPerSecond", 1001, "must be at most 1000."],
    ["maxPerSecond", "5", "must be an integer or null."],
    ["format", "xml", "must be one of json, slack, teams."],
    ["include", "name", "must be an array."],
    ["include[0]", ["nam"], ofInclude],
    ["include[0]", ["traits."], ofInclude],
    ["include", Array.from({ length: 33 }, (_, n) => `traits.t${n}`), /at most 32/],
  ];
  const webhook = await create();
  for (const [field, value, what] of wrong) {
    const changes = { [field.replace("[0]", "")]: value };
    const message = typeof what === "string" ? `\`${field}\` ${what}` : what;
    for (const reply of [await post("/webhooks", { ...GOOD, ...changes }), await patch(webhook.id, changes)])
      expect(reply, JSON.stringify(changes)).toMatchObject(invalid(field, message));
  }
  const fix = expect.stringMatching(/start the service with SVC_WEBHOOK_ALLOW_PRIVATE=1\.$/) as string;
  const local = await post("/webhooks", { ...GOOD, url: "http://127.0.0.1/hook" });
  expect(local, "where one develops on one's own machine").toMatchObject(refused(400, "VALIDATION_ERROR", { fix }));
  // A change must have at least one member, and only known ones.
  expect(await patch(webhook.id, {})).toMatchObject(invalid(undefined, "The body must have at least one member."));
  const unsure = await patch(webhook.id, { disabled: "yes" });
  expect(unsure).toMatchObject(invalid("disabled", "`disabled` must be a boolean."));
  expect(await post("/webhooks", { ...GOOD, disabled: true })).toMatchObject(invalid("disabled"));
  expect(await show(webhook.id)).toMatchObject(shown(webhook));
  expect(await audit("webhook")).toHaveLength(1);
});

it("a request can omit the body if no member is required", async () => {
  const { id } = await create();
  const reply = await ask("POST", `/webhooks/${id}/rotate-secret`);
  expect(reply).toMatchObject({ status: 201, body: { webhook: { id, previousSecretExpiresAt: INSTANT } } });
  for (const [method, path] of [
    ["POST", `/${id}/resend`],
    ["PATCH", `/${id}`],
    ["POST", ""],
  ] as const)
    expect(await ask(method, `/webhooks${path}`)).toMatchObject(refused(415, "UNSUPPORTED_MEDIA_TYPE"));
});

describe("GET /projects/:project/webhooks/:webhook", () => {
  const none = { attempts: 0, accepted: 0, medianLatencyMs: null, p95LatencyMs: null };

  it("shows how the attempts of the last day ended, from the newest 1,000", async () => {
    const { id } = await create();
    const emissions = await emit(Array.from({ length: 1_200 }, () => ({})));
    await setDelivery(id, emissions[0]!, "failed", 3);
    expect(await show(id)).toMatchObject({ lastDay: none });
    // Of 1,200 the newest 1,000, whose latencies are 1 to 1,000 ms; every tenth failed.
    await api.sql`
      insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
      select environment_id, webhook_id, emission_seq, 4, now(), n, case when n % 10 = 0 then 500 else 204 end
      from (select *, row_number() over (order by emission_seq) - 200 as n from svc.deliveries where webhook_id = ${id}) as d
      where n > 0`;
    const lastDay = { attempts: 1_000, accepted: 900, medianLatencyMs: 500, p95LatencyMs: 950 };
    expect(await show(id)).toMatchObject({ lastDay });
  });

  it("shows its pending deliveries, counted up to 10,000, and the oldest one's time", async () => {
    const webhook = await create();
    expect(await show(webhook.id)).toEqual({ ...shown(webhook), pending: 0, oldestPendingAt: null, lastDay: none });
    const [old, done] = await emit([{}, {}]);
    await emitOne();
    await setDelivery(webhook.id, done!, "delivered", 1);
    await api.sql`update svc.emissions set created_at = '2026-01-01T08:00:00Z' where emission_seq = svc_inspect.emission_seq(${old!})`;
    expect(await show(webhook.id)).toMatchObject({ pending: 2, oldestPendingAt: "2026-01-01T08:00:00.000Z" });
    await emit(Array.from({ length: 9_999 }, () => ({})));
    expect(await show(webhook.id)).toMatchObject({ pending: 10_000, oldestPendingAt: INSTANT });
  });
});

describe("PATCH /projects/:project/webhooks/:webhook", () => {
  /** Sets columns of a webhook that deliveries change. */
  const setWebhook = (id: string, columns: object) =>
    api.sql`update svc.webhooks set ${api.sql(columns as Record<string, string>)} where webhook_id = ${id}`;
  /** Whether the webhook's failures are counted from now on. */
  const isReset = async (id: string) => {
    const [row] = await api.sql<[{ anew: boolean }]>`
      select active_since > now() - interval '1 minute' as anew from svc.webhooks where webhook_id = ${id}`;
    return row.anew;
  };

  it("changes the named settings and nothing else", async () => {
    const webhook = await create({ maxEventAge: "4w", maxPerSecond: 5 });
    let expected: object = shown(webhook);
    for (const changes of [
      { url: "https://example.org/other" },
      { eventTypes: ["segment.entered", "customer.*"] },
      { maxEventAge: "7d" },
      { maxConcurrency: 100 },
      { maxPerSecond: 1000 },
      { maxEventAge: null, maxPerSecond: null },
      { url: "https://example.org", eventTypes: ["*"], maxEventAge: "5256000m", maxConcurrency: 1, maxPerSecond: 1 },
    ]) {
      expected = { ...expected, ...changes };
      expect(await patch(webhook.id, changes)).toMatchObject({ status: 200, body: expected });
      expect(await show(webhook.id)).toMatchObject(expected);
    }
  });

  it("disables: no deliveries are added, and the reason names the first who disabled it", async () => {
    const webhook = await create();
    const waiting = await emitOne();
    const disabled = { disabledAt: INSTANT, disabledReason: "Disabled by owner@acme.example." };
    const reply = await patch(webhook.id, { disabled: true });
    expect(reply).toMatchObject({ status: 200, body: { ...shown(webhook), ...disabled } });
    expect(await delivery(webhook.id, await emitOne())).toBeUndefined();
    expect(await delivery(webhook.id, waiting)).toMatchObject({ status: "pending" });
    const disabledReason = "The endpoint answered 410 Gone.";
    await setWebhook(webhook.id, { disabled_at: "2026-01-01", disabled_reason: disabledReason });
    const { body } = await patch(webhook.id, { disabled: true, maxConcurrency: 3 });
    expect(body).toMatchObject({ maxConcurrency: 3, disabledAt: "2026-01-01T00:00:00.000Z", disabledReason });
  });

  it("enables: resets its failures, and notifies the workers", async () => {
    const webhook = await create();
    const failed = { failing_since: "2026-01-01", active_since: "2026-01-01", disabled_at: "2026-01-06" };
    await setWebhook(webhook.id, { ...failed, disabled_reason: "No attempt has succeeded." });
    await untilNotified(() => patch(webhook.id, { disabled: false }));
    expect(await show(webhook.id)).toMatchObject(shown(webhook));
    expect(await isReset(webhook.id)).toBe(true);
  });

  it.each([
    ["another address", { url: "https://example.org/repaired" }, true],
    ["the same address", { url: "https://example.com/hook" }, false],
    ["a limit", { maxConcurrency: 3 }, false],
    ["enabled, as it is already", { disabled: false }, false],
  ])("given %s, resets its failures and attempts: %j, %s", async (_what, changes, forgets) => {
    const { id } = await create();
    await setWebhook(id, { failing_since: "2026-01-02", active_since: "2026-01-01" });
    const failingSince = forgets ? null : "2026-01-02T00:00:00.000Z";
    expect(await patch(id, changes)).toMatchObject({ body: { failingSince } });
    expect(await isReset(id)).toBe(forgets);
  });

  it("records changes in the audit log, of an address only the host, as its path can hold a secret", async () => {
    const { id } = await create({ maxPerSecond: 5 });
    expect(await patch(id, { maxPerSecond: 5, disabled: false })).toMatchObject({ status: 200 });
    const url = "https://hooks.example.org:8443/T0/s3cret?token=s3cret";
    await patch(id, { url, maxEventAge: null, disabled: true });
    const details = { host: "hooks.example.org:8443", maxEventAge: null, disabled: true };
    expect((await audit("webhook")).slice(1)).toEqual([entry("webhook.updated", id, details)]);
  });

  it("keeps both of two concurrent changes", async () => {
    const { id } = await create();
    await Promise.all([patch(id, { maxPerSecond: 7 }), patch(id, { maxEventAge: "9d" })]);
    expect(await show(id)).toMatchObject({ maxPerSecond: 7, maxEventAge: "9d" });
  });
});

describe("POST /projects/:project/webhooks/:webhook/rotate-secret", () => {
  const rotated = async (id: string, body?: unknown) => {
    const reply = await rotate(id, body);
    expect(reply.status).toBe(201);
    return reply.body as { webhook: Webhook; secret: string };
  };

  it("creates a new secret, shown once and stored sealed; the old one is valid for 24 more hours", async () => {
    const { secret: old, ...webhook } = await create();
    const began = Date.now();
    const { secret, webhook: answered } = await rotated(webhook.id);
    expect(answered).toEqual({ ...webhook, previousSecretExpiresAt: INSTANT });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const { now, before, until } = await stored(webhook.id);
    expect([now, before]).toEqual([secret, old]);
    expect(now).not.toBe(before);
    expect(until!.getTime()).toBeGreaterThanOrEqual(began + 86_400_000 - 1_000);
    expect(until!.getTime()).toBeLessThanOrEqual(Date.now() + 86_400_000);
    // The audit log has no secret.
    const details = { previousSecretExpiresAt: answered.previousSecretExpiresAt };
    expect((await audit("webhook"))[1]).toEqual(entry("webhook.secret_rotated", webhook.id, details));
    // After its expiry, the old one is not shown any more.
    await api.sql`update svc.webhooks set previous_secret_expires_at = now() where webhook_id = ${webhook.id}`;
    expect(await show(webhook.id)).toMatchObject({ previousSecretExpiresAt: null });
  });

  it("drops the older of two old secrets, and without a grace the old one at once", async () => {
    const { id } = await create();
    const [second, third] = [await rotated(id), await rotated(id, { grace: "1h" })];
    expect(await stored(id)).toMatchObject({ now: third.secret, before: second.secret });
    const { webhook, secret } = await rotated(id, { grace: "0m" });
    expect(webhook.previousSecretExpiresAt).toBeNull();
    expect(await stored(id)).toEqual({ now: secret, before: null, until: null });
  });

  it("handles concurrent rotations one after the other: both secrets shown are valid", async () => {
    const { id } = await create();
    const both = await Promise.all([rotated(id), rotated(id)]);
    const { now, before } = await stored(id);
    expect([now, before].sort()).toEqual(both.map(({ secret }) => secret).sort());
  });

  it("refuses a grace that is not a duration, or longer than 24 hours", async () => {
    const { id, secret } = await create();
    for (const grace of ["soon", "25h", "1441m"]) expect(await rotate(id, { grace })).toMatchObject(invalid("grace"));
    expect(await stored(id)).toMatchObject({ now: secret, before: null });
  });
});

/** Every request about a webhook and a delivery to it. */
const requests = (emission: string) =>
  [
    ["GET", ""],
    ["PATCH", "", { disabled: true }],
    ["DELETE", ""],
    ["POST", "/rotate-secret", {}],
    ["POST", "/test", {}],
    ["POST", "/resend", { since: "1d" }],
    ["GET", "/deliveries"],
    ["GET", `/deliveries/${emission}`],
    ["POST", `/deliveries/${emission}/resend`, {}],
  ] as const;

it("a webhook of the other environment is not found", async () => {
  const webhook = await create({}, "live");
  for (const [method, path, body] of requests("emi_0000000000000400"))
    expect(await ask(method, `/webhooks/${webhook.id}${path}?env=test`, body)).toMatchObject(NOT_FOUND);
  expect(await read(`/webhooks/${webhook.id}?env=live`)).toMatchObject(shown(webhook));
});

describe("DELETE /projects/:project/webhooks/:webhook", () => {
  it("removes a webhook at once, with its deliveries", async () => {
    const [webhook, other] = [await create(), await create()];
    const emission = await emitOne();
    expect(await remove(webhook.id)).toMatchObject({ status: 200, body: shown(webhook) });
    for (const [method, path, body] of requests(emission))
      expect(await ask(method, `/webhooks/${webhook.id}${path}`, body)).toMatchObject(NOT_FOUND);
    expect(await read("/webhooks")).toMatchObject({ data: [{ id: other.id }] });
    expect(await read(`/emissions/${emission}`)).toMatchObject({ deliveries: [{ webhookId: other.id }] });
    for (const view of ["deliveries", "webhooks"])
      expect(await api.sql`select from svc_inspect.${api.sql(view)} where webhook_id = ${webhook.id}`).toHaveLength(0);
    expect(await read("/overview")).toMatchObject({ webhooks: { pending: 1 } });
  });

  it("ends deliveries to it, also while emissions are being written", async () => {
    const { id } = await create();
    await Promise.all([...Array.from({ length: 8 }, () => emit([{}, {}])), remove(id)]);
    const count = async () => (await api.sql`select from svc.deliveries where webhook_id = ${id}`).length;
    const before = await count();
    await emitOne();
    expect(await count()).toBe(before);
    expect(await get(`/webhooks/${id}`)).toMatchObject(NOT_FOUND);
  });

  it("is recorded once, however many requests delete it at once", async () => {
    const { id } = await create();
    const replies = await Promise.all(Array.from({ length: 4 }, () => remove(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await audit("webhook")).slice(1)).toEqual([entry("webhook.deleted", id, { host: "example.com" })]);
  });
});

it("svc_inspect.webhooks shows webhooks without their secrets", async () => {
  const { id, createdAt } = await create({ maxEventAge: "7d", maxPerSecond: 3, include: ["name"], format: "slack" });
  await rotate(id);
  const inspect = async () => ({ ...(await api.sql`select * from svc_inspect.webhooks where webhook_id = ${id}`)[0] });
  expect(await inspect()).toEqual({
    ...{ organization: "acme", project: api.slug, environment: "test", webhook_id: id },
    ...{ url: "https://example.com/hook", event_types: ["*"], max_event_age: "7d", max_concurrency: 10 },
    ...{ max_per_second: 3, failing_since: null, disabled_at: null, disabled_reason: null },
    ...{ include: ["name"], format: "slack" },
    created_at: new Date(createdAt),
    previous_secret_expires_at: expect.any(Date) as Date,
  });
  await api.sql`update svc.webhooks set previous_secret_expires_at = now() where webhook_id = ${id}`;
  expect(await inspect()).toMatchObject({ previous_secret_expires_at: null });
});
