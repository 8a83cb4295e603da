import type { Quarantined } from "../../../client/answers.js";
import { readList } from "../../../client/pages.js";
import { defineCommand, pageOptions, projectOptions } from "../../../core/command.js";
import { page } from "../../../output/table.js";
import { filterOptions } from "./step.js";

export default defineCommand({
  options: { ...projectOptions, ...filterOptions, ...pageOptions },
  examples: [
    ["svc events quarantine list --env live", "What violates the schema, the last accepted first"],
    ["svc events quarantine list --event order_placed --code UNKNOWN_PROPERTY", "Of one event, for one reason"],
  ],
  async handler({ api, out }, { event, code, limit, cursor }) {
    const answer = await readList<Quarantined>(api, ["quarantine"], { event, code, limit, cursor });
    page(out, answer, {
      none: "No such operation is in quarantine.",
      columns: [
        { title: "Accepted", value: ({ quarantinedAt }) => out.at(quarantinedAt), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId ?? "(none)" },
        { title: "Event", value: ({ event }) => event ?? "(traits)", style: out.style.cyan },
        { title: "What is wrong", value: ({ message }) => message },
        { title: "Code", value: ({ code }) => code, optional: true },
        { title: "Id", value: ({ quarantineId }) => quarantineId, fixed: true },
      ],
    });
  },
});
