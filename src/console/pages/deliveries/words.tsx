import type { Delivery, Trends, Webhook } from "../../../http/admin/answers.js";
import { formatNumber } from "../../../words/text.js";
import { address, Ago, Text } from "../../parts.js";

export function webhookHref(id: string, more: Record<string, string> = {}): string {
  return address("webhook", { id, ...more });
}

export function deliveryHref(webhook: string, id: string): string {
  return address("delivery", { webhook, id });
}

/** What a webhook receives. */
export function EventTypes({ of }: { of: readonly string[] }) {
  return of.includes("*") ? <>everything</> : <Text>{of.join(", ")}</Text>;
}

/** Whether a webhook receives what it is to receive. */
export function WebhookStatus({ webhook }: { webhook: Webhook }) {
  const { disabledAt, disabledReason, failingSince } = webhook;
  if (disabledAt !== null) {
    return (
      <>
        <span class="critical">disabled</span>{" "}
        <span class="faint">
          <Ago iso={disabledAt} />
          {disabledReason === null ? null : (
            <>
              : <Text>{disabledReason}</Text>
            </>
          )}
        </span>
      </>
    );
  }
  if (failingSince === null) return <span class="good">enabled</span>;
  return (
    <>
      <span class="warning">failing</span>{" "}
      <span class="faint">
        no attempt has succeeded since <Ago iso={failingSince} />
      </span>
    </>
  );
}

const STATUS = { delivered: "good", failed: "critical", pending: "warning" } as const;

export function DeliveryStatus({ status }: Pick<Delivery, "status">) {
  return <span class={STATUS[status]}>{status}</span>;
}

/** `99.9 %`; a hundred only where nothing is missing. */
export function percent(part: number, whole: number): string {
  return `${formatNumber(Math.floor((part / whole) * 1000) / 10)} %`;
}

/** What became of the deliveries to a webhook, period by period. */
export function outcomesOf(trends: Trends, webhookId: string) {
  const valuesOf = (metric: string) =>
    trends.series.find((series) => series.webhookId === webhookId && series.metric === metric)?.values ?? [];
  const [delivered, failed] = [valuesOf("delivered"), valuesOf("failed")];
  return trends.periods.map((day, n) => ({ day, delivered: delivered[n] ?? 0, failed: failed[n] ?? 0 }));
}
