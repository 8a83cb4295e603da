import type { Emission } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions, reverseOption } from "../../core/command.js";
import { printList } from "../../output/table.js";
import { causeInWords } from "../../output/text.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    ...projectOptions,
    ...reverseOption,
    ...pageOptions,
  },
  examples: [
    ["svc customers timeline cus_42", "Every change and its cause, the oldest first"],
    ["svc customers timeline cus_42 --reverse --limit 5", "What happened last"],
  ],
  async handler(context, { customerId, reverse, limit, cursor }) {
    const query = { reverse: reverse ? "true" : undefined, limit, cursor };
    await printList<Emission>(context, query, ["customers", customerId, "timeline"], {
      none: "Nothing happened to this customer's state yet.",
      columns: [
        { title: "At", value: ({ timestamp }) => context.out.at(timestamp), fixed: true },
        { title: "Type", value: ({ eventType }) => eventType, kept: true, style: context.out.style.cyan },
        { title: "What", value: ({ metadata }) => inWords(metadata) },
        { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
      ],
    });
  },
});

/** The metadata of an emission; a change of lifecycle or of the health band is shown as such. */
function inWords(metadata: Record<string, unknown>): string {
  const { previous_lifecycle, new_lifecycle, previous_band, new_band, ...rest } = metadata;
  const changes = [changeInWords(previous_lifecycle, new_lifecycle), changeInWords(previous_band, new_band)];
  const others = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...changes.filter((change) => change !== null), ...others].join(", ");
}

function changeInWords(before: unknown, after: unknown): string | null {
  if (typeof after !== "string") return null;
  return typeof before === "string" ? `${before} → ${after}` : after;
}
