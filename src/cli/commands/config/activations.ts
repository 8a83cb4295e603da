import type { Activation } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { localTime } from "../../output/text.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc config activations --env live", "What was active in live, to choose what to roll back to"]],
  async handler({ api, out, settings }, { limit, cursor }) {
    const { environment } = settings;
    const answer = await readList<Activation>(api, ["activations"], { limit, cursor });
    page(out, answer, {
      none: `Nothing was active in ${environment} yet.`,
      columns: [
        { title: "Version", value: ({ version }) => version, fixed: true },
        { title: "Instead of", value: ({ previousVersion }) => previousVersion ?? "", fixed: true },
        { title: "By", value: ({ kind }) => kind, fixed: true },
        { title: "At", value: ({ at }) => localTime(at, out.timeZone), fixed: true },
        { title: "Who", value: ({ actor }) => actor },
      ],
    });
  },
});
