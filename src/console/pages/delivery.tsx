import type { DeliveryAttempt, DeliveryDetail, WebhookDetail } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage, Visit } from "../console-page.js";
import {
  address,
  Ago,
  At,
  AtAndAgo,
  Customer,
  Document,
  emissionHref,
  Lines,
  LinkLine,
  Section,
  Text,
  TextLink,
} from "../parts.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { deliveryHref, DeliveryStatus, webhookHref, WebhookStatus } from "./deliveries.js";
import { OccurrenceFact, RuleRunSection } from "./emissions.js";
import { AttemptOutcome } from "./webhook.js";
import { Allowed, ChangeForm, inLive, Live } from "../changes.js";

const RESEND = "resend";

/** A delivery to a webhook: its message, and each attempt with its answer. */
export const deliveryPage: ConsolePage = {
  path: "delivery",
  list: "deliveries",
  inService: true,
  async answer(visit) {
    const [webhook, delivery] = await deliveryOf(visit);
    const { customerId, body, ruleExecution } = delivery;
    return {
      title: `Delivery of ${printable(delivery.eventType)}`,
      customerIds: [customerId],
      body: (
        <>
          <Head webhook={webhook} delivery={delivery} />
          {visit.may("resend_delivery") ? <LinkLine href={resendHref(webhook, delivery)} text="Send it again" /> : null}
          <Attempts delivery={delivery} />
          <Section id="sent" title="What is sent">
            <Lines>{HEADERS(delivery.id).join("\n")}</Lines>
            <p class="hint">Each attempt has its own timestamp and signature, which are not kept.</p>
            <Document of={body} />
          </Section>
          {ruleExecution === null ? null : <RuleRunSection run={ruleExecution} />}
        </>
      ),
    };
  },
};

/** The delivery that the query names, and its webhook. */
function deliveryOf({ ask, query }: Visit): Promise<[WebhookDetail, DeliveryDetail]> {
  const webhook = query.get("webhook") ?? "";
  const delivery = query.get("id") ?? "";
  return Promise.all([
    ask("webhooks/:webhook", { webhook }),
    ask("webhooks/:webhook/deliveries/:delivery", { webhook, delivery }),
  ]);
}

const resendHref = (webhook: WebhookDetail, { id }: DeliveryDetail) => address(RESEND, { webhook: webhook.id, id });

const HEADERS = (id: string) => [
  "content-type: application/json",
  `webhook-id: ${id}`,
  "webhook-timestamp: …",
  "webhook-signature: v1,…",
];

function Head({ webhook, delivery }: { webhook: WebhookDetail; delivery: DeliveryDetail }) {
  const { id, customerId, status, nextAttemptAt, finishedAt, cause, emittedAt, createdAt } = delivery;
  return (
    <FactList
      of={{
        Customer: <Customer id={customerId} />,
        Status: (
          <>
            <DeliveryStatus status={status} />
            {finishedAt === null ? null : (
              <>
                {" "}
                <Ago iso={finishedAt} />
              </>
            )}
            {nextAttemptAt === null ? null : webhook.disabledAt === null ? (
              <>
                , next attempt <Ago iso={nextAttemptAt} />
              </>
            ) : (
              ", until the webhook is enabled"
            )}
          </>
        ),
        To: (
          <>
            <TextLink href={webhookHref(webhook.id)} text={webhook.url} /> <WebhookStatus webhook={webhook} />
          </>
        ),
        Happened: <OccurrenceFact at={emittedAt} by={cause} customerId={customerId} id={id} />,
        Recorded: <At iso={createdAt} />,
        Emission: <a href={emissionHref(id)}>{id}</a>,
      }}
    />
  );
}

function Attempts({ delivery: { attempts, attemptLog } }: { delivery: DeliveryDetail }) {
  return (
    <Section id="attempts" title="Attempts">
      {attemptLog.length === 0 ? (
        <p class="faint">{attempts === 0 ? "No attempt has been made yet." : "The attempts are too old to be kept."}</p>
      ) : (
        <Table name="List of attempts" rows={attemptLog} columns={COLUMNS} />
      )}
      {attemptLog.length > 0 && attemptLog.length < attempts ? (
        <p class="hint">Only the last of {attempts} attempts are kept.</p>
      ) : null}
    </Section>
  );
}

const COLUMNS: TableColumn<DeliveryAttempt>[] = [
  ["Attempt", ({ attempt }) => attempt, "number"],
  ["When", ({ at }) => <AtAndAgo iso={at} />],
  ["Outcome", (attempt) => <AttemptOutcome attempt={attempt} />],
  ["Answer", (attempt) => <Answer attempt={attempt} />],
];

function Answer({ attempt: { response } }: { attempt: DeliveryAttempt }) {
  if (response === null || response.trim() === "") return <span class="faint">empty</span>;
  if (response.length <= 60) return <Text>{response}</Text>;
  return (
    <details>
      <summary>its first 1,024 bytes</summary>
      <Lines>{response}</Lines>
    </details>
  );
}

/** Asks for confirmation before a delivery is sent again. */
export const resendPage: ConsolePage = {
  path: RESEND,
  list: "deliveries",
  inService: true,
  async answer(visit) {
    const [webhook, delivery] = await deliveryOf(visit);
    const { id, eventType, customerId, nextAttemptAt } = delivery;
    return {
      title: "Send it again?",
      customerIds: [customerId],
      body: (
        <>
          <p>
            <Text>{webhook.url}</Text> receives <Text>{eventType}</Text> of <Customer id={customerId} /> once more, as
            the same message: a receiver that recognizes its id ignores it.
          </p>
          <Live visit={visit}>the message reaches the real receiver.</Live>
          {nextAttemptAt === null || webhook.disabledAt !== null ? null : (
            <p class="note">
              It is already waiting: its next attempt is due <Ago iso={nextAttemptAt} />. Sending it again makes it due
              now.
            </p>
          )}
          {webhook.disabledAt === null ? null : (
            <p class="note">The webhook is disabled: nothing is delivered there until an administrator enables it.</p>
          )}
          <Allowed visit={visit} operation="resend_delivery" what="send deliveries again" who="an administrator">
            {webhook.disabledAt === null ? (
              <ChangeForm visit={visit} path={RESEND} hidden={{ webhook: webhook.id, id }}>
                <button>Send it again{inLive(visit)}</button>
              </ChangeForm>
            ) : null}
          </Allowed>
          <LinkLine href={deliveryHref(webhook.id, id)} text="Back to the delivery" />
        </>
      ),
    };
  },
  change: {
    fields: ["webhook", "id"],
    async make({ tell, form: { webhook = "", id = "" } }) {
      await tell("POST webhooks/:webhook/deliveries/:delivery/resend", { webhook, delivery: id });
      return deliveryHref(webhook, id);
    },
  },
};
