import type { Member } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
  options: pageOptions,
  examples: [["svc members list", "Who belongs to the organization, and what they may do"]],
  async handler(context, { limit, cursor }) {
    await printList<Member>(context, { limit, cursor }, "/organization/members", {
      none: "The organization has no member.",
      columns: [
        { title: "Address", value: ({ email }) => email, kept: true },
        { title: "Role", value: ({ role }) => role, fixed: true },
        { title: "Since", value: ({ createdAt }) => context.out.at(createdAt), fixed: true, optional: true },
        { title: "Id", value: ({ userId }) => userId, fixed: true, optional: true },
      ],
    });
  },
});
