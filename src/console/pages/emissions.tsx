import type { Cause, EmissionDetail, Explanation, ListedEmission, RuleExecution } from "../../http/admin/answers.js";
import { queryParams, type ConsolePage, expectedRefusal, queryParam, hasAnyParam } from "../console-page.js";
import {
  At,
  CauseLink,
  Customer,
  emissionHref,
  Document,
  Payload,
  Section,
  customerAsOfHref,
  Text,
  TextLink,
} from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, FilterForm, InputField } from "../forms.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { plural, printable } from "../../words/text.js";
import { usePresentation } from "../presentation.js";
import { deliveryHref, DeliveryStatus } from "./deliveries.js";
import { FirstConditions } from "../first-conditions.js";
import { ConditionTree } from "./customer/why.js";

const LIST = "emissions";
const LIMIT = "50";

/** The newest emissions. */
export const emissionsPage: ConsolePage = {
  path: LIST,
  section: "Emissions",
  async answer({ ask, query }) {
    const of = { ...queryParams(query, FILTERS), limit: LIMIT, cursor: queryParam(query, "cursor") };
    return listView({
      path: LIST,
      title: "Emissions",
      query,
      filters: <Filters query={query} />,
      found: await ask("emissions", of).catch(expectedRefusal),
      limit: LIMIT,
      none: hasAnyParam(query, FILTERS)
        ? "No emissions match these filters."
        : "Nothing has been emitted yet. Changes of customers and rules make emissions.",
      columns: COLUMNS,
    });
  },
};

const FILTERS = ["eventType", "source", "customer", "since"] as const;
const SOURCES = ["lifecycle", "journey", "segment", "health", "rule", "signal"];

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={LIST} all={hasAnyParam(query, FILTERS) && <a href={LIST}>All emissions</a>}>
      <InputField label="Type" name="eventType" query={query} placeholder="customer.activated" />
      <Choose label="Source" name="source" query={query} choices={SOURCES} />
      <InputField label="Customer's id" name="customer" query={query} />
      <InputField label="Since" name="since" query={query} placeholder="24h or 2026-03-01" maxLength={64} />
    </FilterForm>
  );
}

const COLUMNS: TableColumn<ListedEmission>[] = [
  ["Happened", ({ timestamp }) => <At iso={timestamp} />],
  ["Type", ({ id, eventType }) => <TextLink href={emissionHref(id)} text={eventType} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Source", ({ source }) => source],
  ["By", ({ cause }) => <CauseLink cause={cause} />],
  ["Details", ({ metadata }) => <Payload value={metadata} />],
];

/** An emission: its cause, and its delivery to each webhook. */
export const emissionPage: ConsolePage = {
  path: "emission",
  list: LIST,
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
              <Document of={metadata} />
            </Section>
          )}
          {ruleExecution === null ? null : <RuleRunSection run={ruleExecution} />}
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
        Happened: <OccurrenceFact at={timestamp} by={cause} customerId={customerId} id={id} />,
        Recorded: <At iso={createdAt} />,
        Source: configVersion === null ? source : `${source}, under ${configVersion}`,
        Id: id,
      }}
    />
  );
}

/** When a change happened, its cause, and a link to the customer as of then. @param id of the change's emission */
export function OccurrenceFact(props: { at: string; by: Cause; customerId: string; id: string }) {
  const { at, by, customerId, id } = props;
  return (
    <>
      <At iso={at} />, by <CauseLink cause={by} />:{" "}
      <a href={customerAsOfHref(customerId, at, id, usePresentation().now)}>the customer as of that instant</a>
    </>
  );
}

function Deliveries({ emission: { id, deliveries } }: { emission: EmissionDetail }) {
  return (
    <Section id="deliveries" title="Deliveries">
      {deliveries.length === 0 ? (
        <p class="faint">No webhook receives it.</p>
      ) : (
        <Table name="List of deliveries" rows={deliveries} columns={columnsOf(id)} />
      )}
    </Section>
  );
}

const columnsOf = (id: string): TableColumn<EmissionDetail["deliveries"][number]>[] => [
  ["Webhook", ({ webhookId, url }) => <TextLink href={deliveryHref(webhookId, id)} text={url} />],
  ["Status", ({ status }) => <DeliveryStatus status={status} />],
  ["Attempts", ({ attempts }) => plural(attempts, "attempt")],
];

/** The run of a rule that made an emission, with the result of its condition. */
export function RuleRunSection({ run }: { run: RuleExecution }) {
  const { ruleId, triggeredBy, executedAt, configVersion, conditions, superseded } = run;
  return (
    <Section
      class="why"
      id="rule"
      title={
        <>
          Made by the rule <Text>{ruleId}</Text>
        </>
      }
    >
      <p>
        It ran <At iso={executedAt} /> on <Text>{triggeredBy}</Text>
        {configVersion === null ? "" : ` under ${configVersion}`}.
        {superseded ? " A recompute has replaced that part of the history." : ""}
      </p>
      {conditions?.["kind"] !== undefined ? (
        <FirstConditions of={[conditions as unknown as Explanation]} rest="svc emissions inspect">
          <ul>
            <ConditionTree explanation={conditions as unknown as Explanation} />
          </ul>
        </FirstConditions>
      ) : (
        <p>The rule has no condition.</p>
      )}
    </Section>
  );
}
