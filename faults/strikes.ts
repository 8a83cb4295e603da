/** When which fault strikes: by the progress of the senders and not by the clock, so that a slow machine gets the same run. */
import { DemoFailure } from "../src/demo/failure.js";
import type { Random } from "../src/demo/simulate/random.js";
import type { Fault, Target } from "./kinds/fault.js";
import type { Ledger } from "./ledger.js";

export interface Strike {
  fault: string;
  /** Operations accepted when it struck. */
  after: number;
  /** Until something was accepted that was sent after it; null where nothing was left to send. */
  recoveredMs: number | null;
}

/** The last strike comes early enough to hit senders at work. */
const LAST_AT = 0.8;

export interface StrikeOptions {
  faults: readonly Fault[];
  strikes: number;
  /** Operations that will be sent. */
  operations: number;
  ledger: Ledger;
  target: Target;
  random: Random;
  signal: AbortSignal;
}

/** The faults take turns. Each waits until the service has recovered from the one before. */
export async function strikeAll(options: StrikeOptions): Promise<Strike[]> {
  const { faults, strikes, ledger, target, signal } = options;
  const done: Strike[] = [];
  for (const [index, moment] of moments(options).entries()) {
    await ledger.reached(moment, signal);
    if (ledger.isComplete())
      throw new DemoFailure(`all was sent after ${index} of ${strikes} kills; send more, or kill less often`, 2);
    const fault = faults[index % faults.length]!;
    await fault.strike(target);
    const struckAt = performance.now();
    const after = ledger.operations;
    await ledger.acceptedSince(struckAt, signal);
    const recoveredMs = ledger.isComplete() ? null : performance.now() - struckAt;
    done.push({ fault: fault.name, after, recoveredMs });
  }
  return done;
}

/** One moment in each of as many equal parts of the way. */
function moments({ strikes, operations, random }: StrikeOptions): number[] {
  const part = (operations * LAST_AT) / strikes;
  return Array.from({ length: strikes }, (_, index) => Math.ceil(random.between(index * part, (index + 1) * part)));
}
