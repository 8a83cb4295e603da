import os from "node:os";
import { parentPort } from "node:worker_threads";
import type { AskStored } from "../http/admin/explain-stored.js";
import { runComputeJob, transferablesOf, type ComputeJob, type JobAnswer } from "../http/compute/jobs.js";

// The thread of `ComputeThread`: does work that would block the event loop of HTTP.
if (parentPort === null) throw new Error("this module is the body of a worker thread");
const port = parentPort;
/** Lets short requests go first when processors are scarce. Only on Linux: elsewhere this would set the priority of the process. */
if (process.platform === "linux") os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
const pendingCalls = new Map<number, (output: unknown) => void>();
let nextCall = 0;

port.on("message", (message: ComputeJob | JobAnswer) => {
  if ("name" in message) {
    void runComputeJob(message, askFor(message.id)).then((report) => port.postMessage(report, transferablesOf(report)));
    return;
  }
  const resolve = pendingCalls.get(message.call);
  pendingCalls.delete(message.call);
  if ("output" in message) resolve?.(message.output);
});

function askFor(id: number): AskStored {
  return (question, input) =>
    new Promise((resolve) => {
      const call = nextCall++;
      pendingCalls.set(call, resolve);
      port.postMessage({ id, call, question, input });
    });
}
