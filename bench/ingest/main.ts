import type { BenchDatabase, BenchServer } from "../lib/database.js";
import { printRows, type Row } from "../lib/report.js";
import { benchBatches } from "./batches.js";
import { benchBesideWorker } from "./beside-worker.js";
import { benchGrowth } from "./growth.js";
import { benchHttpBatches } from "./http-batches.js";
import { benchSingleEvents } from "./single-events.js";
import { benchTwoProcesses } from "./two-processes.js";
import { benchVisible } from "./visible.js";

export interface IngestOptions {
  rounds: number;
  quick: boolean;
  /** Description of the machine and the rounds, for the tables. */
  machine: string;
  /** Only these of INGEST_SUBJECTS; all if empty. */
  only: string[];
}

/** In the order in which they run; each has a separate database. */
export const INGEST_SUBJECTS = ["batches", "http", "singles", "worker", "visible", "processes", "growth"] as const;
type Subject = (typeof INGEST_SUBJECTS)[number];

/** The rates of ingestion, compared with their baselines; prints a table for each subject and returns all rows. */
export async function benchIngest(server: BenchServer, options: IngestOptions): Promise<Row[]> {
  const { rounds, quick, machine, only } = options;
  const size = quick
    ? { batches: 10, requests: 1_000, seconds: 2, history: 10_000 }
    : { batches: 30, requests: 4_000, seconds: 10, history: 100_000 };
  const half = { batches: size.batches / 2, requests: size.requests / 2 };
  const subjects: Record<Subject, { about: string; run: (database: BenchDatabase) => Promise<Row[]> }> = {
    batches: {
      about: `${size.batches} batches a round; parameters of both sides serialized beforehand`,
      run: (database) => benchBatches(database, rounds, size.batches),
    },
    http: {
      about: `${half.batches} batches a round`,
      run: (database) => benchHttpBatches(database, rounds, half.batches),
    },
    singles: {
      about: `${size.requests} requests a round (one call per request: a quarter), raw sockets in a separate process`,
      run: (database) => benchSingleEvents(database, rounds, size.requests),
    },
    worker: {
      about: `${half.batches} batches or ${half.requests} requests a round`,
      run: (database) => benchBesideWorker(database, rounds, half),
    },
    visible: {
      about: `${size.seconds} s, a worker process, 2,000 customers, from when a request is due`,
      run: (database) => benchVisible(database, size.seconds),
    },
    processes: {
      about: `${size.batches} batches or ${size.requests} requests a round`,
      run: (database) => benchTwoProcesses(database, rounds, size),
    },
    growth: {
      about: `${size.batches} batches a round, nothing pending when it begins`,
      run: () => benchGrowth(server, rounds, size),
    },
  };
  const rows: Row[] = [];
  for (const subject of INGEST_SUBJECTS) {
    if (only.length > 0 && !only.includes(subject)) continue;
    const database = await server.createDatabase();
    const startedAt = performance.now();
    const measured = await subjects[subject].run(database);
    await database.close();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    printRows(measured, `${subject}: ${subjects[subject].about} (${seconds} s)`);
    rows.push(...measured);
  }
  console.log(`${server.settings}, ${machine}; strict schema, idempotency keys\n`);
  return rows;
}
