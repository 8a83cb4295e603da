import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { EMPTY_SNAPSHOT } from "../../../src/model/snapshot/types.js";
import { call } from "../../../src/db/api/call.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { lockWaiter, waitingForLock } from "../../support/locks.js";
import { violations } from "../../support/invariants.js";
import { INSTANT, NO_CURSOR, useApi, type Page } from "./support/api.js";

const api = useApi();
let id: number;

const STRICT: Partial<Snapshot> = {
  strictSchema: true,
  onViolation: "quarantine",
  events: { order: { properties: { amount: { type: "number" } } } },
  traits: { plan: { type: "string" } },
};
/** Accepts what STRICT refuses, except events of other names. */
const WIDER: Partial<Snapshot> = {
  ...STRICT,
  events: { order: { properties: { amount: { type: "string" } } }, login: { properties: {} } },
  traits: { plan: { type: "string" }, seats: { type: "number" } },
};

async function deploy(changes: Partial<Snapshot>): Promise<void> {
  const { status } = await api.post("/config-versions", { snapshot: { ...EMPTY_SNAPSHOT, ...changes }, force: true });
  expect([200, 201]).toContain(status);
}

interface Kept {
  quarantineId: string;
  eventId: string | null;
  customerId: string;
  code: string;
  configVersion: string;
  operation: object;
}

const send = async (events: object[]) => {
  const headers = { Authorization: `Bearer ${api.keys.test}` };
  const reply = await api.service.request("POST", "/v1/events/batch", { headers, body: { events } });
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  return reply.body as { eventIds: string[]; quarantined?: { index: number }[] };
};
const list = (query = "") => api.read<Page<Kept> & { operations: number; since: string | null }>(`/quarantine${query}`);
const release = async (body: object = {}) => (await api.post("/quarantine/release", body)).body;
const order = (amount: unknown, more: object = {}) => ({
  customerId: "c",
  event: "order",
  properties: { amount },
  ...more,
});

beforeAll(() => api.newProject());
beforeEach(async () => {
  id = await api.environmentId();
  await api.sql`truncate svc.events, svc.trait_updates, svc.inbox, svc.ingest_batches, svc.idempotency_keys, svc.customers,
    svc.quarantined_operations, svc.quarantines, svc.retention, iam.audit_log`;
  await api.sql`update svc.key_usage set month_events = 0`;
  await deploy(STRICT);
});

it("lists the quarantine, last first, by event name and code, in pages", async () => {
  await send([
    order("1"),
    { customerId: "c", event: "login" },
    { type: "identify", customerId: "d", traits: { seats: 1 } },
  ]);
  const all = await list();
  expect(all).toMatchObject({ operations: 3, limit: 100_000, since: INSTANT, nextCursor: null });
  expect(all.data).toMatchObject([
    {
      customerId: "d",
      event: null,
      eventId: null,
      code: "UNKNOWN_TRAIT",
      path: "traits.seats",
      quarantinedAt: INSTANT,
    },
    { event: "login", code: "UNKNOWN_EVENT", operation: { customerId: "c", event: "login" } },
    { event: "order", code: "INVALID_PROPERTY_TYPE", violations: [{ path: "properties.amount" }] },
  ]);
  expect((await list("?event=login")).data).toHaveLength(1);
  expect((await list("?code=INVALID_PROPERTY_TYPE")).data).toHaveLength(1);
  const { items, sizes } = await api.readAll<Kept>("/quarantine", 2);
  expect(items).toEqual(all.data);
  expect(sizes).toEqual([2, 1]);
  expect(await api.get("/quarantine?cursor=x")).toMatchObject(NO_CURSOR);
});

