/** One run, from nothing to the tables. */
import { setMaxListeners } from "node:events";
import os from "node:os";
import type { Sql } from "postgres";
import { Memory } from "../attacks/observer/memory.js";
import { onService, type RunningService } from "../faults/stage/one-service.js";
import { connect } from "../src/db/connect.js";
import { DemoFailure } from "../src/demo/failure.js";
import { startProgress } from "../src/demo/progress.js";
import { styleFor } from "../src/demo/report/style.js";
import { fuzzAdministration } from "./administration.js";
import { readCorpus } from "./corpus.js";
import { Documented } from "./documented.js";
import { Ground } from "./ground.js";
import { fuzzIngestion } from "./ingestion.js";
import type { FuzzOptions } from "./options.js";
import { Part } from "./part.js";
import { report } from "./report.js";
import { fuzzSnapshots } from "./snapshots.js";

export interface RunContext {
  output: NodeJS.WritableStream & { isTTY?: boolean };
  /** Aborted when the user interrupts the run. */
  stop: AbortSignal;
}

/** Makes timers of history due during the run. */
const SETTINGS = { SVC_SETTLE_SECONDS: "1" };

/** Throws a DemoFailure if there are findings. Ends and removes everything in any case. */
export async function runFuzz(options: FuzzOptions, { output, stop }: RunContext): Promise<void> {
  const corpus = await readCorpus(options.corpus);
  const startedAt = performance.now();
  const parts = await onService({ program: "fuzz", settings: SETTINGS, stop }, (running) =>
    fuzz(running, options, corpus, output),
  ).catch((error: unknown) => {
    throw stop.aborted ? stop.reason : error;
  });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  output.write(
    `\nNode.js ${process.versions.node}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? "unknown CPU"}, ${seconds} s\n\n`,
  );
  output.write(report(styleFor(output.isTTY === true), parts));
  const findings = parts.reduce((sum, part) => sum + part.findings, 0);
  if (findings > 0) throw new DemoFailure(`${findings} findings`);
  output.write("nothing found\n");
}

async function fuzz(
  running: RunningService,
  options: FuzzOptions,
  corpus: readonly Buffer[],
  output: RunContext["output"],
): Promise<Part[]> {
  const { databaseUrl, pids, service, signal } = running;
  setMaxListeners(0, signal); // every request listens
  const sql = connect(databaseUrl, { max: 8, applicationName: "svc fuzz", statementTimeoutMs: 0 });
  const memory = new Memory(pids);
  void memory.run();
  try {
    // Raise the limits of plans: correct refusals would hide everything else.
    await sql`
      update iam.plans
      set rate_per_second = 10000000, rate_burst = 10000000, projects = 1000000, members = 1000000, tokens = 1000000, keys = 1000000,
        versions = 1000000, version_bytes = 2000000000, webhooks = 1000000, changes = 1000000`;
    const documented = await Documented.fetch(service.url);
    const parts: Part[] = [];
    const play = async (name: string, total: number, work: (ground: Ground) => Promise<void>): Promise<void> => {
      const part = new Part(name, options.seed);
      const progress = startProgress(output, name, total, "requests");
      const ground = new Ground(running, sql, documented, part, progress.update);
      memory.take();
      try {
        await work(ground);
      } finally {
        progress.finish();
        await ground.close();
      }
      part.memory = memory.take().service;
      await judge(running, sql, part);
      parts.push(part);
    };
    await play("ingestion", options.bodies + 6 * corpus.length, (ground) =>
      fuzzIngestion(ground, { ...options, corpus }),
    );
    await play("administration", options.requests, (ground) => fuzzAdministration(ground, options));
    await play("snapshots", options.snapshots, (ground) => fuzzSnapshots(ground, options));
    return parts;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Records findings that no answer shows: processes that ended, customers that could not be evaluated. */
async function judge({ ends }: RunningService, sql: Sql, part: Part): Promise<void> {
  for (const how of ends.splice(0)) part.found(`the service ended: ${how}`, null);
  const failed = await sql<{ customerId: string; error: string }[]>`
    update svc.customers as c set set_aside_at = null
    where c.set_aside_at is not null
    returning c.customer_id as "customerId", c.set_aside_error as error`;
  for (const { customerId, error } of failed)
    part.found(`the customer ${customerId} could not be evaluated: ${error}`, null);
}
