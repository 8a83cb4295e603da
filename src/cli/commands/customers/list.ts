import type { ListedCustomer } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { durationOf } from "../../output/duration.js";
import { page, readList } from "../../output/list.js";
import { distance } from "../../output/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    lifecycle: { type: "text", describe: "Only those in this lifecycle state" },
    segment: { type: "text", describe: "Only members of this segment" },
    inactive: { type: "text", describe: "Only those without an event for this long, such as 14d" },
    setAside: { type: "flag", describe: "Only those whose evaluation was given up, and why" },
    ...pageOptions,
  },
  examples: [["svc customers list --lifecycle trial --inactive 7d", "Trials that went quiet a week ago"]],
  async handler({ api, out }, { lifecycle, segment, inactive, setAside, limit, cursor }) {
    // First of all: what is wrong with the command line is told before anything else.
    const quietFor = durationOf("--inactive", inactive);
    const query = {
      lifecycle,
      segment,
      inactive: quietFor,
      setAside: setAside ? "true" : undefined,
      limit,
      cursor,
    };
    const answer = await readList<ListedCustomer>(api, ["customers"], query);
    const ago = (iso: string | null) => (iso === null ? "" : distance(iso, out.now));
    page(out, answer, {
      none: "There is no such customer.",
      columns: [
        { title: "Customer", value: ({ customerId }) => customerId, kept: true },
        { title: "Lifecycle", value: (row) => row.lifecycle ?? "", kept: true },
        { title: "Since", value: (row) => ago(row.lifecycleEnteredAt) },
        {
          title: "Health",
          value: ({ health }) => (health === null ? "" : `${health.overall} ${health.band}`),
          optional: true,
          fixed: true,
        },
        { title: "Segments", value: ({ segments }) => segments.join(", ") },
        { title: "Last event", value: (row) => ago(row.lastEventAt), kept: true },
        ...(setAside ? [{ title: "Set aside", value: (row: ListedCustomer) => row.setAside?.error ?? "" }] : []),
      ],
    });
  },
});
