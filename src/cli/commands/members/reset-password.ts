import type { PasswordReset } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { memberOf } from "./members.js";

export default defineCommand({
  args: { member: "The member's address or id" },
  options: yesOption,
  examples: [["svc members reset-password bob@example.com", "A link by which Bob sets a new password, once"]],
  async handler(context, { member: addressOrId, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "making a link that sets a password",
      yes,
      of: "organization",
      seen: "`svc audit --action password_reset.created`",
      before: () => memberOf(context, addressOrId),
      question: (place, { email }) =>
        `Make a link by which ${printable(email)}, of ${place}, sets a new password? The link made before stops.`,
      request: (signal, { userId }) =>
        api.post<PasswordReset>(
          `/organization/members/${userId}/password-reset`,
          {},
          ["link", "expiresAt", "mailed"],
          signal,
        ),
    });
    const { link, expiresAt, mailed, mailFailed } = answer.data;
    const unsent = mailFailed ? " The mail server did not take the mail: pass the link on." : "";
    const told = `Whoever opens this link sets the password, once.${mailed ? " It was mailed, too." : unsent}`;
    const shown = () => fields(out, { Link: printable(link), "Good until": out.at(expiresAt) }, told);
    out.secret(answer, shown, {
      what: "a link that sets the password was made",
      fix: `make another, which ends that one: \`svc members reset-password ${shellWord(addressOrId)}\``,
    });
  },
});
