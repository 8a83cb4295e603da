import type { Field, ScalarType } from "../model/snapshot/types.js";
import type { LocalEngine } from "./engine.js";

function sampleValue(field: Field | { type: ScalarType; enum?: string[] }, now: number): unknown {
  if (field.type === "array") return [sampleValue(field.items, now)];
  if (field.type === "string") return field.enum?.[0] ?? "text";
  if (field.type === "date") return new Date(now).toISOString().slice(0, 10);
  return field.type === "number" ? 1 : true;
}

/** A curl command that sends an event which the model accepts: its first one, with a value of the right type for each required property. */
export function curlLine(url: string, { snapshot, clock }: LocalEngine): string {
  const [event, { properties }] = Object.entries(snapshot.events)[0] ?? ["signed_up", { properties: {} }];
  const required = Object.entries(properties).filter(([, field]) => field.optional !== true);
  const sample = Object.fromEntries(required.map(([name, field]) => [name, sampleValue(field, clock.now())]));
  const body = JSON.stringify({ customerId: "cus_1", event, properties: sample });
  return `curl ${url}/events -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
}

/** The requests that the local engine answers, for reading in a terminal. */
export function helpText(url: string, engine: LocalEngine): string {
  const json = "-H 'content-type: application/json'";
  const move =
    engine.clock.kind === "test"
      ? `curl ${url}/clock ${json} -d '{"advance":"7d"}'`
      : "start with --clock <ISO 8601 instant> to move the time yourself";
  const [event = "signed_up"] = Object.keys(engine.snapshot.events);
  const asked = JSON.stringify({ outcome: `event:${event}`, within: "30d" }).replaceAll("'", "'\\''");
  return `svc dev: the engine in memory, forgotten when it stops.

Send an event (also /v1/events, and /events/batch for several and for traits):
  ${curlLine(url, engine)}
  curl ${url}/events/batch ${json} -d '{"events":[{"type":"identify","customerId":"cus_1","traits":{}}]}'

Look, in a browser at ${url}/console, or:
  curl ${url}/customers
  curl ${url}/customers/cus_1
  curl ${url}/customers/cus_1/timeline
  curl ${url}/customers/cus_1/explanation

Time:
  curl ${url}/clock
  ${move}

Backtest the model on the events that were sent:
  curl ${url}/backtest ${json} -d '${asked}'

Forget all customers:
  curl -X DELETE ${url}/customers
`;
}
