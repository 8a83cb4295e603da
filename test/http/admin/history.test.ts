import { beforeAll, expect, it } from "vitest";
import type { HistoryEntry } from "../../../src/http/admin/answers.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { invalid, pages, refused, type Page } from "./support/api.js";

const of = { event: "login" };
const scored = { kind: "count", of, within: "30d" } as const;
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const login = (at: string, seats = 1) => ({ customerId: "ann", event: "login", properties: { seats }, timestamp: at });
const WORDS = "x".repeat(3_000);

const fixture = useSpec();
const path = "customers/ann/history";
const read = (query: string) => fixture.read<Page<HistoryEntry>>(`${path}?${query}`);

beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      strictSchema: false,
      lifecycle: {
        initial: "new",
        states: [
          { name: "new", transitions: [{ to: "active", when: { kind: "count", of, operator: "gte", value: 2 } }] },
          { name: "active", terminal: true, transitions: [] },
        ],
      },
      health: {
        components: [{ id: "usage", weight: 1, score: { kind: "scale", of: scored, from: 0, to: 4 } }],
        bands: [
          { id: "good", from: 50 },
          { id: "poor", from: 0 },
        ],
      },
      rules: [
        { id: "greet", on: { kind: "event", of }, then: { kind: "emit", type: "user.greeted" } },
        {
          id: "never",
          on: { kind: "event", of },
          when: { kind: "traitExists", trait: "plan" },
          then: { kind: "emit", type: "user.x" },
        },
      ],
    }),
  );
  const webhook = { url: "https://example.com/hook", eventTypes: ["user.greeted"] };
  const made = await fixture.admin("POST", "/projects/app/webhooks?env=test", { body: webhook });
  expect(made.status).toBe(201);
  await fixture.batch([login(minutesAgo(4)), login(minutesAgo(3)), login(minutesAgo(2), 7)]);
  await fixture.batch([{ type: "identify", customerId: "ann", traits: { plan: "pro" } }]);
  await fixture.batch([{ customerId: "ann", event: "note", properties: { text: WORDS } }]);
  await fixture.evaluate();
});

it("lists everything that happened, newest first, and at one instant effects before their causes", async () => {
  const { data, nextCursor } = await read("limit=200");
  expect(nextCursor).toBeNull();
  const instants = data.map(({ at }) => at);
  expect(instants).toEqual(instants.toSorted().toReversed());
  const order = ["event", "traits", "transition", "score", "rule", "emission"];
  expect(new Set(data.map(({ kind }) => kind))).toEqual(new Set(order));
  const { at } = data.find((entry) => entry.kind === "transition" && entry.details.to === "active")!;
  const effects = data.filter((entry) => entry.at === at);
  const kinds = effects.map(({ kind }) => kind);
  expect(kinds).toEqual(kinds.toSorted((a, b) => order.indexOf(b) - order.indexOf(a)));
  const event = effects.pop()!;
  const eventId = event.kind === "event" ? event.details.eventId : "";
  expect(effects.length).toBeGreaterThan(1);
  for (const { cause } of effects) expect(cause).toEqual({ type: "event", id: eventId });
});

it("shows what rules emitted and its progress at each webhook, and only executions that acted", async () => {
  const { data } = await read("limit=200");
  const rules = data.filter((entry) => entry.kind === "rule");
  expect(rules.map(({ details: { ruleId, result } }) => [ruleId, result])).toEqual(Array(3).fill(["greet", "pass"]));
  const emissions = data.filter((entry) => entry.kind === "emission" && entry.details.eventType === "user.greeted");
  expect(emissions.map(({ details }) => (details as { emissionId: string }).emissionId)).toEqual(
    rules.map(({ details }) => details.emissionId),
  );
  const [{ details }] = emissions as [Extract<HistoryEntry, { kind: "emission" }>];
  expect(details.deliveries).toMatchObject([{ url: "https://example.com/…", status: "pending", attempts: 0 }]);
});

