import { elementOf, elementText, mapCall } from "../../ingestion/tracking.js";
import type { TrackingModel } from "../../model/tracking.js";
import type { Bytes } from "../request/body.js";
import { decodeText } from "../request/parse-json.js";
import { addRefusal, type CallType, parseCalls, type RefusedCalls } from "../request/tracking-calls.js";

/** How calls are mapped. */
export interface CallMapping {
  type: CallType;
  model: TrackingModel;
  /** When they were received, in ms since the epoch. */
  receivedAt: number;
}

/** The calls of a request for the database. */
export interface MappedCalls {
  /** The elements of a batch, as JSON. */
  texts: string[];
  /** The index in the request of each element's call. */
  indexes: number[];
  refused: RefusedCalls;
}

/** Maps the calls of a body; a job of the thread. Throws what `parseCalls` throws. */
export function mapCalls({ pieces, ...mapping }: CallMapping & { pieces: Bytes }): MappedCalls {
  return mapText(decodeText(pieces), mapping);
}

/** As `mapCalls`, for a text. */
export function mapText(text: string, { type, model, receivedAt }: CallMapping): MappedCalls {
  const mappedCalls: MappedCalls = { texts: [], indexes: [], refused: { count: 0, first: [] } };
  for (const [index, call] of parseCalls(text, type).entries()) {
    const mapped = mapCall(model, call, receivedAt);
    if (mapped.kind === "refused") addRefusal(mappedCalls.refused, index, mapped.problem);
    const element = elementOf(mapped, call);
    if (element === null) continue;
    mappedCalls.texts.push(elementText(element, call));
    mappedCalls.indexes.push(index);
  }
  return mappedCalls;
}