it("releases what the active version accepts, with its id, instants and key, and keeps the rest", async () => {
  const timestamp = "2026-01-02T03:04:05.678Z";
  const { eventIds } = await send([
    order("1", { timestamp, idempotencyKey: "k" }),
    { customerId: "c", event: "other" },
  ]);
  expect(await release()).toEqual({ released: 0, kept: 2, expired: 0, nextCursor: null });
  await deploy(WIDER);
  expect(await release()).toEqual({ released: 1, kept: 1, expired: 0, nextCursor: null });
  expect((await list()).data).toMatchObject([
    { code: "UNKNOWN_EVENT", configVersion: expect.not.stringMatching("v1$") },
  ]);
  const { data } = await api.read<Page<object>>("/events");
  expect(data).toMatchObject([
    { eventId: eventIds[0], occurredAt: timestamp, status: "pending", properties: { amount: "1" } },
  ]);
  // Once released, it is an event like any other.
  expect(await release()).toEqual({ released: 0, kept: 1, expired: 0, nextCursor: null });
  expect((await send([order("1", { timestamp, idempotencyKey: "k" })])).eventIds).toEqual([eventIds[0]]);
  expect(await violations(api.sql)).toEqual([]);
  const audited = await api.sql`select action, details from iam.audit_log where action like 'quarantine.%'`;
  expect(audited.map(({ action, details }) => [action, details])).toEqual([["quarantine.released", { operations: 1 }]]);
});

it("releases an identify at its original position: traits that were set later stay", async () => {
  const identify = (traits: object) => ({ type: "identify", customerId: "c", traits });
  await send([identify({ plan: "free", seats: 1 }), identify({ plan: "pro" })]);
  await deploy(WIDER);
  expect(await release()).toMatchObject({ released: 1 });
  const updates = await api.sql`select traits from svc.trait_updates order by operation_seq`;
  expect(updates.map(({ traits }) => traits as object)).toEqual([{ seats: 1 }, { plan: "pro" }]);
  expect(await violations(api.sql)).toEqual([]);
});

it("releases and discards those that are named or match filters, in steps", async () => {
  const events = Array.from({ length: 620 }, (_, n) => ({ customerId: `c${n % 7}`, event: n % 2 ? "login" : "other" }));
  await send(events);
  await deploy(WIDER);
  const { data } = await list("?event=login&limit=2");
  expect(await release({ ids: data.map(({ quarantineId }) => quarantineId) })).toMatchObject({ released: 2, kept: 0 });
  expect(await release({ ids: [data[0]!.eventId, "qop_x"] })).toMatchObject({ released: 0 });
  const first = (await api.post("/quarantine/discard", {})).body as { discarded: number; nextCursor: string };
  expect(first).toEqual({ discarded: 500, nextCursor: expect.any(String) });
  expect(await release({ code: "UNKNOWN_EVENT", cursor: first.nextCursor })).toMatchObject({ released: 58, kept: 60 });
  expect((await list()).operations).toBe(60);
  expect(await violations(api.sql)).toEqual([]);
});

it("frees the idempotency key of a discarded operation, so that a correction can be sent", async () => {
  await send([order("1", { idempotencyKey: "k" })]);
  expect((await api.post("/quarantine/discard", { event: "order" })).body).toEqual({ discarded: 1, nextCursor: null });
  const { quarantined } = await send([order(1, { idempotencyKey: "k" })]);
  expect(quarantined).toBeUndefined();
  expect(await violations(api.sql)).toEqual([]);
});

it("removes operations that are too old to be stored instead of releasing them", async () => {
  await send([order("1"), order("2")]);
  await api.sql`update svc.quarantined_operations set quarantined_at = now() - interval '31 days' where seq % 1024 = 0`;
  await deploy(WIDER);
  expect(await release()).toMatchObject({ released: 1, kept: 0, expired: 1 });
  expect(await call(api.sql, "sweep_quarantine", id, 100)).toBe(1);
  expect(await call(api.sql, "sweep_quarantine", id, 100)).toBe(0);
  expect((await list()).operations).toBe(0);
  expect(await violations(api.sql)).toEqual([]);
});

