import { on } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { createLogger } from "./log.js";
import { ALIVE_MS, type WorkerThreadData, type WorkerThreadMessage } from "./worker-thread-keeper.js";
import { runWorkerRole, type WorkerRoleOptions } from "./worker-role.js";

// The worker of `svc-server start`: off the HTTP event loop, in a thread, so that it ends with the process however that ends.
// It receives its options, reports that it is ready, and receives the message to stop.
if (parentPort === null) throw new Error("this module is the body of a worker thread");
const port = parentPort;
const { logLevel, formerWorkerId } = workerData as WorkerThreadData;
// Queues messages that arrive before `next` is called.
const messages = on(port, "message") as AsyncIterator<[unknown], undefined>;
const next = async () => (await messages.next()).value?.[0];

// Shows that the event loop turns.
setInterval(() => port.postMessage({ kind: "alive" } satisfies WorkerThreadMessage), ALIVE_MS).unref();

const options = (await next()) as WorkerRoleOptions;
const report = (message: WorkerThreadMessage) => port.postMessage(message);
const worker = await runWorkerRole(options, createLogger(logLevel), {
  formerWorkerId,
  onIdentified: (workerId) => report({ kind: "identified", workerId }),
});
report({ kind: "ready" });
await next();
await worker.stop();
port.close();
