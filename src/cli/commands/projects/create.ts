import { defineCommand, yesOption } from "../../core/command.js";
import { confirmation } from "../../output/change.js";
import { createdInWords, createProject, keysLost } from "./created-project.js";
import { printable } from "../../output/text.js";
import type { Whoami } from "../whoami.js";

export default defineCommand({
  options: {
    name: { type: "text", required: true, describe: "Its name, for people" },
    slug: { type: "text", required: true, describe: "Its identifier: lower case letters, digits and hyphens" },
    ...yesOption,
  },
  examples: [['svc projects create --name "Acme" --slug acme', "Create the project acme"]],
  async handler(context, { name, slug, yes }) {
    const { api, out, settings } = context;
    const { apiUrl } = settings;
    const confirm = await confirmation(context, { action: "creating a project", yes });
    const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
    const where = `organization ${printable(data.organization.slug)} at ${apiUrl}`;
    await confirm(`Create the project ${printable(slug)} in ${where}?`);

    const answer = await createProject(api, { name, slug }, "svc projects list");
    out.secret(answer, () => createdInWords(out, answer.data), keysLost(answer.data.project.slug));
  },
});
