import { beforeAll, expect, it } from "vitest";
import { listCsv } from "../../../src/http/csv.js";
import { snapshot } from "../../support/service.js";
import { useSpec } from "../../spec/support/fixture.js";

// Lists of the administrative API as comma-separated values.

const fixture = useSpec();
/** A text that a spreadsheet would compute. */
const FORMULA = '=HYPERLINK("https://evil.example","a, b")';
const MANY = 210;

beforeAll(async () => {
  await fixture.deploy(snapshot({}));
  await fixture.batch([
    { type: "identify", customerId: FORMULA, traits: { plan: "pro" } },
    ...Array.from({ length: MANY }, (_, n) => ({ customerId: `c${n}`, event: "login", properties: { seats: -n } })),
  ]);
  await fixture.evaluate();
});

async function csv(path: string, accept = "text/csv") {
  const { token, organizationId } = fixture.owner;
  const answer = await fetch(`${fixture.service.url}${path}`, {
    headers: { Authorization: `Bearer ${token}`, "X-Svc-Organization": organizationId, Accept: accept },
  });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}
const linesOf = ({ text }: { text: string }) => text.trimEnd().split("\n");

it("a list has a heading with its items' members and a line for each item of all pages", async () => {
  const answer = await csv("/projects/app/customers");
  expect([answer.status, answer.type]).toEqual([200, "text/csv; charset=utf-8"]);
  const [heading, ...lines] = linesOf(answer);
  expect(heading).toBe(
    "customerId,lifecycle,lifecycleEnteredAt,segments,health.overall,health.components,health.band,healthWeekAgo," +
      "signals,journeys,lastEventAt,createdAt,setAside.at,setAside.error",
  );
  expect(lines).toHaveLength(MANY + 1);
  expect(lines[0]).toMatch(/^"'=HYPERLINK\(""https:\/\/evil\.example"",""a, b""\)",new,\d{4}-.*,paying,/);
});

it("filters, limit and cursor work as for JSON", async () => {
  expect(linesOf(await csv("/projects/app/customers?limit=205"))).toHaveLength(206);
  expect(linesOf(await csv("/projects/app/customers?limit=05"))).toHaveLength(6);
  expect(await fixture.read("customers?limit=05")).toMatchObject({ data: { length: 5 } });
  expect(linesOf(await csv("/projects/app/segments/paying"))).toEqual([
    "customerId,enteredAt",
    expect.stringContaining("HYPERLINK"),
  ]);
  expect(linesOf(await csv("/projects/app/customers?lifecycle=nowhere"))).toHaveLength(1);
  const { body } = await fixture.admin("GET", "/projects/app/customers?limit=200");
  const { nextCursor } = body as { nextCursor: string };
  expect(linesOf(await csv(`/projects/app/customers?cursor=${nextCursor}`))).toHaveLength(MANY + 1 - 200 + 1);
});

it("a customer's history has the members of all kinds of entries", async () => {
  const [heading, ...lines] = linesOf(await csv("/projects/app/customers/c7/history"));
  const columns = heading!.split(",");
  expect(new Set(columns).size).toBe(columns.length);
  const details = ["event", "from", "to", "overall", "band", "ruleId", "result", "eventType", "metadata", "traits"];
  expect(columns).toEqual(expect.arrayContaining(details.map((name) => `details.${name}`)));
  const transition = lines.find((line) => line.includes(",transition,"))!.split(",");
  expect(transition[columns.indexOf("details.to")]).toBe("active");
});

it("values without a schema are JSON, and a negative number is not escaped as a formula", async () => {
  const [heading, line] = linesOf(await csv("/projects/app/events?customer=c7"));
  const columns = heading!.split(",");
  expect(columns).toContain("properties");
  expect(line).toContain('"{""seats"":-7}"');
});

it("JSON in a cell keeps all its digits, and is written without spaces", async () => {
  await fixture.deploy(snapshot({ strictSchema: true, onViolation: "quarantine" }));
  const headers = { Authorization: `Bearer ${fixture.keys.test}` };
  const body = `{"customerId":"digits","event":"none","properties":{"n": 12345678901234567890.10, "s": "a b", "l": [1, {}]}}`;
  const sent = await fixture.service.request("POST", "/v1/events", { body, headers });
  expect(sent.status).toBe(202);
  const { text } = await csv("/projects/app/quarantine");
  expect(text).toContain('""n"":12345678901234567890.10');
  expect(text).toContain('""s"":""a b""');
  expect(text).toContain('""l"":[1,{}]');
});

it("the timeline of a customer is a list, but not that of an instant, which is truncated", async () => {
  const [heading, ...lines] = linesOf(await csv("/projects/app/customers/c7/timeline"));
  expect(heading).toMatch(/^id,eventType,source,metadata,timestamp,cause\./);
  expect(lines).not.toEqual([]);
  const at = new Date().toISOString();
  expect((await csv(`/projects/app/customers/c7/timeline?at=${at}`)).type).toContain("application/json");
});

it("a text with a line break stays one cell", async () => {
  const customerId = "innocent\r=1+1";
  await fixture.batch([{ type: "identify", customerId, traits: {} }]);
  await fixture.evaluate();
  const { text } = await csv("/projects/app/customers?search=innocent");
  expect(text.split("\n")[1]).toMatch(/^"innocent\r'=1\+1",/);
});

it("large items are written one by one, so that other requests do not wait for a page", async () => {
  const items = Array.from({ length: 5 }, (_, n) => ({ n, text: "x".repeat(20_000) }));
  const page = () => Promise.resolve(JSON.stringify({ data: items, nextCursor: null }));
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const parts: string[] = [];
  for await (const part of listCsv([["n"], ["text"]], new Map(), page)) parts.push(part);
  clearImmediate(next);
  expect(parts).toHaveLength(items.length);
  expect(turns).toBeGreaterThanOrEqual(items.length);
  expect(parts.join("")).toBe(`n,text\n${items.map(({ n, text }) => `${n},${text}\n`).join("")}`);
});

it("pages begin small, grow while items are small, and shrink while they are large", async () => {
  const limits: number[] = [];
  const read = (query: ReadonlyMap<string, string>) => {
    const limit = Number(query.get("limit"));
    limits.push(limit);
    const text = limits.length < 5 ? "x" : "x".repeat(300_000);
    const nextCursor = limits.length < 8 ? "next" : null;
    return Promise.resolve(JSON.stringify({ data: Array(limit).fill({ text }), nextCursor }));
  };
  let lines = 0;
  for await (const part of listCsv([["text"]], new Map(), read)) lines += part.split("\n").length - 1;
  expect(limits).toEqual([25, 50, 100, 200, 200, 100, 50, 25]);
  expect(lines).toBe(751);
});

it("refusals are JSON, before anything is sent", async () => {
  for (const query of ["inactive=soon", "limit=0", "limit=000", "limit=many", "cursor=other"]) {
    const { status, type, text } = await csv(`/projects/app/customers?${query}`);
    expect([status, type]).toEqual([400, "application/json; charset=utf-8"]);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "VALIDATION_ERROR" } });
  }
});

it("a client that accepts JSON gets JSON, and only lists are tables", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/csv"])
    expect((await csv("/projects/app/customers?limit=1", accept)).type).toContain("application/json");
  expect((await csv("/projects/app/customers/c1")).type).toContain("application/json");
});
