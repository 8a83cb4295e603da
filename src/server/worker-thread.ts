import { on } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { createLogger } from "./log.js";
import type { WorkerThreadData, WorkerThreadMessage } from "./worker-thread-keeper.js";
import { runWorkerRole, type WorkerRoleOptions } from "./worker-role.js";

// The worker of `svc-server start`: off the HTTP event loop, in a thread, so that it ends with the process however that ends.
// It is told what it works with, says that it is ready, and is told to stop.
if (parentPort === null) throw new Error("this module is the body of a worker thread");
const port = parentPort;
const { logLevel, formerWorkerId } = workerData as WorkerThreadData;
// Keeps what comes before it is asked for.
const messages = on(port, "message") as AsyncIterator<[unknown], undefined>;
const next = async () => (await messages.next()).value?.[0];

const options = (await next()) as WorkerRoleOptions;
const say = (message: WorkerThreadMessage) => port.postMessage(message);
const worker = await runWorkerRole(options, createLogger(logLevel), {
  formerWorkerId,
  onIdentified: (workerId) => say({ kind: "identified", workerId }),
});
say({ kind: "ready" });
await next();
await worker.stop();
port.close();
