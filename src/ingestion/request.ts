import { findBadLiteral, placeOfLiteral } from "./literals.js";
import { shownName, type ShapeProblem } from "./shape-problem.js";
import { BATCH_MAX, DOCUMENT_BYTES_MAX, operationProblem, singleProblem } from "./shape.js";
import { withLengths } from "./unusual-numbers.js";

/** Why a request with operations is refused; both codes have status 400. */
export interface RequestProblem extends ShapeProblem {
  code: "VALIDATION_ERROR" | "BATCH_SIZE_INVALID";
}

const MIB = 1024 * 1024;
/** 1,000 operations of 64 KiB and their other fields, with room for the caller's escapes and white space. */
export const BATCH_BYTES_MAX = 96 * MIB;
export const SINGLE_BYTES_MAX = MIB / 2;
/** A character takes at most six bytes of compact JSON, so a shorter body without exponents cannot exceed the limit of a document. */
const SURELY_SMALL_CHARACTERS = DOCUMENT_BYTES_MAX / 6;

/** The first problem of a request with a single event; null if its shape is valid. `body` is the parsed `text`. */
export function singleRequestProblem(body: unknown, text: string): RequestProblem | null {
  return problemOfOne(body, text, singleProblem);
}

/** The first problem of a single operation of either kind, such as a line of a file; otherwise as `singleRequestProblem`. */
export function lineProblem(body: unknown, text: string): RequestProblem | null {
  return problemOfOne(body, text, (value, checkSizes) => operationProblem(value, "", checkSizes));
}

function problemOfOne(body: unknown, text: string, problemOf: typeof singleProblem): RequestProblem | null {
  const checkSizes = mayBeLarge(text);
  return (
    invalid(problemOf(body, checkSizes)) ??
    literalProblem(text) ??
    (checkSizes ? unusualSizeProblem(text, (marked) => problemOf(marked, true)) : null)
  );
}

/** The first problem of a request with a batch; otherwise as `singleRequestProblem`. */
export function batchRequestProblem(body: unknown, text: string): RequestProblem | null {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return invalid({ message: "The body must be a JSON object.", fix: 'Send {"events": [ … ]}.' });
  }
  const { events, ...others } = body as Record<string, unknown>;
  if (!Array.isArray(events)) {
    return invalid({ message: "`events` must be an array.", field: "events", fix: 'Send {"events": [ … ]}.' });
  }
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const field = shownName(unknown);
    return invalid({ message: `\`${field}\` is not a field of a batch.`, field, fix: "Remove it." });
  }
  if (events.length < 1 || events.length > BATCH_MAX) return sizeProblem(events.length, String(events.length));
  const checkSizes = mayBeLarge(text);
  return (
    invalid(firstProblem(events, checkSizes)) ??
    literalProblem(text) ??
    (checkSizes
      ? unusualSizeProblem(text, (marked) => firstProblem((marked as { events: unknown[] }).events, true))
      : null)
  );
}

function firstProblem(events: unknown[], checkSizes: boolean): ShapeProblem | null {
  for (const [index, operation] of events.entries()) {
    const problem = operationProblem(operation, `events[${index}]`, checkSizes);
    if (problem !== null) return problem;
  }
  return null;
}

/** The stored length of a number is not known from its double, so an otherwise valid text is checked again with lengths in place of such numbers. */
function unusualSizeProblem(text: string, problemOf: (body: unknown) => ShapeProblem | null): RequestProblem | null {
  const marked = withLengths(text);
  return marked === null ? null : invalid(problemOf(JSON.parse(marked)));
}

/** The problem of a batch with more than BATCH_MAX operations, which were not counted. */
export function tooManyOperations(): RequestProblem {
  return sizeProblem(Infinity, `more than ${BATCH_MAX.toLocaleString("en-US")}`);
}

function sizeProblem(length: number, shownLength: string): RequestProblem {
  return {
    code: "BATCH_SIZE_INVALID",
    message: `A batch has 1 to ${BATCH_MAX.toLocaleString("en-US")} operations.`,
    field: "events",
    reason: `This one has ${shownLength}.`,
    fix: length === 0 ? "Send at least one operation." : "Split it into several requests.",
  };
}

function mayBeLarge(text: string): boolean {
  return text.length > SURELY_SMALL_CHARACTERS || /\d[eE]/.test(text);
}

function literalProblem(text: string): RequestProblem | null {
  const bad = findBadLiteral(text);
  if (!bad) return null;
  const field = placeOfLiteral(text, bad);
  return {
    code: "VALIDATION_ERROR",
    message: "The body has a value that cannot be stored.",
    ...(field === undefined || field === "" ? {} : { field }),
    value: bad.literal,
    reason: bad.reason,
    fix: "Remove or change the value.",
  };
}

function invalid(problem: ShapeProblem | null): RequestProblem | null {
  return problem && { code: "VALIDATION_ERROR", ...problem };
}
