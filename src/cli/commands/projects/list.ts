import type { Project } from "../../client/answers.js";
import { defineCommand, pageOptions } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { localTime } from "../../output/text.js";

export default defineCommand({
  options: pageOptions,
  examples: [["svc projects list", "The projects of the organization"]],
  async handler({ api, out }, { limit, cursor }) {
    const answer = await readList<Project>(api, "/projects", { limit, cursor });
    page(out, answer, {
      none: "The organization has no project.",
      columns: [
        { title: "Project", value: ({ slug }) => slug, fixed: true },
        { title: "Name", value: ({ name }) => name },
        { title: "Created", value: ({ createdAt }) => localTime(createdAt, out.timeZone), fixed: true },
      ],
    });
  },
});
