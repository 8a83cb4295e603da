import type { Violation } from "../source.js";
import { formatNumber } from "../../words/text.js";
import { type ConsolePage, given } from "../console-page.js";
import { address, Ago, Customer, Empty, eventHref, LinkLine, PageLinks, Table, Text, TextLink } from "../parts.js";

const PATH = "violations";

/** How what comes in differs from the model's schemas. */
export const violationsPage: ConsolePage = {
  path: PATH,
  section: null,
  async answer({ ask, query }) {
    const { data, nextCursor } = await ask("schema-violations", { limit: "50", cursor: given(query, "cursor") });
    return {
      title: "Schema violations",
      customerIds: data.flatMap(({ lastCustomerId }) => lastCustomerId ?? []),
      body: (
        <>
          {data.length === 0 && !query.has("cursor") ? (
            <Empty>Everything that was accepted is as the model says.</Empty>
          ) : (
            <>
              <p>These were accepted all the same, because the model's schema is not strict.</p>
              <Table name="Schema violations" columns={COLUMNS}>
                {data.map((violation) => (
                  <Row violation={violation} key={JSON.stringify(violation)} />
                ))}
              </Table>
            </>
          )}
          <PageLinks path={PATH} query={query} next={nextCursor} />
          <LinkLine href="events" text="Events" />
        </>
      ),
    };
  },
};

const COLUMNS = [
  { heading: "Event" },
  { heading: "What is wrong" },
  { heading: "Operations", isNumber: true },
  { heading: "Last" },
  { heading: "Version" },
];

function Row({ violation }: { violation: Violation }) {
  const { configVersion, event, code, path, operations, firstSeenAt, lastSeenAt, lastEventId, lastCustomerId } =
    violation;
  return (
    <tr>
      <td>{event === null ? "traits" : <TextLink href={address("events", { type: event })} text={event} />}</td>
      <td>
        <Text>{path}</Text>
        <br />
        <span class="faint">{code}</span>
      </td>
      <td class="number">{formatNumber(operations)}</td>
      <td>
        {event === null || lastEventId === null ? (
          <Ago iso={lastSeenAt} />
        ) : (
          <a href={eventHref(lastEventId)}>
            <Ago iso={lastSeenAt} />
          </a>
        )}
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
      </td>
      <td>{configVersion ?? <span class="faint">this one</span>}</td>
    </tr>
  );
}
