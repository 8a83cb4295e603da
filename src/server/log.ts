import { destination, pino, type DestinationStream, type Logger } from "pino";
import { serializeError, stacksOf } from "./log-error.js";

export type { Logger } from "pino";

const SECRET_NAMES = [
  "authorization",
  "cookie",
  '["set-cookie"]',
  "password",
  "secret",
  "token",
  "accessToken",
  "apiKey",
  "metricsToken",
  "databaseUrl",
];

/** On the object logged, one and two levels down: `err.token`, `req.headers.authorization`. */
const REDACTED = SECRET_NAMES.flatMap((name) =>
  name.startsWith("[") ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`],
);

/** Secrets inside texts, which no path reaches: our keys, tokens, links, codes, cookies and webhook secrets, bearer tokens, passwords in URLs. */
const SECRET_TEXTS: [RegExp, string][] = [
  [/\b(svc_(?:test|live|token|link|session|device|visit)_|whsec_)[A-Za-z0-9+/_=-]+/g, "$1[redacted]"],
  [/\b(Bearer )[A-Za-z0-9._~+/=-]{8,}/gi, "$1[redacted]"],
  [/(\b(?:postgres(?:ql)?|smtps?):\/\/[^:@/\s"]*:)[^@\s"]+@/g, "$1[redacted]@"],
];

/** A text without the secrets that have a form of their own. */
export function hideSecrets(text: string): string {
  return SECRET_TEXTS.reduce((rest, [secret, shown]) => rest.replace(secret, shown), text);
}

/** What the job runner says of a job that failed: its errors as any other. */
function serializeMeta(meta: unknown): unknown {
  if (typeof meta !== "object" || meta === null) return meta;
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [name, serializeError(value)]));
}

/**
 * `level` is one of LOG_LEVELS (config.ts). JSON lines on stderr, or where told; stdout belongs to what commands print. Secrets are taken out
 * of both fields and texts. A line is written before the call returns, so none is lost however the process ends.
 */
export function createLogger(level: string, stream: DestinationStream = destination(2)): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      redact: { paths: REDACTED, censor: "[redacted]" },
      serializers: { err: serializeError, meta: serializeMeta },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: hideSecrets },
    },
    stream,
  );
}

/**
 * Has an error that nobody handled written to the log, without what it quotes of data as any other, and ends the process with code 1. Node.js
 * would print all that the error has, PostgreSQL's DETAIL with a customer's row among it. Written at every LOG_LEVEL.
 */
export function logCrashes(): void {
  const end = (thrown: unknown) => {
    const err = thrown instanceof Error ? thrown : new Error(stacksOf(thrown));
    createLogger("fatal").fatal({ err }, "the process ends by an error that nobody handled");
    process.exit(1);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}
