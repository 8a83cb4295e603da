import { ApiError, type ErrorDiagnostic } from "../http/errors.js";
import type { IdentifyRequest, TrackRequest } from "../ingestion/shape.js";
import { eventDiagnostics, traitDiagnostics, type PayloadDiagnostic } from "../model/payload.js";
import type { Snapshot } from "../model/snapshot/types.js";

/** The form of a request: a single event, or a batch, in whose errors paths begin with the operation's position. */
export type RequestForm = "single" | "batch";

/** The number of violations after which the rest of a request is not checked. */
const VIOLATIONS_ENOUGH = 5_000;

/** An operation that violates the schema and would be in quarantine: its place in the request, and its first violation. */
export interface QuarantinedOperation extends ErrorDiagnostic {
  index: number;
}

/** The operations of a request that violate a strict schema. */
export function quarantinedOperations(
  snapshot: Snapshot,
  operations: readonly (TrackRequest | IdentifyRequest)[],
): QuarantinedOperation[] {
  return operations.flatMap((operation, index) => {
    const [first] = violationsOf(snapshot, operation);
    return first === undefined ? [] : [{ index, ...diagnosticOf(first) }];
  });
}

function violationsOf(snapshot: Snapshot, operation: TrackRequest | IdentifyRequest): PayloadDiagnostic[] {
  return operation.type === "identify"
    ? traitDiagnostics(snapshot, operation.traits)
    : eventDiagnostics(snapshot, operation.event, operation.properties ?? {});
}

/** The violations of the schema by the operations of a request, in order, with their paths in the request. */
export function schemaViolations(
  snapshot: Snapshot,
  operations: readonly (TrackRequest | IdentifyRequest)[],
  form: RequestForm,
): PayloadDiagnostic[] {
  const violations: PayloadDiagnostic[] = [];
  for (const [position, operation] of operations.entries()) {
    const found = violationsOf(snapshot, operation);
    for (const violation of found) violations.push({ ...violation, path: prefixOf(position, form) + violation.path });
    if (violations.length >= VIOLATIONS_ENOUGH) break;
  }
  return violations;
}

/** The error for a request that violates a strict schema: its first violation, with the diagnostics of all. */
export function violationError(violations: readonly PayloadDiagnostic[]): ApiError {
  const { code, message, path, value, reason, fix } = violations[0]!;
  return new ApiError(422, code, {
    message,
    field: path,
    ...(value === undefined || value === null ? {} : { value }),
    reason,
    fix,
    diagnostics: violations.map(diagnosticOf),
  });
}

/** A violation as an answer lists it. */
export function diagnosticOf({ code, message, path }: PayloadDiagnostic): ErrorDiagnostic {
  return { code, message, path };
}

/** The error for idempotency keys, at these positions, that were used for another payload: it names the first, and lists all if there are several. */
export function conflictError(
  operations: readonly (TrackRequest | IdentifyRequest)[],
  positions: readonly number[],
  form: RequestForm,
): ApiError {
  const code = "IDEMPOTENCY_CONFLICT";
  const message = "The idempotency key was used before with another customer, event, properties or explicit timestamp.";
  const pathOf = (position: number) => `${prefixOf(position, form)}idempotencyKey`;
  const [first] = positions as readonly [number];
  return new ApiError(409, code, {
    message,
    field: pathOf(first),
    value: (operations[first] as TrackRequest).idempotencyKey,
    fix: "Use a new key for another payload; repeat a request unchanged.",
    ...(positions.length > 1 && {
      diagnostics: positions.map((position) => ({ code, message, path: pathOf(position) })),
    }),
  });
}

function prefixOf(position: number, form: RequestForm): string {
  return form === "single" ? "" : `events[${position}].`;
}
