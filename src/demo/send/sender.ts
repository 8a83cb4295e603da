/** Sends batches one after another. */
import { type Dispatcher, request } from "undici";
import { acceptedIds, readEnvelope } from "../../client/answer.js";
import { isTemporary, retryAfterMs } from "../../client/retry.js";
import { DemoFailure } from "../failure.js";
import { type RetryAttempt, DEFAULT_POLICY, networkFailure, type RetryPolicy, withRetries } from "../retry.js";
import type { Outgoing } from "./outgoing.js";

/** One request of a client of the ingestion API. */

interface PostOptions {
  apiKey: string;
  dispatcher: Dispatcher;
  signal?: AbortSignal | undefined;
}

export interface SendAnswer {
  status: number;
  text: string;
  headers: Dispatcher.ResponseData["headers"];
}

/** How long an answer may take. A request is safe to send again, so a silent connection is given up like a broken one. */
const ANSWER_WITHIN_MS = 60_000;

/** Posts a JSON text, and returns whatever was answered. Rejects where there was no answer. */
export async function postOnce(url: string, json: string, options: PostOptions): Promise<SendAnswer> {
  const { apiKey, dispatcher, signal = null } = options;
  const { statusCode, headers, body } = await request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: json,
    dispatcher,
    signal,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  return { status: statusCode, text: await body.text(), headers };
}

export interface SenderOptions {
  /** The service's address, without a path. */
  url: string;
  apiKey: string;
  dispatcher: Dispatcher;
  policy?: RetryPolicy;
  signal?: AbortSignal;
  onRetry?: (why: string) => void;
}

/**
 * One sequential sender. The order in which the service accepts requests that overlap is open, so all operations of one customer
 * must go through the same sender. A batch that got no answer is sent again as it was: tracks are recognized by their keys, and
 * identifies, repeated in their order before anything newer, end in the same traits.
 */
export class DemoSender {
  /** The checkpoint: operations that the service has answered for with 202. It moves only then. */
  acknowledged = 0;
  /** Of them, the track operations. */
  acknowledgedEvents = 0;
  retries = 0;

  constructor(private readonly options: SenderOptions) {}

  /**
   * Sends one batch of 1 to 1,000 operations and returns once it is accepted. Throws a DemoFailure that names the operation where
   * the service refuses the batch, and when it stays unreachable for longer than the policy allows.
   */
  async send(batch: readonly Outgoing[]): Promise<void> {
    const body = `{"events":[${batch.map(({ json }) => json).join(",")}]}`;
    const { policy = DEFAULT_POLICY, signal, onRetry } = this.options;
    const counted = (why: string) => {
      this.retries++;
      onRetry?.(why);
    };
    const events = await withRetries(() => this.#attempt(batch, body), { ...policy, signal, onRetry: counted });
    this.acknowledged += batch.length;
    this.acknowledgedEvents += events;
  }

  async #attempt(batch: readonly Outgoing[], body: string): Promise<RetryAttempt<number>> {
    const { url, apiKey, dispatcher, signal } = this.options;
    let answer: SendAnswer;
    try {
      answer = await postOnce(`${url}/v1/events/batch`, body, { apiKey, dispatcher, signal });
    } catch (error) {
      signal?.throwIfAborted();
      return networkFailure(error);
    }
    const { status, text, headers } = answer;
    if (status === 202) return { done: true, value: eventsAccepted(text, batch) };
    if (!isTemporary(status)) throw refusal(status, text, batch);
    return {
      done: false,
      again: describe(status, text),
      retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()),
    };
  }
}

/** Checks the answer against what was sent. */
function eventsAccepted(text: string, batch: readonly Outgoing[]): number {
  const events = batch.filter(({ kind }) => kind === "track").length;
  if (acceptedIds(text, batch.length, events) !== null) return events;
  throw new DemoFailure(
    `the service accepted a batch of ${batch.length} operations (${events} events) with an unexpected answer: ${text.slice(0, 200)}`,
  );
}

function refusal(status: number, text: string, batch: readonly Outgoing[]): DemoFailure {
  const place = /^events\[(\d+)\]/.exec(readEnvelope(text)?.field ?? "")?.[1];
  const culprit = place === undefined ? undefined : batch[Number(place)];
  const where = culprit === undefined ? "" : ` (${culprit.origin}, customer "${culprit.customerId}")`;
  return new DemoFailure(`the service refused a batch${where}: ${describe(status, text)}`);
}

function describe(status: number, text: string): string {
  const { code = null, message = null, field = null } = readEnvelope(text) ?? {};
  return [String(status), code, field, message].filter((part) => part !== null).join(" ");
}
