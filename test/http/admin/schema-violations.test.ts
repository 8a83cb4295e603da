import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { invalid, pages, useApi, type Page } from "./support/api.js";

const api = useApi();
let test: number;
let live: number;
beforeAll(async () => {
  [test, live] = [await api.environmentId("test"), await api.environmentId("live")];
});
beforeEach(() => api.sql`truncate svc.schema_violations, svc.events, svc.trait_updates`);

type Row = Record<"environment" | "version" | "lastSeq", number> & Record<"event" | "code" | "path", string>;

/** Inserts violations as ingestion records them. */
async function insert(rows: Partial<Row>[]): Promise<void> {
  const usual = { version: 1, event: "order", code: "UNKNOWN_PROPERTY", path: "properties.a", lastSeq: 1 };
  const filled = rows.map((row): Row => ({ environment: test, ...usual, ...row }));
  await api.sql`
    insert into svc.schema_violations (
      environment_id, version, event, code, path, operations, first_seen_at, last_seen_at, last_seq
    )
    select r.environment, r.version, r.event, r.code, r.path, 3, '2026-03-01T10:00:00Z', '2026-03-02T11:00:00.5Z', r."lastSeq"
    from json_to_recordset(${JSON.stringify(filled)}::text::json)
      as r (environment integer, version integer, event text, code text, path text, "lastSeq" bigint)`;
}

interface Listed {
  configVersion: string;
  event: string | null;
  code: string;
  path: string;
}

const list = (query = "") => api.read<Page<Listed>>(`/schema-violations${query}`);
const keyOf = ({ configVersion, event, code, path }: Listed) => [configVersion, event, code, path].join(" ");

/** All keys, in pages of `limit`; `between` is called after each page. */
async function keysByPage(limit: number, between = () => Promise.resolve()): Promise<string[]> {
  const page = async (query: string) => {
    const answer = await list(`?${query}`);
    await between();
    return answer;
  };
  const { items, sizes } = await pages(page, "", limit);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
  return items.map(keyOf);
}

