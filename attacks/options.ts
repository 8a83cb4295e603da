/** The command line of a run. */
import yargs from "yargs";
import { parseArguments } from "../src/demo/options.js";
import { DemoFailure } from "../src/demo/failure.js";
import { ATTACKS } from "./kinds/index.js";
import type { Attack } from "./kinds/attack.js";

export interface AttacksOptions {
  attacks: readonly Attack[];
  /** Duration of each attack; with `allAtOnce`, of all together. */
  minutes: number;
  /** Run all from one organization at the same time, on one service; otherwise each on a new one. */
  allAtOnce: boolean;
  /** File for the outcome as JSON; null for none. */
  json: string | null;
}

const MINUTES_EACH = 0.5;
const MINUTES_AT_ONCE = 60;
const MINUTES_MAX = 24 * 60;

/** Reads the arguments; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are wrong. */
export async function readOptions(
  args: readonly string[],
  print: (text: string) => void,
): Promise<AttacksOptions | null> {
  const parser = yargs()
    .scriptName("npm run attacks --")
    .usage(
      "$0 [options]\n\nAttacks a service from one organization, and measures the effect on another, quiet one: how long its events take, what fails, what is lost.",
    )
    .option("only", { type: "string", requiresArg: true, describe: "names of attacks, separated by commas" })
    .option("minutes", {
      type: "number",
      requiresArg: true,
      describe: `duration of an attack, ${MINUTES_EACH} unless set; all at once: ${MINUTES_AT_ONCE}`,
    })
    .option("all-at-once", { type: "boolean", default: false, describe: "all attacks together, repeatedly" })
    .option("json", { type: "string", requiresArg: true, describe: "file to write the outcome to" })
    .epilogue(`Attacks:\n${ATTACKS.map(({ name, what }) => `  ${name}: ${what}`).join("\n")}`);
  const parsed = await parseArguments(parser, args, print);
  if (parsed === null) return null;
  const minutes = parsed.minutes ?? (parsed["all-at-once"] ? MINUTES_AT_ONCE : MINUTES_EACH);
  if (!(minutes > 0 && minutes <= MINUTES_MAX))
    throw new DemoFailure(`--minutes must be a number above 0, at most ${MINUTES_MAX}`, 2);
  return { attacks: chosen(parsed.only), minutes, allAtOnce: parsed["all-at-once"], json: parsed.json ?? null };
}

function chosen(only: string | undefined): readonly Attack[] {
  if (only === undefined) return ATTACKS;
  return only.split(",").map((name) => {
    const attack = ATTACKS.find((one) => one.name === name.trim());
    if (attack !== undefined) return attack;
    const known = ATTACKS.map((one) => one.name).join(", ");
    throw new DemoFailure(`--only: there is no attack \`${name.trim()}\`; there are ${known}`, 2);
  });
}
