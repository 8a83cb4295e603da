/** One run, from nothing to the tables. */
import { writeFile } from "node:fs/promises";
import os from "node:os";
import { DemoFailure, messageOf } from "../src/demo/failure.js";
import { styleFor } from "../src/demo/report/style.js";
import type { Attack } from "./kinds/attack.js";
import { measureAttacks } from "./measure.js";
import type { AttacksOptions } from "./options.js";
import { attackedBy, type Attacked, type Outcome } from "./outcome.js";
import { inOneLine, minuteInWords, report } from "./report.js";
import { onStage } from "./stage.js";
import { Tally } from "./tally.js";

export interface RunContext {
  output: NodeJS.WritableStream & { isTTY?: boolean };
  /** Aborted when the user interrupts the run. */
  stop: AbortSignal;
}

const QUIET_MS = 5_000;
const MINUTE_MS = 60_000;

/** Throws a DemoFailure if something did not hold. Ends and removes everything in any case. */
export async function runAttacks(options: AttacksOptions, context: RunContext): Promise<void> {
  const { output } = context;
  const loadBefore = os.loadavg()[0]?.toFixed(1) ?? "";
  const { outcomes, each } = options.allAtOnce ? await allAtOnce(options, context) : await oneByOne(options, context);
  const loadAfter = os.loadavg()[0]?.toFixed(1) ?? "";
  const machine = `Node.js ${process.versions.node}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? "unknown CPU"}, load ${loadBefore} before and ${loadAfter} after`;
  output.write(`\n${machine}\n\n${report(styleFor(output.isTTY === true), outcomes, each)}`);
  if (options.json !== null)
    await writeFile(
      options.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, outcomes, each }, null, 2)}\n`,
    );
  const broken = outcomes.filter((outcome) => outcome.broken.length > 0);
  if (broken.length > 0)
    throw new DemoFailure(
      `${broken.length} of ${outcomes.length} did not hold: ${broken.map(({ name }) => name).join(", ")}`,
    );
  output.write("all held\n");
}

interface Run {
  outcomes: Outcome[];
  /** What each attack did, if they ran together. */
  each: Attacked[];
}

async function oneByOne({ attacks, minutes }: AttacksOptions, { output, stop }: RunContext): Promise<Run> {
  const outcomes: Outcome[] = [];
  for (const attack of attacks) {
    output.write(`${attack.name}: ${attack.what} …\n`);
    const options = timesOf(minutes);
    const outcome = await onStage(stop, (stage) =>
      measureAttacks(stage, [attack], options).then(
        ({ all }) => all,
        (error: unknown) => gaveUp(attack, minutes, error),
      ),
    );
    stop.throwIfAborted();
    outcomes.push(outcome);
    output.write(`  ${inOneLine(outcome)}\n`);
  }
  return { outcomes, each: [] };
}

async function allAtOnce({ attacks, minutes }: AttacksOptions, { output, stop }: RunContext): Promise<Run> {
  return onStage(stop, async (stage) => {
    // Real attackers use other machines; here the service and the observer, which already run, have priority.
    os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
    const { all, each } = await measureAttacks(stage, attacks, {
      ...timesOf(minutes),
      onMinute: (...minute) => output.write(`${minuteInWords(...minute)}\n`),
    });
    return { outcomes: [all], each };
  }).catch((error: unknown) => {
    throw stop.aborted ? stop.reason : error;
  });
}

function timesOf(minutes: number): { quietMs: number; strikeMs: number } {
  const strikeMs = minutes * MINUTE_MS;
  return { quietMs: Math.min(QUIET_MS, strikeMs), strikeMs };
}

/** The outcome if the service or the observer did not survive until the end. */
function gaveUp({ name, what }: Attack, minutes: number, error: unknown): Outcome {
  return {
    ...attackedBy(name, what, new Tally()),
    seconds: minutes * 60,
    quiet: null,
    during: null,
    refused: {},
    notOnce: 0,
    longestBlockMs: NaN,
    unready: {},
    memory: { service: NaN, postgres: NaN },
    restarts: 0,
    broken: [messageOf(error)],
  };
}
