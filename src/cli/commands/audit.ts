import type { AuditEntry } from "../../http/admin/answers.js";
import { csvPageOptions, defineCommand } from "../core/command.js";
import { sinceOption } from "../core/values.js";
import { printList } from "../output/table.js";
import { detailsInWords } from "../../words/text.js";

export default defineCommand({
  options: {
    action: { type: "text", describe: "Only this action, such as member.removed" },
    actor: { type: "text", describe: "Only changes by this address; operator, or svc for the service itself" },
    since: { type: "text", describe: "Only from then on: a duration before now such as 7d, or an ISO date" },
    ...csvPageOptions,
  },
  examples: [["svc audit --since 7d", "Who changed what in the organization, newest first"]],
  async handler(context, { action, actor, since, limit, cursor, csv }) {
    const query = { action, actor, since: sinceOption("--since", since), limit, cursor };
    const where = ({ project, environment }: AuditEntry) => [project, environment].filter(Boolean).join(" ");
    await printList<AuditEntry>(context, query, "/organization/audit-log", {
      csv,
      none: "There is no such entry.",
      columns: [
        { title: "At", value: ({ at }) => context.out.at(at), fixed: true },
        { title: "Action", value: (entry) => entry.action, kept: true },
        { title: "By", value: (entry) => entry.actor, kept: true },
        { title: "Where", value: where, optional: true },
        { title: "What", value: ({ target }) => target ?? "" },
        { title: "Details", value: ({ details }) => detailsInWords(details) },
      ],
    });
  },
});
