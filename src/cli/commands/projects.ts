import type { CreatedProject, Project } from "../../http/admin/answers.js";
import { printable, shellWord } from "../../words/text.js";
import type { Api, ApiAnswer } from "../client/api.js";
import { defineCommand, pageOptions, yesOption } from "../core/command.js";
import { organizationPlace, sendChange } from "../output/change.js";
import { confirmation } from "../output/confirmation.js";
import type { Out, ShownOnce } from "../output/out.js";
import { fields, printList } from "../output/table.js";

export default {
  list: defineCommand({
    options: pageOptions,
    examples: [["svc projects list", "The projects of the organization"]],
    async handler(context, { limit, cursor }) {
      await printList<Project>(context, { limit, cursor }, "/projects", {
        none: "The organization has no project.",
        columns: [
          { title: "Project", value: ({ slug }) => slug, fixed: true },
          { title: "Name", value: ({ name }) => name },
          { title: "Created", value: ({ createdAt }) => context.out.at(createdAt), fixed: true },
        ],
      });
    },
  }),

  create: defineCommand({
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
  }),
};

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
