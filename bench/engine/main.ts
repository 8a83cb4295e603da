import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { compileModel, evaluate, newCustomer, type CustomerState, type Model } from "../../src/engine/index.js";
import { hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { measure, median } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { orderedEvents } from "./events.js";
import { benchModel } from "./model.js";
import { factsOf, rulesEngine } from "./rules-engine.js";

const FLOOR = 300_000;
const IDENTIFY = { kind: "identify" as const, seq: 0, traits: { plan: "pro" }, acceptedAt: Date.UTC(2026, 0, 1) };

/** The engine alone: no database, one core. */
export async function benchEngine(rounds: number, events: number): Promise<Row[]> {
  const model = benchModel();
  return [
    ...(await benchFolding(model, rounds, events)),
    ...(await benchHistory(model, rounds, events)),
    await benchWindow(rounds),
    await benchReady(rounds),
  ];
}

/** Folding the history of one customer, compared with json-rules-engine on the same events with precomputed facts. */
async function benchFolding(model: Model, rounds: number, count: number): Promise<Row[]> {
  const events = orderedEvents(count);
  const rules = rulesEngine();
  const judged = Math.ceil(count / 50);
  const [ours, theirs] = await measure(
    [
      {
        name: "ours",
        prepare: () => undefined,
        run: () => {
          fold(model, newCustomer("c1", IDENTIFY.acceptedAt), events);
          return Promise.resolve(count);
        },
      },
      {
        name: "json-rules-engine",
        prepare: () => undefined,
        run: async () => {
          for (const { event, seq } of events.slice(0, judged)) await rules.run(factsOf(event, seq));
          return judged;
        },
      },
    ],
    rounds,
  );
  const row = { work: "folding events in order, one core", ours: ours!.rate, unit: "events/s" };
  return [
    { ...row, against: "the floor", theirs: FLOOR, floor: 1, aim: 3.33, rounds: { ours: ours!.rates } },
    {
      ...row,
      against: "json-rules-engine, precomputed facts",
      theirs: theirs!.rate,
      floor: 1,
      aim: 10,
      rounds: { theirs: theirs!.rates },
    },
  ];
}

/** The cost of one more event, evaluated separately from the stored state, after histories of different lengths. */
async function benchHistory(model: Model, rounds: number, count: number): Promise<Row[]> {
  const more = Math.ceil(count / 40);
  const histories = [100, 10_000, 100_000];
  const states = histories.map((length) => fold(model, newCustomer("c1", IDENTIFY.acceptedAt), orderedEvents(length)));
  const measured = await measure(
    histories.map((length, index) => ({
      name: String(length),
      prepare: () => orderedEvents(more, length),
      run: (events: ReturnType<typeof orderedEvents>) => {
        let state = states[index]!;
        for (const event of events) ({ state } = evaluate(model, state, [event], { now: 0, timers: "hold" }));
        return Promise.resolve(more);
      },
    })),
    rounds,
  );
  const [short, ...long] = measured;
  return long.map(({ name, rate, rates }) => ({
    work: `an event by itself after a history of ${Number(name).toLocaleString("en-US")}`,
    against: "after a history of 100",
    ours: rate,
    theirs: short!.rate,
    unit: "events/s",
    floor: 0.83,
    aim: 0.95,
    rounds: { ours: rates, theirs: short!.rates },
  }));
}

/** Events of one call whose score depends on the count in a window: a customer with many events in it, compared with one with few. */
async function benchWindow(rounds: number): Promise<Row> {
  const [few, many] = [500, 20_000] as const;
  const used = { kind: "count", of: { event: "page_viewed" }, within: "365d" } as const;
  const snapshot: Snapshot = {
    ...EMPTY_SNAPSHOT,
    events: { page_viewed: { properties: {} } },
    health: {
      components: [{ id: "usage", weight: 1, score: { kind: "scale", of: used, from: 0, to: 1_000_000 } }],
      bands: [{ id: "all", from: 0 }],
    },
  };
  const model = compileModel(snapshot, hashSnapshot(snapshot));
  const sizes = [many, few];
  const measured = await measure(
    sizes.map((count) => ({
      name: String(count),
      prepare: () => orderedEvents(count).map((one) => ({ ...one, event: "page_viewed", properties: {} })),
      run: (events: ReturnType<typeof orderedEvents>) => {
        for (let i = 0; i < many / count; i++) fold(model, newCustomer("c1", IDENTIFY.acceptedAt), events);
        return Promise.resolve(many);
      },
    })),
    rounds,
  );
  return {
    work: `an event of a call of ${many.toLocaleString("en-US")} in the window of a score`,
    against: `of one of ${few}`,
    ours: measured[0]!.rate,
    theirs: measured[1]!.rate,
    unit: "events/s",
    floor: 0.5,
    aim: 0.8,
    rounds: { ours: measured[0]!.rates, theirs: measured[1]!.rates },
  };
}

/** How often per second `svc dev` could become ready, from the start of its process to the line with its address. */
async function benchReady(rounds: number): Promise<Row> {
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now();
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const child = spawn(process.execPath, ["dist/cli/main.js", "dev", "--port", "0", "--directory", "examples/saas"], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let isReady = false;
    for await (const line of createInterface({ input: child.stdout })) {
      isReady = line.includes("http://127.0.0.1:");
      if (isReady) break;
    }
    if (!isReady) throw new Error("svc dev ended before it was ready");
    if (round > 0) seconds.push((performance.now() - startedAt) / 1_000);
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  return {
    work: `svc dev ready on examples/saas (${median(seconds).toFixed(2)} s)`,
    against: "1 s",
    ours: 1 / median(seconds),
    theirs: 1,
    unit: "/s",
    floor: 1,
    aim: 2,
    rounds: { seconds },
  };
}

function fold(model: Model, customer: CustomerState, events: ReturnType<typeof orderedEvents>): CustomerState {
  return evaluate(model, customer, [IDENTIFY, ...events], { now: 0, timers: "hold" }).state;
}
