import type { Member } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";
import { memberOf, selfChangeWarning } from "./members.js";

export default defineCommand({
  args: { member: "The member's address or id" },
  options: yesOption,
  examples: [["svc members remove bob@example.com", "Remove a member, for example one who leaves"]],
  async handler(context, { member: addressOrId, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "removing a member",
      yes,
      of: "organization",
      seen: "`svc members list`",
      before: () => memberOf(context, addressOrId),
      question: async (place, member) =>
        `Remove ${printable(member.email)}, ${member.role}, from ${place}? The member's tokens for it stop working at once.` +
        (await selfChangeWarning(context, member)),
      request: (signal, { userId }) => api.delete<Member>(`/organization/members/${userId}`, ["email"], signal),
    });
    out.result(answer, () => `Removed ${printable(answer.data.email)}. Its tokens for the organization are revoked.`);
  },
});
