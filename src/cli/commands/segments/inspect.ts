import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { distance, localTime, plural, printable } from "../../text.js";

interface Segment extends Page<{ customerId: string; enteredAt: string }> {
  segment: string;
  members: number;
}

export default defineCommand({
  path: "segments inspect",
  describe: "Show a segment's size and its members",
  args: { segmentId: "The segment's id" },
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc segments inspect power_users", "Who is in it, and since when"]],
  async handler({ api, out, settings }, { segmentId, limit, cursor }) {
    const answer = await api.get<Segment>(
      api.projectPath("segments", segmentId),
      ["segment", "members", "data", "nextCursor"],
      { env: settings.environment, limit, cursor },
    );
    const { segment, members } = answer.data;
    page(out, answer, {
      heading: `${out.style.bold(printable(segment))} in ${settings.environment}: ${plural(members, "member")}`,
      none: members === 0 ? "Nobody is in it." : "There are no more members.",
      columns: [
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Entered", value: ({ enteredAt }) => localTime(enteredAt, out.timeZone), fixed: true },
        { title: "", value: ({ enteredAt }) => distance(enteredAt, out.now), style: out.style.dim },
      ],
    });
  },
});
