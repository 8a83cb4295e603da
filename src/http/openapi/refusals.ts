import Type from "typebox";
import { exact, named } from "../admin/schemas.js";

const diagnostic = named("Diagnostic", "One of the things that are wrong.", {
  code: Type.String(),
  message: Type.String(),
  path: Type.String(),
});

const failedCheck = named("FailedCheck", "A check of readiness that failed.", {
  name: Type.String({ description: "`startup`, `stopping`, `database`, `migrations` or `worker`." }),
  message: Type.String(),
});

/** The error envelope, as src/http/errors.ts renders it. */
export const errorEnvelope = named("Error", "Every refused request is answered with this document.", {
  error: exact({
    code: Type.String({ pattern: "^[A-Z]+(_[A-Z]+)*$", description: "Stable: programs may decide by it." }),
    message: Type.String({ description: "One sentence for people. Its words may change." }),
    requestId: Type.String({ description: "Of the header X-Request-ID." }),
    field: Type.Optional(Type.String({ description: "Where the mistake is, for example `events[3].customerId`." })),
    value: Type.Optional(Type.Unknown({ description: "What was found there, if it is short." })),
    reason: Type.Optional(Type.String({ description: "Why that is refused." })),
    fix: Type.Optional(Type.String({ description: "What to do about it." })),
    docs: Type.Optional(Type.String({ format: "uri", description: "The section of the code." })),
    diagnostics: Type.Optional(
      Type.Array(diagnostic, {
        description:
          "Of payloads that violate a strict schema, and of several idempotency keys that stand for another payload: all of them.",
      }),
    ),
    problems: Type.Optional(
      Type.Array(diagnostic, { description: "Of anything else: everything that was found wrong with it." }),
    ),
    warnings: Type.Optional(Type.Array(diagnostic, { description: "What `force` goes on despite." })),
    checks: Type.Optional(
      Type.Array(failedCheck, { description: "Of the probes: what keeps the process from serving." }),
    ),
  }),
});

/** The codes that an endpoint may answer, by status. */
export type Refusals = Readonly<Record<number, readonly string[]>>;

const MEANINGS: Readonly<Record<number, string>> = {
  400: "The request is not valid",
  401: "The credentials are missing, or are not good (any more)",
  402: "The organization's plan does not include this",
  403: "The role may not do this",
  404: "There is no such thing, or it belongs to another organization",
  408: "The request was not complete in time",
  409: "What is there already does not allow it",
  410: "It was there, and is no more",
  413: "The body is too large",
  415: "The body is of another media type",
  422: "The content is not valid",
  429: "Too much at once",
  431: "The headers are too large",
  500: "The service failed",
  502: "What the service asked for it failed",
  503: "The service cannot answer for the moment",
  504: "What the service asked for it took too long",
};

/** What a refusal of a status means. */
export function meaningOf(status: number): string {
  const meaning = MEANINGS[status];
  if (meaning === undefined) throw new Error(`status ${status} has no meaning in the document`);
  return meaning;
}

/** By status: what the answer has besides X-Request-ID. */
export const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** What can happen to any request. */
export const ANY: Refusals = { 400: ["VALIDATION_ERROR"], 408: ["REQUEST_TIMEOUT"], 431: ["HEADERS_TOO_LARGE"] };

/** What can happen to any request that needs the database. */
export const ANY_SERVED: Refusals = { ...ANY, 500: ["INTERNAL_ERROR"], 503: ["SERVICE_UNAVAILABLE"] };

/** What can happen to any request with a JSON body. */
export const ANY_WITH_BODY: Refusals = mergeRefusals(ANY_SERVED, {
  400: ["MALFORMED_JSON"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
});

/** All codes of all. */
export function mergeRefusals(...all: Refusals[]): Refusals {
  const merged: Record<number, readonly string[]> = {};
  for (const [status, codes] of all.flatMap((refusals) => Object.entries<readonly string[]>(refusals)))
    merged[Number(status)] = [...new Set([...(merged[Number(status)] ?? []), ...codes])];
  return merged;
}
