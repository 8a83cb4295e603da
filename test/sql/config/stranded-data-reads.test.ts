import { beforeAll, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { canonicalJson, hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { rolledBack, useDatabase } from "../../support/database.js";
import { populate } from "../../support/population.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

const happened = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;

/** The relevant parts of the model that the population was derived under. */
const active: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: Object.fromEntries(
    ["account_closed", "feature_used", "invoice_paid", "login"].map((event) => [
      event,
      { properties: { seconds: { type: "number" as const, optional: true as const } } },
    ]),
  ),
  lifecycle: { initial: "new", states: ["new", "trial", "active", "quiet"].map((name) => ({ name, transitions: [] })) },
  segments: ["everyone", "paying", "chosen", "few"].map((id) => ({ id })),
  journeys: [{ id: "onboarding", start: happened, steps: [{ id: "invite", when: happened }] }],
  signals: [{ id: "quiet", severity: "warning" }],
};

const CUSTOMERS = 20_000;
const EVENTS = 60_000;

const db = await useDatabase();
let environment: number;
beforeAll(async () => {
  const { by, place, environmentId } = await TestEnvironment.create(db.sql);
  const version = { snapshot: canonicalJson(active), hash: hashSnapshot(active), provenance: null, expected: null };
  await call(db.sql, "deploy_config", by, place, { ...version, force: false });
  environment = environmentId;
  await populate(db.sql, environment, { customers: CUSTOMERS, events: EVENTS });
}, 120_000);

interface Reads {
  table: string;
  sequential: number;
  fetched: number;
}

/** The warnings about a snapshot, and the numbers of data rows read for them. */
async function warnings(snapshot: Snapshot) {
  return rolledBack(db.sql, async (tx) => {
    const reads = () => tx<Reads[]>`
      select relname as table, seq_tup_read::integer as sequential, idx_tup_fetch::integer as fetched
      from pg_stat_xact_user_tables
      where schemaname = 'svc' and relname = any('{customers, events, journey_runs, segment_memberships, signals}')`;
    const before = await reads();
    const [row] = await tx<[{ found: { code: string; message: string }[] }]>`
      select svc.stranded_data(${environment}, ${canonicalJson(snapshot)}::text::json) as found`;
    const read = (await reads()).map(({ table, sequential, fetched }) => {
      const was = before.find((one) => one.table === table);
      return { table, sequential: sequential - (was?.sequential ?? 0), fetched: fetched - (was?.fetched ?? 0) };
    });
    return { found: row.found.map(({ code, message }) => `${code}: ${message}`), read };
  });
}

it("reads removed parts by index, and at most ten thousand rows of each", async () => {
  const bare: Snapshot = { ...active, lifecycle: null, segments: [], journeys: [], signals: [] };
  const { found, read } = await warnings(bare);
  expect(found).toEqual([
    'STATE_REMOVED: The lifecycle state "new" is removed, and 2,000 customers are in it.',
    'STATE_REMOVED: The lifecycle state "trial" is removed, and 20 customers are in it.',
    'STATE_REMOVED: The lifecycle state "active" is removed, and more than 10,000 customers are in it.',
    'STATE_REMOVED: The lifecycle state "quiet" is removed, and 6,000 customers are in it.',
    'SEGMENT_REMOVED: The segment "everyone" is removed, and more than 10,000 customers are in it.',
    'SEGMENT_REMOVED: The segment "paying" is removed, and 6,667 customers are in it.',
    'SEGMENT_REMOVED: The segment "chosen" is removed, and 34 customers are in it.',
    'SEGMENT_REMOVED: The segment "few" is removed, and 1 customer is in it.',
    'JOURNEY_REMOVED: The journey "onboarding" is removed, and more than 10,000 customers are on it.',
    'SIGNAL_REMOVED: The signal "quiet" is removed, and it is raised: 6,667 customers are concerned.',
  ]);
  for (const { table, sequential } of read) expect(`${table} ${sequential}`).toBe(`${table} 0`);
});

it("reads events by index, and no more than the newest ten thousand of each", async () => {
  const events: Snapshot["events"] = {
    login: { properties: { seconds: { type: "string", optional: true } } },
    invoice_paid: active.events["invoice_paid"]!,
    account_closed: active.events["account_closed"]!,
  };
  const { found, read } = await warnings({ ...active, events });
  expect(found).toEqual([
    'EVENT_REMOVED: The event "feature_used" is removed, and more than 10,000 such events are stored; the strict schema refuses it from now on.',
    'PROPERTY_TYPE_CHANGED: The property "seconds" of "login" changes its type, and its value does not fit in 10,000 events of the newest 10,000.',
  ]);
  const { sequential, fetched } = read.find(({ table }) => table === "events")!;
  expect(sequential).toBe(0);
  expect(fetched).toBeLessThanOrEqual(20_001);
});

it("reads no data where nothing is removed or declared differently", async () => {
  const { found, read } = await warnings({ ...active, rules: [] });
  expect(found).toEqual([]);
  for (const { table, sequential, fetched } of read) expect(`${table} ${sequential} ${fetched}`).toBe(`${table} 0 0`);
});
