/** The command line of a run. */
import yargs from "yargs";
import { parseArguments, wholeNumber } from "../src/demo/options.js";

export interface FuzzOptions {
  /** Bodies for ingestion; what is not given of the others is in proportion. */
  bodies: number;
  /** Requests of the administrative API. */
  requests: number;
  snapshots: number;
  seed: number;
  /** Files whose texts are sent besides, and folders of such. */
  corpus: string[];
}

const COUNT_MAX = 100_000_000;

/** Reads the arguments; null after `--help`, whose text went to `print`. Throws a DemoFailure with exit code 2 where they are wrong. */
export async function readOptions(args: readonly string[], print: (text: string) => void): Promise<FuzzOptions | null> {
  const number = { type: "number", requiresArg: true } as const;
  const parser = yargs()
    .scriptName("npm run fuzz --")
    .usage(
      "$0 [options]\n\nSends a service bodies, requests and snapshots made by chance, and compares all that it accepts with what it stores.",
    )
    .option("bodies", { ...number, default: 30_000, describe: "bodies for ingestion" })
    .option("requests", { ...number, describe: "requests of the administrative API; a fifth of the bodies unless set" })
    .option("snapshots", { ...number, describe: "snapshots to deploy; a twentieth of the bodies unless set" })
    .option("seed", { ...number, default: 1, describe: "chooses everything that is sent" })
    .option("corpus", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "files or folders of texts to send besides: each file, and each line of a .jsonl or .txt, is one",
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
