import type { CreatedKey } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";

export default defineCommand({
  options: {
    name: {
      type: "text",
      required: true,
      describe: "Its name, for people, such as the application that sends with it",
    },
    ...projectOptions,
    ...yesOption,
  },
  examples: [["svc keys create --name backend --env live", "A key for a backend that sends events to live"]],
  async handler(context, { name, yes }) {
    const { api, out, settings } = context;
    const { environment, project } = settings;
    const answer = await confirmAndRun(context, {
      action: "creating a key",
      yes,
      seen: `\`svc keys list --env ${environment}\``,
      question: (place) => `Create the key ${printable(name)} in ${place}?`,
      request: (signal) => api.post<CreatedKey>(["keys"], { name }, ["key", "secret"], signal),
    });
    const { key, secret } = answer.data;
    const revoke = `\`svc keys revoke ${shellWord(key.id)} --env ${environment} --project ${project}\``;
    const facts = { Key: printable(secret), Id: printable(key.id) };
    const sentence = `Created the key ${printable(key.name)} in ${environment}. Keep it in a safe place: it is not shown again.`;
    out.secret(answer, () => fields(out, facts, sentence), {
      what: `the key ${printable(key.id)} was created`,
      fix: `revoke it, ${revoke}, and create another`,
    });
  },
});
