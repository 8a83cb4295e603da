/** The command line of a run. */
import yargs from "yargs";
import { DemoFailure } from "../src/demo/failure.js";
import { parseArguments, wholeNumber } from "../src/demo/options.js";
import { FAULTS, NODE_FAULTS } from "./kinds/index.js";

export interface FaultsOptions {
  /** Files of operations to send; empty for a generated history. */
  data: string[];
  /** Size of the generated history. */
  operations: number;
  /** A file of events without a customer, which must be refused; null for none. */
  refused: string | null;
  senders: number;
  /** Operations in a batch. */
  batch: number;
  /** How often a fault strikes. */
  strikes: number;
  seed: number;
  /** Data directories of the coordinator and the workers of a Citus cluster; empty for the embedded PostgreSQL. */
  nodes: string[];
}

const STRIKES_MAX = 1_000;

/** Reads the arguments; null after `--help`, whose text is passed to `print`. Throws a DemoFailure with exit code 2 if they are wrong. */
export async function readOptions(
  args: readonly string[],
  print: (text: string) => void,
): Promise<FaultsOptions | null> {
  const parser = yargs()
    .scriptName("npm run faults --")
    .usage(
      "$0 [options]\n\nLets faults strike the service, its database, its network, its disk and its receivers while events come in, and checks after each that nothing is lost or duplicated.",
    )
    .option("data", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "JSON Lines files to send, also compressed (.gz)",
    })
    .option("operations", { type: "number", requiresArg: true, describe: "operations to generate; 50000 unless set" })
    .option("refused", {
      type: "string",
      requiresArg: true,
      describe: "JSON Lines file of events without a customerId",
    })
    .option("senders", { type: "number", requiresArg: true, default: 4, describe: "senders of batches" })
    .option("batch", { type: "number", requiresArg: true, default: 100, describe: "operations in a batch" })
    .option("strikes", {
      type: "number",
      requiresArg: true,
      describe: `number of strikes, by the faults in turn; each needs about twice as many operations as the senders send at once; ${FAULTS.length} unless set, ${FAULTS.length + NODE_FAULTS.length} with --nodes`,
    })
    .option("seed", {
      type: "number",
      requiresArg: true,
      default: 1,
      describe: "determines the moments of strikes and the generated history",
    })
    .option("nodes", {
      type: "string",
      array: true,
      requiresArg: true,
      describe:
        "strike a Citus cluster that runs on this machine instead of the embedded PostgreSQL: data directories of the coordinator and of each worker, whose servers must accept PGUSER (postgres unless set)",
    })
    .conflicts("data", "operations")
    .parserConfiguration({ "greedy-arrays": true });
  const parsed = await parseArguments(parser, args, print);
  if (parsed === null) return null;
  const nodes = parsed.nodes ?? [];
  if (nodes.length === 1)
    throw new DemoFailure(
      "--nodes takes the data directory of the coordinator and then of each worker, at least two in all",
      2,
    );
  const kinds = FAULTS.length + (nodes.length > 0 ? NODE_FAULTS.length : 0);
  return {
    data: parsed.data ?? [],
    operations: wholeNumber("--operations", parsed.operations ?? 50_000, 1, 10_000_000),
    refused: parsed.refused ?? null,
    senders: wholeNumber("--senders", parsed.senders, 1, 64),
    batch: wholeNumber("--batch", parsed.batch, 1, 1_000),
    strikes: wholeNumber("--strikes", parsed.strikes ?? kinds, 0, STRIKES_MAX),
    seed: wholeNumber("--seed", parsed.seed, 0, 2 ** 31 - 1),
    nodes,
  };
}
