/** The command line of a run. */
import path from "node:path";
import yargs from "yargs";
import { parseArguments, wholeNumber } from "../../src/demo/options.js";
import { ROOT } from "../../src/demo/service/service.js";

export interface RecomputeOptions {
  data: string;
  /** The model's folder. */
  model: string;
  /** The folder of the model that is deployed afterwards; null for one derived from the first. */
  changed: string | null;
  kills: number;
  seed: number;
}

/** Reads the arguments; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are wrong. */
export async function readOptions(
  args: readonly string[],
  print: (text: string) => void,
): Promise<RecomputeOptions | null> {
  const parser = yargs()
    .scriptName("npm run faults:recompute --")
    .usage(
      "$0 --data <file> [options]\n\nDeploys a changed model over a history, recomputes it, both undisturbed and killed repeatedly, and compares " +
        "with a project that had the changed model from the start.",
    )
    .option("data", {
      type: "string",
      requiresArg: true,
      demandOption: "--data is missing: name a JSON Lines file of operations",
      describe: "JSON Lines file of operations",
    })
    .option("model", {
      type: "string",
      requiresArg: true,
      default: path.join(ROOT, "examples", "fines"),
      defaultDescription: "examples/fines",
      describe: "folder of the model",
    })
    .option("changed", {
      type: "string",
      requiresArg: true,
      describe: "folder of the changed model; unless set, the first one with other durations and numbers",
    })
    .option("kills", { type: "number", requiresArg: true, default: 10, describe: "how often the service is killed" })
    .option("seed", { type: "number", requiresArg: true, default: 1, describe: "determines the moments" })
    .parserConfiguration({ "duplicate-arguments-array": false });
  const parsed = await parseArguments(parser, args, print);
  if (parsed === null) return null;
  return {
    data: parsed.data,
    model: parsed.model,
    changed: parsed.changed ?? null,
    kills: wholeNumber("--kills", parsed.kills, 0, 100),
    seed: wholeNumber("--seed", parsed.seed, 0, 2 ** 31 - 1),
  };
}
