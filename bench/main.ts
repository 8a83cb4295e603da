import { cpus } from "node:os";
import { benchEngine } from "./engine/main.js";
import { benchEvaluation } from "./evaluation.js";
import { benchIngestBatches } from "./ingest-batches.js";
import { openBenchDatabase } from "./lib/database.js";
import { benchSingleEvents } from "./single-events.js";
import { printRows, saveRows, type Row } from "./lib/report.js";

// npm run bench [engine] [-- --quick]: ratios, measured side by side in one run; `engine` needs no database.
const quick = process.argv.includes("--quick");
const rounds = quick ? 1 : 5;

const machine = [
  `Node.js ${process.versions.node}`,
  `${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}`,
  `median of ${rounds} alternating round(s)`,
].join(", ");

if (process.argv.includes("engine")) {
  const rows = await benchEngine(rounds, quick ? 100_000 : 1_000_000);
  printRows(rows, machine);
  console.log(`kept in ${await saveRows(rows, machine)}`);
} else {
  await benchService();
}

async function benchService(): Promise<void> {
  const database = await openBenchDatabase();
  try {
    const [server] = await database.sql<[{ version: string; fsync: string; shared_buffers: string }]>`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('shared_buffers') as shared_buffers`;
    const settings = `PostgreSQL ${server.version} (fsync ${server.fsync}, shared_buffers ${server.shared_buffers}), ${machine}`;
    const rows: Row[] = [
      ...(await benchIngestBatches(database, rounds, quick ? 10 : 60)),
      ...(await benchSingleEvents(database, rounds, quick ? 2_000 : 5_000)),
      ...(await benchEvaluation(database, rounds, quick ? 10 : 60)),
    ];
    printRows(rows, settings);
    console.log(`kept in ${await saveRows(rows, settings)}`);
  } finally {
    await database.close();
  }
}
