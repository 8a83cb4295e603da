// Requests to the service, with its rules for clients: no answer, 408, 429 and 5xx are tried again, nothing else is.
import { setTimeout as delay } from "node:timers/promises";
import { Mistake } from "./mistake.mjs";

const ANSWER_MS_MAX = 60_000;
/** To wait for the next month is not for a program that somebody started. */
const WAIT_SECONDS_MAX = 600;

/** The answer to a request that is not to be sent again as it is. `code`, `field` and so on are those of its error, as far as it has them. */
export class Refusal extends Mistake {
  constructor(status, error) {
    super([status, error.code, error.field, error.message, error.reason, error.fix].filter(Boolean).join(" "));
    this.status = status;
    this.error = error;
  }
}

/**
 * The body of the answer, once there is one with 2xx. Throws a Refusal; a Mistake where the service did not answer in `tries` tries; and the
 * signal's reason where that ends the waiting. A request that is under way is not broken off.
 */
export async function request({ url, method = "POST", path, headers, body, tries, signal, note }) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  for (let tried = 1; ;) {
    const { status, answer, retryAfter, why } = await once(url + path, { method, headers, body: text });
    if (status >= 200 && status < 300) return answer;
    const error = answer?.error ?? {};
    const isLimited = error.code === "RATE_LIMIT_EXCEEDED";
    const mayPass = status === 0 || status === 408 || status === 429 || status >= 500;
    if (!mayPass || error.code === "MONTHLY_QUOTA_EXCEEDED" || retryAfter > WAIT_SECONDS_MAX)
      throw new Refusal(status, answer?.error ?? { message: why });
    const what =
      status === 0
        ? `no answer from ${url}: ${why}`
        : new Refusal(status, { ...error, message: error.message ?? why }).message;
    // The rate limit says when there is room again. Only what may never pass counts as a try.
    if (isLimited) note(`slowed down by the plan: ${error.message}`);
    else if (tried === tries) throw new Mistake(`gave up after ${tries} ${tries === 1 ? "try" : "tries"}: ${what}`);
    else note(`${what}; trying again (${tried} of ${tries})`);
    // Random, so that senders that were refused together do not come back together.
    const seconds =
      retryAfter > 0 ? retryAfter + Math.random() : Math.min(60, 2 ** (tried - 1)) * (0.5 + Math.random());
    if (!isLimited) tried++;
    await delay(seconds * 1_000, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

/** One request. The status is 0 where no answer came, and `why` says what came instead of an answer of the service. */
async function once(address, init) {
  try {
    const options = { ...init, redirect: "manual", signal: AbortSignal.timeout(ANSWER_MS_MAX) };
    const response = await fetch(address, options);
    const text = await response.text();
    const retryAfter = Number(response.headers.get("retry-after"));
    return { status: response.status, answer: parse(text), retryAfter, why: text.slice(0, 200) };
  } catch (error) {
    // A name that has several addresses has a failure for each.
    const { message } = error.cause?.errors?.[0] ?? error.cause ?? error;
    return { status: 0, answer: null, retryAfter: 0, why: message };
  }
}

/** Null for what is no JSON: a proxy's answer. */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
