import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { localTime } from "../../text.js";

interface Version {
  version: string;
  hash: string;
  author: string;
  createdAt: string;
  active: string[];
}

export default defineCommand({
  path: "config versions",
  describe: "List the deployed versions and where each is active",
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc config versions", "Every version, the newest first"]],
  async handler({ api, out, settings }, { limit, cursor }) {
    const answer = await api.get<Page<Version>>(api.projectPath("config-versions"), ["data", "nextCursor"], {
      env: settings.environment,
      limit,
      cursor,
    });
    page(out, answer, {
      none: "Nothing was deployed yet.",
      columns: [
        { title: "Version", value: ({ version }) => version, fixed: true },
        { title: "Active in", value: ({ active }) => active.join(", "), style: out.style.green },
        { title: "Created", value: ({ createdAt }) => localTime(createdAt, out.timeZone), fixed: true },
        { title: "Author", value: ({ author }) => author },
        { title: "Hash", value: ({ hash }) => hash.slice(0, 12), fixed: true },
      ],
    });
  },
});
