import type { Key } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc keys list --env live", "The keys of live, and when each was last used"]],
  async handler(context, { limit, cursor }) {
    const { out } = context;
    const paint = { active: out.style.green, expiring: out.style.yellow, revoked: out.style.dim };
    const statusOf = ({ status, revokedAt }: Key) =>
      status === "expiring" && revokedAt !== null ? `ends ${out.ago(revokedAt)}` : status;
    const lastUsed = ({ lastUsedAt }: Key) => (lastUsedAt === null ? "never" : out.ago(lastUsedAt));
    await printList<Key>(context, { limit, cursor }, ["keys"], {
      none: "There is no key.",
      columns: [
        { title: "Id", value: ({ id }) => id, fixed: true },
        { title: "Name", value: ({ name }) => name },
        { title: "Key", value: ({ hint }) => `${hint}…`, kept: true },
        { title: "Status", value: statusOf, style: (text, { status }) => paint[status](text) },
        { title: "Last used", value: lastUsed, kept: true },
        { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true, optional: true },
        { title: "By", value: ({ createdBy }) => createdBy, optional: true },
      ],
    });
  },
});
