// Sends events and traits to svc. It needs nothing but Node.js: copy it into your backend, and call track() and identify() where things
// happen, and flush() at the end of a request or a job. The key may write events, so keep it on servers.
//
//   SVC_API_KEY=svc_test_… node instrumentation/track.mjs     sends the example at the end of this file
import { existsSync, realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

const API_URL = process.env.SVC_API_URL || "{{API_URL}}";
const OPERATIONS_PER_BATCH = 500;
const ANSWER_MS_MAX = 60_000;
const TRIES_MAX = 8;
/** The most that a try waits for the next one. A monthly quota that is used up says to come back next month. */
const WAIT_SECONDS_MAX = 600;

const waiting = [];
let sending = Promise.resolve();

/**
 * Something happened. The key identifies the event in your system, such as the id of the invoice, and is the same whenever it is sent:
 * then sending it again is harmless.
 */
export function track(customerId, event, properties, idempotencyKey) {
  waiting.push({ type: "track", customerId, event, properties, idempotencyKey });
}

/** Something is known. Traits are merged into those that are there; null removes one. */
export function identify(customerId, traits) {
  waiting.push({ type: "identify", customerId, traits });
}

/**
 * Sends what waits, in its order. A batch is taken whole or not at all; one that is refused is dropped, and the error says what is wrong
 * with it. What must not be lost in a crash belongs in a table or a queue of yours until this has succeeded.
 */
export function flush() {
  // One after the other: the order of a customer's operations matters.
  sending = sending.catch(() => {}).then(sendAll);
  return sending;
}

async function sendAll() {
  while (waiting.length > 0) await send(waiting.splice(0, OPERATIONS_PER_BATCH));
}

async function send(events) {
  for (let tries = 1; ; tries++) {
    const { status, text, retryAfter } = await post(JSON.stringify({ events }));
    if (status === 202) return;
    const mayPass = status === 0 || status === 408 || status === 429 || status >= 500;
    // Random, so that senders that were refused together do not come back together.
    const seconds =
      retryAfter > 0 ? retryAfter + Math.random() : Math.min(60, 2 ** (tries - 1)) * (0.5 + Math.random());
    if (!mayPass || tries === TRIES_MAX || seconds > WAIT_SECONDS_MAX) {
      throw new Error(`${API_URL} did not take ${events.length} operations (${status || "no answer"}): ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** The answer; its status is 0 where none came. */
async function post(body) {
  try {
    const answer = await fetch(`${API_URL}/v1/events/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${process.env.SVC_API_KEY}`, "content-type": "application/json" },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { status: answer.status, text: await answer.text(), retryAfter: Number(answer.headers.get("retry-after")) };
  } catch (error) {
    return { status: 0, text: String(error.cause ?? error), retryAfter: 0 };
  }
}

/** A customer's first day, as an example. It may be sent again: the keys see to it that nothing is counted twice. */
async function example() {
  if (!process.env.SVC_API_KEY)
    throw new Error("set SVC_API_KEY to the key that was printed when the project was made");
  const customer = "cus_example";
  identify(customer, { companyName: "Example", plan: "starter", seats: 12, renewsOn: "2030-01-31" });
  track(customer, "signed_up", { source: "website" }, `signed_up/${customer}`);
  track(customer, "logged_in", {}, "session/1");
  track(customer, "project_created", { template: "launch" }, "project/1");
  track(customer, "member_invited", { role: "member" }, "invitation/1");
  track(customer, "feature_used", { feature: "board" }, "use/1");
  track(customer, "invoice_paid", { amount: 120, currency: "EUR" }, "invoice/1");
  await flush();
  console.log(`Sent. See where it stands: svc customers inspect ${customer}`);
}

/** Whether this file is the program, however it was named, and not imported by another. */
function isProgram() {
  const file = process.argv[1];
  return existsSync(file) && import.meta.url === pathToFileURL(realpathSync(file)).href;
}

if (isProgram()) {
  await example().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
