import type { Quarantined } from "../../http/admin/answers.js";
import { formatNumber, plural } from "../../words/text.js";
import { ChangeForm, inLive } from "../changes.js";
import { allGiven, type ConsolePage, given, isAnyGiven, type Visit } from "../console-page.js";
import { address, Ago, At, Customer, Empty, FoundList, LinkLine, PageLinks, Payload } from "../parts.js";
import { InputField, FilterForm } from "../forms.js";
import { type TableColumn, Table } from "../tables.js";
import { Fault } from "./violations.js";
import { Named, quarantinedHref, Releasing } from "./quarantined.js";

const PATH = "quarantine";
const LIMIT = "50";
const FILTERS = ["event", "code"] as const;

/** What was accepted and is kept apart: which, since when, why; releasing it. */
export const quarantinePage: ConsolePage = {
  path: PATH,
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
          <PageLinks path={PATH} query={query} next={nextCursor} />
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
      return address(PATH, filters);
    },
  },
};

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={PATH} all={isAnyGiven(query, FILTERS) && <a href={PATH}>All of them</a>}>
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
      <ChangeForm visit={visit} path={PATH} hidden={hidden}>
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
