import Type from "typebox";
import type { EnvironmentRef } from "../../db/api/access.js";
import { stateBudget, type StateBudget } from "../../engine/index.js";
import { findBadLiteral, placeOfLiteral } from "../../ingestion/literals.js";
import { canonicalJson, digest } from "../../model/snapshot/canonical.js";
import { bytesInWords, LIMITS } from "../../model/snapshot/limits.js";
import { parseSnapshot, type Problem, TOO_LARGE } from "../../model/validate/validate.js";
import { ApiError } from "../errors.js";
import { countJson, type JsonLimits } from "../request/json-limits.js";
import { decodeText, parseChecked, PARSER_LIMITS, limitRefusal } from "../request/parse-json.js";
import { shape } from "../request/shapes.js";
import { requestedVersion } from "./parameters.js";
import { exact, named } from "./schemas.js";

/** Throws VALIDATION_ERROR if a valid JSON text has a literal that the database cannot store. */
export function refuseBadLiterals(text: string): void {
  const bad = findBadLiteral(text);
  if (bad === null) return;
  const field = placeOfLiteral(text, bad) || undefined;
  throw new ApiError(400, "VALIDATION_ERROR", { field, value: bad.literal, reason: bad.reason });
}

/** A snapshot in the form in which it is stored. */
interface StorableSnapshot {
  /** Canonical JSON. */
  snapshot: string;
  /** The hash of exactly that text. */
  hash: string;
}

/** The result of reading a submitted snapshot: its storable form, or its problems. */
type ReadSnapshot = (StorableSnapshot & { budget: StateBudget }) | { problems: readonly Problem[] };

const text = Type.Optional(Type.String({ maxLength: 1024 }));

export const buildProvenance = named("Provenance", "Where a version was built, as far as known.", {
  repository: text,
  commit: text,
  ref: text,
  workflow: text,
  run: text,
});

/** Body members of requests that activate a version. */
export const activationOptions = {
  expected: Type.Optional(
    Type.Union([requestedVersion, Type.Null()], {
      description: "must be the version that is expected to be active now, such as v3, or null for none",
    }),
  ),
  force: Type.Optional(Type.Boolean()),
};

export const hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256 of the canonical snapshot." });

export const newVersion = exact({
  snapshot: Type.Unknown(),
  provenance: Type.Optional(buildProvenance),
  ...activationOptions,
});

export const checkedSnapshot = exact({ snapshot: Type.Unknown() });

/** More than any number of customers. */
const SAMPLE_MAX = 1_000_000_000;

export const newPreview = exact({
  snapshot: Type.Unknown(),
  sample: Type.Optional(Type.Integer({ minimum: 1, maximum: SAMPLE_MAX })),
});

const shortText = (description: string, ...examples: string[]) =>
  Type.String({ minLength: 1, maxLength: 300, description, examples });

/** The parameters of `readQuestion`, and the model and customers to use. */
export const newBacktest = exact({
  snapshot: Type.Optional(Type.Unknown()),
  version: Type.Optional(requestedVersion),
  against: Type.Optional(requestedVersion),
  outcome: shortText("must be state:<id>, event:<name> or segment:<id>", "state:churned"),
  within: shortText("must be a duration", "60d"),
  every: Type.Optional(shortText("must be a duration", "7d")),
  from: Type.Optional(shortText("must be an instant or a date", "2026-03-01")),
  to: Type.Optional(shortText("must be an instant or a date", "2026-03-01")),
  customers: Type.Optional(Type.Integer({ minimum: 1, maximum: SAMPLE_MAX })),
  traits: Type.Optional(Type.Enum(["then", "now"])),
});

const SHAPES = {
  version: shape(newVersion),
  check: shape(checkedSnapshot),
  preview: shape(newPreview),
  backtest: shape(newBacktest),
};

/** The purpose of a submission. */
export type SubmissionKind = keyof typeof SHAPES;

const SUBMISSION_LIMITS: JsonLimits = {
  ...PARSER_LIMITS,
  membersMax: 100,
  // Each value takes at least one byte.
  part: { depth: 2, valuesMax: LIMITS.bytes, charactersMax: Infinity },
};

/**
 * Reads a body, and replaces its member `snapshot`, if present, by the result of reading it. Throws an ApiError if the body is not valid; problems of
 * the snapshot are returned, because they are reported only if everything else is valid.
 */
export function readSubmission({ kind, pieces }: { kind: SubmissionKind; pieces: readonly Uint8Array[] }): object {
  const text = decodeText(pieces);
  const { exceeded } = countJson(text, SUBMISSION_LIMITS);
  if (exceeded?.limit === "partValuesMax" && exceeded.path === "snapshot") throw invalidSnapshot([TOO_LARGE]);
  if (exceeded !== null) throw limitRefusal(exceeded, SUBMISSION_LIMITS);
  const value = parseChecked(text);
  refuseBadLiterals(text);
  const submission = SHAPES[kind].check(value);
  return "snapshot" in submission ? { ...submission, snapshot: readSnapshot(submission.snapshot) } : submission;
}

type AskStateLimit = (name: "get_state_limit", operation: string, environment: string) => Promise<number>;

/**
 * The storable form of a snapshot that `readSubmission` read. Throws CONFIG_INVALID with all its problems, and STATE_TOO_LARGE if its state can
 * exceed the limit of the organization's plan.
 *
 * @param operation what the snapshot is sent for, for which the sender must be authorized
 */
export async function storable(
  operation: string,
  { call, at }: { call: AskStateLimit; at: EnvironmentRef },
  read: unknown,
): Promise<StorableSnapshot> {
  const submitted = read as ReadSnapshot;
  if ("problems" in submitted) throw invalidSnapshot(submitted.problems);
  const { budget, ...stored } = submitted;
  const bytesMax = await call("get_state_limit", operation, at.environment);
  if (budget.bytes > bytesMax) throw tooLarge(budget, bytesMax);
  return stored;
}

function readSnapshot(value: unknown): ReadSnapshot {
  const parsed = parseSnapshot(value);
  if (!parsed.ok) return { problems: parsed.problems };
  const snapshot = canonicalJson(parsed.snapshot);
  const { bytes, parts } = stateBudget(parsed.snapshot);
  // An error lists the most expensive conditions.
  return { snapshot, hash: digest(snapshot).toString("hex"), budget: { bytes, parts: parts.slice(0, 5) } };
}

function invalidSnapshot(problems: readonly Problem[]): ApiError {
  return new ApiError(422, "CONFIG_INVALID", {
    message: "The snapshot is not a valid configuration.",
    fix: "Correct the model and compile it again; `problems` lists every problem.",
    problems: problems.map(({ code, message, path }) => ({ code, message, path })),
  });
}

function tooLarge({ bytes, parts }: StateBudget, bytesMax: number): ApiError {
  return new ApiError(422, "STATE_TOO_LARGE", {
    message:
      `The model may remember up to ${bytesInWords(bytes)} for one customer, ` +
      `and the plan allows ${bytesInWords(bytesMax)}.`,
    fix:
      "Use smaller numbers of occurrences or of distinct values in conditions, or fewer events and properties; " +
      "`problems` lists what takes the most.",
    problems: parts.map(({ path, conditions, bytes: own }) => ({
      code: "STATE_TOO_LARGE",
      message: `remembers up to ${bytesInWords(own)}${conditions === 1 ? "" : `, which ${conditions} conditions share`}`,
      path,
    })),
  });
}
