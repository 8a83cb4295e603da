import { setMaxListeners } from "node:events";
import type { Attack } from "../attacks/kinds/attack.js";
import { ATTACKS } from "../attacks/kinds/index.js";
import { measureAttacks } from "../attacks/measure.js";
import { P99_MS_MAX, type Outcome } from "../attacks/outcome.js";
import { onStage } from "../attacks/stage.js";
import { registerCleanup } from "./lib/cleanup.js";
import type { Row } from "./lib/report.js";

/** The floods, by the names of attacks: what one organization may do without limit. */
export const FLOODS: readonly string[] = [
  ...["batches", "large-batches", "many-projects", "recompute", "previews", "lists"],
  ...["explanations", "exports", "webhooks", "streams", "snapshots"],
];

/** Latency of a quiet organization's single events until they are visible, during each flood (or those named) of another one, compared with its limit. */
export async function benchFairness(seconds: number, only: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const flood of ATTACKS) {
    if ((only.length > 0 ? only : FLOODS).includes(flood.name))
      rows.push(row(flood, await measured(flood, seconds * 1_000)));
  }
  return rows;
}

/** Measures one flood on a separate service. */
async function measured(flood: Attack, ms: number): Promise<Outcome> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every sender listens
  const work = onStage(stop.signal, (stage) => measureAttacks(stage, [flood], { quietMs: ms, strikeMs: ms }));
  const ended = registerCleanup(async () => {
    stop.abort(new Error("the benchmark was ended"));
    await work.catch(() => undefined); // thrown below
  });
  try {
    return (await work).all;
  } finally {
    await ended();
  }
}

function row({ name, what }: Attack, { during, quiet, notOnce }: Outcome): Row {
  if (notOnce > 0) console.log(`${name}: ${notOnce} events were not evaluated exactly once within a minute`);
  return {
    work: `event to visible state, p99 at 10 events/s, in ${name}: ${what}`,
    against: `p99 of ${P99_MS_MAX} ms; its p50 and p99 are those before the flood`,
    ours: during?.p99 ?? Infinity,
    theirs: P99_MS_MAX,
    unit: "ms",
    less: true,
    floor: 1,
    aim: 0.25,
    latency: { ours: during, theirs: quiet },
  };
}
