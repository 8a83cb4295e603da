import type { Violation } from "../source.js";
import { formatNumber } from "../../words/text.js";
import { type ConsolePage, queryParam } from "../console-page.js";
import { address, Ago, Customer, Empty, eventHref, LinkLine, MaybeLink, PageLinks, Text, TextLink } from "../parts.js";
import { type TableColumn, Table } from "../tables.js";

const PATH = "violations";

/** How accepted operations differ from the model's schemas. */
export const violationsPage: ConsolePage = {
  path: PATH,
  async answer({ ask, query }) {
    const { data, nextCursor } = await ask("schema-violations", { limit: "50", cursor: queryParam(query, "cursor") });
    return {
      title: "Schema violations",
      customerIds: data.flatMap(({ lastCustomerId }) => lastCustomerId ?? []),
      body: (
        <>
          {data.length === 0 && !query.has("cursor") ? (
            <Empty>All accepted operations match the model.</Empty>
          ) : (
            <>
              <p>These were accepted nevertheless, because the model's schema was not strict then.</p>
              <Table name="Schema violations" rows={data} columns={COLUMNS} />
            </>
          )}
          <PageLinks path={PATH} query={query} next={nextCursor} />
          <LinkLine href="events" text="Events" />
        </>
      ),
    };
  },
};

const COLUMNS: TableColumn<Violation>[] = [
  [
    "Event",
    ({ event }) => (event === null ? "traits" : <TextLink href={address("events", { type: event })} text={event} />),
  ],
  ["What is wrong", ({ path, code }) => <Fault text={path} code={code} />],
  ["Operations", ({ operations }) => formatNumber(operations), "number"],
  ["Last", (violation) => <Last of={violation} />],
  ["Version", ({ configVersion }) => configVersion ?? <span class="faint">this one</span>],
];

/** What is wrong with an operation, with its code. */
export function Fault({ text, code }: { text: string; code: string }) {
  return (
    <>
      <Text>{text}</Text>
      <br />
      <span class="faint">{code}</span>
    </>
  );
}

function Last({ of: { event, firstSeenAt, lastSeenAt, lastEventId, lastCustomerId } }: { of: Violation }) {
  return (
    <>
      <MaybeLink href={event === null || lastEventId === null ? null : eventHref(lastEventId)}>
        <Ago iso={lastSeenAt} />
      </MaybeLink>
      {lastCustomerId === null ? null : (
        <>
          {" "}
          of <Customer id={lastCustomerId} />
        </>
      )}
      <br />
      <span class="faint">
        first <Ago iso={firstSeenAt} />
      </span>
    </>
  );
}
