import { describe, expect, it } from "vitest";
import { invalid, NO_CURSOR, useApi } from "./support/api.js";
import { cursorOf } from "./support/cursors.js";

// What bad-input.test.ts cannot derive from the schemas alone.

const api = useApi();
const { get } = api;
const ask = (path: string) => api.service.request("GET", path, { by: api.owner });

it("filters accept 256 characters, of any script", async () => {
  const filters =
    "events?customer events?type rule-executions?customer rule-executions?rule customers?lifecycle customers?segment";
  for (const filter of filters.split(" ")) {
    const reply = await get(`/${filter}=${encodeURIComponent("😀".repeat(256))}`);
    expect(reply, filter).toMatchObject({ status: 200, body: { data: [], nextCursor: null } });
  }
});

const NO_SINCE = [
  ..."soon yesterday now() 7 -7d 0d 7%20days 1e9 2026-13-01 2026-02-30 0000-01-01".split(" "),
  ...["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00", "2026-03-01T10:00:00"],
];
it("since is a duration, or any day of the supported range", async () => {
  const wrong = invalid("since", "`since` is neither a duration nor a date.");
  for (const since of NO_SINCE) expect(await get(`/events?since=${since}`), since).toMatchObject(wrong);
  const tooLong = invalid("since", "`since` is longer than the longest duration, 3650d.");
  for (const list of ["/projects/app/events", "/projects/app/rule-executions", "/organization/audit-log"]) {
    expect(await ask(`${list}?since=soon`), list).toMatchObject(wrong);
    for (const since of ["3651d", "99999999w"])
      expect(await ask(`${list}?since=${since}`), since).toMatchObject(tooLong);
    for (const since of ["0001-01-01", "9999-12-31T23:59:59.999999Z", "3650d"])
      expect(await ask(`${list}?since=${since}`), since).toMatchObject({ status: 200 });
  }
});

describe("a cursor", () => {
  it("hides its position, and cannot be forged", async () => {
    const position = "1700000000000000 1234567";
    const cursor = await cursorOf(api.sql, "events", position);
    const bytes = Buffer.from(cursor, "base64url");
    expect(bytes.toString("latin1")).not.toMatch(/events|1234567/);
    expect((await get(`/events?cursor=${cursor}`)).status).toBe(200);
    const answers = new Set<number>();
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      answers.add((await get(`/events?cursor=${changed.toString("base64url")}`)).status);
    }
    expect([...answers]).toEqual([400]);
  });

  it("never begins like a command-line option", async () => {
    const [{ beginnings }] = await api.sql<[{ beginnings: string[] }]>`
      select array_agg(distinct left(svc.encode_cursor('events', n::text), 1)) as beginnings from generate_series(1, 500) as n`;
    expect(beginnings).toEqual(["A"]);
  });
});

describe("a forged position", () => {
  const ZEROS = "0".repeat(20);
  const getAfter = async (list: string, name: string, position: string) => {
    const cursor = await cursorOf(api.sql, name, position);
    return ask(`${list}${list.includes("?") ? "&" : "?"}cursor=${cursor}`);
  };

  it.each([
    ["/projects/app/events", "events", ["x 1", "1", "1 1 1", "9999999999999999999 1", "1 -1", "-999999999999999999 1"]],
    ["/projects/app/rule-executions", "rule-executions", ["1; 1", ""]],
    ["/projects/app/customers?inactive=1d", "customers-inactive", ["a"]],
    ["/projects/app/customers?inactive=1d", "customers", ["a"]],
    ["/projects/app/customers", "customers-inactive", ["1 a"]],
    ["/projects/app/schema-violations", "webhooks", ["x"]],
    ["/projects/app/activations", "activations", ["", "x", "1.5", "-1", "9999999999999999999"]],
    ["/projects/app/keys", "keys", ["1 key_x", `x key_${ZEROS}`, `${"9".repeat(30)} key_${ZEROS}`, ""]],
    [
      "/organization/tokens",
      "tokens",
      [`9999999999999999 tok_${ZEROS.slice(1)}x`, `99999999999999999 tok_${ZEROS}`, "1", "1 2 3"],
    ],
    ["/organization/audit-log", "audit-log", ["1", "x y", "1 ", `1 ${"9".repeat(20)}`, "99999999999999999 1", "-1 1"]],
  ])("is refused by %s of %s", async (list, name, positions) => {
    for (const position of positions) expect(await getAfter(list, name, position), position).toMatchObject(NO_CURSOR);
  });

  it("is refused by the list of schema violations, and works elsewhere if it is well-formed", async () => {
    for (const position of ["x", '["x"]'])
      expect(await getAfter("/projects/app/schema-violations", "schema-violations", position)).toMatchObject(invalid());
    for (const [list, name, position] of [
      ["events", "events", "999999999999999999 999999999999999999"],
      ["events", "events", "-99999999999999999 0"],
      ["rule-executions", "rule-executions", "-62135596800000000 1"],
      ["customers?inactive=1d", "customers-inactive", "-99999999999999999 "],
    ] as const)
      expect(await getAfter(`/projects/app/${list}`, name, position), position).toMatchObject({ status: 200 });
  });
});
