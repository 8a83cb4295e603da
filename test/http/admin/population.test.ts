import { beforeAll, expect, it } from "vitest";
import type { StateDocument } from "../../../src/engine/index.js";
import { useSpec } from "../../spec/support/fixture.js";
import { snapshot } from "../../support/service.js";
import { waitingForLock } from "../../support/locks.js";
import { counted, healthOf } from "../../engine/support/builders.js";
import { sweepRetention } from "../../../src/tasks/periodic-jobs.js";
import { recomputer, untilJob } from "../../tasks/support/recompute.js";
import { invalid, pages, refused, type Page } from "./support/api.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const day = (days: number): string => new Date(START + days * DAY).toISOString();
const logins = (value: number) => ({ kind: "count", of: { event: "login" }, operator: "gte", value }) as const;
const MODEL = snapshot({
  lifecycle: {
    initial: "new",
    states: [
      { name: "new", transitions: [{ to: "active", when: logins(2) }] },
      { name: "active", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: "10d" } }] },
      { name: "quiet", transitions: [{ to: "active", when: { kind: "activeWithin", duration: "1d" } }] },
    ],
  },
  segments: [
    { id: "busy", when: { ...logins(2), within: "5d" } },
    { id: "seen", when: logins(1) },
  ],
  health: healthOf({ use: counted("login", 7) }, { good: 50, bad: 0 }),
});
const CUSTOMERS = Array.from({ length: 8 }, (_, n) => `c${n}`);

const fixture = useSpec();

interface Population {
  at: string;
  customers: number;
  lifecycle: { state: string; customers: number }[];
  segments: { segment: string; members: number }[];
  health: { scored: number; average: number | null; bands: Record<string, number> };
}

beforeAll(async () => {
  await fixture.deploy(MODEL);
  // Bursts of logins with pauses between, in order of their instants, so that members leave and return.
  const events = CUSTOMERS.flatMap((customerId, n) =>
    [0, 1, 2, 17, 18, 30 + n, 31 + n].map((days) => ({
      customerId,
      event: "login",
      properties: { seats: 1 },
      timestamp: new Date(START + (days + n / 7) * DAY).toISOString(),
    })),
  );
  const reply = await fixture.batch(events.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)));
  expect(reply.status).toBe(202);
  await fixture.evaluate();
});

it("counts customers in states, segments and health bands at an instant", async () => {
  const told = new Set<string>();
  for (const at of [day(-1), day(0.5), day(3), day(12.5), day(33)]) {
    const states: StateDocument[] = [];
    for (const customerId of CUSTOMERS) {
      const { status, body } = await fixture.admin("GET", `/projects/app/customers/${customerId}?at=${at}`);
      if (status === 200) states.push(body as StateDocument);
      else expect(status).toBe(404);
    }
    const population = await fixture.read<Population>(`population?at=${at}`);
    const countOf = (matches: (state: StateDocument) => boolean) => states.filter(matches).length;
    expect(population, at).toMatchObject({
      at,
      customers: states.length,
      lifecycle: ["new", "active", "quiet"].map((state) => {
        return { state, customers: countOf(({ lifecycle }) => lifecycle === state) };
      }),
      segments: ["busy", "seen"].map((segment) => {
        return { segment, members: countOf(({ segments }) => segments.includes(segment)) };
      }),
    });
    told.add(JSON.stringify([population.lifecycle, population.segments]));
    expect(population.health.scored, at).toBe(countOf(({ health }) => health !== null));
    for (const [band, customers] of Object.entries(population.health.bands))
      expect(customers, at).toBe(countOf(({ health }) => health?.band === band));
    const read = (more: string) => fixture.read<Page<{ customerId: string }>>(`segments/busy/members?at=${at}&${more}`);
    const members = states
      .filter(({ segments }) => segments.includes("busy"))
      .map(({ customerId }) => ({ customerId }));
    expect((await pages(read, "", 5)).items, at).toMatchObject(
      members.toSorted((a, b) => (a.customerId < b.customerId ? -1 : 1)),
    );
  }
  // In these three days, all members have entered again.
  expect((await fixture.read<Population>(`population?at=${day(3)}`)).segments[0]!.members).toBeGreaterThan(5);
  expect(told.size).toBeGreaterThan(3);
});

it("reports what is wrong with the instant or the segment", async () => {
  const ahead = new Date(Date.now() + DAY).toISOString();
  expect(await fixture.admin("GET", `/projects/app/population?at=${ahead}`)).toMatchObject(
    invalid("at", "`at` is in the future."),
  );
  expect(await fixture.admin("GET", "/projects/app/segments/bsy/members?at=7d")).toMatchObject(
    refused(404, "SEGMENT_NOT_FOUND"),
  );
});

