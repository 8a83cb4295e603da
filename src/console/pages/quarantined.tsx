import type { ComponentChildren } from "preact";
import type { Quarantined } from "../../http/admin/answers.js";
import { Allowed, ChangeForm, inLive, Live } from "../changes.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { PageError } from "../page.js";
import { address, AtAndAgo, Customer, Lines, LinkLine, Section, Text } from "../parts.js";
import { FactList, Table } from "../tables.js";

const PATH = "quarantined";

export const quarantinedHref = (id: string) => address(PATH, { id });

/** One operation that is in quarantine: all that was sent, all that is wrong with it; releasing it alone. */
export const quarantinedPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { data } = await visit.ask("quarantine", { id: visit.query.get("id") ?? "", limit: "1" });
    const [found] = data;
    if (found === undefined)
      throw new PageError(404, {
        title: "Not in quarantine",
        message: "There is no such operation in quarantine.",
        fix: "It may have been released, discarded or removed because of its age.",
      });
    return {
      title: "An operation in quarantine",
      customerIds: found.customerId === null ? [] : [found.customerId],
      body: (
        <>
          <Head operation={found} />
          <Section id="wrong" title="What is wrong">
            <Table
              name="What is wrong"
              rows={found.violations}
              columns={[
                ["Where", ({ path }) => <Text>{path}</Text>],
                ["What", ({ message }) => <Text>{message}</Text>],
                ["Code", ({ code }) => code, "faint"],
              ]}
            />
          </Section>
          <Section id="sent" title="As sent">
            <Lines>{JSON.stringify(found.operation, null, 2)}</Lines>
            <p class="hint">
              Digits beyond double precision are shown by <code>svc events quarantine show {found.quarantineId}</code>.
            </p>
          </Section>
          <Releasing visit={visit}>
            <p>What the active version does not accept stays.</p>
            <ChangeForm visit={visit} path={PATH} hidden={{ id: found.quarantineId }}>
              <button>Release it{inLive(visit)}</button>
            </ChangeForm>
          </Releasing>
          <LinkLine href="quarantine" text="All that is in quarantine" />
        </>
      ),
    };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      await tell("POST quarantine/release", {}, { ids: [id] });
      return "quarantine";
    },
  },
};

/** What releases operations, for whoever may. */
export function Releasing({ visit, children }: { visit: Visit; children: ComponentChildren }) {
  return (
    <Allowed
      visit={visit}
      operation="release_quarantined"
      what="release operations"
      who="a developer, in live an administrator"
    >
      <Live visit={visit}>what is released counts for customers.</Live>
      {children}
    </Allowed>
  );
}

/** What an operation is: its event's name, or what it has instead. Only traits will have no event's id. */
export function Named({ operation: { event, eventId } }: { operation: Quarantined }) {
  if (event !== null) return <Text>{event}</Text>;
  return eventId === null ? <>traits</> : <span class="faint">no name</span>;
}

function Head({ operation }: { operation: Quarantined }) {
  const { customerId, quarantinedAt, quarantineId } = operation;
  return (
    <FactList
      of={{
        Accepted: <AtAndAgo iso={quarantinedAt} />,
        Event: <Named operation={operation} />,
        Customer: customerId === null ? <span class="faint">none</span> : <Customer id={customerId} />,
        Id: quarantineId,
      }}
    />
  );
}
