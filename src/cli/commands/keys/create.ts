import type { CreatedKey } from "../../client/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { fields } from "../../output/fields.js";
import { printable, shellWord } from "../../output/text.js";

export default defineCommand({
  options: {
    name: { type: "text", required: true, describe: "Its name, for people: what sends with it" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [["svc keys create --name backend --env live", "A key for what sends events to live"]],
  async handler(context, { name, yes }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    settings.credentials();
    const confirm = await confirmation(context, { action: "creating a key", yes });
    await confirm(`Create the key ${printable(name)} in ${environment} of project ${project} at ${apiUrl}?`);
    const answer = await outcomeOf(`svc keys list --env ${environment}`, (signal) =>
      api.post<CreatedKey>(["keys"], { name }, ["key", "secret"], signal),
    );
    const { key, secret } = answer.data;
    out.secret(
      answer,
      () =>
        [
          `Created the key ${printable(key.name)} in ${environment}. Keep it in a safe place: it is not shown again.`,
          "",
          fields(out, [
            ["Key", printable(secret)],
            ["Id", printable(key.id)],
          ]),
        ].join("\n"),
      {
        what: `the key ${printable(key.id)} was created`,
        fix: `revoke it, svc keys revoke ${shellWord(key.id)} --env ${environment} --project ${project}, and create another`,
      },
    );
  },
});
