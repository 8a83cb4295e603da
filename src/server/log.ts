import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import { codeOf } from "../db/sqlstate.js";

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

/** Paths of these members at the top of a logged object and one and two levels down: `err.token`, `req.headers.authorization`. */
const REDACTED = SECRET_NAMES.flatMap((name) =>
  name.startsWith("[") ? [name, `*${name}`, `*.*${name}`] : [name, `*.${name}`, `*.*.${name}`],
);

/** Secrets within strings: our keys, tokens, links, codes, cookies and webhook secrets, bearer tokens, passwords in URLs. */
const SECRET_TEXTS: [RegExp, string][] = [
  [/\b(svc_(?:test|live|token|link|session|device|visit)_|whsec_)[A-Za-z0-9+/_=-]+/g, "$1[redacted]"],
  [/\b(Bearer )[A-Za-z0-9._~+/=-]{8,}/gi, "$1[redacted]"],
  [/(\b(?:postgres(?:ql)?|smtps?):\/\/[^:@/\s"]*:)[^@\s"]+@/g, "$1[redacted]@"],
];

/** Redacts the secrets in a text that have a recognizable form. */
export function hideSecrets(text: string): string {
  return SECRET_TEXTS.reduce((rest, [secret, shown]) => rest.replace(secret, shown), text);
}

/** Serializes the errors in the job runner's metadata of a failed job like all other errors. */
function serializeMeta(meta: unknown): unknown {
  if (typeof meta !== "object" || meta === null) return meta;
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [name, serializeError(value)]));
}

const STDERR = 2;
/** The pause before another try while a pipe is full. */
const FULL_PIPE_MS = 10;

/**
 * Writes lines to stderr. A line that cannot be written, because the disk is full or the reader has gone, is dropped: pino's own destination
 * tries again for ever, and nothing else happens meanwhile.
 */
const stderr: DestinationStream = {
  write(line) {
    for (let rest = Buffer.from(line); rest.length > 0;) {
      try {
        rest = rest.subarray(writeSync(STDERR, rest));
      } catch (error) {
        if (codeOf(error) !== "EAGAIN") return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
      }
    }
  },
};

/**
 * A logger that writes JSON lines to `stream`, stderr unless given; stdout is for the output of commands. Secrets are redacted in fields and in
 * texts. A line is written before the call returns, so none is lost however the process ends. `level` is one of LOG_LEVELS (config.ts).
 */
export function createLogger(level: string, stream: DestinationStream = stderr): Logger {
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
 * Logs an unhandled error, without the data that it quotes, and exits with code 1. Node.js itself would print all members of the error, such as
 * PostgreSQL's DETAIL with a customer's row. Logged at every LOG_LEVEL.
 */
export function logCrashes(): void {
  const end = (thrown: unknown) => {
    const err = thrown instanceof Error ? thrown : new Error(stacksOf(thrown));
    createLogger("fatal").fatal({ err }, "an unhandled error ends the process");
    process.exit(1);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

/** Members of an error that are logged besides its type, message, code and stack. None may quote data. */
const MEMBERS = [
  ...["errno", "syscall", "address", "port", "path"], // Node.js
  ...["severity", "schema_name", "table_name", "column_name", "constraint_name", "routine"], // PostgreSQL
];

/** SQLSTATEs of data exceptions, whose messages quote the invalid value. */
const QUOTES_DATA = /^22/;

/** Longer chains of causes are cut off here. */
const DEPTH_MAX = 5;

/**
 * Serializes an error for the log. Leaves out the database's DETAIL and CONTEXT, because they quote rows and documents ("Failing row contains …"),
 * and the text within quotation marks in messages of data exceptions. Other values are returned unchanged.
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

/** The stacks of an error and of its causes, without quoted data. */
export function stacksOf(error: unknown, depth = DEPTH_MAX): string {
  if (!isErrorLike(error)) return `what was thrown is not an Error but a ${typeof error}`;
  const stack = textOf(error, error.stack ?? error.message);
  return error.cause === undefined || depth === 0 ? stack : `${stack}\nCaused by: ${stacksOf(error.cause, depth - 1)}`;
}

/** Redacts from the first to the last quotation mark, because the quoted value may itself contain some. */
function textOf(error: ErrorLike, text: string): string {
  if (!QUOTES_DATA.test(String(error["code"]))) return text;
  return text.replaceAll(error.message, error.message.replace(/".*"/s, '"[redacted]"'));
}

function isErrorLike(error: unknown): error is ErrorLike {
  return typeof error === "object" && error !== null && typeof (error as { message?: unknown }).message === "string";
}
