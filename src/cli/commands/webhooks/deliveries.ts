import type { Delivery } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { localTime } from "../../output/text.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    status: { type: "text", choices: ["pending", "delivered", "failed"], describe: "Only those of this status" },
    type: { type: "text", describe: "Only those of this event type" },
    customer: { type: "text", describe: "Only those about this customer" },
    ...projectOptions,
    ...pageOptions,
  },
  examples: [
    ["svc webhooks deliveries whk_0123456789abcdef0123", "Every delivery, the newest first"],
    ["svc webhooks deliveries whk_0123456789abcdef0123 --status failed", "What was given up"],
  ],
  async handler({ api, out }, { webhookId, status: only, type, customer, limit, cursor }) {
    const answer = await readList<Delivery>(api, ["webhooks", webhookId, "deliveries"], {
      status: only,
      type,
      customer,
      limit,
      cursor,
    });
    const paint = { pending: out.style.yellow, delivered: out.style.green, failed: out.style.red };
    page(out, answer, {
      none:
        only === undefined && type === undefined && customer === undefined
          ? "Nothing was delivered to this webhook yet."
          : "There is no such delivery.",
      columns: [
        { title: "Event", value: ({ id }) => id, fixed: true },
        { title: "Type", value: ({ type }) => type },
        { title: "Customer", value: ({ customerId }) => customerId },
        {
          title: "Status",
          value: ({ status }) => status,
          fixed: true,
          style: (text, { status }) => paint[status](text),
        },
        { title: "Tries", value: ({ attempts }) => String(attempts), align: "right", fixed: true, optional: true },
        { title: "Answer", value: outcome },
        { title: "At", value: (row) => instant(row, out.timeZone), fixed: true, optional: true },
      ],
    });
  },
});

function outcome({ lastAttempt }: Delivery): string {
  if (lastAttempt === null) return "";
  return `${lastAttempt.statusCode ?? lastAttempt.error ?? "none"} in ${lastAttempt.latencyMs} ms`;
}

/** When it ended, or when the next attempt is due. */
function instant({ finishedAt, nextAttemptAt }: Delivery, timeZone: string | undefined): string {
  if (finishedAt !== null) return localTime(finishedAt, timeZone);
  return nextAttemptAt === null ? "" : `due ${localTime(nextAttemptAt, timeZone)}`;
}
