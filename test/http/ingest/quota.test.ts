import { beforeEach, describe, expect, it } from "vitest";
import { setAllowance } from "../../spec/support/allowance.js";
import { limitHeaders } from "../../spec/support/answers.js";
import type { Reply } from "../../support/service.js";
import { useIngest, taken } from "./fixture.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const track = (idempotencyKey?: string) => ({ customerId: "c", event: "e", ...(idempotencyKey && { idempotencyKey }) });
const identify = { type: "identify", customerId: "c", traits: { plan: "pro" } };

const allow = (events: number | null) => sql`update iam.plans set monthly_events = ${events}`;

/** Leaves `events` of a quota of 1,000, by marking the others as used. */
const leave = async (events: number) => {
  await allow(1_000);
  await sql`
    update svc.key_usage as u set month = svc.month_of(now()), month_events = case when e.name = 'live' then ${1_000 - events} else 0 end
    from svc.api_keys as k join svc.environments as e on e.environment_id = k.environment_id
    where k.key_hash = u.key_hash`;
};

const used = async () => {
  const [row] = await sql<[{ used: number }]>`
    select svc.month_events(organization_id, svc.month_of(now()))::integer as used from iam.organizations`;
  return row.used;
};

/** Expects a refusal that stores nothing; test/spec/errors.test.ts has all of its words. */
async function expectQuotaRefusal(request: () => Promise<Reply>, used: number, requested: number): Promise<void> {
  const before = await fixture.stored();
  const reason = expect.stringMatching(`^${used} were used in .* has ${requested} more`) as string;
  expect(await request()).toMatchObject({ status: 429, body: { error: { code: "MONTHLY_QUOTA_EXCEEDED", reason } } });
  expect(await fixture.stored()).toEqual(before);
}

beforeEach(() => leave(3));

describe("the monthly quota", () => {
  it("refuses a batch beyond it as a whole, charges nothing for that, and does not count identify operations", async () => {
    await expectQuotaRefusal(() => fixture.batch([track("whole 1"), track(), track(), track(), identify]), 997, 4);
    expect((await fixture.batch([identify, track("whole 1"), track(), track(), identify])).status).toBe(202);
    expect((await fixture.batch([identify])).status).toBe(202);
    expect(await used()).toBe(1_000);
  });

  it("does not count repetitions, which are answered even when it is used up", async () => {
    const send = () => fixture.batch([1, 2, 1, 3, 2].map((n) => track(`rep ${n}`)));
    const first = await send();
    expect(first.status).toBe(202);
    expect(await used()).toBe(1_000);
    expect(await send()).toMatchObject({ status: 202, body: first.body });
    const [id] = (first.body as { eventIds: string[] }).eventIds;
    expect((await fixture.single(track("rep 1"))).body).toEqual(taken(true, id));
    await expectQuotaRefusal(() => fixture.batch([track("rep 1"), track("rep 4")]), 1_000, 1);
    expect(await used()).toBe(1_000);
  });

  it("refuses single events that arrive together one by one", async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => fixture.single(track(`together ${n}`))));
    const accepted = replies.filter(({ status }) => status === 202).length;
    // Concurrent calls can exceed the quota, but never stop short of it.
    expect(accepted).toBeGreaterThanOrEqual(3);
    expect(replies.filter(({ status }) => status === 429).length).toBe(8 - accepted);
    expect(await used()).toBe(997 + accepted);
    const refused = replies.findIndex(({ status }) => status === 429);
    if (refused >= 0) {
      await allow(null);
      // The key of a refused event is free.
      expect((await fixture.single(track(`together ${refused}`))).body).toEqual(taken());
    }
  });

  it("refuses all single events of one call that share a key if it has no room for one", async () => {
    await leave(0);
    const bodies = ["other", "shared", "shared"].map((key) => JSON.stringify(track(`${key} of a call`)));
    const [row] = await sql<[{ answer: { failures: object } }]>`
      select svc_api.ingest(key_hash, gen_random_uuid(), ${`[${bodies.join(",")}]`}, true) as answer
      from svc.api_keys where hint like 'svc_test%'`;
    expect(Object.keys(row.answer.failures)).toEqual(["0", "1", "2"]);
    expect(await used()).toBe(1_000);
  });

  it("is shared by the organization: events of the other environment and of revoked keys count, and no other's", async () => {
    await sql`update svc.api_keys set revoked_at = now() where hint like 'svc_live%'`;
    await expectQuotaRefusal(() => fixture.batch(Array(4).fill(track())), 997, 4);
    await sql`update svc.api_keys set revoked_at = null`;
    const by = await fixture.service.owner("other");
    const request = { by, body: { name: "Other", slug: "other" } };
    const { body } = await fixture.service.request("POST", "/projects", request);
    const headers = { Authorization: `Bearer ${(body as { keys: { test: string } }).keys.test}` };
    expect((await fixture.batch(Array(4).fill(track()), headers)).status).toBe(202);
  });

  it("restarts with the calendar month; a call that started before is not charged to the month that has begun", async () => {
    await leave(0);
    await expectQuotaRefusal(() => fixture.single(track()), 1_000, 1);
    await sql`update svc.key_usage set month = (month - interval '1 month')::date`;
    expect((await fixture.single(track())).status).toBe(202);
    expect(await used()).toBe(1);
    const rows = await sql`select month::text from svc.key_usage where month_events = 1`;
    expect(rows).toEqual([{ month: `${new Date().toISOString().slice(0, 7)}-01` }]);
    await allow(1);
    const message = "The plan allows 1 event per calendar month.";
    const reason = expect.stringMatching(/^1 was used in [\d-]+; the request has 2 more\.$/) as string;
    expect((await fixture.batch([track(), track()])).body).toMatchObject({ error: { message, reason } });
    await allow(1_000);

    const next = sql`(svc.month_of(now()) + interval '1 month')::date`;
    await sql`update svc.key_usage set month = ${next}, month_events = 7`;
    expect((await fixture.single(track())).status).toBe(202);
    const kept = await sql`select distinct month = ${next} as next, month_events::integer as used from svc.key_usage`;
    expect(kept).toEqual([{ next: true, used: 7 }]);
    await sql`update svc.key_usage set month = svc.month_of(now())`;
  });
});

