import yargs, { type Arguments, type Argv } from "yargs";
import { DemoFailure } from "./failure.js";
import { EXAMPLE_MODEL } from "./service/service.js";
import { HOUR_MS } from "./simulate/calendar.js";
import { DEFAULT_HISTORY, type HistoryOptions } from "./simulate/history.js";

/** Parses arguments with yargs; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are invalid. */
export async function parseArguments<T>(
  parser: Argv<T>,
  args: readonly string[],
  print: (text: string) => void,
): Promise<Arguments<T> | null> {
  let text = "";
  const parsed = await parser
    .strict()
    .version(false)
    .exitProcess(false)
    .fail((message, error) => {
      throw new DemoFailure((message || error.message).split("\n").join(" "), 2);
    })
    .parseAsync([...args], {}, (_error, _argv, output) => {
      text = output;
    });
  if (text === "") return parsed as Arguments<T>;
  print(`${text}\n`);
  return null;
}

/** Checks a numeric option. Throws a DemoFailure with exit code 2 unless it is a whole number in the range. */
export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new DemoFailure(`${name} must be a whole number from ${least} to ${most}`, 2);
}

export interface DemoOptions extends HistoryOptions {
  /** A file of operations to send; null for the simulated history. */
  data: string | null;
  model: string;
  keep: boolean;
}

const TEXT = { type: "string", requiresArg: true } as const;
const NUMBER = { type: "number", requiresArg: true } as const;

/** Reads the demo's arguments; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are invalid. */
export async function readDemoOptions(
  args: readonly string[],
  now: number,
  print: (text: string) => void,
): Promise<DemoOptions | null> {
  const parser = yargs()
    .scriptName("npm run demo --")
    .usage("$0 [options]\n\nRuns the whole service on a history and prints what it derived.")
    .options({
      data: {
        ...TEXT,
        describe: "JSON Lines file of operations to send instead of the simulated history; needs --model",
      },
      model: { ...TEXT, describe: "folder of the model to deploy; examples/saas unless set" },
      keep: { type: "boolean", default: false, describe: "leave everything running afterwards, until Ctrl+C" },
      seed: { ...NUMBER, describe: `seed of the simulated history; ${DEFAULT_HISTORY.seed} unless set` },
      customers: { ...NUMBER, describe: `customers to simulate; ${DEFAULT_HISTORY.customers} unless set` },
      days: { ...NUMBER, describe: `length of the simulated history; ${DEFAULT_HISTORY.days} unless set` },
      base: { ...TEXT, describe: "instant at which the simulated history ends; the present hour unless set" },
    })
    .implies("data", "model")
    .conflicts("data", ["seed", "customers", "days", "base"])
    .parserConfiguration({ "duplicate-arguments-array": false });
  const parsed = await parseArguments(parser, args, print);
  if (parsed === null) return null;
  return {
    data: parsed.data ?? null,
    model: parsed.model ?? EXAMPLE_MODEL,
    keep: parsed.keep,
    seed: wholeNumber("--seed", parsed.seed ?? DEFAULT_HISTORY.seed, 0, 2 ** 31 - 1),
    customers: wholeNumber("--customers", parsed.customers ?? DEFAULT_HISTORY.customers, 1, 20_000),
    days: wholeNumber("--days", parsed.days ?? DEFAULT_HISTORY.days, 7, 1_000),
    base: parsed.base === undefined ? Math.floor(now / HOUR_MS) * HOUR_MS : instant(parsed.base, now),
  };
}

function instant(text: string, now: number): number {
  const value = Date.parse(text);
  if (Number.isNaN(value)) throw new DemoFailure(`--base must be an instant such as 2026-11-21T00:00:00Z`, 2);
  if (value > now) throw new DemoFailure("--base must not be in the future: the service would wait for the events", 2);
  return value;
}
