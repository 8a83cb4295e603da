import type { ClientError } from "./errors.js";
import type { AnySchema, Schema, SentOperation } from "./types.js";

export interface ClientOptions<S extends Schema = AnySchema> {
  /** The address of the service, without `/v1`: `https://svc.example.com`. */
  url: string;
  /** An API key of the project and environment: `svc_test_…` or `svc_live_…`. */
  apiKey: string;
  /** The most operations of `track` and `identify` in the queue. Default: 50,000. */
  queueOperations?: number | undefined;
  /** The most bytes of operations in the queue, at least 1 MiB. Default: 64 MiB. */
  queueBytes?: number | undefined;
  /** The most operations in one request. Default: 1,000, the limit of the service. */
  batchOperations?: number | undefined;
  /** The most bytes of operations in one request. Default: 900,000, which fits the default limits of proxies. */
  batchBytes?: number | undefined;
  /** How long operations are gathered before they are sent, in milliseconds; a full batch is sent at once. Default: 1,000. */
  flushIntervalMs?: number | undefined;
  /** The timeout of one request, in milliseconds. Default: 60,000; the service answers within 40,000. */
  timeoutMs?: number | undefined;
  /** The upper bound of the pause before the first retry, in milliseconds; it doubles with each retry. Default: 1,000. */
  retryFirstMs?: number | undefined;
  /** The upper bound of any pause between retries that the service does not ask for, in milliseconds. Default: 60,000. */
  retryLongestMs?: number | undefined;
  /**
   * Called for each operation that was refused or not queued (`error.operation`), and once, without an operation, when the service accepts nothing of this
   * client. Default: a process warning, once for each code.
   */
  onError?: ((error: ClientError & { readonly operation: SentOperation<S> | null }) => unknown) | undefined;
  /** Called before the pause that precedes each retry of a request. Default: a process warning at the fifth try. */
  onRetry?: ((error: ClientError, attempt: Attempt) => unknown) | undefined;
}

export interface Attempt {
  /** How often the request was sent so far. */
  tries: number;
  /** The pause before it is sent again, in milliseconds. */
  waitMs: number;
}

/** The options with defaults filled in, as the client uses them. */
export type ClientSettings = ReturnType<typeof readOptions>;

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const TRIES_UNTIL_WARNING = 5;

/** Options that are whole numbers, each with its default, minimum and maximum. */
const NUMBERS = {
  queueOperations: [50_000, 1, Number.MAX_SAFE_INTEGER],
  queueBytes: [64 * MIB, MIB, Number.MAX_SAFE_INTEGER],
  batchOperations: [1_000, 1, 1_000],
  // The service's limit for a request is 96 MiB; what surrounds the operations is small.
  batchBytes: [900_000, 1, 95 * MIB],
  flushIntervalMs: [1_000, 0, HOUR_MS],
  timeoutMs: [60_000, 1, HOUR_MS],
  retryFirstMs: [1_000, 1, HOUR_MS],
  retryLongestMs: [60_000, 1, HOUR_MS],
} as const satisfies Partial<Record<keyof ClientOptions, readonly [byDefault: number, least: number, most: number]>>;

const NAMES = ["url", "apiKey", ...Object.keys(NUMBERS), "onError", "onRetry"];

/** @throws {TypeError} for an unknown option, and for an invalid value */
export function readOptions(options: ClientOptions) {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}; there are ${NAMES.join(", ")}`);
  const number = (name: keyof typeof NUMBERS): number => {
    const [byDefault, least, most] = NUMBERS[name];
    const value: unknown = options[name] ?? byDefault;
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new TypeError(`${name} must be a whole number from ${least} to ${most}, not ${shown(value)}`);
  };
  const warn = warner();
  return {
    /** The address that batches are sent to. */
    url: `${addressOf(options.url)}/v1/events/batch`,
    apiKey: keyOf(options.apiKey),
    queue: { operations: number("queueOperations"), bytes: number("queueBytes") },
    batch: { operations: number("batchOperations"), bytes: number("batchBytes") },
    intervalMs: number("flushIntervalMs"),
    timeoutMs: number("timeoutMs"),
    backoff: { firstMs: number("retryFirstMs"), longestMs: number("retryLongestMs") },
    onError: safely(options.onError ?? ((error) => warn(error.code, error.message))),
    onRetry: safely(
      options.onRetry ??
        ((error, { tries }) => {
          if (tries === TRIES_UNTIL_WARNING) warn(error.code, `tried ${tries} times, and continues: ${error.message}`);
        }),
    ),
  };
}

/** A value as error messages show it. */
export function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function addressOf(url: unknown): string {
  // A user name or password in the address would have no effect.
  const isAddress = typeof url === "string" && /^https?:\/\/[^?#@]+$/i.test(url) && URL.canParse(url);
  if (!isAddress || /^\/v1\/*$/.test(new URL(url).pathname))
    throw new TypeError(
      `url must be the service's address without /v1, such as https://svc.example.com, not ${JSON.stringify(url)}`,
    );
  return url.replace(/\/+$/, "");
}

function keyOf(apiKey: unknown): string {
  // A character that a header cannot contain would fail each request. The key itself must not appear in a message.
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError(
    "apiKey must be an API key of the service, such as svc_test_…; is the environment variable set that it is read from?",
  );
}

/** Warns once for each code, so that a failure that happens a thousand times a second is not logged each time. */
function warner(): (code: string, message: string) => void {
  const warned = new Set<string>();
  return (code, message) => {
    if (warned.has(code)) return;
    warned.add(code);
    process.emitWarning(`${message} (reported once; set onError and onRetry to handle each occurrence)`, {
      type: "SvcClient",
      code,
    });
  };
}

/** Turns a callback's failure into a process warning: an exception must not stop the sending, nor a rejected promise end the process. */
function safely<Args extends unknown[]>(callback: (...args: Args) => unknown): (...args: Args) => void {
  const failed = (error: unknown) => {
    process.emitWarning(`a callback of the client failed: ${String(error)}`, { type: "SvcClient" });
  };
  return (...args) => {
    try {
      Promise.resolve(callback(...args)).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
