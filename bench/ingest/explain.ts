import { randomUUID } from "node:crypto";
import Table from "cli-table3";
import type { Notice, Sql } from "postgres";
import { ingestBatch } from "../../src/db/api/ingestion.js";
import { connect } from "../../src/db/connect.js";
import type { BenchDatabase } from "../lib/database.js";
import { median } from "../lib/measure.js";
import { milliseconds } from "../lib/report.js";
import { BATCH, nextBodies } from "./bodies.js";
import { fill } from "./fill.js";

const CALLS = 20;

/** What auto_explain tells of one statement, the ones it ran inside included. */
interface Logged {
  text: string;
  /** Where it ran: the chain of functions and lines, innermost first; empty for the call itself. */
  place: string;
  ms: number;
  plan: string;
}

/** A statement with the time of the statements inside it taken off. */
interface Part {
  label: string;
  place: string;
  /** Milliseconds a call. */
  self: number;
  plan: string;
}

/**
 * Prints where the time of one batch of 1,000 goes, statement by statement, as auto_explain sees them inside svc_api.ingest; with `plans`
 * also `explain (analyze, buffers)` of each. So the statements are never copied here.
 */
export async function explainIngest(database: BenchDatabase, { plans }: { plans: boolean }): Promise<void> {
  await fill(database, 20 * BATCH, 20_000);
  await database.settle(0);
  const notices: Notice[] = [];
  const sql = connect(database.url, {
    max: 1,
    applicationName: "svc bench",
    onNotice: (notice) => notices.push(notice),
  });
  try {
    for (const body of nextBodies(CALLS)) await ingest(sql, database, body); // plans are cached from the sixth call on
    await printOutside(sql, database);

    await loadAutoExplain(sql);
    const [body] = nextBodies(1) as [string];
    const logged: Logged[][] = [];
    for (const next of [body, ...nextBodies(CALLS - 1)]) {
      notices.length = 0;
      await ingest(sql, database, next);
      logged.push(notices.flatMap(read));
    }
    printParts(partsOf(logged));

    if (!plans) return;
    await sql`select set_config('auto_explain.log_analyze', 'on', false)`;
    notices.length = 0;
    const [explained] = nextBodies(1) as [string];
    await ingest(sql, database, explained);
    for (const { self, label, place, plan } of partsOf([notices.flatMap(read)])) {
      if (plan === "" || place === "") continue;
      console.log(`-- ${milliseconds(self)}, ${place}: ${label}\n${plan}\n`);
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function ingest(sql: Sql, { keyHash }: BenchDatabase, body: string): Promise<unknown> {
  return ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body);
}

async function loadAutoExplain(sql: Sql): Promise<void> {
  try {
    await sql`load 'auto_explain'`;
  } catch (error) {
    throw new Error("this server has no auto_explain, which --explain and --profile need", { cause: error });
  }
  for (const [name, value] of Object.entries({
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_parameter_max_length": "0",
    "auto_explain.log_level": "notice",
    client_min_messages: "notice",
  })) {
    await sql`select set_config(${name}, ${value}, false)`;
  }
}

/** The parts of a call that no statement inside it shows, from outside: sending, reading the JSON, committing. */
async function printOutside(sql: Sql, database: BenchDatabase): Promise<void> {
  const times = {
    "begin (a round trip)": [],
    "the call": [],
    "of it, reading the body as jsonb": [],
    commit: [],
  } as Record<string, number[]>;
  const timed = async (name: string, work: () => PromiseLike<unknown>) => {
    const startedAt = performance.now();
    await work();
    times[name]?.push(performance.now() - startedAt);
  };
  for (const body of nextBodies(CALLS)) {
    await timed("begin (a round trip)", () => sql`begin`);
    await timed("the call", () => ingest(sql, database, body));
    await timed("commit", () => sql`commit`);
    await timed("of it, reading the body as jsonb", () => sql`select jsonb_typeof(${body}::text::jsonb)`);
  }
  const table = new Table({ head: ["seen from the caller", `median of ${CALLS}`], style: { head: [], border: [] } });
  for (const [name, values] of Object.entries(times)) table.push([name, milliseconds(median(values))]);
  console.log(table.toString());
}

function read({ message = "", where = "" }: Notice): Logged[] {
  const found = /^duration: ([\d.]+) ms {2}plan:\n([\s\S]*)$/.exec(message);
  if (!found) return [];
  const [, ms, rest = ""] = found;
  // The statement's text may have lines of its own; the plan begins at the first line that has costs.
  const planAt = rest.search(/^[^\n]*\(cost=/m);
  const text = rest.slice(0, planAt < 0 ? undefined : planAt).replace(/^Query Text: /, "");
  return [{ text: squeeze(text), place: where, ms: Number(ms), plan: planAt < 0 ? "" : rest.slice(planAt) }];
}

/** Adds up the calls; statements end before the one that they run inside, whose place is the end of theirs. */
function partsOf(calls: Logged[][]): Part[] {
  const parts = new Map<string, Part>();
  for (const call of calls) {
    const open: Logged[] = [];
    for (const statement of call) {
      const { text, place, ms, plan } = statement;
      let inside = 0;
      while (open.length > 0 && isInside(open.at(-1)!, statement)) inside += open.pop()!.ms;
      open.push(statement);
      const label = place === "" ? "expressions, PL/pgSQL itself" : text;
      const key = `${place}\n${text}`;
      const part = parts.get(key) ?? { label, place: placeName(place), self: 0, plan };
      part.self += (ms - inside) / calls.length;
      parts.set(key, part);
    }
  }
  return [...parts.values()].toSorted((a, b) => b.self - a.self);
}

function isInside(inner: Logged, outer: Logged): boolean {
  return outer.place === "" ? inner.place !== "" : inner.place.endsWith(`\n${outer.place}`);
}

/** The innermost function and line. */
function placeName(place: string): string {
  const line = place.split("\n").find((one) => /^(PL\/pgSQL|SQL) function/.test(one)) ?? "";
  return line.replace(/^(PL\/pgSQL|SQL) function "?([\w.]+)"?(\([^)]*\))? ?/, "$2 ");
}

function printParts(parts: Part[]): void {
  const total = parts.reduce((sum, part) => sum + part.self, 0);
  const table = new Table({
    head: ["statement", "where", "a call", "share"],
    colWidths: [80, 44, null, null],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { label, place, self } of parts) {
    table.push([label.slice(0, 150), place, milliseconds(self), `${((100 * self) / total).toFixed(1)} %`]);
  }
  table.push(["all", "", milliseconds(total), "100 %"]);
  console.log(`inside the call, mean of ${CALLS}; a statement without those inside it\n${table.toString()}`);
}

function squeeze(text: string): string {
  return text
    .replace(/--[^\n]*/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
