import type { EventDetail } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { useLook } from "../look.js";
import { address, At, Customer, Empty, Lines, Section, storyHref, Text } from "../parts.js";
import { FactList } from "../tables.js";
import { History } from "./customer/history.js";
import { EventStatus } from "./events.js";

/** One event, and what it brought about. */
export const eventPage: ConsolePage = {
  path: "event",
  async answer({ ask, query }) {
    const event = await ask("events/:event", { event: query.get("id") ?? "" });
    const { customerId, properties, caused, status } = event;
    return {
      title: printable(event.event),
      customerIds: [customerId],
      body: (
        <>
          <Head event={event} />
          <Section id="properties" title="Properties">
            {Object.keys(properties).length === 0 ? (
              <p class="faint">none</p>
            ) : (
              <Lines>{JSON.stringify(properties, null, 2)}</Lines>
            )}
          </Section>
          <Section id="caused" title="What it brought about">
            {caused.length > 0 ? (
              <History entries={caused.map((entry) => ({ ...entry, cause: null }))} />
            ) : (
              <Empty>
                {status === "pending"
                  ? "It waits to be evaluated."
                  : "No change of state or health, no run of a rule and no emission came of it."}
              </Empty>
            )}
          </Section>
        </>
      ),
    };
  },
};

function Head({ event }: { event: EventDetail }) {
  const { eventId, event: name, customerId, occurredAt, acceptedAt, status } = event;
  return (
    <FactList
      of={{
        Customer: <Customer id={customerId} />,
        Occurred: (
          <>
            <At iso={occurredAt} />:{" "}
            <a href={storyHref(customerId, occurredAt, eventId, useLook().now)}>the customer's story at that instant</a>
          </>
        ),
        Accepted: <At iso={acceptedAt} />,
        Status: <EventStatus status={status} />,
        "Of this name": (
          <>
            <a href={address("events", { type: name })}>
              all <Text>{name}</Text>
            </a>
            , <a href={address("events", { type: name, customer: customerId })}>those of the customer</a>
          </>
        ),
        Id: eventId,
      }}
    />
  );
}
