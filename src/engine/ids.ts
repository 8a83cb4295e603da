import type { Cause } from "./state/types.js";

/** The public id of an event, from its number; ids sort in order of acceptance. The same as svc.event_id in SQL, which a test ensures. */
export function eventIdOf(seq: number): string {
  return publicId("evt", seq);
}

/** The public id of an emission, from its number; ids sort in order of emission. The same as svc.emission_id in SQL. */
export function emissionIdOf(number: number): string {
  return publicId("emi", number);
}

/** The id of a cause: that of the event or the job; null for a timer and for an identify, which has no id. */
export function causeId(cause: Cause): string | null {
  if (cause.kind === "event") return cause.eventId;
  return cause.kind === "job" ? cause.jobId : null;
}

/** Numbers below this are small integers in the runtime: larger ones are formatted in hexadecimal many times slower, and ids come in millions. */
const LOW = 2 ** 24;
/** The high digits of the last id, cached because consecutive ids mostly share them. */
let high = { part: 0, digits: "0000000000" };

function publicId(kind: string, number: number): string {
  const part = Math.floor(number / LOW);
  if (part !== high.part) high = { part, digits: part.toString(16).padStart(10, "0") };
  return `${kind}_${high.digits}${(number - part * LOW).toString(16).padStart(6, "0")}`;
}
