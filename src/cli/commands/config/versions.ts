import { defineCommand } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { pageOptions, projectOptions } from "../../core/options.js";
import { localTime } from "../../output/text.js";

interface Version {
  version: string;
  hash: string;
  author: string;
  createdAt: string;
  active: string[];
  /** Where it was deployed from, as far as that was told. */
  provenance: { ref?: string | null; commit?: string | null } | null;
}

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc config versions", "Every version, the newest first"]],
  async handler({ api, out, settings }, { limit, cursor }) {
    const query = { env: settings.environment };
    const answer = await readList<Version>(api, api.projectPath("config-versions"), query, { limit, cursor });
    page(out, answer, {
      none: "Nothing was deployed yet.",
      columns: [
        { title: "Version", value: ({ version }) => version, fixed: true },
        { title: "Active in", value: ({ active }) => active.join(", "), style: out.style.green },
        { title: "Created", value: ({ createdAt }) => localTime(createdAt, out.timeZone), fixed: true },
        { title: "Author", value: ({ author }) => author },
        { title: "Hash", value: ({ hash }) => hash.slice(0, 12), fixed: true },
        ...(answer.data.data.some(({ provenance }) => provenance !== null)
          ? [{ title: "Deployed from", value: originOf, optional: true as const }]
          : []),
      ],
    });
  },
});

function originOf({ provenance }: Version): string {
  const { ref, commit } = provenance ?? {};
  return [ref, commit?.slice(0, 12)].filter((part) => part !== undefined && part !== null).join(" ");
}