it("waits for the customer's lock before it touches the quarantine", async () => {
  await send([order("text", { customerId: "held" }), { customerId: "held", event: "login" }]);
  await api.sql`insert into svc.customers (environment_id, customer_id, created_at) values (${id}, 'held', now())`;
  await deploy({ ...WIDER, events: { order: WIDER.events!["order"]! } });
  let released: Promise<unknown> = Promise.resolve();
  await api.sql.begin(async (tx) => {
    await tx`select from svc.customers where environment_id = ${id} and customer_id = 'held' for update`;
    released = release();
    await lockWaiter(api.sql, "%release_quarantined%");
    // Like an erasure, which locks the customer first: the reverse order would deadlock.
    await tx`delete from svc.quarantined_operations where environment_id = ${id} and event = 'login'`;
  });
  expect(await released).toMatchObject({ released: 1, kept: 0 });
});

it("waits for the erasure of a customer of whom nothing was evaluated yet, and releases nothing of it", async () => {
  // One becomes valid, the other one violates the schema in another way.
  await send([order("text", { customerId: "new" }), { customerId: "new", event: "login" }]);
  await deploy({ ...WIDER, events: { ...WIDER.events, login: { properties: { seats: { type: "number" } } } } });
  await api.sql`
    insert into svc.recomputes
      (environment_id, recompute_id, kind, pinned_at, requested_by, status, finished_at, error, last_customer_id)
    values (${id}, 'rec_dead', 'recompute', now(), 'test', 'dead_letter', now(), 'no', 'a')`;
  let replies: Promise<unknown>[] = [];
  await api.sql.begin(async (tx) => {
    // The erasure locks it after the customer, and before the quarantine.
    await tx`select from svc.recomputes where environment_id = ${id} for update`;
    replies = [api.ask("DELETE", "/customers/new")];
    await lockWaiter(api.sql, "%erase_customer%");
    replies.push(api.post("/quarantine/release"));
    await lockWaiter(api.sql, "%release_quarantined%");
  });
  expect(await Promise.all(replies)).toMatchObject([
    { status: 200, body: { erased: { quarantined: 2 } } },
    { status: 200, body: { released: 0, kept: 0, expired: 0 } },
  ]);
  expect(await api.sql`select from svc.customers where environment_id = ${id}`).toHaveLength(0);
  await api.sql`delete from svc.recomputes where environment_id = ${id}`;
  expect(await violations(api.sql)).toEqual([]);
});

it("begins a new customer with its first operation, also one that waits for evaluation", async () => {
  await send([order(1, { customerId: "waits" })]);
  const earlier = new Date(Date.now() - 60_000);
  for (const table of ["ingest_batches", "events"])
    await api.sql`update svc.${api.sql(table)} set accepted_at = ${earlier}`;
  await send([order("text", { customerId: "waits" })]);
  await deploy(WIDER);
  expect(await release()).toMatchObject({ released: 1 });
  expect([...(await api.sql`select customer_id, created_at from svc.customers`)]).toEqual([
    ...(await api.sql`select 'waits' as customer_id, min(accepted_at) as created_at from svc.events`),
  ]);
  expect(await violations(api.sql)).toEqual([]);
});

it("begins a new customer with its first operation, also if that came after the release began to wait", async () => {
  await deploy(WIDER);
  let released: Promise<unknown> = Promise.resolve();
  await api.sql.begin(async (tx) => {
    await tx`insert into svc.retention (environment_id) values (${id})`;
    released = release();
    await lockWaiter(api.sql, "%release_quarantined%");
    await deploy(STRICT);
    await send([order("text", { customerId: "late" })]);
  });
  expect(await released).toMatchObject({ released: 1 });
  expect([...(await api.sql`select customer_id, created_at::text from svc.customers`)]).toEqual([
    ...(await api.sql`select customer_id, accepted_at::text as created_at from svc.events`),
  ]);
});

