import os from "node:os";
import { parentPort } from "node:worker_threads";
import type { AskStored } from "../http/admin/explain-stored.js";
import { doJob, handedOver, type ComputeJob, type JobAnswer } from "../http/compute/jobs.js";

// The thread of `ComputeThread`: what would hold up HTTP is done here.
if (parentPort === null) throw new Error("this module is the body of a worker thread");
const port = parentPort;
/** Where processors are short, short requests come first. Only Linux has priorities of threads; elsewhere it would be the process'. */
if (process.platform === "linux") os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
const asked = new Map<number, (output: unknown) => void>();
let calls = 0;

port.on("message", (message: ComputeJob | JobAnswer) => {
  if ("name" in message) {
    void doJob(message, askFor(message.id)).then((report) => port.postMessage(report, handedOver(report)));
    return;
  }
  const resolve = asked.get(message.call);
  asked.delete(message.call);
  if ("output" in message) resolve?.(message.output);
});

function askFor(id: number): AskStored {
  return (question, input) =>
    new Promise((resolve) => {
      const call = calls++;
      asked.set(call, resolve);
      port.postMessage({ id, call, question, input });
    });
}
