import type { Cause } from "./state/types.js";

/** The public id of an event, of its number: it sorts in order of acceptance. The same as svc.event_id in SQL; a test holds them together. */
export function eventIdOf(seq: number): string {
  return publicId("evt", seq);
}

/** The public id of an emission, of its number: it sorts in order of emission. The same as svc.emission_id in SQL. */
export function emissionIdOf(number: number): string {
  return publicId("emi", number);
}

/** What names a cause: the event's id or the job's; null for time and for an identify, which has no id. */
export function causeId(cause: Cause): string | null {
  if (cause.kind === "event") return cause.eventId;
  return cause.kind === "job" ? cause.jobId : null;
}

/** What the runtime keeps as a small integer: larger numbers are written in hexadecimal many times slower, and ids are made by the million. */
const LOW = 2 ** 24;
/** The digits above those of the latest id, which many have in common. */
let high = { part: 0, digits: "0000000000" };

function publicId(kind: string, number: number): string {
  const part = Math.floor(number / LOW);
  if (part !== high.part) high = { part, digits: part.toString(16).padStart(10, "0") };
  return `${kind}_${high.digits}${(number - part * LOW).toString(16).padStart(6, "0")}`;
}
