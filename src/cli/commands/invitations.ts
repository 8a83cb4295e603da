import type { CreatedInvitation, Invitation } from "../../http/admin/answers.js";
import { printable, shellWord } from "../../words/text.js";
import { pathPart } from "../client/api.js";
import { defineCommand, pageOptions, yesOption } from "../core/command.js";
import { confirmAndRun } from "../output/change.js";
import { fields, printList } from "../output/table.js";
import { MEMBER_ROLES } from "./members.js";

export default {
  list: defineCommand({
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
  }),

  create: defineCommand({
    args: { email: "The email address to invite" },
    options: {
      role: { type: "text", choices: MEMBER_ROLES, required: true, describe: "What the new member may do" },
      ...yesOption,
    },
    examples: [["svc invitations create bob@example.com --role developer", "A link for Bob to join, valid for 7 days"]],
    async handler(context, { email, role, yes }) {
      const { api, out } = context;
      const answer = await confirmAndRun(context, {
        action: "inviting a member",
        yes,
        of: "organization",
        seen: "`svc invitations list`",
        question: (place) =>
          `Invite ${printable(email)} as ${role} to ${place}? This ends any open invitation of the address.`,
        request: (signal) =>
          api.post<CreatedInvitation>("/organization/invitations", { email, role }, ["id", "link", "mailed"], signal),
      });
      const { id, link, expiresAt, mailed, mailFailed } = answer.data;
      const unsent = mailFailed ? "The mail server refused the mail" : "No mail was sent";
      const sent = mailed ? "The link was also mailed." : `${unsent}: pass the link on.`;
      const sentence = `Invited ${printable(answer.data.email)} as ${role}. ${sent}`;
      const shown = () =>
        fields(out, { Link: printable(link), Id: printable(id), "Valid until": out.at(expiresAt) }, sentence);
      out.secret(answer, shown, {
        what: `the invitation ${printable(id)} was created`,
        fix: `invite again, which ends that one: \`svc invitations create ${shellWord(email)} --role ${role}\``,
      });
    },
  }),

  revoke: defineCommand({
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
  }),
};
