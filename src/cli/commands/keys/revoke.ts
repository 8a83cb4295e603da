import type { ChangedKey } from "../../client/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { describeKey } from "./keys.js";
import { printable } from "../../output/text.js";

export default defineCommand({
  args: { keyId: "The key's id" },
  options: { ...projectOptions, ...yesOption },
  examples: [["svc keys revoke key_0123456789abcdef0123 --env live", "End a key at once, as when it leaked"]],
  async handler(context, { keyId, yes }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    settings.credentials();
    const confirm = await confirmation(context, { action: "revoking a key", yes });
    if (!yes) {
      const key = await describeKey(context, keyId);
      await confirm(
        `Revoke the key ${key} in ${environment} of project ${project} at ${apiUrl}? What is sent with it is refused from then on.`,
      );
    }
    const answer = await outcomeOf(`svc keys list --env ${environment}`, (signal) =>
      api.post<ChangedKey>(["keys", keyId, "revoke"], {}, ["key"], signal),
    );
    const { key } = answer.data;
    out.result(answer, () => `Revoked the key ${printable(key.name)} (${printable(key.hint)}…) in ${environment}.`);
  },
});
