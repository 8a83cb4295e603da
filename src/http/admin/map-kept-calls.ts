import type { QuarantinedCalls } from "../../db/api/ingestion.js";
import { elementOf, mapCall } from "../../ingestion/tracking.js";
import type { Bytes } from "../request/body.js";
import { decodeText } from "../request/parse-json.js";

/** As `mapKeptText`, for the bytes of the document; a job of the thread. */
export function mapKeptCalls({ pieces }: { pieces: Bytes }): string {
  return mapKeptText(decodeText(pieces));
}

/**
 * Maps the calls of the tracking API that a step of a release read from the quarantine again, because the active version may declare events that
 * were unknown before. Returns the argument `mapped` of `release_quarantined`, as JSON.
 *
 * @param document the answer of `list_quarantined_calls`
 */
export function mapKeptText(document: string): string {
  const { model, calls } = JSON.parse(document) as QuarantinedCalls;
  const elements = calls.flatMap((kept) => {
    const element = model && elementOf(mapCall(model, kept.call, kept.at), kept.call);
    return element === null ? [] : [[kept.id, element] as const];
  });
  return JSON.stringify({
    version: model?.version ?? null,
    read: calls.map((kept) => kept.id),
    operations: Object.fromEntries(elements),
  });
}