// Rules that test/spec does not cover.
describe("the rate limit", () => {
  /** Slow enough that time adds few tokens while a test runs. */
  const fill = (tokens: number) => setAllowance(fixture, { perSecond: 1, left: tokens });
  const left = async (): Promise<number> => {
    const [row] = await sql<[{ tokens: number }]>`
      select b.tokens from svc.key_usage as b join svc.api_keys as k on k.key_hash = b.key_hash
      where k.hint = ${fixture.keys.test.slice(0, 13)}`;
    return row.tokens;
  };
  const events = (count: number) => Array.from({ length: count }, (_, n) => ({ customerId: "c", event: `e${n}` }));

  beforeEach(async () => {
    await allow(null);
    await fill(1000);
  });

  it("counts repetitions as events, and charges nothing for refusals with another reason", async () => {
    for (const left of ["999", "998"])
      expect(limitHeaders(await fixture.single(track("k")))).toMatchObject({ "RateLimit-Remaining": left });
    const conflict = { ...track("k"), event: "other" };
    expect((await fixture.batch([...events(5), conflict])).status).toBe(409);
    expect((await fixture.single(conflict)).status).toBe(409);
    expect(await left()).toBe(998);
  });

  it("refuses single events that arrive together one by one, and charges nothing for refused ones", async () => {
    await fill(25);
    const stored = await fixture.stored();
    const replies = await Promise.all(events(80).map((event) => fixture.single(event)));
    const accepted = replies.filter((reply) => reply.status === 202).length;
    // Two calls can run at once, each of which sees the remainder before the other is charged.
    expect(accepted).toBeGreaterThanOrEqual(25);
    expect((await fixture.stored()).events - stored.events).toBe(accepted);
    expect(await left()).toBe(25 - accepted);
    for (const reply of replies.filter(({ status }) => status !== 202)) {
      expect(reply).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMIT_EXCEEDED" } } });
      expect(limitHeaders(reply)).toMatchObject({
        "RateLimit-Remaining": "0",
        "Retry-After": expect.stringMatching(/^\d+$/) as unknown,
      });
    }
  });

  it("refills over time, up to its capacity", async () => {
    await sql`update svc.key_usage set tokens = -5, refilled_at = now() - interval '15.5 seconds'`;
    expect(limitHeaders(await fixture.single(events(1)[0]))["RateLimit-Remaining"]).toMatch(/^(9|1\d)$/);
    await sql`update svc.key_usage set tokens = 0, refilled_at = now() - interval '1 day'`;
    expect(limitHeaders(await fixture.single(events(1)[0]))).toMatchObject({ "RateLimit-Remaining": "999" });
  });

  it("is full again when the database's clock was set back, which would otherwise stop it until then", async () => {
    await sql`update svc.key_usage set tokens = 0, refilled_at = now() + interval '1 day'`;
    for (const left of ["999", "998"])
      expect(limitHeaders(await fixture.single(events(1)[0]))).toMatchObject({ "RateLimit-Remaining": left });
  });
});
