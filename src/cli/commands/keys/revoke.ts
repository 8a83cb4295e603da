import type { ChangedKey, Key } from "../../../http/admin/answers.js";
import { readAll } from "../../client/pages.js";
import { type Context, defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
  args: { keyId: "The key's id" },
  options: { ...projectOptions, ...yesOption },
  examples: [
    ["svc keys revoke key_0123456789abcdef0123 --env live", "Revoke a key at once, for example when it leaked"],
  ],
  async handler(context, { keyId, yes }) {
    const { api, out, settings } = context;
    const { environment } = settings;
    const answer = await confirmAndRun(context, {
      action: "revoking a key",
      yes,
      seen: `\`svc keys list --env ${environment}\``,
      question: async (place) =>
        `Revoke the key ${await describeKey(context, keyId)} in ${place}? Requests with it are refused from then on.`,
      request: (signal) => api.post<ChangedKey>(["keys", keyId, "revoke"], {}, ["key"], signal),
    });
    const { key } = answer.data;
    out.result(answer, () => `Revoked the key ${printable(key.name)} (${printable(key.hint)}…) in ${environment}.`);
  },
});

/** A key by its name, hint and last use, for a question. By its id if there is no such key; the request then fails. */
export async function describeKey({ api, out }: Context, keyId: string): Promise<string> {
  for await (const { data } of readAll<Key>(api, ["keys"])) {
    const key = data.data.find(({ id }) => id === keyId);
    if (key === undefined) continue;
    const used = key.lastUsedAt === null ? "never used" : `last used ${out.ago(key.lastUsedAt)}`;
    return `${printable(key.name)} (${printable(key.hint)}…, ${used})`;
  }
  return printable(keyId);
}