it("leaves out payloads of more than 2 KiB", async () => {
  const { data } = await read("kinds=event,traits");
  const payloads = data.map(({ details }) =>
    "properties" in details ? details.properties : "traits" in details && details.traits,
  );
  expect(payloads).toEqual([null, { plan: "pro" }, { seats: 7 }, { seats: 1 }, { seats: 1 }]);
});

it("lists the same in pages of any size, only the requested kinds, and only entries before an instant", async () => {
  const { data } = await read("limit=200");
  for (const limit of [1, 5]) expect((await pages(read, "", limit)).items).toEqual(data);
  const kinds = await pages(read, "kinds=transition,score", 2);
  expect(kinds.items).toEqual(data.filter(({ kind }) => kind === "transition" || kind === "score"));
  const { at } = data.find(({ kind }) => kind === "transition")!;
  expect((await read(`limit=200&at=${at}`)).data).toEqual(data.filter((entry) => entry.at <= at));
});

it("follows a recompute: it shows the present history", async () => {
  const before = await read("limit=200&kinds=transition,score,rule");
  const { sql } = fixture.service.db;
  const id = await environmentId(sql, "app", "test");
  await sql`update svc.customers set generation = generation + 1 where environment_id = ${id} and customer_id = 'ann'`;
  expect((await read("kinds=transition,score,rule")).data).toEqual([]);
  await sql`update svc.customers set generation = generation - 1 where environment_id = ${id} and customer_id = 'ann'`;
  expect(await read("limit=200&kinds=transition,score,rule")).toEqual(before);
});

it("reports what is wrong with a request", async () => {
  const answer = (query: string, of = path) => fixture.admin("GET", `/projects/app/${of}?${query}`);
  const kinds = invalid("kinds", /^`kinds` must be one or more of event, traits, /);
  expect(await answer("kinds=events")).toMatchObject(kinds);
  for (const field of ["at", "cursor"]) expect(await answer(`${field}=3026-01-01`)).toMatchObject(invalid(field));
  expect(await answer("", "customers/nobody/history")).toMatchObject(refused(404, "CUSTOMER_NOT_FOUND"));
});

it("returns some traits of some customers as text", async () => {
  const ask = (customers: unknown, names: unknown) => {
    const [of, traits] = [customers, names].map((value) => encodeURIComponent(JSON.stringify(value)));
    return fixture.admin("GET", `/projects/app/traits?customers=${of}&names=${traits}`);
  };
  expect(await ask(["ann", "nobody"], ["plan", "none"])).toMatchObject({ status: 200, body: { ann: { plan: "pro" } } });
  expect(await ask([], [])).toMatchObject({ status: 200, body: {} });
  expect(await ask("ann", ["plan"])).toMatchObject(invalid("customers"));
  expect(await ask(["ann"], Array(51).fill("plan"))).toMatchObject(invalid("names"));
});

it("shows a score that ended because all of its components are absent", async () => {
  const score = { kind: "map", trait: "plan", values: { free: 50 } } as const;
  await fixture.deploy(
    snapshot({
      health: {
        components: [{ id: "plan", weight: 1, score, absent: "skip" }],
        bands: [{ id: "all", from: 0 }],
      },
    }),
  );
  for (const plan of ["free", null]) {
    await fixture.batch([{ type: "identify", customerId: "ben", traits: { plan } }]);
    await fixture.evaluate();
  }
  const { data } = await fixture.read<Page<HistoryEntry>>("customers/ben/history?kinds=score");
  expect(data.map(({ details }) => details)).toEqual([
    { overall: null, band: null },
    { overall: 50, band: "all" },
  ]);
  const exported = await fixture.admin("GET", "/projects/app/customers/ben/export");
  expect(exported).toMatchObject({
    status: 200,
    body: { healthScores: [{ overall: 50 }, { overall: null, band: null }] },
  });
});
