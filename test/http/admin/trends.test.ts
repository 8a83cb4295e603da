import { readFileSync } from "node:fs";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { environmentsToCount } from "../../../src/db/api/evaluation.js";
import { countTrends } from "../../../src/tasks/periodic-jobs.js";
import type { Score } from "../../../src/model/snapshot/types.js";
import { useSpec } from "../../spec/support/fixture.js";
import { violations } from "../../support/invariants.js";
import { isCluster } from "../../support/is-cluster.js";
import { lockWaiter } from "../../support/locks.js";
import { pagesOf } from "../../support/pages.js";
import { snapshot } from "../../support/service.js";
import { changeTriggers } from "../../support/triggers.js";
import { recomputer, untilJob } from "../../tasks/support/recompute.js";
import { INSTANT, invalid } from "./support/api.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const CUSTOMERS = Array.from({ length: 12 }, (_, n) => `c${n}`);
const logins = (value: number) => ({ kind: "count", of: { event: "login" }, operator: "gte", value }) as const;
const seatsOfLate: Score = {
  kind: "scale",
  of: { kind: "aggregate", function: "avg", of: { event: "login" }, property: "seats", within: "4d" },
  from: 0,
  to: 2,
};
const model = (quietAfter: "10d" | "20d") =>
  snapshot({
    lifecycle: {
      initial: "new",
      states: [
        { name: "new", transitions: [{ to: "active", when: logins(2) }] },
        { name: "active", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: quietAfter } }] },
        { name: "quiet", transitions: [{ to: "active", when: { kind: "activeWithin", duration: "1d" } }] },
      ],
    },
    segments: [{ id: "busy", when: { ...logins(2), within: "5d" } }],
    // Unknown without a recent login: then there is no score.
    health: {
      components: [{ id: "use", weight: 1, score: seatsOfLate, absent: "skip" }],
      bands: [
        { id: "good", from: 50 },
        { id: "bad", from: 0 },
      ],
    },
    signals: [{ id: "gone", severity: "warning", when: { kind: "inactiveFor", duration: "9d" } }],
  });

const login = (customerId: string, at: number, seats = 1) => {
  return { customerId, event: "login", properties: { seats }, timestamp: new Date(at).toISOString() };
};

const fixture = useSpec();
/** The number of stored events. */
const eventCount = async (): Promise<number> => {
  const [row] = await fixture.service.db.sql<[{ count: number }]>`select count(*)::integer from svc.events`;
  return row.count;
};
/** The number of events that were ever accepted. */
const acceptedCount = async (): Promise<number> => {
  const [row] = await fixture.service.db.sql<[{ count: number }]>`
    select sum(tracked)::integer as count from svc.ingest_batches`;
  return row.count;
};

interface Trends {
  complete: boolean;
  timeZone: string;
  periods: string[];
  series: { metric: string; values: (number | null)[]; [label: string]: unknown }[];
}

interface Population {
  lifecycle: { state: string; customers: number }[];
  segments: { segment: string; members: number }[];
  health: { scored: number; average: number | null; bands: Record<string, number> };
}

/** Until shortly after the last change by time. */
const SPAN = "from=2026-01-01&to=2026-03-08";
const trends = (what: string, more = SPAN) => fixture.read<Trends>(`trends?what=${what}&${more}`);
/** Counts until nothing is left: a recount waits for open transactions, also those of the server's other databases. */
async function count(sql = fixture.service.db.sql): Promise<number> {
  let counted = 0;
  do counted += await countTrends(sql, new AbortController().signal);
  while ((await environmentsToCount(sql)).length > 0);
  return counted;
}
async function recompute(): Promise<void> {
  const worker = recomputer(fixture.service.db);
  const { status, body } = await fixture.admin("POST", "/projects/app/recomputes", { body: { all: true } });
  expect(status).toBe(202);
  await untilJob(fixture.service.db.sql, (body as { id: string }).id, (job) => job.status === "completed");
  await worker.stop();
}
/** The values of the series with these labels. */
const valuesOf = ({ series }: Trends, labels: object) =>
  series.find((one) => Object.entries(labels).every(([name, value]) => one[name] === value))?.values;

/** Compares all trends of customers with the population of the logs at the end of each day; returns the distinct figures. */
async function compare(): Promise<Set<string>> {
  const [lifecycle, segments, health] = [await trends("lifecycle"), await trends("segments"), await trends("health")];
  const distinct = new Set<string>();
  for (const [index, day] of lifecycle.periods.entries()) {
    const at = new Date(Date.parse(day) + DAY - 1).toISOString();
    const population = await fixture.read<Population>(`population?at=${at}`);
    const figures = {
      lifecycle: population.lifecycle.map(({ state }) => {
        return { state, customers: valuesOf(lifecycle, { state })?.[index] ?? 0 };
      }),
      segments: population.segments.map(({ segment }) => {
        return { segment, members: valuesOf(segments, { segment, metric: "members" })?.[index] ?? 0 };
      }),
      health: {
        scored: valuesOf(health, { metric: "scored" })?.[index],
        average: valuesOf(health, { metric: "average" })?.[index],
        bands: Object.fromEntries(
          ["bad", "good"].map((band) => [band, valuesOf(health, { band })?.[index] ?? 0]).filter(([, n]) => n !== 0),
        ),
      },
    };
    expect(population, at).toMatchObject(figures);
    distinct.add(JSON.stringify(figures));
  }
  return distinct;
}

