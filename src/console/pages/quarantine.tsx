import type { Quarantined, ReleasedOperations } from "../../http/admin/answers.js";
import { formatNumber, plural } from "../../words/text.js";
import { Allowed, ChangeForm, inLive, Live } from "../changes.js";
import { queryParams, type ConsolePage, queryParam, hasAnyParam, type Visit } from "../console-page.js";
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
import { OuterSpace } from "../list-page.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { Fault } from "./violations.js";
import type { ComponentChildren } from "preact";
import { PageError } from "../page.js";

const LIST = "quarantine";
const ENTRY = "quarantined";
const LIMIT = "50";
const FILTERS = ["event", "code"] as const;

/** Operations in quarantine: which, since when and why, with a form to release them. */
export const quarantinePage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const found = await ask("quarantine", {
      ...queryParams(query, FILTERS),
      limit: LIMIT,
      cursor: queryParam(query, "cursor"),
    });
    const { data, nextCursor, operations, limit, since } = found;
    return {
      title: "Quarantine",
      customerIds: data.flatMap(({ customerId }) => customerId ?? []),
      body: (
        <>
          {visit.refused === undefined ? <Outcome query={query} /> : null}
          <p>
            {operations === 0 ? (
              "Nothing is in quarantine."
            ) : (
              <>
                {plural(operations, "operation")} of at most {formatNumber(limit)}, the oldest{" "}
                {since === null ? null : <Ago iso={since} />}. They were accepted, but violate the schema, so they do
                not count for customers.
              </>
            )}
          </p>
          <Filters query={query} />
          <FoundList
            list={found}
            limit={Number(LIMIT)}
            none={
              hasAnyParam(query, FILTERS) ? (
                <Empty>
                  No operations in quarantine match these filters.
                  <OuterSpace of={query} />
                </Empty>
              ) : (
                <></>
              )
            }
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
      // One step; users who want to release more submit the form again.
      const outcome = (await tell("POST quarantine/release", {}, filters)) as ReleasedOperations;
      return address(LIST, { ...filters, ...outcomeQuery(outcome) });
    },
  },
};

/** What a release has done, for the address of the page that says it. */
function outcomeQuery({ released, kept }: ReleasedOperations): Record<string, string> {
  return { released: String(released), stay: String(kept) };
}

/** Says what the last release has done, if the page follows one. */
function Outcome({ query }: { query: URLSearchParams }) {
  const [released = NaN, stay = NaN] = ["released", "stay"].map((name) => Number(queryParam(query, name) ?? NaN));
  if (!Number.isSafeInteger(released + stay)) return null;
  return (
    <p class="note" role="status">
      {plural(released, "operation")} released
      {stay === 0
        ? ""
        : `; ${plural(stay, "operation")} ${stay === 1 ? "stays" : "stay"}, not accepted by the active version`}
      .
    </p>
  );
}

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={LIST} all={hasAnyParam(query, FILTERS) && <a href={LIST}>All of them</a>}>
      <InputField label="Event" name="event" query={query} />
      <InputField label="Code" name="code" query={query} />
    </FilterForm>
  );
}

/** The form that releases a step of what the filters show. Discarding is final, so it is left to the command line, which asks first. */
function Changes({ visit }: { visit: Visit }) {
  const hidden = Object.fromEntries(FILTERS.map((name) => [name, queryParam(visit.query, name) ?? ""]));
  return (
    <Releasing visit={visit}>
      <p>
        Releases 500 of these at a time, oldest first. Operations that the active version does not accept stay in
        quarantine. To discard operations, use <code>svc events quarantine discard</code>.
      </p>
      <ChangeForm visit={visit} path={LIST} hidden={hidden}>
        <button>Release valid operations{inLive(visit)}</button>
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
        <Payload value={operation} /> <a href={quarantinedHref(quarantineId)}>show all</a>
      </>
    ),
  ],
];

const quarantinedHref = (id: string) => address(ENTRY, { id });

/** An operation in quarantine: what was sent and what is wrong with it, with a form to release it. */
export const quarantinedPage: ConsolePage = {
  path: ENTRY,
  list: LIST,
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
              Numbers are shown in double precision; <code>svc events quarantine show {found.quarantineId}</code> shows
              all digits.
            </p>
          </Section>
          <Releasing visit={visit}>
            <p>It stays in quarantine if the active version does not accept it.</p>
            <ChangeForm visit={visit} path={ENTRY} hidden={{ id: found.quarantineId }}>
              <button>Release it{inLive(visit)}</button>
            </ChangeForm>
          </Releasing>
          <LinkLine href={LIST} text="All operations in quarantine" />
        </>
      ),
    };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      const outcome = (await tell("POST quarantine/release", {}, { ids: [id] })) as ReleasedOperations;
      return address(LIST, outcomeQuery(outcome));
    },
  },
};

/** The part that releases operations, for users who may. */
function Releasing({ visit, children }: { visit: Visit; children: ComponentChildren }) {
  return (
    <Allowed
      visit={visit}
      operation="release_quarantined"
      what="release operations"
      who="a developer, or in live an administrator"
    >
      <Live visit={visit}>released operations count for customers.</Live>
      {children}
    </Allowed>
  );
}

/** The name of an operation's event, or what it has instead. Only updates of traits have no event id. */
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
