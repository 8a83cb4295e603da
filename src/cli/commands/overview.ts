import type { Overview } from "../client/answers.js";
import { defineCommand, projectOptions } from "../core/command.js";
import { fields } from "../output/table.js";
import type { Column } from "../output/table.js";
import { formatNumber, paragraphs } from "../output/text.js";

export default defineCommand({
  options: projectOptions,
  examples: [["svc overview --env live", "How the customers of live are distributed"]],
  async handler({ api, out, settings }) {
    const answer = await api.get<Overview>(["overview"], ["customers", "events", "lifecycle", "segments", "webhooks"]);
    const { data } = answer;
    const { customers, customersSetAside: aside, webhooks } = data;
    const { accepted, pending, ahead } = data.events;
    // Not above: the help of this command must not wait for what draws a table.
    const { table } = await import("../output/table.js");
    const totals = fields(out, {
      Project: `${settings.project}, ${data.environment}`,
      Model: data.configVersion ?? "none deployed yet",
      Customers:
        formatNumber(customers) +
        (aside === 0 ? "" : `, ${formatNumber(aside)} set aside (${out.typed("svc customers list --set-aside")})`),
      Events: `${formatNumber(accepted)} accepted, ${formatNumber(pending)} pending${ahead === 0 ? "" : `, ${formatNumber(ahead)} of them ahead of time`}`,
      Emissions: formatNumber(Object.values(data.emissions).reduce((total, one) => total + one, 0)),
      Webhooks: `${formatNumber(webhooks.delivered)} delivered, ${formatNumber(webhooks.pending)} pending, ${formatNumber(webhooks.failed)} failed`,
    });
    const share = (part: number) => (customers === 0 ? "" : `${((100 * part) / customers).toFixed(1)} %`);
    const section = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
      rows.length === 0 ? "" : table(out, columns, rows);
    const funnel = section(data.lifecycle, [
      { title: "Lifecycle", value: ({ state }) => state },
      { title: "Now", value: ({ customers }) => formatNumber(customers), align: "right" },
      { title: "Share", value: ({ customers }) => share(customers), align: "right" },
      { title: "Ever", value: ({ everEntered }) => formatNumber(everEntered), align: "right" },
    ]);
    const sizes = section(data.segments, [
      { title: "Segment", value: ({ segment }) => segment },
      { title: "Members", value: ({ members }) => formatNumber(members), align: "right" },
      { title: "Share", value: ({ members }) => share(members), align: "right" },
    ]);
    out.result(answer, () => paragraphs([totals, funnel, sizes]));
  },
});
