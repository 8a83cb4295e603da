/** Events without a customer: each must be refused for that reason, whatever else happens at the time. */
import { readEnvelope } from "../src/client/answer.js";
import { DemoFailure } from "../src/demo/failure.js";
import { readLines } from "../src/demo/input.js";
import type { Client } from "./client.js";

export interface Refused {
  events: number;
  /** The first answer's body. */
  body: string;
}

/** Sends each line as a single event. Throws a DemoFailure if one is accepted, or refused for another reason. */
export async function sendRefused(file: string, client: Client): Promise<Refused> {
  let events = 0;
  let first = "";
  for await (const { number, bytes } of readLines(file)) {
    const { status, text } = await client.post("/v1/events", bytes.toString("utf8"));
    const { code, message, field } = readEnvelope(text) ?? {};
    if (status !== 400 || code !== "VALIDATION_ERROR" || field !== "customerId" || typeof message !== "string")
      throw new DemoFailure(
        `${file}:${number} should have been refused for its customerId, but the answer is ${status} ${text}`,
      );
    if (events++ === 0) first = text;
  }
  return { events, body: first };
}
