/** The command line of a run. */
import yargs from "yargs";
import { parseArguments, wholeNumber } from "../src/demo/options.js";

export interface FuzzOptions {
  /** Bodies for ingestion; the defaults of the other numbers are in proportion. */
  bodies: number;
  /** Requests of the administrative API. */
  requests: number;
  snapshots: number;
  seed: number;
  /** Files, or folders of files, whose texts are also sent. */
  corpus: string[];
}

const COUNT_MAX = 100_000_000;

/** Reads the arguments; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are wrong. */
export async function readOptions(args: readonly string[], print: (text: string) => void): Promise<FuzzOptions | null> {
  const number = { type: "number", requiresArg: true } as const;
  const parser = yargs()
    .scriptName("npm run fuzz --")
    .usage(
      "$0 [options]\n\nSends a service random bodies, requests and snapshots, and compares all that it accepts with what it stores.",
    )
    .option("bodies", { ...number, default: 30_000, describe: "bodies for ingestion" })
    .option("requests", { ...number, describe: "requests of the administrative API; a fifth of the bodies unless set" })
    .option("snapshots", { ...number, describe: "snapshots to deploy; a twentieth of the bodies unless set" })
    .option("seed", { ...number, default: 1, describe: "determines everything that is sent" })
    .option("corpus", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "files or folders of texts to send too: each file is one, or each line of a .jsonl, .ndjson or .txt",
    })
    .parserConfiguration({ "greedy-arrays": true });
  const parsed = await parseArguments(parser, args, print);
  if (parsed === null) return null;
  const bodies = wholeNumber("--bodies", parsed.bodies, 0, COUNT_MAX);
  return {
    bodies,
    requests: wholeNumber("--requests", parsed.requests ?? Math.ceil(bodies / 5), 0, COUNT_MAX),
    snapshots: wholeNumber("--snapshots", parsed.snapshots ?? Math.ceil(bodies / 20), 0, COUNT_MAX),
    seed: wholeNumber("--seed", parsed.seed, 0, 2 ** 31 - 1),
    corpus: parsed.corpus ?? [],
  };
}
