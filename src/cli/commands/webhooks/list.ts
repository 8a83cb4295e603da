import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { localTime } from "../../text.js";

interface Webhook {
  id: string;
  url: string;
  eventTypes: string[];
  createdAt: string;
  failingSince: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
}

export default defineCommand({
  path: "webhooks list",
  describe: "List webhooks",
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc webhooks list", "What is delivered, and where to"]],
  async handler({ api, out, settings }, { limit, cursor }) {
    const answer = await api.get<Page<Webhook>>(api.projectPath("webhooks"), ["data", "nextCursor"], {
      env: settings.environment,
      limit,
      cursor,
    });
    page(out, answer, {
      none: "There is no webhook.",
      columns: [
        { title: "Webhook", value: ({ id }) => id, fixed: true },
        { title: "URL", value: ({ url }) => url },
        { title: "Events", value: ({ eventTypes }) => eventTypes.join(", ") },
        { title: "Created", value: ({ createdAt }) => localTime(createdAt, out.timeZone), fixed: true },
        {
          title: "Status",
          value: (row) => statusOf(row, out.timeZone),
          style: (text, { disabledAt, failingSince }) =>
            disabledAt ? out.style.red(text) : failingSince ? out.style.yellow(text) : out.style.green(text),
        },
      ],
    });
  },
});

function statusOf({ disabledAt, disabledReason, failingSince }: Webhook, timeZone: string | undefined): string {
  if (disabledAt) return `disabled: ${disabledReason ?? "unknown"}`;
  return failingSince ? `failing since ${localTime(failingSince, timeZone)}` : "enabled";
}
