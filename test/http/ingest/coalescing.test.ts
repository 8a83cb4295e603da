import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { Ingestor, LargeBatches, type SingleOutcome } from "../../../src/http/ingest/ingestor.js";
import { QueueFullError } from "../../../src/http/errors.js";
import { startIngest } from "./fixture.js";

const pools: Sql[] = [];
const fixture = await startIngest();
const keyHash = hashCredential(fixture.keys.test);
const largeBatches = new LargeBatches({
  url: fixture.service.db.url,
  options: { max: 2, applicationName: "svc test http", role: "svc_http", pipelineMax: 0 },
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((sql) => sql.end()));
});
afterAll(async () => {
  await largeBatches.end();
  await fixture.service.stop();
});

function ingestor(options: { concurrency?: number; waitingMax?: number } = {}): Ingestor {
  const sql = connect(fixture.service.db.url, { max: 4, applicationName: "svc test http", role: "svc_http" });
  pools.push(sql);
  return new Ingestor(sql, largeBatches, { concurrency: 1, waitingMax: 10_000, ...options });
}

const holder = (hash = keyHash) => ({ keyHash: hash, organizationId: "own" });
const event = (more: object = {}) => JSON.stringify({ customerId: "c", event: "e", ...more });
/** Refused by the database with a data exception that concerns the call as a whole. */
const poison = () => `{"customerId":"c","event":"poison","properties":{"a":0.${"1".repeat(20_000)}}}`;
const brief = ({ outcome }: SingleOutcome) => ("code" in outcome ? outcome.code : outcome.duplicate ? "again" : "new");
const settled = (results: PromiseSettledResult<SingleOutcome>[]) =>
  results.map((result) =>
    result.status === "fulfilled" ? brief(result.value) : (result.reason as { code?: string }).code,
  );

describe("single events that arrive together", () => {
  it("share calls", async () => {
    const target = ingestor();
    const before = await fixture.stored();
    const answers = await Promise.all(Array.from({ length: 300 }, () => target.single(holder(), event())));
    expect(new Set(answers.map(({ outcome }) => ("eventId" in outcome ? outcome.eventId : "")))).toHaveProperty(
      "size",
      300,
    );
    const after = await fixture.stored();
    // The first goes out at once and alone, the others while it is under way.
    expect([after.events - before.events, after.batches - before.batches]).toEqual([300, 2]);
  });

  it("keep the order in which they came", async () => {
    const target = ingestor();
    const answers = await Promise.all(Array.from({ length: 50 }, () => target.single(holder(), event())));
    const ids = answers.map(({ outcome }) => ("eventId" in outcome ? outcome.eventId : ""));
    expect(ids).toEqual(ids.toSorted());
  });

  it("have each their own outcome", async () => {
    await fixture.deploy({
      strictSchema: true,
      events: { e: { properties: { n: { type: "number", optional: true } } } },
    });
    const target = ingestor();
    const key = randomUUID();
    const results = await Promise.allSettled(
      [
        event(),
        event({ idempotencyKey: key }),
        event({ idempotencyKey: key }),
        event({ idempotencyKey: key, properties: { n: 1 } }),
        event({ event: "unknown" }),
        event({ properties: { n: "1" } }),
        event({ idempotencyKey: `${key} refused`, properties: { n: "1" } }),
        event({ idempotencyKey: `${key} refused`, properties: { n: 1 } }),
        event(),
      ].map((body) => target.single(holder(), body)),
    );
    expect(settled(results)).toEqual([
      "new",
      "new",
      "again",
      "IDEMPOTENCY_CONFLICT",
      "UNKNOWN_EVENT",
      "INVALID_PROPERTY_TYPE",
      "INVALID_PROPERTY_TYPE",
      "new",
      "new",
    ]);
    await fixture.deploy({ strictSchema: false });
  });

  it("do not fail with a neighbour that the database refuses", async () => {
    const target = ingestor();
    const before = await fixture.stored();
    const bodies = Array.from({ length: 200 }, (_, n) => (n % 67 === 5 ? poison() : event()));
    const results = await Promise.allSettled(bodies.map((body) => target.single(holder(), body)));
    expect(settled(results)).toEqual(bodies.map((body) => (body.includes("poison") ? "22003" : "new")));
    expect((await fixture.stored()).events - before.events).toBe(197);
  });

  it("of several keys do not mix, and a bad key fails alone", async () => {
    const target = ingestor();
    const keys = [keyHash, hashCredential(fixture.keys.live), hashCredential("svc_test_unknown")];
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => target.single(holder(keys[n % 3]), event({ event: `mixed ${n % 3}` }))),
    );
    expect(settled(results)).toEqual(Array.from({ length: 60 }, (_, n) => (n % 3 === 2 ? "SV001" : "new")));
    const rows = await fixture.service.db.sql`
      select environment, event, count(*)::integer as count from svc_inspect.events where event like 'mixed%'
      group by 1, 2 order by 1`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { environment: "live", event: "mixed 1", count: 20 },
      { environment: "test", event: "mixed 0", count: 20 },
    ]);
  });

  it("are refused where too many wait, and taken when there is room again", async () => {
    const target = ingestor({ waitingMax: 20 });
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => target.single(holder(), event())));
    // One is under way, and ten wait: half of those that may.
    expect(results.map(({ status }) => status)).toEqual([
      ...Array(11).fill("fulfilled"),
      ...Array(19).fill("rejected"),
    ]);
    for (const result of results.slice(11))
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(QueueFullError);
    expect(brief(await target.single(holder(), event()))).toBe("new");
  });
});

describe("over HTTP", () => {
  it("each single event is answered with its own status", async () => {
    const key = randomUUID();
    const kinds = [
      { body: event(), status: 202 },
      { body: event({ idempotencyKey: key }), status: 202 },
      { body: event({ idempotencyKey: key, event: "other" }), status: 409 },
      { body: poison(), status: 400 },
      { body: event({ customerId: "" }), status: 400 },
      { body: "{", status: 400 },
    ];
    await fixture.single(event({ idempotencyKey: key }));
    const requests = Array.from({ length: 120 }, (_, n) => kinds[n % kinds.length]!);
    const replies = await Promise.all(requests.map(({ body }) => fixture.single(body)));
    expect(replies.map(({ status }) => status)).toEqual(requests.map(({ status }) => status));
  });
});
