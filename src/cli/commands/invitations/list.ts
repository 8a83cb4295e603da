import type { Invitation } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
  options: pageOptions,
  examples: [["svc invitations list", "Who was invited and has not joined yet"]],
  async handler(context, { limit, cursor }) {
    const { out } = context;
    await printList<Invitation>(context, { limit, cursor }, "/organization/invitations", {
      none: "No invitation is open.",
      columns: [
        { title: "Address", value: ({ email }) => email, kept: true },
        { title: "Role", value: ({ role }) => role, fixed: true },
        {
          title: "Ends",
          value: ({ expiresAt }) => (Date.parse(expiresAt) > out.now ? out.ago(expiresAt) : "ended"),
          kept: true,
        },
        { title: "Id", value: ({ id }) => id, fixed: true },
        { title: "By", value: ({ createdBy }) => createdBy, optional: true },
        { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true, optional: true },
      ],
    });
  },
});
