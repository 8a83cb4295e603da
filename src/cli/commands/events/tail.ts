import type { Event } from "../../client/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { interruptible } from "../../output/interruption.js";
import { propertiesIn } from "../../output/json-text.js";
import type { Out } from "../../output/out.js";
import { printable } from "../../output/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those of this customer" },
    type: { type: "text", describe: "Only those of this name" },
  },
  examples: [
    ["svc events tail --type project_created", "Events of that name as they are accepted, until Ctrl+C"],
    ["svc events tail --json | jq .customerId", "With --json one document a line, for other programs"],
  ],
  async handler(context, { customer, type }) {
    const { out } = context;
    const { tail } = await import("./event-tail.js");
    await interruptible(async (stop) => {
      for await (const item of tail(context, { customer, type }, stop))
        await out.line(out.json ? item : inWords(out, item), stop);
    });
  },
});

function inWords(out: Out, item: string): string {
  const { customerId, event, occurredAt } = JSON.parse(item) as Event;
  const { cyan, dim } = out.style;
  const parts = [dim(out.at(occurredAt)), printable(customerId), cyan(printable(event)), printable(propertiesIn(item))];
  return parts.join("  ").trimEnd();
}
