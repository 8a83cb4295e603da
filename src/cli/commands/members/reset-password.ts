import type { PasswordReset } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { memberOf } from "./members.js";

export default defineCommand({
  args: { member: "The member's address or id" },
  options: yesOption,
  examples: [["svc members reset-password bob@example.com", "A link for Bob to set a new password, once"]],
  async handler(context, { member: addressOrId, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "creating a link that sets a password",
      yes,
      of: "organization",
      seen: "`svc audit --action password_reset.created`",
      before: () => memberOf(context, addressOrId),
      question: (place, { email }) =>
        `Create a link for ${printable(email)}, of ${place}, to set a new password? Any previous link stops working.`,
      request: (signal, { userId }) =>
        api.post<PasswordReset>(
          `/organization/members/${userId}/password-reset`,
          {},
          ["link", "expiresAt", "mailed"],
          signal,
        ),
    });
    const { link, expiresAt, mailed, mailFailed } = answer.data;
    const unsent = mailFailed ? " The mail server refused the mail: pass the link on." : "";
    const sentence = `The first person who opens this link sets the password.${mailed ? " It was also mailed." : unsent}`;
    const shown = () => fields(out, { Link: printable(link), "Valid until": out.at(expiresAt) }, sentence);
    out.secret(answer, shown, {
      what: "a link that sets the password was created",
      fix: `create another, which ends that one: \`svc members reset-password ${shellWord(addressOrId)}\``,
    });
  },
});
