import type { Invitation } from "../../../http/admin/answers.js";
import { pathPart } from "../../client/api.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
  args: { invitationId: "The invitation's id" },
  options: yesOption,
  examples: [["svc invitations revoke inv_0123456789abcdef0123", "The invitation's link stops working at once"]],
  async handler(context, { invitationId, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "revoking an invitation",
      yes,
      of: "organization",
      seen: "`svc invitations list`",
      question: (place) =>
        `Revoke the invitation ${printable(invitationId)} to ${place}? Its link stops working at once.`,
      request: (signal) =>
        api.delete<Invitation>(`/organization/invitations/${pathPart(invitationId)}`, ["email"], signal),
    });
    out.result(answer, () => `Revoked the invitation of ${printable(answer.data.email)}.`);
  },
});
