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

/** What auto_explain logs of one statement; its time includes that of the statements inside it. */
interface Logged {
  text: string;
  /** The chain of functions and lines that executed it, innermost first; empty for the call itself. */
  place: string;
  ms: number;
  plan: string;
}

/** A statement, without the time of the statements inside it. */
interface Part {
  label: string;
  place: string;
  /** Milliseconds per call. */
  self: number;
  plan: string;
}

/**
 * Prints how the time of one batch of 1,000 is spent, statement by statement, as auto_explain logs them inside svc_api.ingest, so that no
 * statement is copied here; with `plans` also `explain (analyze, buffers)` of each.
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

/** Measures from outside the parts of a call that are not statements inside it: sending, parsing the JSON, committing. */
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
  const match = /^duration: ([\d.]+) ms {2}plan:\n([\s\S]*)$/.exec(message);
  if (!match) return [];
  const [, ms, rest = ""] = match;
  // The statement's text may have several lines; the plan begins at the first line with costs.
  const planAt = rest.search(/^[^\n]*\(cost=/m);
  const text = rest.slice(0, planAt < 0 ? undefined : planAt).replace(/^Query Text: /, "");
  return [{ text: squeeze(text), place: where, ms: Number(ms), plan: planAt < 0 ? "" : rest.slice(planAt) }];
}

/** Averages the calls. Statements are logged before the one that contains them, and their place ends with its place. */
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
  console.log(`inside the call, mean of ${CALLS}; each statement without those inside it\n${table.toString()}`);
}

function squeeze(text: string): string {
  return text
    .replace(/--[^\n]*/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
