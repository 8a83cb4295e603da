import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { runWorkerRole } from "../src/server/worker-role.js";

// What `svc-server start --role worker` runs, over BENCH_DATABASE_URL and with BENCH_SECRET; says when it works.
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

// A worker that was killed keeps its jobs locked for a while, so it finishes what it has at hand.
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
