import type { CreatedProject } from "../../../http/admin/answers.js";
import type { Api, ApiAnswer } from "../../client/api.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmation, organizationPlace, sendChange } from "../../output/change.js";
import { fields } from "../../output/table.js";
import type { Out, ShownOnce } from "../../output/out.js";
import { printable, shellWord } from "../../../words/text.js";

export default defineCommand({
  options: {
    name: { type: "text", required: true, describe: "Its name, for people" },
    slug: { type: "text", required: true, describe: "Its identifier: lower case letters, digits and hyphens" },
    ...yesOption,
  },
  examples: [['svc projects create --name "Acme" --slug acme', "Create the project acme"]],
  async handler(context, { name, slug, yes }) {
    const { api, out } = context;
    const confirm = await confirmation(context, { action: "creating a project", yes });
    // The organization is only fetched to word the question.
    if (!yes) await confirm(`Create the project ${printable(slug)} in ${await organizationPlace(context)}?`);

    const answer = await createProject(api, { name, slug }, "`svc projects list`");
    out.secret(answer, () => createdInWords(out, answer.data), lostKeysAdvice(answer.data.project.slug));
  },
});

/** Creates a project. @param seen the command that shows whether it was created, if the outcome is unknown */
export function createProject(
  api: Api,
  project: { name: string; slug: string },
  seen: string,
): Promise<ApiAnswer<CreatedProject>> {
  return sendChange(seen, (signal) => api.post<CreatedProject>("/projects", project, ["project", "keys"], signal));
}

/** The project and its keys, for people. */
export function createdInWords(out: Out, { project, keys }: CreatedProject): string {
  const sentence = `Created the project ${printable(project.slug)}. Keep its keys in a safe place: they are not shown again.`;
  return fields(out, { "Test key": printable(keys.test), "Live key": printable(keys.live) }, sentence);
}

/** What to do if the keys of a new project could not be shown. */
export function lostKeysAdvice(slug: string): ShownOnce {
  const options = `--env test --project ${shellWord(slug)}`;
  return {
    what: `the project ${printable(slug)} was created with a key for test and one for live`,
    fix: `create others, \`svc keys create --name <name> ${options}\`, and revoke those of \`svc keys list ${options}\`; do the same in live`,
  };
}
