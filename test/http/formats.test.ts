import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { typesOf } from "../../src/cli/commands/types.js";
import { compileProject } from "../../src/dsl-compiler/index.js";
import { TestClock } from "../../src/local/clock.js";
import { LocalEngine, type LocalModel, type RequestOperation } from "../../src/local/engine.js";
import * as shapes from "../../src/model/validate/shapes.js";
import type { Shape } from "../../src/model/validate/shapes.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { sign } from "../../src/webhooks/send.js";
import { project } from "../dsl-compiler/project.js";
import { DOCS_URL, environmentId, numberFromOne, type Reply } from "../support/service.js";
import { useIngest } from "./ingest/fixture.js";

const PAGE = fileURLToPath(new URL("../../docs/formats.md", import.meta.url));
// After a change of a format: FORMATS=write npx vitest run test/http/formats.test.ts && npx oxfmt docs/formats.md
const WRITE = process.env["FORMATS"] === "write";

type Limits = Partial<Record<"minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", number>>;
type Words = Partial<Record<"$ref" | "type" | "description" | "format" | "pattern", string>>;
interface Schema extends Limits, Words {
  const?: unknown;
  enum?: unknown[];
  not?: object;
  anyOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

let page = await readFile(PAGE, "utf8");
const fixture = await useIngest();
const { sql } = fixture.service.db;
await numberFromOne(sql, await environmentId(sql, "app", "test"));
const { body } = await fixture.service.request("GET", "/openapi.json");
const schemas = (body as { components: { schemas: Record<string, Schema> } }).components.schemas;

/** Compares a part of the page with the expected text, or writes that text. */
async function check(part: string, expected: string): Promise<void> {
  if (WRITE) {
    page = page.replace(part, () => expected);
    await writeFile(PAGE, page);
    return;
  }
  expect(plain(part)).toBe(plain(expected));
}

/** The text without the alignment of tables. */
function plain(text: string): string {
  return text.replace(/^\|.*$/gm, (row) => row.replace(/ +\|/g, " |").replace(/-+/g, "-")).trim();
}

const rowOf = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
const codeOf = (cell: string) => /^`(.*)`$/.exec(cell)![1]!;
const cellsOf = (row: string) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The cells of the rows below these column heads, and the rows' text. */
function table(...heads: string[]): { text: string; rows: string[][] } {
  const head = heads.map((name) => `\\| ${name} +`).join("");
  const found = new RegExp(`^${head}\\|\\n\\|[-| ]+\\|\\n((?:\\|.*\\n)+)`, "m").exec(page);
  if (!found) throw new Error(`docs/formats.md has no table of ${heads.join(", ")}`);
  return { text: found[1]!, rows: found[1]!.trimEnd().split("\n").map(cellsOf) };
}

/** The code blocks of a section, in order. */
function blocks(heading: string): { text: string; code: string }[] {
  const section = page.split(/^(?=##+ )/m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/formats.md has no section ${heading}`);
  return [...section.matchAll(/^```\w+\n(.*?)\n^```$/gms)].map(([text, code]) => ({ text, code: code! }));
}

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const jsonOf = (block: { code: string }) => JSON.parse(block.code) as unknown;

/** Compares a block of JSON by value. */
async function checkJson(block: { text: string; code: string }, expected: unknown): Promise<void> {
  if (WRITE) return check(block.text, json(expected));
  expect(jsonOf(block)).toEqual(expected);
}

function expectValid(name: string, value: unknown): void {
  const ajv = new Ajv2020({ validateFormats: false, keywords: ["components", "example"], strict: false });
  const validate = ajv.compile({ $ref: `#/components/schemas/${name}`, components: { schemas } });
  expect([validate(value), validate.errors]).toEqual([true, null]);
}

describe("the tables of", () => {
  it("schemas match the OpenAPI document", async () => {
    const marks = [...page.matchAll(/<!-- schema: (\w+)(?:\.(\w+))? -->\n(?:\n(?:\|.*\n)+)?/g)];
    expect(marks.length).toBeGreaterThan(10);
    for (const [text, name, member] of marks) {
      const schema = member === undefined ? schemas[name!]! : schemas[name!]!.properties![member]!;
      const former = new Map([...text.matchAll(/^\| `.*/gm)].map(([line]) => [cellsOf(line)[0]!, cellsOf(line)[2]!]));
      const rows = Object.entries(schema.properties!).map(([key, value]) => {
        const label = `\`${key}\`${schema.required?.includes(key) ? "" : "?"}`;
        const meaning = (value.description === INSTANT ? undefined : value.description) ?? former.get(label) ?? "";
        if (!WRITE) expect([key, meaning]).not.toEqual([key, ""]);
        return rowOf([label, typeText(value), meaning.replace(/(?<!\\)\|/g, "\\|")]);
      });
      const head = "| member | type | meaning |\n| - | - | - |\n";
      const mark = member === undefined ? name : `${name}.${member}`;
      await check(text, `<!-- schema: ${mark} -->\n\n${head}${rows.join("")}`);
    }
  });

  it("snapshots match its shapes", async () => {
    const single = /<!-- shape: SNAPSHOT -->\n(?:\n(?:\|.*\n)+)?/.exec(page)![0];
    const members = membersOf(shapes.SNAPSHOT).map(rowOf).join("");
    await check(single, `<!-- shape: SNAPSHOT -->\n\n| member | type |\n| - | - |\n${members}`);
    for (const [text, names] of page.matchAll(/<!-- shapes: ([A-Z_, ]+) -->\n(?:\n(?:\|.*\n)+)?/g)) {
      const list = names!.split(", ");
      const found = list.flatMap((name): [string, Shape][] => {
        const value = (shapes as Record<string, unknown>)[name] as Shape | Record<string, Shape>;
        return "Check" in value ? [[name.toLowerCase(), value as Shape]] : Object.entries(value);
      });
      const rows = found.map(([name, shape]) => {
        const members = membersOf(shape).filter(([member]) => member !== "`kind`");
        return rowOf([`\`${name}\``, members.map(([member, type]) => `${member} ${type}`).join("; ")]);
      });
      const head = `| ${list.length > 1 ? "object" : "kind"} | members |\n| - | - |\n`;
      await check(text, `<!-- shapes: ${names} -->\n\n${head}${rows.join("")}`);
    }
  });
});

describe("operations", () => {
  it("are accepted and answered as documented", async () => {
    const [event, accepted] = blocks("### Track");
    const [batch, answer] = blocks("### Batch");
    expectValid("TrackOperation", jsonOf(event!));
    expectValid("Batch", jsonOf(batch!));
    const first = await fixture.post("/v1/events", jsonOf(event!));
    const second = await fixture.post("/v1/events/batch", jsonOf(batch!));
    expect([first.status, second.status]).toEqual([202, 202]);
    expectValid("AcceptedEvent", first.body);
    expectValid("AcceptedBatch", second.body);
    await checkJson(accepted!, first.body);
    await checkJson(answer!, second.body);
  });

  it("are refused as documented", async () => {
    const [sent, answer] = blocks("## Refusals");
    const { status, body } = await fixture.post("/v1/events/batch", jsonOf(sent!));
    expect(status).toBe(400);
    expectValid("Error", body);
    const { error } = body as { error: Record<string, unknown> };
    const docs = String(error["docs"]).replace(DOCS_URL, "https://svc.example.com/docs");
    await checkJson(answer!, { error: { ...error, requestId: "req_5d0c2b6e4f1a4c7f9b3e8a7d6c5b4a39", docs } });
  });

  it("count as repeated under a key as documented", async () => {
    const { text, rows } = table("sent again", "answer");
    const sections = page.slice(page.indexOf("## Idempotency keys"));
    const original = /After `(\{.*?\})`, under/.exec(sections)![1]!;
    const send = (operation: string) =>
      fixture.post("/v1/events", operation.replace(/^\{/, '{"idempotencyKey": "formats", '));
    const { body } = await send(original);
    const expected: string[] = [];
    for (const [cell] of rows) {
      const { status, body: again } = await send(codeOf(cell!));
      const known = (again as { eventId?: string }).eventId === (body as { eventId: string }).eventId;
      expected.push(rowOf([cell!, known ? `${status}, the same event` : `${status} \`${codeIn(again)}\``]));
    }
    await check(text, expected.join(""));
  });

  it.each<[what: string, column: string, kept: string, operation: (cell: string) => string]>([
    ["timestamps that are read", "answered", "occurredAt", (cell) => `"event": "login", "timestamp": "${cell}"`],
    ["numbers that are kept", "kept", "properties", (cell) => `"event": "n", "properties": {"n": ${cell}}`],
  ])("have %s as documented", async (_, column, kept, operation) => {
    const { text, rows } = table("sent", column);
    const expected: string[] = [];
    for (const [cell] of rows) {
      const reply = await fixture.post("/v1/events", `{"customerId": "kept", ${operation(codeOf(cell!))}}`);
      expected.push(rowOf([cell!, await keptOf(reply, kept)]));
    }
    await check(text, expected.join(""));
  });
});

describe("a model", () => {
  let model: LocalModel;
  it("becomes the snapshot, which the service accepts", async () => {
    const [source, shown] = blocks("## A configuration");
    const compiled = await compileProject(await project({ "svc.config.ts": source!.code }), { types: true });
    expect(compiled).toMatchObject({ ok: true, warnings: [] });
    if (compiled.ok) model = compiled;
    await checkJson(shown!, model.snapshot);
    if (!WRITE) expect(parseSnapshot(jsonOf(shown!))).toEqual({ ok: true, snapshot: model.snapshot });
    await fixture.deploy(model.snapshot, "live");
  });

  it("becomes the types", async () => {
    const [shown] = blocks("## Types for senders");
    const types = typesOf(model.snapshot).trimEnd();
    await check(shown!.text, `\`\`\`ts\n${types}\n\`\`\``);
  });

  it("leads to the state", async () => {
    const [shown] = blocks("## A customer's state");
    const [event] = blocks("### Track");
    const [batch] = blocks("### Batch");
    const clock = TestClock.at("2026-03-02T10:00:00Z");
    const engine = new LocalEngine(model, { clock, environment: "test", configVersion: "v1", settleMs: 30_000 });
    engine.accept([jsonOf(event!) as RequestOperation], "single");
    clock.moveTo(Date.parse("2026-03-03T10:00:00Z"));
    engine.advance();
    engine.accept((jsonOf(batch!) as { events: RequestOperation[] }).events, "batch");
    const document: unknown = JSON.parse(JSON.stringify(engine.document("globex")));
    expectValid("CustomerState", document);
    const [run] = engine.document("globex")!.journeys;
    const steps = schemas["JourneyProgress"]!.properties!["stepsData"]!.additionalProperties as Schema;
    expect(run!.stepsData["second"]!.triggeredBy).toMatch(/^evt_/);
    expect(steps.properties!["triggeredBy"]!.description).toMatch(/^The id of the event /);
    await checkJson(shown!, document);
  });
});

it("a body is signed as documented", async () => {
  const [body] = blocks("## A webhook's request");
  expectValid("DeliveryBody", jsonOf(body!));
  const [text, secret, id, timestamp, before] =
    /secret `(.*?)`, `webhook-id` `(.*?)`, `webhook-timestamp` `(.*?)`(.*?)`webhook-signature` is `v1,.*?`/s.exec(
      page,
    )!;
  const signature = sign({ id: id!, timestamp: Number(timestamp), body: body!.code }, [secret!]);
  const signed = `secret \`${secret}\`, \`webhook-id\` \`${id}\`, \`webhook-timestamp\` \`${timestamp}\`${before}`;
  await check(text, `${signed}\`webhook-signature\` is \`${signature}\``);
});

it("ids have the documented forms", async () => {
  const { service, owner } = fixture;
  const ask = (method: string, path: string, body?: object) => service.request(method, path, { by: owner, body });
  await fixture.deploy({ lifecycle: { initial: "new", states: [{ name: "new", transitions: [] }] } });
  const replies = [
    await fixture.single({ customerId: "known", event: "login" }),
    await ask("GET", "/whoami"),
    await ask("GET", "/projects/app/api-keys"),
    await ask("POST", "/organization/access-tokens", { name: "ci", role: "developer" }),
    await ask("POST", "/organization/invitations", { email: "bob@example.com", role: "viewer" }),
    await ask("POST", "/projects/app/webhooks", { url: "https://example.com/hooks", eventTypes: ["*"] }),
    await ask("POST", "/projects/app/recomputes?env=test", { dryRun: true }),
    await ask("POST", "/projects/app/previews?env=test", { snapshot: { formatVersion: 1 } }),
    await ask("POST", "/projects/app/backtests?env=test", { outcome: "state:new", within: "30d" }),
  ];
  const refusal: unknown = await (await fetch(`${service.url}/nowhere`)).json();
  const text = JSON.stringify([...replies.map(({ body }) => body), refusal]);
  const ids = [...text.matchAll(/"((?:[a-z]{3}_[0-9a-f]+|v\d+))"/g)].map(([, id]) => id!);
  const forms = table("form", "of").rows.map(([cell]) => new RegExp(`^${codeOf(cell!)}$`));
  expect(ids.filter((id) => forms.filter((form) => form.test(id)).length !== 1)).toEqual([]);
  // For ids of which none exists yet, the API description has an example.
  const examples = [
    ...JSON.stringify((await ask("GET", "/openapi.json")).body).matchAll(/"([a-z]{3}_[0-9a-f]{8,}|v\d)"/g),
  ];
  const known = [...ids, ...examples.map(([, id]) => id!)];
  expect(forms.filter((form) => !known.some((id) => form.test(id)))).toEqual([]);
});

it("lists are pages", async () => {
  const [shown] = blocks("## Lists");
  await fixture.single({ customerId: "listed", event: "login" });
  const { body } = await fixture.service.request("GET", "/projects/app/events?limit=1", { by: fixture.owner });
  const { data, nextCursor } = body as { data: Record<string, unknown>[]; nextCursor: string };
  expectValid("Event", data[0]);
  const at = "2026-03-02T10:00:00.000Z";
  const same = { eventId: "evt_0000000000000400", id: "evt_0000000000000400", occurredAt: at, acceptedAt: at };
  expect(nextCursor).toMatch(/./);
  await checkJson(shown!, { data: [{ ...data[0], ...same }], nextCursor: "eyJ…" });
});

const INSTANT = "An instant: ISO 8601 in UTC with milliseconds.";

/** A schema's type, in words. */
function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/.*\//, "");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  if (schema.anyOf) return schema.anyOf.map(typeText).join(" or ");
  const range = (from?: number, to?: number) =>
    from === undefined && to === undefined
      ? ""
      : to === undefined
        ? `, ${from} or more`
        : `, ${from} to ${to.toLocaleString("en")}`;
  switch (schema.type) {
    case undefined:
      return "any";
    case "null":
      return "null";
    case "array":
      return `list of ${schema.items?.anyOf ? `(${typeText(schema.items)})` : typeText(schema.items!)}${range(schema.minItems, schema.maxItems)}`;
    case "string":
      if (schema.format === "date-time")
        return schema.description === INSTANT || schema.pattern !== undefined ? "instant" : "date-time";
      if (schema.pattern !== undefined) return `text, \`${schema.pattern.replace(/\|/g, "\\|")}\``;
      return `text${range(schema.minLength, schema.maxLength)}${schema.maxLength === undefined ? "" : " characters"}`;
    case "object": {
      const members = Object.keys(schema.properties ?? {});
      if (members.length > 0) return `object: ${members.map((name) => `\`${name}\``).join(", ")}`;
      const values = typeof schema.additionalProperties === "object" ? typeText(schema.additionalProperties) : "any";
      return values === "any" ? "object" : `object of ${values}`;
    }
    default:
      return `${schema.type}${range(schema.minimum, schema.maximum)}`;
  }
}

/** The members of a snapshot node. Members that are nodes themselves have no type here: they are checked where they are visited. */
function membersOf(shape: Shape): [string, string][] {
  const { properties, required = [] } = JSON.parse(JSON.stringify(shape.Type())) as Schema;
  // A shape has members that are never accepted for their error messages.
  const accepted = Object.entries(properties!).filter(([, schema]) => schema.not === undefined);
  return accepted.map(([name, schema]) => {
    const type = typeText(schema)
      .replace(/^list of any/, "list of nodes")
      .replace(/^any$/, "node");
    return [`\`${name}\`${required.includes(name) ? "" : "?"}`, type];
  });
}

const codeIn = (body: unknown) => (body as { error: { code: string } }).error.code;

/** The stored member of an accepted event, or the reason of its refusal. */
async function keptOf({ status, body }: Reply, member: string): Promise<string> {
  const { eventId, error } = body as { eventId: string; error?: { reason?: string; message: string } };
  if (error !== undefined) return `${status}: ${error.reason ?? error.message}`;
  const [row] = await sql`
    select svc.iso(occurred_at) as "occurredAt", properties ->> 'n' as properties
    from svc_inspect.events where event_id = ${eventId}`;
  return `\`${row![member]}\``;
}
