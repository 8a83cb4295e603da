/** Measures one or more attacks on one stage: what the neighbour sees before and during them. */
import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { DemoFailure } from "../src/demo/failure.js";
import type { Attack, Ground, Strike } from "./kinds/attack.js";
import type { Figures } from "./observer/figures.js";
import { pause } from "./flood.js";
import { attackedBy, outcomeViolations, visibleOf, type Attacked, type Outcome } from "./outcome.js";
import { Sender } from "./sender.js";
import { NEIGHBOUR, type Stage } from "./stage.js";
import { Tally } from "./tally.js";

export interface MeasureOptions {
  /** How long the neighbour is measured alone before. */
  quietMs: number;
  strikeMs: number;
  /** Called about once a minute with the neighbour's figures. */
  onMinute?: (minutes: number, figures: Figures, restarts: number) => void;
}

const PREPARED_MS_MAX = 180_000;
/** The first events of a service take longer. */
const WARM_MS = 2_000;
const ENDED_MS_MAX = 30_000;
const MINUTE_MS = 60_000;
const AGAIN_AFTER_MS = 1_000;
const RESTARTED = "the worker's thread exited unexpectedly";

/** Prepares the attacks one after the other, and runs all of them at once. Returns the outcome of all together, and of each. */
export async function measureAttacks(
  stage: Stage,
  attacks: readonly Attack[],
  { quietMs, strikeMs, onMinute }: MeasureOptions,
): Promise<{ all: Outcome; each: Attacked[] }> {
  const { observer } = stage;
  const senders: Sender[] = [];
  try {
    const prepared: { attack: Attack; tally: Tally; strike: Strike }[] = [];
    for (const attack of attacks) {
      const tally = new Tally();
      const sender = new Sender(stage.service.url, stage.attacker.credentials, tally);
      senders.push(sender);
      const strike = await within(PREPARED_MS_MAX, `preparing ${attack.name}`, prepare(stage, attack, sender, tally));
      // Preparation does not count.
      Object.assign(tally, { requests: 0, bytes: 0 });
      tally.answers.clear();
      prepared.push({ attack, tally, strike });
    }
    await delay(WARM_MS, undefined, { signal: stage.signal });
    await observer.take();
    await delay(quietMs, undefined, { signal: stage.signal });
    const quiet = visibleOf(await observer.take());
    const restartsBefore = await restartsOf(stage);

    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, stage.signal]);
    setMaxListeners(0, signal); // every request listens
    const startedAt = performance.now();
    const striking = Promise.all(prepared.map(({ strike }) => repeat(strike, signal)));
    striking.catch(() => undefined); // awaited below
    const seen: Figures[] = [];
    for (let minutes = 1; performance.now() - startedAt < strikeMs; minutes++) {
      await delay(Math.min(MINUTE_MS, startedAt + strikeMs - performance.now()), undefined, { signal: stage.signal });
      const figures = await observer.take();
      seen.push(figures);
      onMinute?.(minutes, figures, (await restartsOf(stage)) - restartsBefore);
    }
    ending.abort();
    await within(ENDED_MS_MAX, "ending the attack", striking);
    const last = await observer.finish();
    const figures = merged([...seen, last]);
    const each = prepared.map(({ attack: { name, what }, tally }) => attackedBy(name, what, tally));
    const outcome = {
      ...inAll(each),
      seconds: strikeMs / 1_000,
      quiet,
      during: visibleOf(figures),
      refused: figures.refused,
      notOnce: await notOnce(stage, last),
      longestBlockMs: figures.longestBlockMs,
      unready: figures.unready,
      memory: figures.memory,
      restarts: (await restartsOf(stage)) - restartsBefore + stage.ends.length,
    };
    return { all: { ...outcome, broken: outcomeViolations(outcome, attacks.length === 1) }, each };
  } finally {
    for (const sender of senders) await sender.close();
  }
}

async function prepare(stage: Stage, attack: Attack, sender: Sender, tally: Tally): Promise<Strike> {
  const project = attack.name;
  const key = await stage.attacker.api.createProject(project, project);
  const ground: Ground = { stage, project, key, sender, tally };
  return attack.prepare(ground);
}

/** Repeats an attack when it has ended. */
async function repeat(strike: Strike, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await strike(signal);
    await pause(AGAIN_AFTER_MS, signal);
  }
}

async function restartsOf({ logFile }: Stage): Promise<number> {
  return (await readFile(logFile, "utf8")).split(RESTARTED).length - 1;
}

/** Events of the neighbour that are not stored and evaluated exactly once. */
async function notOnce({ cluster }: Stage, { accepted, unseen }: Figures): Promise<number> {
  const [counts] = await cluster.query(
    (sql) => sql<[{ stored: number; evaluated: number }]>`
      select
        (select count(*)::integer from svc_inspect.events where project = ${NEIGHBOUR}) as stored,
        (select count(*)::integer from svc_inspect.rule_executions where project = ${NEIGHBOUR}) as evaluated`,
  );
  // A stored event may not have been answered yet.
  if (unseen > 0) return unseen;
  return Math.abs(counts.stored - accepted) + Math.abs(counts.evaluated - accepted);
}

function merged(parts: readonly Figures[]): Figures {
  const maximum = (of: (figures: Figures) => number) => Math.max(...parts.map(of));
  return {
    latencies: parts.flatMap(({ latencies }) => latencies),
    accepted: parts.at(-1)?.accepted ?? 0,
    unseen: parts.at(-1)?.unseen ?? 0,
    refused: added(parts.map(({ refused }) => refused)),
    longestBlockMs: maximum(({ longestBlockMs }) => longestBlockMs),
    unready: added(parts.map(({ unready }) => unready)),
    memory: { service: maximum(({ memory }) => memory.service), postgres: maximum(({ memory }) => memory.postgres) },
  };
}

function inAll(each: readonly Attacked[]): Attacked {
  const [only] = each;
  if (each.length === 1 && only !== undefined) return only;
  return {
    name: "all at once",
    what: each.map(({ name }) => name).join(", "),
    requests: each.reduce((sum, { requests }) => sum + requests, 0),
    bytes: each.reduce((sum, { bytes }) => sum + bytes, 0),
    answers: added(each.map(({ answers }) => answers)),
    breaches: each.flatMap(({ breaches }) => breaches),
  };
}

function added(counts: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const count of counts) for (const [what, times] of Object.entries(count)) sum[what] = (sum[what] ?? 0) + times;
  return sum;
}

/** Rejects if the work takes longer than `ms`. */
async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(ms, undefined, { signal: timer.signal }).then(() => {
    throw new DemoFailure(`${what} took longer than ${ms / 1_000} s and was given up`);
  });
  late.catch(() => undefined); // when the work has ended first
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
