import Type from "typebox";
import { exact, named } from "../admin/schemas.js";

const diagnostic = named("Diagnostic", "One problem of the request.", {
  code: Type.String(),
  message: Type.String(),
  path: Type.String(),
});

const failedCheck = named("FailedCheck", "A readiness check that failed.", {
  name: Type.String({ description: "`startup`, `stopping`, `database`, `migrations` or `worker`." }),
  message: Type.String(),
});

/** The error envelope, as src/http/errors.ts renders it. */
export const errorEnvelope = named("Error", "The answer to every refused request.", {
  error: exact({
    code: Type.String({ pattern: "^[A-Z]+(_[A-Z]+)*$", description: "Stable: programs can depend on it." }),
    message: Type.String({ description: "One sentence for people. Its wording may change." }),
    requestId: Type.String({ description: "The value of the header X-Request-ID." }),
    field: Type.Optional(Type.String({ description: "Where the mistake is, for example `events[3].customerId`." })),
    value: Type.Optional(Type.Unknown({ description: "The value of the field, if it is short." })),
    reason: Type.Optional(Type.String({ description: "Why the request is refused." })),
    fix: Type.Optional(Type.String({ description: "What to do about it." })),
    docs: Type.Optional(
      Type.String({ format: "uri", description: "The section of the documentation about the code." }),
    ),
    diagnostics: Type.Optional(
      Type.Array(diagnostic, {
        description:
          "All violations of a strict schema, or all idempotency keys that were already used with a different payload.",
      }),
    ),
    problems: Type.Optional(Type.Array(diagnostic, { description: "All problems of any other kind." })),
    warnings: Type.Optional(Type.Array(diagnostic, { description: "Warnings that `force` overrides." })),
    checks: Type.Optional(
      Type.Array(failedCheck, { description: "Answers of probes only: why the process is not ready." }),
    ),
  }),
  code: Type.Optional(Type.String({ description: "That of `error`, on the paths of Segment's tracking API only." })),
  message: Type.Optional(Type.String({ description: "That of `error`, likewise." })),
});

/** The error codes of an endpoint by status. */
export type Refusals = Readonly<Record<number, readonly string[]>>;

const MEANINGS: Readonly<Record<number, string>> = {
  400: "The request is not valid",
  401: "The credentials are missing, invalid or expired",
  402: "The organization's plan does not include this",
  403: "The role does not permit this",
  404: "It does not exist, or it belongs to another organization",
  408: "The request was not complete in time",
  409: "It conflicts with the current state",
  413: "The body is too large",
  415: "The media type of the body is not supported",
  422: "The content is not valid",
  429: "A limit or quota is exceeded",
  431: "The headers are too large",
  500: "The service failed",
  502: "Another service, which this one depends on, failed",
  503: "The service is not available for the moment",
  504: "Another service, which this one depends on, took too long",
};

/** The meaning of a status, in words. */
export function meaningOf(status: number): string {
  const meaning = MEANINGS[status];
  if (meaning === undefined) throw new Error(`status ${status} has no meaning in the document`);
  return meaning;
}

/** Headers of refusals by status, other than X-Request-ID. */
export const REFUSAL_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Refusals of every request. */
export const ANY: Refusals = { 400: ["VALIDATION_ERROR"], 408: ["REQUEST_TIMEOUT"], 431: ["HEADERS_TOO_LARGE"] };

/** Refusals of every request that needs the database. */
export const ANY_SERVED: Refusals = { ...ANY, 500: ["INTERNAL_ERROR"], 503: ["SERVICE_UNAVAILABLE"] };

/** Refusals of every request with a JSON body. */
export const ANY_WITH_BODY: Refusals = mergeRefusals(ANY_SERVED, {
  400: ["MALFORMED_JSON"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
});

/** The union of several sets of refusals. */
export function mergeRefusals(...all: Refusals[]): Refusals {
  const merged: Record<number, readonly string[]> = {};
  for (const [status, codes] of all.flatMap((refusals) => Object.entries<readonly string[]>(refusals)))
    merged[Number(status)] = [...new Set([...(merged[Number(status)] ?? []), ...codes])];
  return merged;
}
