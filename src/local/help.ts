import type { LocalEngine } from "./engine.js";
import { sampleEvent } from "./sample.js";

/** A command line that sends an event which the model accepts. */
export function curlLine(url: string, engine: LocalEngine): string {
  const body = JSON.stringify({ customerId: "cus_1", ...sampleEvent(engine.snapshot, engine.clock.now()) });
  return `curl ${url}/events -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
}

/** What can be asked of the local engine, to be read in a terminal. */
export function helpText(url: string, engine: LocalEngine): string {
  const json = "-H 'content-type: application/json'";
  const move =
    engine.clock.kind === "test"
      ? `curl ${url}/clock ${json} -d '{"advance":"7d"}'`
      : "start with --clock <ISO 8601 instant> to move the time yourself";
  return `svc dev: the engine in memory, forgotten when it stops.

Send an event (also /v1/events, and /events/batch for several and for traits):
  ${curlLine(url, engine)}
  curl ${url}/events/batch ${json} -d '{"events":[{"type":"identify","customerId":"cus_1","traits":{}}]}'

Look:
  curl ${url}/customers
  curl ${url}/customers/cus_1
  curl ${url}/customers/cus_1/timeline
  curl ${url}/customers/cus_1/explanation

Time:
  curl ${url}/clock
  ${move}

Forget all customers:
  curl -X DELETE ${url}/customers
`;
}
