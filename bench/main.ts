import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { benchCommandLine } from "./cli.js";
import { benchEngine } from "./engine/main.js";
import { benchEvaluation } from "./evaluation.js";
import { benchFairness, FLOODS } from "./fairness.js";
import { explainIngest } from "./ingest/explain.js";
import { benchIngest, INGEST_SUBJECTS } from "./ingest/main.js";
import { endAll, endOnSignals, isEnding } from "./lib/cleanup.js";
import { openBenchServer } from "./lib/database.js";
import { printRows, saveRows, type Row } from "./lib/report.js";
import { simulatePlacement } from "./placement.js";
import { benchReads } from "./reads.js";
import { benchRecompute } from "./recompute/main.js";
import { benchSoak } from "./soak/main.js";
import { benchStart } from "./start.js";
import { benchStorage } from "./storage.js";
import { benchSustained } from "./sustained/main.js";
import { benchWebhooks } from "./webhooks/main.js";
import { benchWindows } from "./windows.js";

const USAGE = `Usage: npm run bench [-- --quick]                            everything
       npm run bench engine [-- --quick]                     the engine alone, without a database
       npm run bench cli [-- --quick]                        how long commands take, without a service
       npm run bench start [-- --quick]                      npm start on an empty directory, until it is ready
       npm run bench soak [-- --minutes N | --quick]         a service under a steady load: ten minutes, or one; not part of everything
       npm run bench fairness [flood …] [-- --quick]         a quiet organization beside one that floods, not part of everything:
                                                             ${FLOODS.join(", ")}
       npm run bench sustained [-- --quick]                  the highest rate without a growing backlog; not part of everything
       npm run bench storage [-- --quick]                    bytes of disk and log per event; not part of everything
       npm run bench placement                               a thousand environments on a cluster, simulated; not part of everything
       npm run bench evaluation [-- --quick]                 live evaluation
       npm run bench reads [-- --quick]                      lists and details of the administrative API
       npm run bench reads trends segments                   only those with one of these texts in their paths
       npm run bench recompute [-- --quick]                  recomputes, beside COPY of the same events
       npm run bench webhooks [-- --quick]                   deliveries of webhooks
       npm run bench ingest [subject …] [-- --quick]         ingestion: ${INGEST_SUBJECTS.join(", ")}
       npm run bench ingest [-- --profile | --explain]       where the time of one batch goes; with the plans`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    minutes: { type: "string" },
    explain: { type: "boolean" },
    profile: { type: "boolean" },
  },
});
const [part = "all", ...only] = positionals;
const quick = values.quick ?? false;
const rounds = quick ? 1 : 5;
const machine = [
  `Node.js ${process.versions.node}`,
  `${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}`,
  `median of ${rounds} alternating round(s)`,
].join(", ");

endOnSignals();
try {
  await main();
} catch (error) {
  // While everything is being ended, what was under way fails.
  if (!isEnding()) {
    console.error(error);
    process.exitCode = 1;
  }
}
await endAll();

async function main(): Promise<void> {
  const subjects: readonly string[] = part === "ingest" ? INGEST_SUBJECTS : part === "fairness" ? FLOODS : [];
  const known = part === "reads" || only.every((name) => subjects.includes(name));
  if (
    ![
      ...["all", "cli", "engine", "evaluation", "fairness", "ingest", "placement"],
      ...["reads", "recompute", "soak", "start", "storage", "sustained", "webhooks"],
    ].includes(part) ||
    !known
  ) {
    console.error(USAGE);
    process.exitCode = 2;
  } else if (values.explain || values.profile) {
    const server = await openBenchServer();
    await explainIngest(await server.createDatabase(), { plans: values.explain ?? false });
  } else if (part === "storage") {
    const server = await openBenchServer();
    await benchStorage(await server.createDatabase(), quick ? 1 : 5);
  } else if (part === "placement") {
    const server = await openBenchServer();
    await simulatePlacement((await server.createDatabase()).sql);
  } else if (part === "fairness") {
    const rows = printed(await benchFairness(quick ? 5 : 30, only), machine);
    console.log(`kept in ${await saveRows(rows, machine)}`);
  } else if (part === "soak") {
    const rows = printed(await benchSoak(quick ? 1 : Number(values.minutes ?? 10), quick ? 10 : 30), machine);
    console.log(`kept in ${await saveRows(rows, machine)}`);
  } else if (part === "sustained") {
    const rows = printed(await benchSustained(rounds, quick), machine);
    console.log(`kept in ${await saveRows(rows, machine)}`);
  } else {
    await measureParts();
  }
}

async function measureParts(): Promise<void> {
  const rows: Row[] = [];
  const has = (name: string) => part === "all" || part === name;
  let settings = machine;
  if (!["cli", "engine", "start"].includes(part)) {
    const server = await openBenchServer();
    settings = `${server.settings}, ${machine}`;
    if (has("ingest")) rows.push(...(await benchIngest(server, { rounds, quick, machine, only })));
    if (has("evaluation")) {
      const database = await server.createDatabase();
      rows.push(...printed(await benchEvaluation(database, rounds, quick ? 10 : 60), settings));
      rows.push(...printed(await benchWindows(database, rounds), settings));
      await database.close();
    }
    if (has("reads")) {
      const database = await server.createDatabase();
      const size = quick ? { customers: 10_000, events: 100_000 } : { customers: 100_000, events: 1_000_000 };
      rows.push(...printed(await benchReads(database, size, quick ? 20 : 200, only), settings));
      await database.close();
    }
    if (has("recompute")) rows.push(...printed(await benchRecompute(server, rounds, quick), settings));
    if (has("webhooks")) {
      const database = await server.createDatabase();
      rows.push(...printed(await benchWebhooks(database, rounds, quick), settings));
      await database.close();
    }
    await server.close();
  }
  if (has("cli")) rows.push(...printed(await benchCommandLine(rounds), machine));
  if (has("start")) rows.push(...printed(await benchStart(rounds), machine));
  if (has("engine")) {
    rows.push(...printed(await benchEngine(rounds, quick ? 100_000 : 1_000_000), machine));
  }
  console.log(`kept in ${await saveRows(rows, settings)}`);
}

function printed(rows: Row[], settings: string): Row[] {
  printRows(rows, settings);
  return rows;
}
