import Type from "typebox";
import { canonicalJson } from "../../snapshot/canonical.js";
import { digest } from "../../snapshot/digest.js";
import { LIMITS } from "../../snapshot/limits.js";
import { parseSnapshot, TOO_LARGE, type Problem } from "../../snapshot/validate.js";
import { ApiError } from "../errors.js";
import { countJson, type JsonLimits } from "../json-limits.js";
import { decodeJson, PARSER_LIMITS, parseCounted, refusalOf } from "../parse-json.js";
import { shape } from "../shapes.js";
import { refuseBadLiterals } from "./bad-literals.js";
import { activationOptions, provenance } from "./schemas-config.js";

/** A snapshot as it is stored. */
export interface StorableSnapshot {
  /** Canonical JSON. */
  snapshot: string;
  /** Of exactly that text. */
  hash: string;
}

/** A snapshot that was sent, read: what is stored of it, or what is wrong with it. */
export type ReadSnapshot = StorableSnapshot | { problems: readonly Problem[] };

export const newVersion = Type.Object(
  { snapshot: Type.Unknown(), provenance: Type.Optional(provenance), ...activationOptions },
  { additionalProperties: false },
);

/** More customers than anybody has. */
const SAMPLE_MAX = 1_000_000_000;

export const newPreview = Type.Object(
  { snapshot: Type.Unknown(), sample: Type.Optional(Type.Integer({ minimum: 1, maximum: SAMPLE_MAX })) },
  { additionalProperties: false },
);

const SHAPES = { version: shape(newVersion), preview: shape(newPreview) };

/** What a snapshot is submitted as. */
export type SubmissionKind = keyof typeof SHAPES;

const SUBMISSION_LIMITS: JsonLimits = {
  ...PARSER_LIMITS,
  membersMax: 100,
  // Each value takes a byte at least.
  part: { depth: 2, valuesMax: LIMITS.bytes, charactersMax: Infinity },
};

/**
 * Reads a body with the member `snapshot`, in whose place is then what was read of it. Throws what is wrong with the body; what is wrong with
 * the snapshot is in the answer, because it is said when all else is right.
 */
export function readSubmission({ kind, pieces }: { kind: SubmissionKind; pieces: readonly Uint8Array[] }): object {
  const text = decodeJson(pieces);
  const { exceeded } = countJson(text, SUBMISSION_LIMITS);
  if (exceeded?.limit === "partValuesMax" && exceeded.path === "snapshot") throw invalidSnapshot([TOO_LARGE]);
  if (exceeded !== null) throw refusalOf(exceeded, SUBMISSION_LIMITS);
  const value = parseCounted(text);
  refuseBadLiterals(text);
  const submission = SHAPES[kind].check(value);
  return { ...submission, snapshot: readSnapshot(submission.snapshot) };
}

/** What is to be stored of a snapshot that `readSubmission` read. Throws CONFIG_INVALID with all that is wrong with it. */
export function storable(read: unknown): StorableSnapshot {
  const snapshot = read as ReadSnapshot;
  if ("problems" in snapshot) throw invalidSnapshot(snapshot.problems);
  return snapshot;
}

function readSnapshot(value: unknown): ReadSnapshot {
  const parsed = parseSnapshot(value);
  if (!parsed.ok) return { problems: parsed.problems };
  const snapshot = canonicalJson(parsed.snapshot);
  return { snapshot, hash: digest(snapshot).toString("hex") };
}

function invalidSnapshot(problems: readonly Problem[]): ApiError {
  return new ApiError(422, "CONFIG_INVALID", {
    message: "The snapshot is not a valid configuration.",
    fix: "Correct the model and compile it again; diagnostics lists every problem.",
    diagnostics: problems.map(({ code, message, path }) => ({ code, message, path })),
  });
}
