import type { Quarantined } from "../../http/admin/answers.js";
import { formatNumber, plural } from "../../words/text.js";
import { Allowed, ChangeForm, inLive, Live } from "../changes.js";
import { allGiven, type ConsolePage, given, isAnyGiven, type Visit } from "../console-page.js";
import {
  address,
  Ago,
  At,
  AtAndAgo,
  Customer,
  Empty,
  FoundList,
  Lines,
  LinkLine,
  PageLinks,
  Payload,
  Section,
  Text,
} from "../parts.js";
import { FilterForm, InputField } from "../forms.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { Fault } from "./violations.js";
import type { ComponentChildren } from "preact";
import { PageError } from "../page.js";

const LIST = "quarantine";
const ENTRY = "quarantined";
const LIMIT = "50";
const FILTERS = ["event", "code"] as const;

/** What was accepted and is kept apart: which, since when, why; releasing it. */
export const quarantinePage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const found = await ask("quarantine", {
      ...allGiven(query, FILTERS),
      limit: LIMIT,
      cursor: given(query, "cursor"),
    });
    const { data, nextCursor, operations, limit, since } = found;
    return {
      title: "Quarantine",
      customerIds: data.flatMap(({ customerId }) => customerId ?? []),
      body: (
        <>
          <p>
            {operations === 0 ? (
              "Nothing is in quarantine."
            ) : (
              <>
                {plural(operations, "operation")} of at most {formatNumber(limit)}, the oldest{" "}
                {since === null ? null : <Ago iso={since} />}. They were accepted and violate the schema, so nothing
                else has seen them.
              </>
            )}
          </p>
          <Filters query={query} />
          <FoundList
            list={found}
            limit={Number(LIMIT)}
            none={isAnyGiven(query, FILTERS) ? <Empty>No operation in quarantine is like this.</Empty> : <></>}
          >
            <Table name="Operations in quarantine" rows={data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={LIST} query={query} next={nextCursor} />
          {operations === 0 ? null : <Changes visit={visit} />}
          <LinkLine href="events" text="Events" />
        </>
      ),
    };
  },
  change: {
    fields: [...FILTERS],
    async make({ tell, form }) {
      const filters = Object.fromEntries(FILTERS.flatMap((name) => (form[name] ? [[name, form[name]]] : [])));
      // A step; whoever wants more sends the form again.
      await tell("POST quarantine/release", {}, filters);
      return address(LIST, filters);
    },
  },
};

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={LIST} all={isAnyGiven(query, FILTERS) && <a href={LIST}>All of them</a>}>
      <InputField label="Event" name="event" query={query} />
      <InputField label="Code" name="code" query={query} />
    </FilterForm>
  );
}

/** Releases a step of what the filters show. Discarding is for good, and is left to the command line, which asks before. */
function Changes({ visit }: { visit: Visit }) {
  const hidden = Object.fromEntries(FILTERS.map((name) => [name, given(visit.query, name) ?? ""]));
  return (
    <Releasing visit={visit}>
      <p>
        Of these, 500 at a time, the oldest first. What the active version does not accept stays. To discard operations:{" "}
        <code>svc events quarantine discard</code>.
      </p>
      <ChangeForm visit={visit} path={LIST} hidden={hidden}>
        <button>Release what is valid{inLive(visit)}</button>
      </ChangeForm>
    </Releasing>
  );
}

const COLUMNS: TableColumn<Quarantined>[] = [
  ["Accepted", ({ quarantinedAt }) => <At iso={quarantinedAt} />],
  ["Event", (operation) => <Named operation={operation} />],
  ["Customer", ({ customerId: id }) => (id === null ? <span class="faint">none</span> : <Customer id={id} />)],
  ["What is wrong", ({ message, code }) => <Fault text={message} code={code} />],
  [
    "As sent",
    ({ quarantineId, operation }) => (
      <>
        <Payload value={operation} /> <a href={quarantinedHref(quarantineId)}>all of it</a>
      </>
    ),
  ],
];

const quarantinedHref = (id: string) => address(ENTRY, { id });

/** One operation that is in quarantine: all that was sent, all that is wrong with it; releasing it alone. */
export const quarantinedPage: ConsolePage = {
  path: ENTRY,
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
            <ChangeForm visit={visit} path={ENTRY} hidden={{ id: found.quarantineId }}>
              <button>Release it{inLive(visit)}</button>
            </ChangeForm>
          </Releasing>
          <LinkLine href={LIST} text="All that is in quarantine" />
        </>
      ),
    };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      await tell("POST quarantine/release", {}, { ids: [id] });
      return LIST;
    },
  },
};

/** What releases operations, for whoever may. */
function Releasing({ visit, children }: { visit: Visit; children: ComponentChildren }) {
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
function Named({ operation: { event, eventId } }: { operation: Quarantined }) {
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