it("waits for existing customers before it inserts new ones, like an evaluation", async () => {
  await send([order("1", { customerId: "a" }), order("2", { customerId: "b" })]);
  await api.sql`insert into svc.customers (environment_id, customer_id, created_at) values (${id}, 'b', now())`;
  await deploy(WIDER);
  let released: Promise<unknown> = Promise.resolve();
  await api.sql.begin(async (tx) => {
    await tx`select from svc.customers where environment_id = ${id} and customer_id = 'b' for update`;
    released = release();
    await lockWaiter(api.sql, "%release_quarantined%");
    await tx`insert into svc.customers (environment_id, customer_id, created_at) values (${id}, 'a', now())`;
  });
  expect(await released).toMatchObject({ released: 2, nextCursor: null });
});

it("leaves to the next step what is of a customer that was inserted while it waited, and is being evaluated", async () => {
  await send([order("1", { customerId: "b" }), order("2", { customerId: "a" }), order("3", { customerId: "c" })]);
  await api.sql`insert into svc.customers (environment_id, customer_id, created_at) values (${id}, 'b', now())`;
  await deploy(WIDER);
  const first = await api.sql.begin(async (evaluation) => {
    let released: Promise<unknown> = Promise.resolve();
    await api.sql.begin(async (tx) => {
      await tx`select from svc.customers where environment_id = ${id} and customer_id = 'b' for update`;
      released = release();
      await lockWaiter(api.sql, "%release_quarantined%");
      await api.sql`insert into svc.customers (environment_id, customer_id, created_at) values (${id}, 'a', now())`;
      await evaluation`select from svc.customers where environment_id = ${id} and customer_id = 'a' for update`;
    });
    return (await released) as { nextCursor: string };
  });
  expect(first).toEqual({ released: 1, kept: 0, expired: 0, nextCursor: expect.any(String) });
  expect((await api.sql`select customer_id from svc.customers order by 1`).map((row) => row["customer_id"])).toEqual([
    "a",
    "b",
  ]);
  expect(await release({ cursor: first.nextCursor })).toEqual({ released: 2, kept: 0, expired: 0, nextCursor: null });
  expect(await violations(api.sql)).toEqual([]);
});

it("keeps what the active version made of a call, if the caller mapped it by a version that was active meanwhile", async () => {
  const headers = { Authorization: `Basic ${Buffer.from(`${api.keys.test}:`).toString("base64")}` };
  const body = { batch: [{ type: "track", userId: "first", event: "login" }] };
  expect(await api.service.request("POST", "/v1/batch", { headers, body })).toMatchObject({ status: 200 });
  const { quarantineId, configVersion } = (await list()).data[0]!;
  const { token, organizationId } = api.owner;
  const by = { tokenHash: hashCredential(token), organizationId, requestId: "test" };
  const place = { project: api.slug, environment: "test" } as const;
  const element = { type: "track", customerId: "other", event: "login", properties: {} };
  const mapped = {
    version: Number(configVersion.slice(1)) + 1,
    read: [quarantineId],
    operations: { [quarantineId]: element },
  };
  await call(api.sql, "release_quarantined", by, place, {}, null, JSON.stringify(mapped));
  expect((await list()).data).toMatchObject([{ quarantineId, customerId: "first" }]);
});

