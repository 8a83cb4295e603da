import type { AccessToken } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
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
});