it("reports a recompute of all that ended after the instant and kept one score and one membership per customer", async () => {
  const recomputedAt = (at: string) =>
    Promise.all(
      ["population", "segments/busy/members"].map(
        async (path) => (await fixture.read<{ recomputedAt: string | null }>(`${path}?at=${at}`)).recomputedAt,
      ),
    );
  expect(await recomputedAt(day(3))).toEqual([null, null]);
  const { sql } = fixture.service.db;
  const job = (id: string, customerId: string | null, finishedAt: string) => sql`
    insert into svc.recomputes (
      environment_id, recompute_id, kind, customer_id, pinned_at, status, customers_total, customers_done, requested_by, started_at, finished_at
    )
    select environment_id, ${id}, 'recompute', ${customerId}, ${finishedAt}, 'completed', 3, 3, 'ada', ${finishedAt}, ${finishedAt}
    from svc.environments where name = 'test'`;
  await job("rec_1", null, day(10));
  await job("rec_2", CUSTOMERS[0]!, day(20));
  expect(await recomputedAt(day(3))).toEqual([day(10), day(10)]);
  expect(await recomputedAt(day(12))).toEqual([null, null]);
  await sql`delete from svc.recomputes`;
});

it("reports a recompute of all that is under way, or was cancelled and put back, as one that ends now", async () => {
  const { sql } = fixture.service.db;
  const recomputedAt = async (path: string) => {
    const [began, { recomputedAt }] = [Date.now(), await fixture.read<{ recomputedAt?: string | null }>(path)];
    return typeof recomputedAt === "string" && Date.parse(recomputedAt) >= began - 1_000 ? "now" : recomputedAt;
  };
  const all = () =>
    Promise.all(
      [`population?at=${day(3)}`, `segments/busy/members?at=${day(3)}`, "trends?what=health&every=month"].map(
        recomputedAt,
      ),
    );
  const { body } = await fixture.admin("POST", "/projects/app/recomputes", { body: { all: true } });
  const { id } = body as { id: string };
  // Nothing is lost yet.
  expect(await all()).toEqual([null, null, undefined]);
  await sql`update svc.recomputes set status = 'running', attempt = 1, started_at = now(), customers_total = 8, customers_done = 3`;
  expect(await all()).toEqual(["now", "now", "now"]);
  // Of this month only the present figures are shown.
  expect(await recomputedAt(`trends?what=health&every=month&from=${new Date().toISOString().slice(0, 10)}`)).toBe(
    undefined,
  );
  for (const action of ["cancel", "retry"])
    await fixture.admin("POST", `/projects/app/recomputes/${id}/${action}`, { body: {} });
  expect(await all()).toEqual(["now", "now", "now"]);
  await sql`delete from svc.recomputes`;
});

it("does not count memberships that a recompute has moved", async () => {
  const seenAt = async (at: string) => {
    const { segments } = await fixture.read<Population>(`population?at=${at}`);
    const members = await pages((more) => fixture.read<Page<object>>(`segments/seen/members?at=${at}&${more}`), "", 5);
    return [segments.find(({ segment }) => segment === "seen")!.members, members.items.length];
  };
  expect(await seenAt(day(10))).toEqual([8, 8]);
  await fixture.deploy({ ...MODEL, segments: [MODEL.segments[0]!, { id: "seen", when: logins(4) }] });
  const worker = recomputer(fixture.service.db);
  const { status, body } = await fixture.admin("POST", "/projects/app/recomputes", { body: { all: true } });
  expect(status).toBe(202);
  await untilJob(fixture.service.db.sql, (body as { id: string }).id, (job) => job.status === "completed");
  await worker.stop();
  // Each customer's fourth login is on the eighteenth day.
  expect(await seenAt(day(10))).toEqual([0, 0]);
  expect(await seenAt(day(20))).toEqual([8, 8]);
});

it("counts the customers of a record whose events retention has removed", async () => {
  const { sql } = fixture.service.db;
  const before = await fixture.read<Population>(`population?at=${day(10)}`);
  expect(before.customers).toBe(8);
  await sql`update iam.plans set retention_days = 30`;
  const accepted = new Date(Date.now() - 31 * DAY);
  await sql`update svc.ingest_batches set accepted_at = ${accepted}`;
  await sql`update svc.events set accepted_at = ${accepted}`;
  await sweepRetention(sql, new AbortController().signal);
  expect([...(await sql`select from svc.events`)]).toEqual([]);
  expect(await fixture.read<Population>(`population?at=${day(10)}`)).toEqual(before);
});

it("many requests that read whole environments leave connections to others", async () => {
  const { sql } = fixture.service.db;
  const members = `segments/seen/members?at=${day(10)}`;
  const paths = [`population?at=${day(10)}`, "overview", "journeys/onboarding", members, "trends?what=flows"];
  let asked: Promise<unknown>[] = [];
  await sql.begin(async (holder) => {
    // What the requests read, so that each of them takes as long as the test needs.
    await holder`
      lock table svc.lifecycle_transitions, svc.journey_runs, svc.segment_memberships, svc.trend_counts in access exclusive mode`;
    asked = Array.from({ length: 20 }, (_, n) => fixture.admin("GET", `/projects/app/${paths[n % paths.length]!}`));
    await expect.poll(() => waitingForLock(holder), { timeout: 10_000 }).toBeGreaterThan(1);
    expect((await fixture.admin("GET", "/projects")).status).toBe(200);
    const other = await fixture.service.owner("neighbour");
    expect((await fixture.service.request("GET", "/projects", { by: other })).status).toBe(200);
    expect(await waitingForLock(holder)).toBe(2);
  });
  await Promise.all(asked);
});
