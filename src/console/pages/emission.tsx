import type { EmissionDetail } from "../../http/admin/answers.js";
import { plural, printable } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { useLook } from "../look.js";
import { At, CauseLink, Customer, Lines, Section, storyHref, TextLink } from "../parts.js";
import { type Column, Table } from "../tables.js";
import { DeliveryStatus, deliveryHref } from "./deliveries/words.js";
import { MadeBy } from "./emissions/made-by.js";

/** One emission: what brought it about, and how far it came at each webhook. */
export const emissionPage: ConsolePage = {
  path: "emission",
  section: null,
  async answer({ ask, query }) {
    const emission = await ask("emissions/:emission", { emission: query.get("id") ?? "" });
    const { customerId, eventType, metadata, ruleExecution } = emission;
    return {
      title: printable(eventType),
      customerIds: [customerId],
      body: (
        <>
          <Head emission={emission} />
          {Object.keys(metadata).length === 0 ? null : (
            <Section id="details" title="Details">
              <Lines>{JSON.stringify(metadata, null, 2)}</Lines>
            </Section>
          )}
          {ruleExecution === null ? null : <MadeBy run={ruleExecution} />}
          <Deliveries emission={emission} />
        </>
      ),
    };
  },
};

function Head({ emission }: { emission: EmissionDetail }) {
  const { id, customerId, source, timestamp, createdAt, configVersion, cause } = emission;
  return (
    <dl>
      <dt>Customer</dt>
      <dd>
        <Customer id={customerId} />
      </dd>
      <dt>Happened</dt>
      <dd>
        <At iso={timestamp} />, by <CauseLink cause={cause} />:{" "}
        <a href={storyHref(customerId, timestamp, id, useLook().now)}>the customer's story at that instant</a>
      </dd>
      <dt>Written</dt>
      <dd>
        <At iso={createdAt} />
      </dd>
      <dt>Source</dt>
      <dd>
        {source}
        {configVersion === null ? "" : `, under ${configVersion}`}
      </dd>
      <dt>Id</dt>
      <dd>{id}</dd>
    </dl>
  );
}

function Deliveries({ emission: { id, deliveries } }: { emission: EmissionDetail }) {
  return (
    <Section id="deliveries" title="Deliveries">
      {deliveries.length === 0 ? (
        <p class="faint">No webhook receives it.</p>
      ) : (
        <Table name="The deliveries" rows={deliveries} columns={columnsOf(id)} />
      )}
    </Section>
  );
}

const columnsOf = (id: string): Column<EmissionDetail["deliveries"][number]>[] => [
  ["Webhook", ({ webhookId, url }) => <TextLink href={deliveryHref(webhookId, id)} text={url} />],
  ["Status", ({ status }) => <DeliveryStatus status={status} />],
  ["Attempts", ({ attempts }) => plural(attempts, "attempt")],
];
