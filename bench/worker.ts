import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { runWorkerRole } from "../src/server/worker-role.js";

// Runs what `svc-server start --role worker` runs, with BENCH_DATABASE_URL and BENCH_SECRET; prints a line when it is ready.
const worker = await runWorkerRole(
  {
    databaseUrl: process.env["BENCH_DATABASE_URL"] ?? "",
    useRoles: process.env["BENCH_USE_ROLES"] === "1",
    settleSeconds: 30,
    attemptDays: 30,
    recomputeAttempts: 10,
    secret: process.env["BENCH_SECRET"] ?? randomBytes(32).toString("hex"),
    allowPrivateWebhooks: true,
  },
  pino({ level: "silent" }),
);

// The jobs of a killed worker stay locked for a while, so this one stops properly.
let stopping = false;
const stop = () => {
  if (stopping) return;
  stopping = true;
  void worker.stop().finally(() => process.exit());
};
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
process.stdin.resume().on("end", stop);
process.stdout.write("working\n");
