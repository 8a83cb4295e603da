import type { Overview } from "../client/answers.js";
import { defineCommand, projectOptions } from "../core/command.js";
import { fields } from "../output/fields.js";
import { number } from "../output/text.js";

export default defineCommand({
  options: projectOptions,
  examples: [["svc overview --env live", "How the customers of live are distributed"]],
  async handler({ api, out, settings }) {
    const answer = await api.get<Overview>(["overview"], ["customers", "events", "lifecycle", "segments", "webhooks"]);
    const { data } = answer;
    // Not above: the help of this command must not wait for what draws a table.
    const { table } = await import("../output/table.js");
    const totals = fields(out, [
      ["Project", `${settings.project}, ${data.environment}`],
      ["Model", data.configVersion ?? "none deployed yet"],
      ["Customers", customersInWords(data)],
      ["Events", eventsInWords(data.events)],
      ["Emissions", number(sum(Object.values(data.emissions)))],
      ["Webhooks", webhooksInWords(data.webhooks)],
    ]);
    out.result(answer, () => [totals, funnel(), sizes()].filter((part) => part !== "").join("\n\n"));

    function funnel(): string {
      if (data.lifecycle.length === 0) return "";
      return table(
        out,
        [
          { title: "Lifecycle", value: ({ state }) => state },
          { title: "Now", value: ({ customers }) => number(customers), align: "right" },
          { title: "Share", value: ({ customers }) => share(customers, data.customers), align: "right" },
          { title: "Ever", value: ({ everEntered }) => number(everEntered), align: "right" },
        ],
        data.lifecycle,
      );
    }

    function sizes(): string {
      if (data.segments.length === 0) return "";
      return table(
        out,
        [
          { title: "Segment", value: ({ segment }) => segment },
          { title: "Members", value: ({ members }) => number(members), align: "right" },
          { title: "Share", value: ({ members }) => share(members, data.customers), align: "right" },
        ],
        data.segments,
      );
    }
  },
});

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function share(part: number, whole: number): string {
  return whole === 0 ? "" : `${((100 * part) / whole).toFixed(1)} %`;
}

function customersInWords({ customers, customersSetAside }: Overview): string {
  if (customersSetAside === 0) return number(customers);
  return `${number(customers)}, ${number(customersSetAside)} set aside (svc customers list --set-aside)`;
}

function eventsInWords({ accepted, pending, ahead }: Overview["events"]): string {
  const later = ahead === 0 ? "" : `, ${number(ahead)} of them ahead of time`;
  return `${number(accepted)} accepted, ${number(pending)} pending${later}`;
}

function webhooksInWords({ delivered, pending, failed }: Overview["webhooks"]): string {
  return `${number(delivered)} delivered, ${number(pending)} pending, ${number(failed)} failed`;
}
