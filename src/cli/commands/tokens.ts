import type { AccessToken, CreatedAccessToken } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { pathPart } from "../client/api.js";
import { defineCommand, pageOptions, yesOption } from "../core/command.js";
import { confirmAndRun } from "../output/change.js";
import { fields, printList } from "../output/table.js";
import { MEMBER_ROLES } from "./members.js";

export default {
  list: defineCommand({
    options: pageOptions,
    examples: [["svc tokens list", "The tokens of pipelines and scripts, and when each was last used"]],
    async handler(context, { limit, cursor }) {
      const { out } = context;
      const ends = ({ revokedAt, expiresAt }: AccessToken) =>
        revokedAt === null ? out.ago(expiresAt) : `revoked ${out.ago(revokedAt)}`;
      await printList<AccessToken>(context, { limit, cursor }, "/organization/tokens", {
        none: "There is no token.",
        columns: [
          { title: "Id", value: ({ id }) => id, fixed: true },
          { title: "Label", value: ({ label }) => label },
          { title: "User", value: ({ user }) => user.email },
          { title: "Role", value: ({ role }) => role ?? "the user's", kept: true },
          { title: "Ends", value: ends, kept: true },
          { title: "Last used", value: ({ lastUsedAt: at }) => (at === null ? "never" : out.ago(at)), kept: true },
          { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true, optional: true },
        ],
      });
    },
  }),

  create: defineCommand({
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
  }),

  revoke: defineCommand({
    args: { tokenId: "The token's id" },
    options: yesOption,
    examples: [["svc tokens revoke tok_0123456789abcdef0123", "Revoke a token at once, for example when it leaked"]],
    async handler(context, { tokenId, yes }) {
      const { api, out } = context;
      const answer = await confirmAndRun(context, {
        action: "revoking a token",
        yes,
        of: "organization",
        seen: "`svc tokens list`",
        question: (place) => `Revoke the token ${printable(tokenId)} of ${place}? It stops working at once.`,
        request: (signal) =>
          api.delete<AccessToken>(`/organization/tokens/${pathPart(tokenId)}`, ["id", "label"], signal),
      });
      const { id, label } = answer.data;
      out.result(answer, () => `Revoked the token ${printable(label)} (${printable(id)}).`);
    },
  }),
};
