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
export function serializeError(error: unknown): unknown {
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
