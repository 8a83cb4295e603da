import type { ConfigVersion } from "../../../http/admin/answers.js";
import { readList } from "../../client/pages.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { page } from "../../output/table.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc config versions", "Every version, newest first"]],
  async handler({ api, out }, { limit, cursor }) {
    const originOf = ({ provenance }: ConfigVersion) =>
      [provenance?.ref, provenance?.commit?.slice(0, 12)].filter((part) => part !== undefined).join(" ");
    const answer = await readList<ConfigVersion>(api, ["config-versions"], { limit, cursor });
    page(out, answer, {
      none: "Nothing was deployed yet.",
      columns: [
        { title: "Version", value: ({ version }) => version, fixed: true },
        { title: "Active in", value: ({ active }) => active.join(", "), style: out.style.green },
        { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true },
        { title: "Author", value: ({ author }) => author },
        { title: "Hash", value: ({ hash }) => hash.slice(0, 12), fixed: true },
        ...(answer.data.data.some(({ provenance }) => provenance !== null)
          ? [{ title: "Deployed from", value: originOf, optional: true as const }]
          : []),
      ],
    });
  },
});
