import { defineCommand, projectOptions } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { sinceOption } from "../../core/values.js";
import { refuseCombinations } from "./asked.js";

const instant = "a date, a date-time, or how long before the end of the known history, such as 90d";

export default defineCommand({
  options: {
    outcome: {
      type: "text",
      describe: "The outcome to predict: state:<id>, event:<name> or segment:<id>; required without --job",
    },
    within: {
      type: "text",
      describe: "How soon after a look the outcome must occur, such as 60d; required without --job",
    },
    every: { type: "text", describe: "How often customers are looked at; 7d unless given" },
    from: { type: "text", describe: `The first look, a year before the last unless given: ${instant}` },
    to: { type: "text", describe: "The last look, the end of the known history unless given; as --from" },
    sample: {
      type: "integer",
      min: 1,
      max: 1_000_000_000,
      describe: "Look at about this many customers; all unless given",
    },
    version: { type: "text", describe: "Judge this version, such as v3; the active one unless given" },
    model: { type: "text", describe: "Judge the model in this directory, which need not be deployed" },
    against: {
      type: "text",
      describe: "Judge another model too, on the same samples: a version, or with --events a directory",
    },
    events: {
      type: "text",
      describe: "Read the past from this file of JSON Lines, without a service; it judges the local model",
    },
    presentTraits: {
      type: "flag",
      describe: "Use the present traits for every instant, for an imported history; this looks ahead",
    },
    job: { type: "text", describe: "Wait for this earlier backtest, and print its result" },
    csv: { type: "flag", describe: "Print the samples as CSV: what the models said, and the outcome" },
    markdown: { type: "flag", describe: "Print a comment for a pull request" },
    ...projectOptions,
  },
  examples: [
    ["svc backtest --outcome state:churned --within 60d", "What the active model said of customers who churned then"],
    ["svc backtest --outcome event:cancelled --within 60d --model . --against v3", "The local model compared with v3"],
    [
      "svc backtest --outcome event:cancelled --within 60d --events history.jsonl",
      "The local model over a file of events, without a service",
    ],
    ["svc backtest --outcome state:churned --within 60d --csv > samples.csv", "Every sample, for a spreadsheet"],
    ["svc backtest --job bkt_0123456789abcdef0123", "The result of an earlier backtest"],
  ],
  async handler(context, options) {
    refuseCombinations({ ...options, json: context.out.json });
    const { job, outcome, within, events } = options;
    // Imported here: help texts must not wait for the modules that draw bars and tables.
    if (job !== undefined) {
      const { printBacktestJob } = await import("./service.js");
      return printBacktestJob(context, job, options);
    }
    if (outcome === undefined || within === undefined) {
      const missing = [outcome === undefined && "--outcome", within === undefined && "--within"].filter(Boolean);
      throw new UsageError(`missing ${missing.join(", ")}`, "see `svc backtest --help`");
    }
    const asked = { ...options, outcome, within };
    sinceOption("--from", options.from);
    sinceOption("--to", options.to);
    if (events !== undefined) {
      const { backtestFile } = await import("./file.js");
      return backtestFile(context, events, asked);
    }
    const { backtestService } = await import("./service.js");
    return backtestService(context, asked);
  },
});
