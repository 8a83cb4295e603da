import type { Delivery, ResentDeliveries } from "../../../http/admin/answers.js";
import { isDuration } from "../../../model/snapshot/duration.js";
import { plural, printable, shellWord } from "../../../words/text.js";
import { type Context, csvPageOptions, defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { checkWords, sinceOption } from "../../core/values.js";
import { sendChange } from "../../output/change.js";
import { confirmation } from "../../output/confirmation.js";
import type { Out } from "../../output/out.js";
import { getWebhook } from "./webhooks.js";

const STATUSES = ["failed", "missing", "pending", "delivered"] as const;

export default {
  deliveries: defineCommand({
    args: { webhookId: "The webhook's id" },
    options: {
      status: { type: "text", choices: ["pending", "delivered", "failed"], describe: "Only those of this status" },
      type: { type: "text", describe: "Only those of this event type" },
      customer: { type: "text", describe: "Only those about this customer" },
      ...projectOptions,
      ...csvPageOptions,
    },
    examples: [
      ["svc webhooks deliveries whk_0123456789abcdef0123", "Every delivery, newest first"],
      ["svc webhooks deliveries whk_0123456789abcdef0123 --status failed", "Deliveries that were given up"],
    ],
    async handler(context, { webhookId, status, type, customer, limit, cursor, csv }) {
      const { out } = context;
      const isAll = [status, type, customer].every((filter) => filter === undefined);
      const paint = { pending: out.style.yellow, delivered: out.style.green, failed: out.style.red };
      const outcome = ({ lastAttempt: last }: Delivery) =>
        last === null ? "" : `${last.statusCode ?? last.error ?? "none"} in ${last.latencyMs} ms`;
      // When the delivery ended, or when its next attempt is due.
      const instant = ({ finishedAt, nextAttemptAt: due }: Delivery) =>
        finishedAt !== null ? out.at(finishedAt) : due === null ? "" : `due ${out.at(due)}`;
      const { printList } = await import("../../output/table.js");
      const query = { status, type, customer, limit, cursor };
      await printList<Delivery>(context, query, ["webhooks", webhookId, "deliveries"], {
        csv,
        none: isAll ? "Nothing was delivered to this webhook yet." : "There is no such delivery.",
        columns: [
          { title: "Event", value: ({ id }) => id, fixed: true },
          { title: "Type", value: (row) => row.type },
          { title: "Customer", value: ({ customerId }) => customerId },
          { title: "Status", value: (row) => row.status, fixed: true, style: (text, row) => paint[row.status](text) },
          { title: "Tries", value: ({ attempts }) => String(attempts), align: "right", fixed: true, optional: true },
          { title: "Answer", value: outcome },
          { title: "At", value: instant, fixed: true, optional: true },
        ],
      });
    },
  }),

  resend: defineCommand({
    args: {
      webhookId: "The webhook's id",
      deliveryId: { describe: "The delivery to send again; otherwise --since selects deliveries", optional: true },
    },
    options: {
      since: { type: "text", describe: "Emissions since then: how long ago, such as 2h, or a date" },
      until: { type: "text", describe: "Emissions before then" },
      status: {
        type: "list",
        describe: `With --since: ${STATUSES.join(", ")}; may be given again; failed unless given`,
      },
      cursor: { type: "text", describe: "With --since: continue where an earlier run failed" },
      ...projectOptions,
      ...yesOption,
    },
    examples: [
      ["svc webhooks resend whk_0123456789abcdef0123 emi_0000000000000400", "One delivery"],
      [
        "svc webhooks resend whk_0123456789abcdef0123 --since 2h",
        "Deliveries of the last two hours that were given up",
      ],
      [
        "svc webhooks resend whk_0123456789abcdef0123 --since 2026-03-01 --status failed --status missing",
        "Also emissions that it never got, because it was disabled",
      ],
    ],
    async handler(context, { webhookId, deliveryId, since, until, status, cursor, yes }) {
      sinceOption("--since", since);
      sinceOption("--until", until);
      checkWords("--status", status, STATUSES);
      if ((deliveryId === undefined) === (since === undefined)) {
        const message = "give either a delivery's id or --since";
        throw new UsageError(message, "see `svc webhooks resend --help`");
      }
      if (deliveryId !== undefined && (until !== undefined || status.length > 0 || cursor !== undefined)) {
        throw new UsageError("--until, --status and --cursor go with --since only", "leave them out");
      }
      const { place } = context.settings;
      context.settings.credentials();
      const confirm = await confirmation(context, { action: "sending again", yes });
      if (!yes) {
        const { url } = await getWebhook(context, webhookId);
        const what = deliveryId === undefined ? inWords(since!, until, status) : printable(deliveryId);
        await confirm(`Send again to ${printable(url)}, in ${place}: ${what}?`);
      }
      if (deliveryId !== undefined) return resendOne(context, webhookId, deliveryId);
      const statuses = status.length === 0 ? undefined : [...new Set(status)];
      await resendSpan(context, webhookId, { since, until, statuses }, cursor);
    },
  }),
};

function inWords(since: string, until: string | undefined, status: readonly string[]): string {
  const statuses = status.length === 0 ? "failed" : [...new Set(status)].join(" or ");
  const instant = (text: string): string => (isDuration(text) ? `${text} ago` : printable(text));
  const end = until === undefined ? "" : ` and before ${instant(until)}`;
  return `everything emitted since ${instant(since)}${end} that is ${statuses}`;
}

async function resendOne({ api, out, settings }: Context, webhookId: string, deliveryId: string): Promise<void> {
  const { environment } = settings;
  const path = ["webhooks", webhookId, "deliveries", deliveryId, "resend"];
  const answer = await sendChange(`\`${deliveriesOf(webhookId, environment)}\``, (signal) =>
    api.post<{ id: string; type: string }>(path, {}, ["id", "type"], signal),
  );
  const { id, type } = answer.data;
  out.result(answer, () => `Queued ${printable(id)} (${printable(type)}). ${lookAt(out, webhookId, environment)}`);
}

/** One request handles only some thousands of deliveries, so it is repeated until the span ends. */
async function resendSpan(
  { api, out, settings }: Context,
  webhookId: string,
  span: object,
  from: string | undefined,
): Promise<void> {
  const { environment } = settings;
  let queued = 0;
  let cursor = from;
  try {
    do {
      const body = { ...span, cursor };
      const { data } = await sendChange(`\`${deliveriesOf(webhookId, environment)}\``, (signal) =>
        api.post<ResentDeliveries>(["webhooks", webhookId, "resend"], body, ["queued", "nextCursor"], signal),
      );
      queued += data.queued;
      cursor = data.nextCursor ?? undefined;
    } while (cursor !== undefined);
  } catch (error) {
    if (cursor !== undefined) {
      const done = plural(queued, "delivery", "deliveries");
      // Without the cursor, deliveries already queued would be queued a second time.
      out.note(
        `Already queued: ${done}. To continue from there, add --cursor ${shellWord(cursor)} to the same command.`,
      );
    }
    throw error;
  }
  out.result({ document: { queued } }, () =>
    queued === 0
      ? "There is nothing to send again."
      : `Queued ${plural(queued, "delivery", "deliveries")}. ${lookAt(out, webhookId, environment)}`,
  );
}

function lookAt(out: Out, webhookId: string, environment: string): string {
  return `See the result: ${out.typed(deliveriesOf(webhookId, environment))}`;
}

function deliveriesOf(webhookId: string, environment: string): string {
  return `svc webhooks deliveries ${shellWord(webhookId)} --env ${environment}`;
}
