import { destination, type DestinationStream, type Logger, pino } from "pino";

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

/** What is written of an error besides its type, message, code and stack: where it arose, and nothing that may quote data. */
const MEMBERS = [
  ...["errno", "syscall", "address", "port", "path"], // Node.js
  ...["severity", "schema_name", "table_name", "column_name", "constraint_name", "routine"], // PostgreSQL
];

/** Data exceptions name the value that was at fault. */
const QUOTES_DATA = /^22/;

/** An error that was caused by a longer chain has lost its way. */
const DEPTH_MAX = 5;

/**
 * An error for the log. The database's DETAIL and CONTEXT are left out, because they quote rows and documents ("Failing row contains …"),
 * and of the messages of data exceptions what stands in quotation marks. What is no error is returned as it is.
 */
function serializeError(error: unknown): unknown {
  return isErrorLike(error) ? serialize(error, DEPTH_MAX) : error;
}

type ErrorLike = Error & Record<string, unknown>;

function serialize(error: ErrorLike, depth: number): object {
  const message = textOf(error, error.message);
  const members = MEMBERS.filter((name) => error[name] !== undefined).map((name) => [name, error[name]] as const);
  const causes =
    depth > 0 && error instanceof AggregateError
      ? (error.errors as unknown[]).filter(isErrorLike).slice(0, DEPTH_MAX)
      : [];
  return {
    type: error.constructor.name,
    message,
    ...(error["code"] === undefined ? {} : { code: error["code"] }),
    ...Object.fromEntries(members),
    ...(error.stack === undefined ? {} : { stack: textOf(error, error.stack) }),
    ...(depth > 0 && isErrorLike(error.cause) ? { cause: serialize(error.cause, depth - 1) } : {}),
    ...(causes.length > 0 ? { errors: causes.map((each) => serialize(each, depth - 1)) } : {}),
  };
}

/** The stacks of an error and of what caused it, as far as the log may have them. */
export function stacksOf(error: unknown, depth = DEPTH_MAX): string {
  if (!isErrorLike(error)) return `what was thrown is not an Error but a ${typeof error}`;
  const stack = textOf(error, error.stack ?? error.message);
  return error.cause === undefined || depth === 0 ? stack : `${stack}\nCaused by: ${stacksOf(error.cause, depth - 1)}`;
}

/** The value may hold quotation marks itself, so all from the first to the last goes. */
function textOf(error: ErrorLike, text: string): string {
  if (!QUOTES_DATA.test(String(error["code"]))) return text;
  return text.replaceAll(error.message, error.message.replace(/".*"/s, '"[redacted]"'));
}

function isErrorLike(error: unknown): error is ErrorLike {
  return typeof error === "object" && error !== null && typeof (error as { message?: unknown }).message === "string";
}
