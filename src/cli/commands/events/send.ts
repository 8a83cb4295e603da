import { defineCommand } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { printable } from "../../output/text.js";

interface Accepted {
  eventId: string;
  accepted: boolean;
  duplicate: boolean;
}

export default defineCommand({
  args: { event: "The event's name" },
  options: {
    customer: { type: "text", required: true, describe: "The customer's id" },
    props: { type: "text", describe: "The event's properties, as a JSON object" },
    idempotencyKey: { type: "text", describe: "Makes sending it again harmless" },
  },
  examples: [
    [
      `svc events send project_created --customer cus_42 --props '{"seats": 5}'`,
      "The key comes from SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY",
    ],
  ],
  async handler({ api, out, settings }, { event, customer, props, idempotencyKey }) {
    const answer = await api.ingest<Accepted>("/v1/events", body(customer, event, props, idempotencyKey), [
      "eventId",
      "accepted",
    ]);
    const { eventId, duplicate } = answer.data;
    out.result(answer, () =>
      duplicate
        ? `The idempotency key was used for the same event before: ${printable(eventId)} in ${settings.environment}.`
        : `Accepted as ${printable(eventId)} in ${settings.environment}.`,
    );
  },
});

/** The request as JSON text. The properties go as they were written, so that long numbers keep all their digits. */
function body(
  customerId: string,
  event: string,
  props: string | undefined,
  idempotencyKey: string | undefined,
): string {
  const members = Object.entries({ customerId, event, idempotencyKey })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (props !== undefined) members.push(`"properties":${jsonObject(props)}`);
  return `{${members.join(",")}}`;
}

function jsonObject(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `--props is not valid JSON (${(error as Error).message})`,
      `write an object such as '{"seats": 5}'`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  throw new UsageError("--props is not a JSON object", `write an object such as '{"seats": 5}'`);
}