beforeAll(async () => {
  await fixture.deploy(model("10d"));
  const events = CUSTOMERS.flatMap((customerId, n) =>
    [0, 1, 2, 17, 18, 30 + n, 31 + n].map((days) => login(customerId, START + (days + n / 7) * DAY, n % 3)),
  );
  const reply = await fixture.batch(events.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)));
  expect(reply.status).toBe(202);
  await fixture.evaluate();
});

it("match the logs at the end of each day, before and after counting", async () => {
  expect((await compare()).size).toBeGreaterThan(30);
  expect((await trends("lifecycle")).complete).toBe(false);
  expect(await count()).toBeGreaterThan(84);
  expect((await compare()).size).toBeGreaterThan(30);
  expect((await trends("lifecycle")).complete).toBe(true);
});

it("are the same in SQL as in the API", async () => {
  const guide = readFileSync(new URL("../../../docs/trends.md", import.meta.url), "utf8");
  const [, statement] = /trends\.test\.ts runs this block -->\n\n```sql\n([^`]*)```/.exec(guide)!;
  const rows = await fixture.service.db.sql.unsafe<{ day: Date; state: string; customers: string }[]>(statement!);
  const lifecycle = await trends("lifecycle");
  for (const { day, state, customers } of rows) {
    const index = lifecycle.periods.indexOf(day.toISOString().slice(0, 10));
    expect(valuesOf(lifecycle, { state })![index]).toBe(Number(customers));
  }
  expect(rows.length).toBeGreaterThan(20);
});

it("count moves between states, segment entries and exits, and signals raised and cleared", async () => {
  const sum = (values: (number | null)[] | undefined) => values?.reduce<number>((all, one) => all + (one ?? 0), 0);
  const flows = await trends("flows", `${SPAN}&every=month`);
  expect(flows.periods).toEqual(["2026-01-01", "2026-02-01", "2026-03-01"]);
  expect(sum(valuesOf(flows, { from: null, to: "new" }))).toBe(CUSTOMERS.length);
  expect(sum(valuesOf(flows, { from: "quiet", to: "active" }))).toBe(2 * CUSTOMERS.length);
  const emissions = await fixture.service.db.sql<{ type: string; number: number }[]>`
    select event_type as type, count(*)::integer as number from svc.emissions group by event_type`;
  const emitted = (type: string) => emissions.find((one) => one.type === type)?.number ?? 0;
  const segments = await trends("segments", `${SPAN}&every=week`);
  expect(sum(valuesOf(segments, { metric: "entered" }))).toBe(emitted("segment.entered"));
  expect(sum(valuesOf(segments, { metric: "exited" }))).toBe(emitted("segment.exited"));
  const signals = await trends("signals");
  expect(sum(valuesOf(signals, { metric: "raised" }))).toBe(emitted("signal.raised"));
  expect(sum(valuesOf(signals, { metric: "cleared" }))).toBe(emitted("signal.cleared"));
  expect(emitted("signal.cleared")).toBeGreaterThan(5);
  expect(valuesOf(signals, { metric: "customers" })!.at(-1)).toBe(emitted("signal.raised") - emitted("signal.cleared"));
});

it("count a customer once in each day, week and month, however late its events arrive", async () => {
  const late = [0, 40, 41].map((days) => login("c0", START + days * DAY + 1_000));
  expect((await fixture.batch(late)).status).toBe(202);
  await fixture.evaluate();
  await count();
  for (const every of ["day", "week", "month"]) {
    const { periods, series } = await trends("active", `${SPAN}&every=${every}`);
    const rows = await fixture.service.db.sql<{ day: string; customers: number }[]>`
      select date_trunc(${every}, occurred_at at time zone 'UTC')::date::text as day, count(distinct customer_id)::integer as customers
      from svc.events group by 1`;
    const customersOf = new Map(rows.map(({ day, customers }) => [day, customers]));
    expect(customersOf.size).toBeGreaterThan(1);
    expect(series.map(({ values }) => values)).toEqual([periods.map((period) => customersOf.get(period) ?? 0)]);
  }
  expect(valuesOf(await trends("operations", "every=month"), { metric: "events" })!.at(-1)).toBe(await eventCount());
});

it("follow a recompute under another model, an erasure, and a change of the time zone", async () => {
  const before = JSON.stringify((await trends("lifecycle")).series);
  expect(await trends("health")).not.toHaveProperty("recomputedAt");
  await fixture.deploy(model("20d"));
  await recompute();
  await compare();
  // Of the earlier scores it left one record of each customer.
  expect(await trends("health")).toMatchObject({ recomputedAt: INSTANT });
  const [{ today }] = await fixture.service.db.sql<
    [{ today: string }]
  >`select (now() at time zone 'UTC')::date::text as today`;
  expect(await trends("health", `from=${today}`)).not.toHaveProperty("recomputedAt");
  expect(await trends("lifecycle")).not.toHaveProperty("recomputedAt");
  expect(JSON.stringify((await trends("lifecycle")).series)).not.toBe(before);

  expect((await fixture.admin("DELETE", "/projects/app/customers/c3")).status).toBe(200);
  await compare();
  expect(valuesOf(await trends("flows", `${SPAN}&every=month`), { from: null })![0]).toBe(CUSTOMERS.length - 1);

  const { body } = await fixture.admin("PATCH", "/organization", { body: { timeZone: "Pacific/Kiritimati" } });
  expect(body).toMatchObject({ timeZone: "Pacific/Kiritimati" });
  expect((await trends("lifecycle")).complete).toBe(false);
  await count();
  const lifecycle = await trends("lifecycle");
  expect(lifecycle).toMatchObject({ complete: true, timeZone: "Pacific/Kiritimati" });
  // There January 1st begins fourteen hours earlier, so customers of its last hours count for the second.
  const [{ customers }] = await fixture.service.db.sql<[{ customers: number }]>`
    select count(*)::integer as customers from svc.lifecycle_transitions as t
    join svc.customers as c using (environment_id, customer_id, generation)
    where t.from_state is null and (t.transitioned_at at time zone 'Pacific/Kiritimati')::date = '2026-01-01'`;
  const flows = await trends("flows", "from=2026-01-01&to=2026-01-01");
  expect([customers > 0, valuesOf(flows, { from: null })]).toEqual([true, [customers]]);

  // There it is still the day before, and everything counted is shown already today.
  await fixture.admin("PATCH", "/organization", { body: { timeZone: "pacific/pago_pago" } });
  const operations = await trends("operations", "every=day");
  expect(operations.timeZone).toBe("Pacific/Pago_Pago");
  expect(valuesOf(operations, { metric: "events" })!.reduce((sum, one) => sum! + one!, 0)).toBe(await acceptedCount());
});

it("are recounted without a statement timeout", async () => {
  const { db } = fixture.service;
  await changeTriggers(
    db.sql,
    `create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end'`,
    `create trigger slow after insert on svc.trend_changes for each statement execute function slow()`,
  );
  onTestFinished(() => changeTriggers(db.sql, "drop function slow() cascade"));
  await db.sql`update svc.trend_progress set outdated_since = '0'`;
  const impatient = connect(db.url, { max: 1, applicationName: "test trends", statementTimeoutMs: 500 });
  onTestFinished(() => impatient.end());
  await count(impatient);
  expect((await trends("lifecycle")).complete).toBe(true);
});

