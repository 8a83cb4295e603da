/** Schedules the faults by the progress of the senders and not by the clock, so that a run is the same on a slow machine. */
import type { Random } from "../src/demo/simulate/random.js";
import { evaluationCaughtUp } from "./caught-up.js";
import type { Examiner, Findings } from "./examination.js";
import type { Gate } from "./gate.js";
import type { Fault, Target } from "./kinds/fault.js";
import type { Ledger } from "./ledger.js";

export interface Strike {
  fault: string;
  /** Time until a request sent after it was accepted; null if nothing was left to send. */
  acceptedMs: number | null;
  /** Time until everything accepted until then was evaluated. */
  evaluatedMs: number;
  findings: Findings;
}

/** The last strike comes early enough to hit senders at work. */
const LAST_AT = 0.9;

/** Maximum of requests that begin while a fault strikes. */
const REQUESTS_DURING = 12;

export interface StrikeOptions {
  faults: readonly Fault[];
  strikes: number;
  /** Operations that will be sent. */
  operations: number;
  ledger: Ledger;
  gate: Gate;
  examiner: Examiner;
  target: Target;
  random: Random;
  /** Called with each strike after its examination. */
  onStrike: (strike: Strike) => void;
}

/**
 * The faults take turns. Each waits until the service has recovered from the previous one and was examined. There are fewer strikes than
 * requested if everything was sent before.
 */
export async function strikeAll(options: StrikeOptions): Promise<Strike[]> {
  const { faults, ledger, target } = options;
  const done: Strike[] = [];
  for (const [index, moment] of moments(options).entries()) {
    await ledger.reached(moment, target.signal);
    if (ledger.isComplete()) break;
    const struck = await strike(faults[index % faults.length]!, options);
    options.onStrike(struck);
    done.push(struck);
  }
  return done;
}

async function strike(fault: Fault, { ledger, gate, examiner, target }: StrikeOptions): Promise<Strike> {
  // A fault may take long and affect only some senders: the others must not send everything meanwhile.
  gate.open(REQUESTS_DURING);
  await fault.strike(target);
  const struckAt = performance.now();
  gate.open();
  await ledger.acceptedSince(struckAt, target.signal);
  const acceptedMs = ledger.isComplete() ? null : performance.now() - struckAt;
  await gate.close();
  await evaluationCaughtUp(target.server, target.signal);
  const evaluatedMs = performance.now() - struckAt;
  const findings = await examiner.examine();
  gate.open();
  return { fault: fault.name, acceptedMs, evaluatedMs, findings };
}

/** A random moment in each of equal parts of the progress. */
function moments({ strikes, operations, random }: StrikeOptions): number[] {
  const part = (operations * LAST_AT) / strikes;
  return Array.from({ length: strikes }, (_, index) => Math.ceil(random.between(index * part, (index + 1) * part)));
}
