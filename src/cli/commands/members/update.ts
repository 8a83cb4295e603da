import type { Member } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";
import { memberOf, MEMBER_ROLES, selfChangeWarning } from "./members.js";

export default defineCommand({
  args: { member: "The member's address or id" },
  options: {
    role: { type: "text", choices: MEMBER_ROLES, required: true, describe: "What the member may do from now on" },
    ...yesOption,
  },
  examples: [["svc members update bob@example.com --role viewer", "Bob only reads from now on"]],
  async handler(context, { member: addressOrId, role, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "changing a member's role",
      yes,
      of: "organization",
      seen: "`svc members list`",
      before: () => memberOf(context, addressOrId),
      question: async (place, member) =>
        `Make ${printable(member.email)}, ${member.role} of ${place}, ${role}?${await selfChangeWarning(context, member)}`,
      request: (signal, { userId }) =>
        api.patch<Member>(`/organization/members/${userId}`, { role }, ["email", "role"], signal),
    });
    out.result(answer, () => `${printable(answer.data.email)} is ${answer.data.role} now.`);
  },
});
