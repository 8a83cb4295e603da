import type { CreatedProject } from "../../client/answers.js";
import type { ApiAnswer, Api } from "../../client/api.js";
import { fields } from "../../output/fields.js";
import type { Out, ShownOnce } from "../../output/out.js";
import { outcomeOf } from "../../output/change.js";
import { printable, shellWord } from "../../output/text.js";

/**
 * Creates a project.
 *
 * @param seen the command that shows whether that was carried out, where nobody knows
 */
export function createProject(
  api: Api,
  project: { name: string; slug: string },
  seen: string,
): Promise<ApiAnswer<CreatedProject>> {
  return outcomeOf(seen, (signal) => api.post<CreatedProject>("/projects", project, ["project", "keys"], signal));
}

/** The project and its keys, for people. */
export function createdInWords(out: Out, { project, keys }: CreatedProject): string {
  return [
    `Created the project ${printable(project.slug)}. Keep its keys in a safe place: they are not shown again.`,
    "",
    fields(out, [
      ["Test key", printable(keys.test)],
      ["Live key", printable(keys.live)],
    ]),
  ].join("\n");
}

/** What to do where the keys of a new project could not be shown. */
export function keysLost(slug: string): ShownOnce {
  const options = `--env test --project ${shellWord(slug)}`;
  const what = `the project ${printable(slug)} was created with a key for test and one for live`;
  return {
    what,
    fix: `create others, svc keys create --name <name> ${options}, and revoke those of svc keys list ${options}; so too in live`,
  };
}
