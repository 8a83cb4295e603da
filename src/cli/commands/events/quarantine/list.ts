import type { Quarantined } from "../../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions } from "../../../core/command.js";
import { printList } from "../../../output/table.js";
import { filterOptions } from "./step.js";

export default defineCommand({
  options: { ...projectOptions, ...filterOptions, ...csvPageOptions },
  examples: [
    ["svc events quarantine list --env live", "Operations that violate the schema, newest first"],
    ["svc events quarantine list --event order_placed --code UNKNOWN_PROPERTY", "Those of one event, for one reason"],
  ],
  async handler(context, { event, code, limit, cursor, csv }) {
    const { out } = context;
    await printList<Quarantined>(context, { event, code, limit, cursor }, ["quarantine"], {
      csv,
      none: "No such operation is in quarantine.",
      columns: [
        { title: "Accepted", value: ({ quarantinedAt }) => out.at(quarantinedAt), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId ?? "(none)" },
        // Only updates of traits have no event id; a call of the tracking API may lack the event's name.
        {
          title: "Event",
          value: ({ event, eventId }) => event ?? (eventId === null ? "(traits)" : "(no name)"),
          style: out.style.cyan,
        },
        { title: "What is wrong", value: ({ message }) => message },
        { title: "Code", value: ({ code }) => code, optional: true },
        { title: "Id", value: ({ quarantineId }) => quarantineId, fixed: true },
      ],
    });
  },
});