it("releases a call of the tracking API only as the active version maps it, also beside another release", async () => {
  const headers = { Authorization: `Basic ${Buffer.from(`${api.keys.test}:`).toString("base64")}` };
  const call = (userId: string) => ({ type: "track", userId, event: "login", context: { groupId: `of ${userId}` } });
  const body = { batch: [call("first"), call("second"), call("third")] };
  expect(await api.service.request("POST", "/v1/batch", { headers, body })).toMatchObject({ status: 200 });
  expect((await list()).data.map(({ customerId }) => customerId)).toEqual(["third", "second", "first"]);
  // So many that each step takes one.
  await api.sql`update svc.quarantined_operations set bytes = 8388608`;
  await api.sql`update svc.quarantines set bytes = 3 * 8388608`;
  await deploy({ ...WIDER, tracking: { customer: ["groupId"], events: {} } });
  let released: Promise<unknown>[] = [];
  await api.sql.begin(async (tx) => {
    await tx`insert into svc.retention (environment_id) values (${id})`;
    // Both have read the first call, to map it again.
    released = [release(), release()];
    await expect.poll(() => waitingForLock(tx, "%release_quarantined%")).toBe(2);
  });
  expect((await Promise.all(released)).map((answer) => (answer as { released: number }).released).sort()).toEqual([
    0, 1,
  ]);
  let cursor: string | null | undefined;
  while (cursor !== null)
    ({ nextCursor: cursor } = (await release(cursor === undefined ? {} : { cursor })) as Page<Kept>);
  const { data } = await api.read<Page<Kept>>("/events");
  expect(data.map(({ customerId }) => customerId).sort()).toEqual(["of first", "of second", "of third"]);
  expect(await violations(api.sql)).toEqual([]);
});

it("releases nothing of a frozen environment, and leaves it unchanged also where nothing can be released", async () => {
  await send([order("x")]);
  // Under another version, it is refused for another reason.
  await deploy({ ...STRICT, events: { login: { properties: {} } } });
  const place = { project: api.slug, environment: "test" } as const;
  const kept = () => api.sql`select * from svc.quarantined_operations`;
  const before = [...(await kept())];
  await call(api.sql, "operator_freeze_environment", "acme", place);
  const { status, body } = await api.post("/quarantine/release", {});
  await call(api.sql, "operator_unfreeze_environment", "acme", place);
  expect([status, body]).toMatchObject([503, { error: { code: "SERVICE_UNAVAILABLE" } }]);
  expect([...(await kept())]).toEqual(before);
  expect(await release()).toMatchObject({ released: 0, kept: 1 });
  expect(await kept()).toMatchObject([{ code: "UNKNOWN_EVENT" }]);
});

it("erases a customer's operations in quarantine with it", async () => {
  await send([order("1"), { customerId: "d", event: "login" }]);
  const { status, body } = await api.ask("DELETE", "/customers/c");
  expect(status).toBe(200);
  expect(body).toMatchObject({ erased: { quarantined: 1 } });
  expect((await list()).data).toMatchObject([{ customerId: "d" }]);
  expect((await api.ask("DELETE", "/customers/c")).status).toBe(404);
  expect(await violations(api.sql)).toEqual([]);
});

it("reports in the diagnostics how many there are, and how many a changed schema accepts", async () => {
  await send([order("1"), order("2"), { customerId: "c", event: "other" }]);
  await deploy(WIDER);
  const { data } = await api.read<{ data: { code: string; message: string; fix: string }[] }>("/diagnostics");
  const [finding] = data.filter(({ code }) => code === "OPERATIONS_QUARANTINED");
  expect(finding).toMatchObject({
    severity: "warning",
    count: 3,
    details: { acceptable: 2, lookedAt: 3, since: INSTANT },
    message: expect.stringMatching(
      /^3 operations are in quarantine since .*The active version accepts 2 of the oldest 3\.$/,
    ),
    fix: "Release what is valid now: svc events quarantine release --all --env test",
  });
});

it.each(["operations = svc.quarantine_limit()", "bytes = 256 * 1024 * 1024"])(
  "reports in the diagnostics a quarantine that is full by its %s as a problem, because senders are refused",
  async (amount) => {
    await send([order("1")]);
    await api.sql`update svc.quarantines set ${api.sql.unsafe(amount)}`;
    const { data } = await api.read<{ data: { code: string }[] }>("/diagnostics");
    expect(data.find(({ code }) => code === "OPERATIONS_QUARANTINED")).toMatchObject({
      severity: "problem",
      message: expect.stringContaining("The quarantine is full, so further ones are refused."),
    });
  },
);
