import type { RotatedKey } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { checkDurationOption } from "../../core/values.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { describeKey } from "./revoke.js";

export default defineCommand({
  args: { keyId: "The id of the key to replace" },
  options: {
    grace: { type: "text", describe: "How long the old key still works, 0m to 30d; 24h unless given" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [
    ["svc keys rotate key_0123456789abcdef0123", "A new key; the old one works for another 24 hours"],
    ["svc keys rotate key_0123456789abcdef0123 --grace 0m", "The old key stops working at once"],
  ],
  async handler(context, { keyId, grace, yes }) {
    const { api, out, settings } = context;
    const { environment, project } = settings;
    checkDurationOption("--grace", grace);
    const end = grace?.startsWith("0") ? "stops working at once" : `works for another ${grace ?? "24h"}`;
    const answer = await confirmAndRun(context, {
      action: "rotating a key",
      yes,
      seen: `\`svc keys list --env ${environment}\``,
      question: async (place) =>
        `Replace the key ${await describeKey(context, keyId)} in ${place}? The old one ${end}.`,
      request: (signal) =>
        api.post<RotatedKey>(["keys", keyId, "rotate"], { grace }, ["key", "secret", "replaced"], signal),
    });
    const { key, secret, replaced } = answer.data;
    const again = `\`svc keys rotate ${shellWord(key.id)} --env ${environment} --project ${project}\``;
    const ends = `${out.at(replaced.revokedAt)} (${out.ago(replaced.revokedAt)})`;
    const old = `${printable(replaced.id)}, ends ${ends}`;
    const facts = { "New key": printable(secret), Id: printable(key.id), "Old key": old };
    const sentence = `Replaced the key ${printable(key.name)} in ${environment}. Keep the new one in a safe place: it is not shown again.`;
    out.secret(answer, () => fields(out, facts, sentence), {
      what: `the new key is ${printable(key.id)}`,
      fix: `rotate that one too: ${again}`,
    });
  },
});
