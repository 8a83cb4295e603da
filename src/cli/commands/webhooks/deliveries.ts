import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { localTime } from "../../text.js";

interface Delivery {
  id: string;
  type: string;
  customerId: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  nextAttemptAt: string | null;
  finishedAt: string | null;
  lastAttempt: { at: string; latencyMs: number; statusCode: number | null; error: string | null } | null;
}

export default defineCommand({
  path: "webhooks deliveries",
  describe: "Show what was delivered to a webhook",
  args: { webhookId: "The webhook's id" },
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc webhooks deliveries whk_0123456789abcdef0123", "Every delivery, the newest first"]],
  async handler({ api, out, settings }, { webhookId, limit, cursor }) {
    const answer = await api.get<Page<Delivery>>(
      api.projectPath("webhooks", webhookId, "deliveries"),
      ["data", "nextCursor"],
      { env: settings.environment, limit, cursor },
    );
    const paint = { pending: out.style.yellow, delivered: out.style.green, failed: out.style.red };
    page(out, answer, {
      none: "Nothing was delivered to this webhook yet.",
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
        { title: "Tries", value: ({ attempts }) => String(attempts), align: "right", fixed: true },
        { title: "Answer", value: outcome },
        { title: "At", value: (row) => instant(row, out.timeZone), fixed: true },
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
