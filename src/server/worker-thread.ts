import { parentPort, workerData } from "node:worker_threads";
import { createLogger } from "./log.js";
import { runWorkerRole, type WorkerRoleOptions } from "./worker-role.js";

// The worker of `svc-server start --role all`: off the HTTP event loop, in a thread, so that it ends with the process however that ends.
if (parentPort === null) throw new Error("this module is the body of a worker thread");
const port = parentPort;
const { options, logLevel } = workerData as { options: WorkerRoleOptions; logLevel: string };
const worker = await runWorkerRole(options, createLogger(logLevel));
port.postMessage("ready");
port.once("message", () => {
  void worker.stop().then(() => port.close());
});
