import fc from "fast-check";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it, vi } from "vitest";
import { snakeCase } from "../../../src/ingestion/tracking.js";
import { sweepRetention } from "../../../src/tasks/periodic-jobs.js";
import { violations } from "../../support/invariants.js";
import { propertyRuns } from "../../support/property-runs.js";
import { useIngest } from "../ingest/fixture.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;
beforeAll(() =>
  fixture.deploy({ strictSchema: true, events: { login: { properties: {} } }, traits: { plan: { type: "string" } } }),
);

const basic = (key: string) => ({ Authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` });
const post = (path: string, body: unknown, headers: Record<string, string> = basic(fixture.keys.test)) =>
  fixture.service.request("POST", path, { body, headers });
const login = (more: object = {}) => ({ type: "track", userId: "u", event: "Login", ...more });
const count = async () => {
  const [row] = await sql<[{ events: number; kept: number }]>`
    select (select count(*)::integer from svc.events) as events, (select count(*)::integer from svc.quarantined_operations) as kept`;
  return row;
};

it("accepts each kind of call at its path, and a batch in gzip", async () => {
  const paths = ["/v1/track", "/v1/identify", "/v1/page", "/v1/screen", "/v1/group"];
  for (const path of paths) {
    const body = { userId: "u", groupId: "g", event: "Login", name: "Login", traits: { plan: "pro" } };
    expect(await post(path, body)).toMatchObject({ status: 200, body: { success: true } });
  }
  const zipped = gzipSync(JSON.stringify({ batch: [login()] }));
  const headers = { ...basic(fixture.keys.test), "Content-Encoding": "gzip" };
  expect(await post("/v1/batch", zipped, headers)).toMatchObject({ status: 200 });
  expect(await post("/v1/alias", { userId: "u", previousId: "v" })).toMatchObject({ status: 400 });
});

it("takes the traits of an identify from its context if it has no others, as from RudderStack's SDKs for Python and Ruby", async () => {
  const identify = (more: object) => ({ type: "identify", userId: "inside", ...more });
  const calls = [
    identify({ context: { traits: { plan: "pro" }, library: { name: "analytics-python" } } }),
    identify({ traits: { plan: "team" }, context: { traits: { plan: "other" } } }),
    identify({ traits: null, context: { traits: "none" } }),
    identify({ context: { traits: { plan: "\0" } } }),
  ];
  for (const [index, call] of calls.entries()) {
    const refused = [expect.objectContaining({ index: 0, code: "INVALID_CALL" }) as object];
    const answer = { success: true, ...(index === 3 ? { refused } : {}) };
    expect((await post("/v1/batch", { batch: [call] })).body).toEqual(answer);
  }
  // In a track it describes the user, too, and has no effect.
  await post("/v1/batch", { batch: [login({ userId: "inside", context: { traits: { plan: "of a track" } } })] });
  const rows = await sql`select traits from svc.trait_updates where customer_id = 'inside' order by operation_seq`;
  expect(rows.map(({ traits }) => traits as object)).toEqual([{ plan: "pro" }, { plan: "team" }, {}]);
});

it("accepts a key that is only in the body, as SDKs for Python send it, and keeps it nowhere", async () => {
  const before = await count();
  const writeKey = fixture.keys.test;
  expect(await post("/v1/batch", { batch: [login()], sentAt: new Date().toISOString(), writeKey }, {})).toMatchObject({
    status: 200,
    body: { success: true },
  });
  const unknown = { userId: "u", event: "nothing", writeKey };
  expect(await post("/v1/track", unknown, {})).toMatchObject({ status: 200, body: { quarantined: 1 } });
  expect(await post("/v1/track", unknown)).toMatchObject({ status: 200, body: { quarantined: 1 } });
  expect(await count()).toEqual({ events: before.events + 1, kept: before.kept + 2 });
  expect(await sql`select from svc.quarantined_operations where call::text like ${`%${writeKey}%`}`).toEqual([]);
});

it("keeps no key that a call of a batch has, as browsers' SDKs send it", async () => {
  const writeKey = fixture.keys.test;
  const call = { userId: "u", type: "track", event: "with_key", writeKey };
  expect(await post("/v1/batch", { batch: [call] }, {})).toMatchObject({ status: 200, body: { quarantined: 1 } });
  const [kept] = await sql`select call from svc.quarantined_operations where call ->> 'event' = 'with_key'`;
  expect(kept).toEqual({ call: { userId: "u", type: "track", event: "with_key" } });
});

it("repeats nothing of a batch in its calls that has no effect on them, however long it is", async () => {
  const shared = { sentAt: "x".repeat(1_000), context: { groupId: "g".repeat(1_000), page: "x".repeat(1_000) } };
  const call = { userId: "u", type: "track", event: "alone" };
  expect((await post("/v1/batch", { ...shared, batch: [call] })).body).toEqual({ success: true, quarantined: 1 });
  const [kept] = await sql`select call from svc.quarantined_operations where call ->> 'event' = 'alone'`;
  expect(kept).toEqual({ call });
});

it.each(['"\\u0000"', '"\\ud800"', "1e999"])(
  "accepts calls of a batch whose group cannot be stored: %s",
  async (groupId) => {
    const before = await count();
    const body = `{"context":{"groupId":${groupId}},"batch":[${JSON.stringify(login())}]}`;
    expect(await post("/v1/batch", body)).toMatchObject({ status: 200, body: { success: true } });
    expect(await count()).toEqual({ events: before.events + 1, kept: before.kept });
  },
);

it("refuses a body without a valid key, and says so where these SDKs look", async () => {
  const before = await count();
  const refused = { code: "INVALID_API_KEY", message: "The API key is missing, malformed, unknown or revoked." };
  const { writeKey } = { writeKey: fixture.keys.test };
  for (const [body, headers] of [
    [{ batch: [login()] }, {}],
    [{ batch: [login()], writeKey: `${writeKey.slice(0, -1)}x` }, {}],
    [{ batch: [login({ properties: { writeKey: "svc_test_other" } })], writeKey }, {}],
    [{ batch: [login()], writeKey }, { Authorization: "Bearer of something else" }],
    ["{", {}],
  ] as [unknown, Record<string, string>][]) {
    const answer = await post("/v1/batch", body, headers);
    expect(answer).toMatchObject({ status: 401, body: { ...refused, error: refused } });
  }
  expect(await post("/v1/batch", { writeKey }, {})).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
  expect(await count()).toEqual(before);
});

it("treats names of Object.prototype like any others, and refuses only the call that nests too deep", async () => {
  const before = await count();
  const names = ["constructor", "toString", "__proto__", "valueOf", "hasOwnProperty"];
  const deep = `{"type":"track","userId":"u","event":"Login","properties":{"a":${"[".repeat(6000)}${"]".repeat(6000)}}}`;
  const calls = names.map((event) => JSON.stringify(login({ event })));
  const batch = `{"batch":[${[...calls, deep, JSON.stringify(login())].join(",")}]}`;
  const { status, body } = await post("/v1/batch", batch);
  const message = expect.stringContaining("1000 levels") as string;
  const refused = [{ index: names.length, code: "INVALID_CALL", message }];
  expect([status, body]).toEqual([200, { success: true, quarantined: names.length, refused }]);
  expect(await count()).toEqual({ events: before.events + 1, kept: before.kept + names.length });
});

it("ignores text that cannot be stored in unused members, and replaces it in calls that are kept", async () => {
  const before = await count();
  const half = "Prices 🦊".slice(0, 8);
  const context = { page: { title: half, ["a\0"]: "\0" } };
  const { body } = await post("/v1/batch", { batch: [login({ context }), login({ event: "nothing", context })] });
  expect(body).toEqual({ success: true, quarantined: 1 });
  expect(await count()).toEqual({ events: before.events + 1, kept: before.kept + 1 });
  const [kept] =
    await sql`select call -> 'context' as context from svc.quarantined_operations order by seq desc limit 1`;
  expect(kept).toEqual({ context: { page: { title: "Prices \uFFFD", ["a\uFFFD"]: "\uFFFD" } } });
  // Also in lists. A name that is too long is cut, also within a surrogate pair; a release maps the call again.
  const long = { type: "track", event: `${"x".repeat(255)}🦊`, context: [half] };
  expect((await post("/v1/batch", { batch: [long] })).body).toEqual({ success: true, quarantined: 1 });
  const request = { by: fixture.owner, body: {} };
  const release = await fixture.service.request("POST", "/projects/app/quarantine/release", request);
  expect(release.status).toBe(200);
});

it("refuses text and numbers that cannot be stored in members that are used", async () => {
  const texts = ["type", "userId", "event", "messageId", "timestamp", "sentAt", "originalTimestamp", "groupId"];
  const calls = [
    ...texts.map((name) => login({ [name]: "\0" })),
    login({ properties: { a: ["\ud800"] } }),
    login({ context: { groupId: "\0" } }),
    login({ type: "page", name: "\0" }),
    login({ type: "identify", traits: { plan: "\0" } }),
  ];
  const { body } = await post("/v1/batch", { batch: calls });
  const refused = calls.map((_, index): object => expect.objectContaining({ index, code: "INVALID_CALL" }));
  expect(body).toEqual({ success: true, refused });
  // Beyond the range of a double: it would become null and remove a trait.
  const far = await post("/v1/batch", '{"batch":[{"type":"identify","userId":"far","traits":{"plan":[-1e400]}}]}');
  const message =
    "The call has a value that cannot be stored. The number is outside the range of a double (about 5e-324 to 1.8e308).";
  expect(far.body).toEqual({ success: true, refused: [{ index: 0, code: "INVALID_CALL", message }] });
  expect(await sql`select from svc.trait_updates where customer_id = 'far'`).toHaveLength(0);
});

it("keeps malformed calls under the customer they name, so that they are erased with it", async () => {
  const customerId = "malformed";
  for (const more of [{ timestamp: "soon" }, { properties: 7 }, { event: "x".repeat(300) }])
    await post("/v1/track", login({ userId: customerId, ...more }));
  await post("/v1/track", login({ userId: 1e300 }));
  const kept = await sql`
    select customer_id, code from svc.quarantined_operations
    where call ->> 'userId' = ${customerId} or code = 'MISSING_CUSTOMER' order by seq desc limit 4`;
  expect(kept.map((row) => row["customer_id"] as string)).toEqual(["", customerId, customerId, customerId]);
});

it("refuses what is not JSON, not a batch or too large, and malformed keys, and accepts an empty batch", async () => {
  for (const Authorization of ["Basic !", "Basic Og=="])
    expect(await post("/v1/batch", { batch: [] }, { Authorization })).toMatchObject({ status: 401 });
  expect(await post("/v1/batch", "{")).toMatchObject({ status: 400, body: { error: { code: "MALFORMED_JSON" } } });
  expect(await post("/v1/batch", "[]")).toMatchObject({ status: 400 });
  expect(await post("/v1/batch", { batch: {} })).toMatchObject({ status: 400 });
  expect(await post("/v1/batch", { batch: ["x".repeat(600 * 1024)] })).toMatchObject({ status: 413 });
  expect(await post("/v1/batch", { batch: [] })).toMatchObject({ status: 200, body: { success: true } });
});

it("stores a call once, however late it is repeated", async () => {
  const before = await count();
  const call = login({ messageId: "m1", originalTimestamp: "2026-03-01T10:00:00Z" });
  for (const sentAt of ["2026-03-01T10:00:01Z", "2026-03-01T10:05:00Z"])
    expect((await post("/v1/batch", { batch: [call, call], sentAt })).body).toEqual({ success: true });
  const bad = { type: "track", event: "Login", messageId: "m2" };
  for (let n = 0; n < 2; n++)
    expect((await post("/v1/batch", { batch: [bad] })).body).toMatchObject({ quarantined: 1 });
  expect(await count()).toEqual({ events: before.events + 1, kept: before.kept + 1 });
  expect(await violations(sql)).toEqual([]);
});

/** When an event of a call with these members occurred, and when it was sent. */
async function instantOf(more: object) {
  const sent = Date.now();
  await post("/v1/track", { userId: "clock", event: "login", ...more });
  const [row] = await sql<[{ at: Date }]>`
    select occurred_at as at from svc.events where customer_id = 'clock' order by event_seq desc limit 1`;
  return { at: row.at.getTime(), sent };
}

it("corrects the sender's clock if a call has both its own and its sending time", async () => {
  const wrong = await instantOf({ originalTimestamp: "2020-01-01T00:00:00Z", sentAt: "2020-01-01T01:00:00Z" });
  expect(Math.abs(wrong.at - (wrong.sent - 3_600_000))).toBeLessThan(60_000);
  expect((await instantOf({ timestamp: "2026-03-01T10:00:00Z" })).at).toBe(Date.parse("2026-03-01T10:00:00Z"));
  // Neither an invalid sending time corrects anything, nor one before the call or that leads out of the range of years.
  for (const sentAt of ["soon", 5, "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"])
    expect((await instantOf({ timestamp: "2026-03-01T10:00:00Z", sentAt })).at).toBe(
      Date.parse("2026-03-01T10:00:00Z"),
    );
});

it("corrects the sender's clock by the database's, not by the one of its own machine", async () => {
  const { now } = Date;
  const ahead = vi.spyOn(Date, "now").mockImplementation(() => now() + 600_000);
  try {
    const sentAt = new Date(now()).toISOString();
    const { at } = await instantOf({ timestamp: sentAt, sentAt });
    expect(Math.abs(at - now())).toBeLessThan(60_000);
  } finally {
    ahead.mockRestore();
  }
});

it(
  "accepts any content of a call: it is stored, kept, ignored or refused, and its neighbours are stored",
  { timeout: 120_000 },
  async () => {
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom("\u0000", "\ud800", "x".repeat(300), 1e300, "2026-13-01", null),
    );
    const field = fc.constantFrom(
      ...["type", "userId", "event", "name", "properties", "traits", "timestamp", "originalTimestamp", "sentAt"],
      ...["messageId", "context", "groupId"],
    );
    const type = fc.constantFrom("track", "identify", "group", "page", "alias", "nothing");
    const nearlyRight = fc
      .tuple(type, fc.dictionary(field, anything))
      .map(([kind, more]) => ({ ...login({ type: kind }), ...more }));
    const call = fc.oneof({ weight: 8, arbitrary: nearlyRight }, anything);
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 5 }), async (calls) => {
        const before = await count();
        const { status, body } = await post("/v1/batch", { batch: [...calls, login()] });
        expect(status, JSON.stringify(body)).toBe(200);
        expect((await count()).events).toBeGreaterThan(before.events);
      }),
      { numRuns: propertyRuns(60) },
    );
    expect(await violations(sql)).toEqual([]);
  },
);

it("maps all spellings of a name to one", () => {
  for (const name of ["Project Created", "projectCreated", "project-created", " Project  Created ", "project_created"])
    expect(snakeCase(name)).toBe("project_created");
});

it("deletes keys of identify calls with their customer, and keeps them for a while after the calls expire", async () => {
  const identify = (userId: string) => ({
    type: "identify",
    userId,
    traits: { plan: "pro" },
    messageId: `key of ${userId}`,
  });
  expect((await post("/v1/batch", { batch: [identify("gone"), identify("gone"), identify("old")] })).status).toBe(200);
  const keys = async () => {
    const rows =
      await sql`select idempotency_key as key from svc.idempotency_keys where idempotency_key like 'key of %' order by 1`;
    return rows.map(({ key }) => key as string);
  };
  expect(await keys()).toEqual(["key of gone", "key of old"]);
  await fixture.service.request("DELETE", "/projects/app/customers/gone", { by: fixture.owner });
  expect(await keys()).toEqual(["key of old"]);
  await sql`delete from svc.inbox`;
  await sql`update iam.plans set retention_days = 1`;
  await sql`update svc.ingest_batches set accepted_at = now() - interval '2 days'`;
  await sql`update svc.trait_updates set accepted_at = now() - interval '2 days'`;
  await sweepRetention(sql, new AbortController().signal);
  const retired = await sql`select idempotency_key as key from svc.retired_keys where idempotency_key like 'key of %'`;
  expect(retired).toMatchObject([{ key: "key of old" }]);
  expect(await keys()).toEqual(["key of old"]);
});

it("takes the group of a batch's context for the calls that name no other", async () => {
  await fixture.deploy({ events: { login: { properties: {} } }, tracking: { customer: ["groupId"], events: {} } });
  const calls = [
    login(),
    login({ context: { page: {} } }),
    login({ context: { groupId: "b" } }),
    login({ groupId: "c" }),
  ];
  const context = { groupId: "a" };
  const before = await sql`select from svc.events`;
  expect((await post("/v1/batch", { batch: calls, context })).body).toEqual({ success: true });
  const stored = await sql`select customer_id as id from svc.events order by event_seq offset ${before.length}`;
  expect(stored.map(({ id }) => id as string)).toEqual(["a", "a", "b", "c"]);
});
