import type { Event } from "../../../http/admin/answers.js";
import { readList } from "../../client/pages.js";
import { csvPageOptions, defineCommand, projectOptions } from "../../core/command.js";
import { sinceOption } from "../../core/values.js";
import { elementTexts, memberTexts, propertiesIn } from "../../../words/json-text.js";
import { page, printCsv } from "../../output/table.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those of this customer" },
    type: { type: "text", describe: "Only those of this name" },
    status: {
      type: "text",
      choices: ["processed", "pending"],
      describe: "Only those that were evaluated, or wait for evaluation: processed or pending",
    },
    since: { type: "text", describe: "Only those that occurred since: how long ago, such as 7d, or an ISO date" },
    ...csvPageOptions,
    limit: { ...csvPageOptions.limit, default: 20 },
  },
  examples: [
    ["svc events list --customer cus_42 --since 7d", "What a customer did in the last week, newest first"],
    ["svc events list --status pending --limit 200", "What was accepted and not evaluated yet"],
  ],
  async handler({ api, out }, { customer, type, status, since, limit, cursor, csv }) {
    const query = { customer, type, status, since: sinceOption("--since", since), limit, cursor };
    if (csv) return printCsv({ api, out }, query, ["events"]);
    const answer = await readList<Event>(api, ["events"], query);
    // From the answer's text, so that long numbers keep all their digits.
    const items = elementTexts(memberTexts(answer.text).get("data") ?? "[]");
    const properties = new Map(answer.data.data.map((event, index) => [event, propertiesIn(items[index] ?? "{}")]));
    const paint = (text: string, event: Event) => (event.status === "pending" ? out.style.yellow(text) : text);
    page(out, answer, {
      none: "There is no such event.",
      columns: [
        { title: "Occurred", value: ({ occurredAt }) => out.at(occurredAt), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Event", value: ({ event }) => event, style: out.style.cyan },
        { title: "Status", value: (event) => event.status, style: paint, optional: true },
        { title: "Properties", value: (event) => properties.get(event) ?? "" },
        { title: "Id", value: ({ id }) => id, fixed: true, optional: true },
      ],
    });
  },
});
