import type { RotatedKey } from "../../client/answers.js";
import { checkDuration } from "../../core/values.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { fields } from "../../output/fields.js";
import { describeKey } from "./keys.js";
import { distance, localTime, printable, shellWord } from "../../output/text.js";

export default defineCommand({
  args: { keyId: "The id of the key that is replaced" },
  options: {
    grace: { type: "text", describe: "How long the old key still works, 0m to 30d; 24h unless given" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [
    ["svc keys rotate key_0123456789abcdef0123", "A new key; the old one works for 24 hours more"],
    ["svc keys rotate key_0123456789abcdef0123 --grace 0m", "The old one ends at once"],
  ],
  async handler(context, { keyId, grace, yes }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    checkDuration("--grace", grace);
    settings.credentials();
    const confirm = await confirmation(context, { action: "rotating a key", yes });
    if (!yes) {
      const key = await describeKey(context, keyId);
      const end = grace?.startsWith("0") ? "ends at once" : `works for ${grace ?? "24h"} more`;
      await confirm(`Replace the key ${key} in ${environment} of project ${project} at ${apiUrl}? The old one ${end}.`);
    }
    const answer = await outcomeOf(`svc keys list --env ${environment}`, (signal) =>
      api.post<RotatedKey>(
        ["keys", keyId, "rotate"],
        grace === undefined ? {} : { grace },
        ["key", "secret", "replaced"],
        signal,
      ),
    );
    const { key, secret, replaced } = answer.data;
    const ends = `${localTime(replaced.revokedAt, out.timeZone)} (${distance(replaced.revokedAt, out.now)})`;
    out.secret(
      answer,
      () =>
        [
          `Replaced the key ${printable(key.name)} in ${environment}. Keep the new one in a safe place: it is not shown again.`,
          "",
          fields(out, [
            ["New key", printable(secret)],
            ["Id", printable(key.id)],
            ["Old key", `${printable(replaced.id)}, ends ${ends}`],
          ]),
        ].join("\n"),
      {
        what: `the new key is ${printable(key.id)}`,
        fix: `rotate that one too: svc keys rotate ${shellWord(key.id)} --env ${environment} --project ${project}`,
      },
    );
  },
});
