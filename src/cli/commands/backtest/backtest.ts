import { defineCommand } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { sinceOption } from "../../core/values.js";
import { backtestOptions, refuseCombinations } from "./asked.js";

export default defineCommand({
  options: backtestOptions,
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
