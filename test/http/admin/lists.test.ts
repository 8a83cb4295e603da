import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../support/service.js";
import { cursorOf } from "./support/cursors.js";

let service: Service;
let owner: Actor;
const get = (path: string, by = owner) => service.request("GET", `/projects/app${path}`, { by });

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
});
afterAll(() => service.stop());

const LISTS = [
  { list: "/events", filters: ["customer", "type"], dates: true },
  { list: "/rule-executions", filters: ["customer", "rule"], dates: true },
  { list: "/customers", filters: ["lifecycle", "segment"], dates: false },
];

/** A cursor as `svc.encode_cursor` makes it, but not sealed. */
const unsealed = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");

describe.each(LISTS)("GET /projects/:project$list", ({ list, filters, dates }) => {
  it.each(["0", "201", "-1", "abc", "1.5", "1e2", "", "99999999999999999999"])(
    "refuses the limit %j",
    async (limit) => {
      const reply = await get(`${list}?limit=${limit}`);
      expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field: "limit" } } });
    },
  );

  it.each(["nonsense", unsealed("events", "1 1"), unsealed("events"), unsealed(), "W10", "x".repeat(8192)])(
    "refuses the cursor %s",
    async (cursor) => {
      const reply = await get(`${list}?cursor=${cursor}`);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(
        envelope("VALIDATION_ERROR", "The cursor is not one of this list.", {
          field: "cursor",
          fix: "Pass nextCursor of the page before, unchanged, with the same filters.",
        }),
      );
    },
  );

  it("refuses what it does not know: filters, environments, values of a filter", async () => {
    for (const [query, field] of [
      ["colour=red", "colour"],
      ["env=staging", "env"],
      ["env=test&env=live", "env"],
      ["limit=1&limit=2", "limit"],
      ["cursor=%00", "cursor"],
      ...filters.flatMap((filter) => [
        [`${filter}=`, filter],
        [`${filter}=${"x".repeat(257)}`, filter],
        [`${filter}=a&${filter}=b`, filter],
        [`${filter}=a%00b`, filter],
      ]),
    ]) {
      const reply = await get(`${list}?${query}`);
      expect({ query, reply }).toMatchObject({
        reply: { status: 400, body: { error: { code: "VALIDATION_ERROR", field } } },
      });
    }
  });

  it("takes a filter of 256 characters, of any script", async () => {
    for (const filter of filters) {
      const name = encodeURIComponent("😀".repeat(256));
      expect(await get(`${list}?${filter}=${name}`)).toMatchObject({
        status: 200,
        body: { data: [], nextCursor: null },
      });
    }
  });

  it
    .runIf(dates)
    .each([
      "soon",
      "2026-13-01",
      "2026-02-30",
      "0000-01-01",
      "0001-01-01T00:00:00%2B14:00",
      "9999-12-31T23:59:59-14:00",
      "2026-03-01T10:00:00",
      "7",
      "-7d",
      "7 days",
      "1e9",
      "now()",
    ])("refuses %s for since", async (since) => {
    const reply = await get(`${list}?since=${since}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      envelope("VALIDATION_ERROR", "`since` is neither a duration nor a date.", {
        field: "since",
        value: decodeURIComponent(since),
        fix: "Write for example 7d, 2026-03-01 or 2026-03-01T09:00:00Z.",
      }),
    );
  });

  it.runIf(dates)("takes the first and the last day there is", async () => {
    for (const since of ["0001-01-01", "9999-12-31T23:59:59.999999Z", "3650d"]) {
      expect(await get(`${list}?since=${since}`)).toMatchObject({ status: 200, body: { data: [] } });
    }
  });

  it("has nothing for another organization", async () => {
    const stranger = await service.owner(`other-${list.slice(1)}`);
    const reply = await get(list, stranger);
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ error: { code: "PROJECT_NOT_FOUND" } });
    expect(await service.request("GET", `/projects/nothing${list}`, { by: stranger })).toMatchObject({
      status: 404,
      body: { error: { code: "PROJECT_NOT_FOUND" } },
    });
  });
});

describe("a cursor", () => {
  it("does not tell its position, and cannot be changed to another one", async () => {
    const position = "1700000000000000 1234567";
    const cursor = await cursorOf(service.db.sql, "events", position);
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

  it("never begins with what a command line takes for an option", async () => {
    const [{ beginnings }] = await service.db.sql<[{ beginnings: string[] }]>`
      select array_agg(distinct left(svc.encode_cursor('events', n::text), 1)) as beginnings from generate_series(1, 500) as n`;
    expect(beginnings).toEqual(["A"]);
  });
});

describe("a position that no list gave", () => {
  const getAfter = async (list: string, name: string, position: string) => {
    const cursor = await cursorOf(service.db.sql, name, position);
    return get(`${list}${list.includes("?") ? "&" : "?"}cursor=${cursor}`);
  };

  it.each([
    ["/events", "events", "x 1"],
    ["/events", "events", "1"],
    ["/events", "events", "1 1 1"],
    ["/events", "events", "9999999999999999999 1"],
    ["/events", "events", "1 -1"],
    ["/events", "events", "-999999999999999999 1"],
    ["/rule-executions", "rule-executions", "1; 1"],
    ["/rule-executions", "rule-executions", ""],
    ["/customers?inactive=1d", "customers-inactive", "a"],
    ["/customers?inactive=1d", "customers", "a"],
    ["/customers", "customers-inactive", "1 a"],
  ])("is refused by %s: %s %s", async (list, name, position) => {
    expect(await getAfter(list, name, position)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "cursor" } },
    });
  });

  it.each([
    ["/events", "events", "999999999999999999 999999999999999999"],
    ["/events", "events", "-99999999999999999 0"],
    ["/rule-executions", "rule-executions", "-62135596800000000 1"],
    ["/customers?inactive=1d", "customers-inactive", "-99999999999999999 "],
  ])("but could have is one like any other: %s %s %s", async (list, name, position) => {
    expect(await getAfter(list, name, position)).toMatchObject({ status: 200 });
  });

  it("of a journey or a segment's page is refused alike", async () => {
    expect(await get("/segments/paying?cursor=nonsense")).toMatchObject({
      status: 400,
      body: { error: { field: "cursor" } },
    });
    expect(await get("/segments/paying?limit=201")).toMatchObject({ status: 400, body: { error: { field: "limit" } } });
    expect(await get("/customers/a/journeys/b?colour=red")).toMatchObject({
      status: 400,
      body: { error: { field: "colour" } },
    });
  });
});
