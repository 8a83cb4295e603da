import { causeId, emissionId, type Effect } from "../engine/index.js";

/** Something that evaluation emitted about a customer, with the members that the service's timeline has. */
export interface TimelineEntry {
  /** `emi_` and 16 hexadecimal digits; sorts in order of emission. */
  id: string;
  at: string;
  type: string;
  source: string;
  metadata: Record<string, unknown>;
  cause: { type: string; id: string | null };
  configVersion: string | null;
}

/** The entry of an emission; `number` counts the emissions of all customers. */
export function timelineEntry(
  { at, type, source, metadata, cause }: Extract<Effect, { kind: "emission" }>,
  number: number,
  configVersion: string | null,
): TimelineEntry {
  return {
    id: emissionId(number),
    at: new Date(at).toISOString(),
    type,
    source,
    metadata,
    cause: { type: cause.kind, id: causeId(cause) },
    configVersion,
  };
}
