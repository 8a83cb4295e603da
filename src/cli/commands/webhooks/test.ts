import type { WebhookTest } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { fields } from "../../output/table.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    type: { type: "text", describe: "The type of the message; webhook.test unless given" },
    ...projectOptions,
  },
  examples: [
    ["svc webhooks test whk_0123456789abcdef0123", "Send one message and see the answer; nothing is stored"],
    ["svc webhooks test whk_0123456789abcdef0123 --json", "With the request, for checking a signature"],
  ],
  async handler({ api, out }, { webhookId, type }) {
    const members = ["id", "delivered", "latencyMs", "request"] as const;
    const answer = await api.post<WebhookTest>(["webhooks", webhookId, "test"], { type }, members);
    const { id, delivered, statusCode, latencyMs, error, response } = answer.data;
    const outcome = statusCode === null ? printable(error ?? "no answer") : String(statusCode);
    if (!delivered) {
      const message = `the receiver did not accept the message: ${outcome} after ${latencyMs} ms`;
      const fix = "repair the receiver, or correct the webhook: `svc webhooks update <webhookId> --url <url>`";
      const reason = response ? { reason: `It answered ${JSON.stringify(response)}` } : {};
      throw failure("NOT_DELIVERED", message, fix, undefined, { ...reason, value: answer.data });
    }
    const took = out.style.green(`${outcome} in ${latencyMs} ms`);
    const facts = { Message: printable(id), Answer: took, Body: response ? printable(response) : undefined };
    out.result(answer, () => fields(out, facts));
  },
});
