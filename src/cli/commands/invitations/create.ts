import type { CreatedInvitation } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { MEMBER_ROLES } from "../members/members.js";

export default defineCommand({
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
});
