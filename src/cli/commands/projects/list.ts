import type { Project } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
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
});
