import type { Activation } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc config activations --env live", "What was active in live, to choose what to roll back to"]],
  async handler(context, { limit, cursor }) {
    await printList<Activation>(context, { limit, cursor }, ["activations"], {
      none: `Nothing was active in ${context.settings.environment} yet.`,
      columns: [
        { title: "Version", value: ({ version }) => version, fixed: true },
        { title: "Instead of", value: ({ previousVersion }) => previousVersion ?? "", fixed: true },
        { title: "By", value: ({ kind }) => kind, fixed: true },
        { title: "At", value: ({ at }) => context.out.at(at), fixed: true },
        { title: "Who", value: ({ actor }) => actor },
      ],
    });
  },
});