// The lock of a cluster's coordinator is another one than that of a node, where the trigger runs.
it.skipIf(isCluster).each([
  [
    "a count of the history",
    "Pacific/Kiritimati",
    () => fixture.service.db.sql`update svc.trend_progress set outdated_since = '0'`,
  ],
  ["an ordinary count", "Pacific/Pago_Pago", () => fixture.batch([login("c0", Date.now())])],
])("a change of the time zone does not wait for %s, which then counts again", async (_, timeZone, prepare) => {
  const { sql } = fixture.service.db;
  await count();
  await prepare();
  await changeTriggers(
    sql,
    `create function wait() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(7598); return null; end'`,
    `create trigger wait after insert on svc.trend_changes for each statement execute function wait()`,
  );
  let counted: Promise<number> = Promise.resolve(0);
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7598)`;
    counted = count();
    await lockWaiter(sql, "%count_trends%");
    const body = { timeZone };
    expect(await fixture.admin("PATCH", "/organization", { body })).toMatchObject({ status: 200, body });
  });
  await counted;
  await changeTriggers(sql, "drop function wait() cascade");
  expect(await trends("lifecycle")).toMatchObject({ complete: true, timeZone });
  const outdated = await sql`select from svc.trend_progress where outdated_since is not null`;
  expect([...outdated]).toEqual([]);
  expect(await violations(sql)).toEqual([]);
});

it("are counted once by concurrent counters", async () => {
  await fixture.service.db.sql`update svc.trend_progress set counted_through = 0`;
  await fixture.service.db.sql`delete from svc.trend_counts where measure in ('active', 'operation')`;
  const [id] = await environmentsToCount(fixture.service.db.sql);
  await Promise.all(Array.from({ length: 8 }, () => call(fixture.service.db.sql, "count_trends", id!, 3)));
  await count();
  const counted = await acceptedCount();
  expect(valuesOf(await trends("operations", "every=month"), { metric: "events" })!.at(-1)).toBe(counted);
  expect(await eventCount()).toBeLessThan(counted);
});

it("count a customer once on a day with two midnights", async () => {
  await fixture.admin("PATCH", "/organization", { body: { timeZone: "Atlantic/Azores" } });
  for (const time of ["00:30", "01:30", "23:30"]) {
    const event = login("c0", Date.parse(`2025-10-26T${time}:00Z`));
    expect((await fixture.batch([event])).status).toBe(202);
    await count();
  }
  for (const every of ["day", "week", "month"]) {
    const { series } = await trends("active", `from=2025-10-26&to=2025-10-26&every=${every}`);
    expect([every, series.map(({ values }) => values)]).toEqual([every, [[1]]]);
  }
});

it("do not count a customer as active before its event happens", async () => {
  await fixture.admin("PATCH", "/organization", { body: { timeZone: "UTC" } });
  await count();
  const active = async () => {
    const each = ["day", "week", "month"].map(async (every) =>
      valuesOf(await trends("active", `every=${every}`), { metric: "customers" }),
    );
    return (await Promise.all(each)).map((values) => values!.at(-1)!);
  };
  const before = await active();
  const days = [0, 45, 46, 90].map((ahead) => login("ahead", Date.now() + ahead * DAY));
  expect((await fixture.batch(days)).status).toBe(202);
  await count();
  expect(await active()).toEqual(before.map((customers) => customers + 1));
});

it("of segments keep what was counted before a recompute, and count its corrections on its day", async () => {
  await fixture.admin("PATCH", "/organization", { body: { timeZone: "UTC" } });
  await count();
  const members = async () =>
    valuesOf(await trends("segments", "from=2026-01-01&every=week"), { segment: "busy", metric: "members" })!;
  const membersAt = async (at: string) =>
    (await fixture.read<Population>(`population?at=${at}`)).segments.map(({ members: each }) => each);
  const all = CUSTOMERS.length - 1;
  const atEnd = "2026-01-18T23:59:59.999Z";
  const before = await members();
  expect([before[0], before[2], before.at(-1), await membersAt(atEnd)]).toEqual([all, 0, 0, [0]]);
  // Under the new model they join once and stay.
  await fixture.deploy({ ...model("20d"), segments: [{ id: "busy", when: logins(2) }] });
  await recompute();
  expect([await members(), await membersAt(atEnd)]).toEqual([[...before.slice(0, -1), all], [all]]);
  expect(await membersAt(new Date().toISOString())).toEqual([all]);
});

it("read the names of the model once, not for each series", async () => {
  const { sql } = fixture.service.db;
  const { token, organizationId } = fixture.owner;
  await sql.begin(async (changed) => {
    const read = () =>
      pagesOf(
        changed,
        changed`
          select svc_api.get_trends(${hashCredential(token)}, ${organizationId}, 'app', 'test', 'segments', 'day', null, null)`,
      );
    await read(); // a connection reads the catalog once
    const before = await read();
    await changed`
      insert into svc.trend_counts (environment_id, measure, day, name, value, count)
      select environment_id, 'segment', current_date, 'segment ' || n, 'entered', 1
      from svc.environments, generate_series(1, 500) as g (n)
      where name = 'test'`;
    // For each of them it would be two pages or more.
    expect((await read()) - before).toBeLessThan(500);
    await changed`delete from svc.trend_counts where name like 'segment %'`;
  });
});

it("report what is wrong with a request", async () => {
  const ask = (query: string) => fixture.admin("GET", `/projects/app/trends?${query}`);
  for (const [query, message] of [
    ["from=2026-02-30", "`from` is not a day."],
    ["from=2026-02-02&to=2026-02-01", "The span ends before it begins."],
    ["from=1990-01-01", "The span has more than 1,100 days."],
    ["from=9999-01-01", "`from` is in the future."],
    ["from=9999-01-01&to=9999-02-01", "`from` is in the future."],
    ["from=9999-01-01&to=2026-02-01", "The span ends before it begins."],
  ] as const)
    expect(await ask(query)).toMatchObject(invalid("from", message));
  expect((await ask("from=1990-01-01&every=month")).status).toBe(200);
  expect((await ask("to=0001-01-02")).body).toMatchObject({ periods: ["0001-01-01", "0001-01-02"] });
  expect(await fixture.admin("PATCH", "/organization", { body: { timeZone: "Mars/Olympus" } })).toMatchObject(
    invalid("timeZone", "`timeZone` is not one that this service knows."),
  );
});
