import type { CreatedAccessToken } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable } from "../../../words/text.js";
import { MEMBER_ROLES } from "../members/members.js";

export default defineCommand({
  options: {
    label: { type: "text", required: true, describe: "Its name, for people, such as the pipeline that uses it" },
    role: { type: "text", choices: MEMBER_ROLES, describe: "Its role at most; your own role unless given" },
    expiresInDays: { type: "integer", min: 1, max: 90, default: 90, describe: "How many days it is valid" },
    ...yesOption,
  },
  examples: [["svc tokens create --label ci --role developer", "A token for a pipeline: SVC_ACCESS_TOKEN"]],
  async handler(context, { label, role, expiresInDays, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "creating a token",
      yes,
      of: "organization",
      seen: "`svc tokens list`",
      question: (place) =>
        `Create the token ${printable(label)}, which acts as you in ${place}${role === undefined ? "" : `, as ${role} at most`}?`,
      request: (signal) => {
        const body = { label, expiresInDays, role };
        return api.post<CreatedAccessToken>("/organization/tokens", body, ["id", "accessToken"], signal);
      },
    });
    const { id, accessToken, expiresAt } = answer.data;
    const sentence = `Created the token ${printable(label)}. Keep it in a safe place: it is not shown again.`;
    const shown = () =>
      fields(out, { Token: printable(accessToken), Id: printable(id), "Valid until": out.at(expiresAt) }, sentence);
    out.secret(answer, shown, {
      what: `the token ${printable(id)} was created`,
      fix: `revoke it, \`svc tokens revoke ${printable(id)}\`, and create another`,
    });
  },
});
