import type { AccessToken } from "../../../http/admin/answers.js";
import { pathPart } from "../../client/api.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
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
});
