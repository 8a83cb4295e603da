import type { ClientError } from "./errors.js";
import type { AnySchema, Schema, SentOperation } from "./types.js";

export interface ClientOptions<S extends Schema = AnySchema> {
  /** Where the service answers: `https://svc.example.com`, without `/v1`. */
  url: string;
  /** Of the project and environment that is meant: `svc_test_…` or `svc_live_…`. */
  apiKey: string;
  /** Most operations of `track` and `identify` that wait; 50,000 unless given. */
  queueOperations?: number;
  /** Most bytes of them; 64 MiB unless given, at least 1 MiB. */
  queueBytes?: number;
  /** Most operations in one request; 1,000 unless given, which is the service's limit. */
  batchOperations?: number;
  /** Most bytes of operations in one request; 900,000 unless given, which proxies let through unless told otherwise. */
  batchBytes?: number;
  /** How long operations gather before they are sent, in milliseconds; 1,000 unless given. A full batch goes at once. */
  flushIntervalMs?: number;
  /** How long one request may take, in milliseconds; 60,000 unless given. The service answers within 40,000. */
  timeoutMs?: number;
  /** The most that the first pause between two tries takes, in milliseconds, and the most that any takes; 1,000 and 60,000 unless given. */
  retryFirstMs?: number;
  retryLongestMs?: number;
  /**
   * Told what needs somebody: each operation that was refused or not queued (`error.operation`), and once what keeps the service from taking anything. A
   * warning of the process unless given, once for each code.
   */
  onError?: (error: ClientError & { readonly operation: SentOperation<S> | null }) => unknown;
  /** Told of each request that is sent again. A warning of the process at the fifth try unless given. */
  onRetry?: (error: ClientError, attempt: Attempt) => unknown;
}

export interface Attempt {
  /** How often the request was sent so far. */
  tries: number;
  /** Until it is sent again, in milliseconds. */
  waitMs: number;
}

/** Options as the client uses them. */
export type ClientSettings = ReturnType<typeof readOptions>;

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const TRIES_UNTIL_WARNING = 5;

/** Options that are whole numbers: what each is unless given, the least and the most. */
const NUMBERS = {
  queueOperations: [50_000, 1, Number.MAX_SAFE_INTEGER],
  queueBytes: [64 * MIB, MIB, Number.MAX_SAFE_INTEGER],
  batchOperations: [1_000, 1, 1_000],
  // The service's limit of a batch is 96 MiB, of which other texts need little.
  batchBytes: [900_000, 1, 95 * MIB],
  flushIntervalMs: [1_000, 0, HOUR_MS],
  timeoutMs: [60_000, 1, HOUR_MS],
  retryFirstMs: [1_000, 1, HOUR_MS],
  retryLongestMs: [60_000, 1, HOUR_MS],
} as const satisfies Partial<Record<keyof ClientOptions, readonly [otherwise: number, least: number, most: number]>>;

const NAMES = ["url", "apiKey", ...Object.keys(NUMBERS), "onError", "onRetry"];

/** @throws {TypeError} for what cannot be, and for an option that there is not */
export function readOptions(options: ClientOptions) {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}; there are ${NAMES.join(", ")}`);
  const number = (name: keyof typeof NUMBERS): number => {
    const [otherwise, least, most] = NUMBERS[name];
    const value: unknown = options[name] ?? otherwise;
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new TypeError(`${name} must be a whole number from ${least} to ${most}, not ${shown(value)}`);
  };
  const warn = warner();
  return {
    /** Where batches are sent to. */
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
          if (tries === TRIES_UNTIL_WARNING) warn(error.code, `tried ${tries} times, and goes on: ${error.message}`);
        }),
    ),
  };
}

/** A value, for a message. */
export function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function addressOf(url: unknown): string {
  // fetch takes no address with a name or a password in it.
  const isAddress = typeof url === "string" && /^https?:\/\/[^?#@]+$/i.test(url) && URL.canParse(url);
  if (!isAddress || /^\/v1\/*$/.test(new URL(url).pathname))
    throw new TypeError(
      `url must be the service's address without /v1, as https://svc.example.com, not ${JSON.stringify(url)}`,
    );
  return url.replace(/\/+$/, "");
}

function keyOf(apiKey: unknown): string {
  // What a header cannot have would fail each request; the key itself belongs in no message.
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError(
    "apiKey must be an API key of the service, as svc_test_…; is the variable set that it is read from?",
  );
}

/** Warns once of each code: what goes wrong a thousand times a second is not logged as often. */
function warner(): (code: string, message: string) => void {
  const told = new Set<string>();
  return (code, message) => {
    if (told.has(code)) return;
    told.add(code);
    process.emitWarning(`${message} (told once; give onError and onRetry to be told each time)`, {
      type: "SvcClient",
      code,
    });
  };
}

/** A caller's mistake must not end the sending, and a promise that it rejects must not end the process: it is a warning. */
function safely<Args extends unknown[]>(tell: (...args: Args) => unknown): (...args: Args) => void {
  const failed = (error: unknown) => {
    process.emitWarning(`a callback of the client failed: ${String(error)}`, { type: "SvcClient" });
  };
  return (...args) => {
    try {
      Promise.resolve(tell(...args)).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
