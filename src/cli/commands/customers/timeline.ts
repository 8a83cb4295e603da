import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { localTime } from "../../text.js";

interface Emission {
  at: string;
  type: string;
  source: string;
  metadata: Record<string, unknown>;
  cause: { type: string; id: string | null };
}

export default defineCommand({
  path: "customers timeline",
  describe: "Show what happened to a customer's state",
  args: { customerId: "The customer's id" },
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc customers timeline cus_42", "Every change and its cause, the oldest first"]],
  async handler({ api, out, settings }, { customerId, limit, cursor }) {
    const answer = await api.get<Page<Emission>>(
      api.projectPath("customers", customerId, "timeline"),
      ["data", "nextCursor"],
      { env: settings.environment, limit, cursor },
    );
    page(out, answer, {
      none: "Nothing happened to this customer's state yet.",
      columns: [
        { title: "At", value: ({ at }) => localTime(at, out.timeZone), fixed: true },
        { title: "Type", value: ({ type }) => type, style: out.style.cyan },
        { title: "What", value: ({ metadata }) => inWords(metadata) },
        { title: "Cause", value: ({ cause }) => [cause.type, cause.id].filter((part) => part !== null).join(" ") },
      ],
    });
  },
});

/** The metadata of an emission; a change of lifecycle is shown as such. */
function inWords(metadata: Record<string, unknown>): string {
  const { previous_lifecycle: before, new_lifecycle: after, ...rest } = metadata;
  const others = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  if (typeof after === "string") others.unshift(typeof before === "string" ? `${before} → ${after}` : after);
  return others.join(", ");
}
