import { defineCommand } from "../../command.js";
import { fields } from "../../fields.js";
import { printable } from "../../text.js";

interface Created {
  project: { slug: string; name: string; createdAt: string };
  keys: { test: string; live: string };
}

export default defineCommand({
  path: "projects create",
  describe: "Create a project and print its API keys, once",
  options: {
    name: { type: "text", required: true, describe: "Its name, for people" },
    slug: { type: "text", required: true, describe: "Its identifier: lower case letters, digits and hyphens" },
  },
  examples: [['svc projects create --name "Acme" --slug acme', "Create the project acme"]],
  async handler({ api, out }, { name, slug }) {
    const answer = await api.post<Created>("/projects", { name, slug }, ["project", "keys"]);
    const { project, keys } = answer.data;
    out.result(answer, () =>
      [
        `Created the project ${printable(project.slug)}. Keep its keys in a safe place: they are not shown again.`,
        "",
        fields(out, [
          ["Test key", printable(keys.test)],
          ["Live key", printable(keys.live)],
        ]),
      ].join("\n"),
    );
  },
});
