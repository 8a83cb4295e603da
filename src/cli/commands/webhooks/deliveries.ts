import type { Delivery } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    status: { type: "text", choices: ["pending", "delivered", "failed"], describe: "Only those of this status" },
    type: { type: "text", describe: "Only those of this event type" },
    customer: { type: "text", describe: "Only those about this customer" },
    ...projectOptions,
    ...csvPageOptions,
  },
  examples: [
    ["svc webhooks deliveries whk_0123456789abcdef0123", "Every delivery, newest first"],
    ["svc webhooks deliveries whk_0123456789abcdef0123 --status failed", "Deliveries that were given up"],
  ],
  async handler(context, { webhookId, status, type, customer, limit, cursor, csv }) {
    const { out } = context;
    const isAll = [status, type, customer].every((filter) => filter === undefined);
    const paint = { pending: out.style.yellow, delivered: out.style.green, failed: out.style.red };
    const outcome = ({ lastAttempt: last }: Delivery) =>
      last === null ? "" : `${last.statusCode ?? last.error ?? "none"} in ${last.latencyMs} ms`;
    // When the delivery ended, or when its next attempt is due.
    const instant = ({ finishedAt, nextAttemptAt: due }: Delivery) =>
      finishedAt !== null ? out.at(finishedAt) : due === null ? "" : `due ${out.at(due)}`;
    const query = { status, type, customer, limit, cursor };
    await printList<Delivery>(context, query, ["webhooks", webhookId, "deliveries"], {
      csv,
      none: isAll ? "Nothing was delivered to this webhook yet." : "There is no such delivery.",
      columns: [
        { title: "Event", value: ({ id }) => id, fixed: true },
        { title: "Type", value: (row) => row.type },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Status", value: (row) => row.status, fixed: true, style: (text, row) => paint[row.status](text) },
        { title: "Tries", value: ({ attempts }) => String(attempts), align: "right", fixed: true, optional: true },
        { title: "Answer", value: outcome },
        { title: "At", value: instant, fixed: true, optional: true },
      ],
    });
  },
});
