import { defineCommand } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { objectFromTexts } from "../../../words/json-text.js";
import { isObject, printable } from "../../../words/text.js";

type Accepted = { eventId: string; accepted: boolean; duplicate: boolean };

export default defineCommand({
  args: { event: "The event's name" },
  options: {
    customer: { type: "text", required: true, describe: "The customer's id" },
    props: { type: "text", describe: "The event's properties, as a JSON object" },
    timestamp: { type: "text", describe: "When it happened, as an ISO date-time; now unless given" },
    idempotencyKey: { type: "text", describe: "Makes sending it again harmless" },
  },
  examples: [
    [
      `svc events send project_created --customer cus_42 --props '{"seats": 5}'`,
      "The key comes from SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY",
    ],
  ],
  async handler({ api, out, settings }, { event, customer, props, timestamp, idempotencyKey }) {
    const given = Object.entries({ customerId: customer, event, timestamp, idempotencyKey }).filter(
      ([, value]) => value !== undefined,
    );
    const members = given.map(([name, value]) => [name, JSON.stringify(value)] as const);
    const body = objectFromTexts(props === undefined ? members : [...members, ["properties", jsonObject(props)]]);
    const answer = await api.ingest<Accepted>("/v1/events", body, ["eventId", "accepted"]);
    const { eventId, duplicate } = answer.data;
    out.result(answer, () =>
      duplicate
        ? `The idempotency key was used for the same event before: ${printable(eventId)} in ${settings.environment}.`
        : `Accepted as ${printable(eventId)} in ${settings.environment}.`,
    );
  },
});

/** The properties as the text given, so that long numbers keep all their digits. */
function jsonObject(text: string): string {
  const fix = `write an object such as '{"seats": 5}'`;
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch (error) {
    throw new UsageError(`--props is not valid JSON (${(error as Error).message})`, fix);
  }
  throw new UsageError("--props is not a JSON object", fix);
}
