import type { Cause, EmissionDetail } from "../../http/admin/answers.js";
import { plural, printable } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { useLook } from "../look.js";
import { At, CauseLink, Customer, Lines, Section, storyHref, TextLink } from "../parts.js";
import { type TableColumn, FactList, Table } from "../tables.js";
import { DeliveryStatus, deliveryHref } from "./deliveries/words.js";
import { MadeBy } from "./emissions/made-by.js";

/** One emission: what brought it about, and how far it came at each webhook. */
export const emissionPage: ConsolePage = {
  path: "emission",
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
    <FactList
      of={{
        Customer: <Customer id={customerId} />,
        Happened: <Happened at={timestamp} by={cause} customerId={customerId} id={id} />,
        Written: <At iso={createdAt} />,
        Source: configVersion === null ? source : `${source}, under ${configVersion}`,
        Id: id,
      }}
    />
  );
}

/** When something came about, by what, and how its customer stood then. @param id of the emission that told of it */
export function Happened(props: { at: string; by: Cause; customerId: string; id: string }) {
  const { at, by, customerId, id } = props;
  return (
    <>
      <At iso={at} />, by <CauseLink cause={by} />:{" "}
      <a href={storyHref(customerId, at, id, useLook().now)}>the customer's story at that instant</a>
    </>
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

const columnsOf = (id: string): TableColumn<EmissionDetail["deliveries"][number]>[] => [
  ["Webhook", ({ webhookId, url }) => <TextLink href={deliveryHref(webhookId, id)} text={url} />],
  ["Status", ({ status }) => <DeliveryStatus status={status} />],
  ["Attempts", ({ attempts }) => plural(attempts, "attempt")],
];