describe("GET /projects/:project/schema-violations", () => {
  it("lists the violations of the environment, or of one version", async () => {
    await insert([{ environment: live }]);
    expect(await list()).toEqual({ data: [], nextCursor: null });
    expect((await list("?env=live")).data).toHaveLength(1);
    await insert([{ version: 1 }, { version: 2, path: "properties.b" }, { version: 2 }]);
    expect((await list("?version=v2")).data.map(({ path }) => path)).toEqual(["properties.a", "properties.b"]);
    expect((await list("?version=v3")).data).toEqual([]);
    expect(await api.get("/schema-violations?version=2")).toMatchObject(invalid("version"));
  });

  it("names the last operation of each kind and its customer, of an event and of traits", async () => {
    const { sql } = api;
    await sql`insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      values (${test}, 1025, 'ann', 'order', '{}', now(), now()), (${live}, 2048, 'other', 'order', '{}', now(), now())`;
    await sql`insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
      values (${test}, 1026, 'bob', '{}', now())`;
    await insert([
      { lastSeq: 1025 },
      { event: "", code: "UNKNOWN_TRAIT", path: "traits.x", lastSeq: 1026 },
      { event: "login", code: "UNKNOWN_EVENT", path: "event", lastSeq: 2048 },
      { event: "", code: "INVALID_TRAIT_TYPE", path: "traits.seats", lastSeq: 2048 },
      { event: "", code: "OTHER", path: "*", lastSeq: 1025 },
    ]);
    const times = { firstSeenAt: "2026-03-01T10:00:00.000Z", lastSeenAt: "2026-03-02T11:00:00.500Z" };
    const common = { configVersion: "v1", operations: 3, ...times };
    const traits = { ...common, event: null, lastEventId: null };
    const unknown = { event: "login", code: "UNKNOWN_EVENT", path: "event" };
    const stored = { lastEventId: "evt_0000000000000401", lastCustomerId: "ann" };
    expect(await list()).toEqual({
      data: [
        // Its operation was deleted; the operation with the same number in another environment is unrelated.
        { ...traits, code: "INVALID_TRAIT_TYPE", path: "traits.seats", lastCustomerId: null },
        { ...traits, code: "OTHER", path: "*", ...stored },
        { ...traits, code: "UNKNOWN_TRAIT", path: "traits.x", lastCustomerId: "bob" },
        { ...common, ...unknown, lastEventId: "evt_0000000000000800", lastCustomerId: null },
        { ...common, event: "order", code: "UNKNOWN_PROPERTY", path: "properties.a", ...stored },
      ],
      nextCursor: null,
    });
  });

  it("lists each kind once, in order, in pages of any size", async () => {
    const a = { version: 10, event: "a" };
    await insert([
      { version: 2, event: "b" },
      { version: 10, event: "é" },
      { version: 10, event: "Z" },
      a,
      ...["properties.b", "properties.B"].map((path) => ({ ...a, code: "INVALID_STRUCTURE", path })),
      { version: 10, event: "", code: "UNKNOWN_TRAIT", path: "traits.a" },
    ]);
    for (const limit of [1, 2, 3, 200])
      expect(await keysByPage(limit), String(limit)).toEqual([
        "v10  UNKNOWN_TRAIT traits.a",
        "v10 Z UNKNOWN_PROPERTY properties.a",
        "v10 a INVALID_STRUCTURE properties.B",
        "v10 a INVALID_STRUCTURE properties.b",
        "v10 a UNKNOWN_PROPERTY properties.a",
        "v10 é UNKNOWN_PROPERTY properties.a",
        "v2 b UNKNOWN_PROPERTY properties.a",
      ]);
  });

  it("neither repeats nor misses what existed at the first page, whatever is added meanwhile", async () => {
    const names = ["b", "d", "f", "h"];
    await insert(names.map((event) => ({ version: 2, event })));
    let round = 0;
    const keys = await keysByPage(1, async () => {
      round += 1;
      if (round > 6) return;
      await insert([
        { version: 2 + round, event: "c" },
        { version: 2, event: `a${round}` },
        { version: 2, event: `z${round}` },
      ]);
      await api.sql`update svc.schema_violations set operations = operations + 1, last_seen_at = now()`;
    });
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => /^v2 [bdfh] /.test(key))).toEqual(
      names.map((event) => `v2 ${event} UNKNOWN_PROPERTY properties.a`),
    );
  });

  it("continues after the longest possible names", async () => {
    const event = "\u0001".repeat(256);
    const path = `properties[${JSON.stringify(`${"\u0001".repeat(256)}…`)}]`;
    await insert([
      { version: 2_147_483_647, event, path },
      { version: 2, event: "👍".repeat(256), path },
      { version: 1, event: '"\\'.repeat(128), path: `properties[${JSON.stringify('"\\'.repeat(128))}]` },
      { version: 1, event: "~" },
    ]);
    expect(await keysByPage(1)).toHaveLength(4);
  });
});

it("svc_inspect.schema_violations shows the same with the names of organization, project and environment", async () => {
  await api.sql`
    insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
    values (${live}, 7, 'bob', '{}', now())`;
  await insert([
    { environment: live, version: 3, event: "", code: "UNKNOWN_TRAIT", path: "traits.x", lastSeq: 7 },
    { environment: test, version: 2, lastSeq: 1025 },
  ]);
  const rows = await api.sql`select * from svc_inspect.schema_violations order by version desc`;
  const at = expect.any(Date) as Date;
  const common = { organization: "acme", project: "app", operations: "3", first_seen_at: at, last_seen_at: at };
  const trait = { version: "v3", event: null, code: "UNKNOWN_TRAIT", path: "traits.x" };
  const property = { version: "v2", event: "order", code: "UNKNOWN_PROPERTY", path: "properties.a" };
  const gone = { last_event_id: "evt_0000000000000401", last_customer_id: null };
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { ...common, ...trait, environment: "live", last_event_id: null, last_customer_id: "bob" },
    { ...common, ...property, environment: "test", ...gone },
  ]);
});
