import type { Key } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { distance, localTime } from "../../output/text.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc keys list --env live", "The keys of live, and when each was used last"]],
  async handler({ api, out }, { limit, cursor }) {
    const answer = await readList<Key>(api, ["keys"], { limit, cursor });
    const paint = { active: out.style.green, expiring: out.style.yellow, revoked: out.style.dim };
    page(out, answer, {
      none: "There is no key.",
      columns: [
        { title: "Id", value: ({ id }) => id, fixed: true },
        { title: "Name", value: ({ name }) => name },
        { title: "Key", value: ({ hint }) => `${hint}…`, kept: true },
        {
          title: "Status",
          value: (key) => statusOf(key, out.now),
          style: (text, { status }) => paint[status](text),
        },
        {
          title: "Last used",
          value: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : distance(lastUsedAt, out.now)),
          kept: true,
        },
        { title: "Created", value: ({ createdAt }) => localTime(createdAt, out.timeZone), fixed: true, optional: true },
        { title: "By", value: ({ createdBy }) => createdBy, optional: true },
      ],
    });
  },
});

function statusOf({ status, revokedAt }: Key, now: number): string {
  return status === "expiring" && revokedAt !== null ? `ends ${distance(revokedAt, now)}` : status;
}
