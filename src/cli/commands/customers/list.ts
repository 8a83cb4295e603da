import type { ListedCustomer } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { durationOf } from "../../core/values.js";
import { printList } from "../../output/table.js";

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
  async handler(context, { lifecycle, segment, inactive: quiet, setAside, limit, cursor }) {
    const inactive = durationOf("--inactive", quiet);
    const query = { lifecycle, segment, inactive, setAside: setAside ? "true" : undefined, limit, cursor };
    const ago = (iso: string | null) => (iso === null ? "" : context.out.ago(iso));
    const health = ({ health: its }: ListedCustomer) => (its === null ? "" : `${its.overall} ${its.band}`);
    await printList<ListedCustomer>(context, query, ["customers"], {
      none: "There is no such customer.",
      columns: [
        { title: "Customer", value: ({ customerId }) => customerId, kept: true },
        { title: "Lifecycle", value: (row) => row.lifecycle ?? "", kept: true },
        { title: "Since", value: (row) => ago(row.lifecycleEnteredAt) },
        { title: "Health", value: health, optional: true, fixed: true },
        { title: "Segments", value: ({ segments }) => segments.join(", ") },
        { title: "Last event", value: (row) => ago(row.lastEventAt), kept: true },
        ...(setAside ? [{ title: "Set aside", value: (row: ListedCustomer) => row.setAside?.error ?? "" }] : []),
      ],
    });
  },
});
