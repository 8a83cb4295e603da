import type {
  DueCustomer,
  ListedEmission,
  ListPage,
  ListedSignal,
  RuleExecution,
  Webhook,
} from "../../http/admin/answers.js";
import { formatNumber } from "../../words/text.js";
import { type ConsolePage, queryParam, expectedRefusal } from "../console-page.js";
import { displayedColumns } from "../displayed-traits.js";
import { readOn } from "../read-on.js";
import { SEVERITIES, SignalName } from "./signals.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { address, Ago, At, Customer, Empty, NoPart, Section, Text, TextLink } from "../parts.js";
import { refused } from "../list-page.js";
import { Table } from "../tables.js";

const PATH = "today";
/** The largest page of a list. */
const LIMIT = 200;
/** The most customers named in a group. */
const NAMED_MAX = 10;
const SIGNALS_MAX = 20;
const DUE_LIMIT = "10";

/** What changed since yesterday, or since any other day. */
export const todayPage: ConsolePage = {
  path: PATH,
  section: "Today",
  async answer(visit) {
    const { ask, query } = visit;
    if (visit.model === null) return { title: "Today", body: <NoPart model={null} what="signals and changes" /> };
    const since = queryParam(query, "since") ?? "1d";
    try {
      const [signals, lifecycle, segments, runs, due, webhooks] = await Promise.all([
        // One list for each severity: among hundreds of newer warnings a critical signal would not be in one list of all.
        Promise.all(
          SEVERITIES.map((severity) =>
            readOn((part) => ask("signals", { severity, ...part }), { limit: LIMIT, enough: SIGNALS_MAX }),
          ),
        ),
        readOn((part) => ask("emissions", { source: "lifecycle", since, ...part }), { limit: LIMIT, enough: 1 }),
        readOn((part) => ask("emissions", { source: "segment", since, ...part }), { limit: LIMIT, enough: 1 }),
        readOn((part) => ask("rule-executions", { result: "pass", since, ...part }), { limit: LIMIT, enough: 1 }),
        ask("due-customers", { limit: DUE_LIMIT }),
        visit.isService ? ask("webhooks", { limit: String(LIMIT) }) : null,
      ]);
      const listed = signals.flatMap(({ data }) => data);
      const raised = listed.slice(0, SIGNALS_MAX);
      const idsOf = (items: readonly OfCustomer[]) => items.map(({ customerId }) => customerId);
      return {
        title: "Today",
        customerIds: [...idsOf(raised), ...[lifecycle, segments, runs, due].flatMap(({ data }) => idsOf(data))],
        body: (
          <>
            {webhooks === null ? null : <Troubles webhooks={webhooks.data} />}
            <Signals
              raised={raised}
              count={signals.every(({ nextCursor }) => nextCursor === null) ? listed.length : null}
              isSearched={signals.every(({ data, nextCursor }) => nextCursor === null || data.length >= SIGNALS_MAX)}
              model={visit.model}
            />
            <Since since={since} />
            <Section id="states" title="States">
              <Groups
                found={lifecycle}
                groupOf={(item) => stateEntered(item, since)}
                none="No customer changed state."
              />
            </Section>
            <Section id="segments" title="Segments">
              <Groups
                found={segments}
                groupOf={(item) => segmentChanged(item, since)}
                none="No customer entered or left a segment."
              />
            </Section>
            <Section id="rules" title="Rules that acted">
              <Groups
                found={runs}
                groupOf={(run) => ruleActed(run, since)}
                none="No rule acted on what happened since then."
              />
            </Section>
            <Due due={due.data} />
          </>
        ),
      };
    } catch (error) {
      return refused("Today", <Since since={since} />, expectedRefusal(error));
    }
  },
};

function Since({ since }: { since: string }) {
  return (
    <form class="filters" action={PATH} method="get">
      <label>
        What changed since
        <input name="since" value={since} placeholder="1d or 2026-03-01" maxLength={64} />
      </label>
      <button class="second">Show</button>
      <a href={`${PATH}?since=7d`}>Last 7 days</a>
      <p class="hint">
        Changes of states and segments count by when they were found out, also those of an imported history. Rules count
        by when what they acted on happened.
      </p>
    </form>
  );
}

/**
 * The raised signals, the most severe and then the newest first.
 * @param count how many there are; null if more than are counted
 * @param isSearched whether no older signal can be more severe than one of these
 */
function Signals(props: {
  raised: readonly ListedSignal[];
  count: number | null;
  isSearched: boolean;
  model: Snapshot | null;
}) {
  const { raised, count, isSearched, model } = props;
  return (
    <Section id="signals" title="Raised signals">
      {raised.length === 0 ? (
        <Empty>No signal is raised.</Empty>
      ) : (
        <Table
          name="List of raised signals"
          rows={raised}
          columns={[
            ["Signal", ({ signalId, severity }) => <SignalName name={signalId} severity={severity} />],
            ["Customer", ({ customerId }) => <Customer id={customerId} />],
            ["Since", ({ raisedAt }) => <Ago iso={raisedAt} />],
            ...displayedColumns(model),
            ["Message", ({ message }) => (message === null ? null : <Text>{message}</Text>)],
          ]}
        />
      )}
      {isSearched ? null : <p class="hint">Only the latest signals were looked at: older ones may be more severe.</p>}
      {count === raised.length ? null : (
        <p>
          <a href="signals">All raised signals{count === null ? "" : `: ${formatNumber(count)}`}</a>
        </p>
      )}
    </Section>
  );
}

/** A group of changes, with the address of its list. */
interface Group {
  name: string;
  href: string;
}

interface OfCustomer {
  customerId: string;
}

/** Changes in groups, the largest first, each with its customers. */
function Groups<Item extends OfCustomer>(props: {
  found: ListPage<Item>;
  groupOf: (item: Item) => Group;
  none: string;
}) {
  const { found, groupOf, none } = props;
  const groups = new Map<string, Group & { customerIds: string[] }>();
  for (const item of found.data) {
    const group = groupOf(item);
    const known = groups.get(group.name) ?? { ...group, customerIds: [] };
    known.customerIds.push(item.customerId);
    groups.set(group.name, known);
  }
  const isWhole = found.nextCursor === null;
  if (groups.size === 0) return <Empty>{isWhole ? none : "None is among the latest changes of all kinds."}</Empty>;
  return (
    <>
      <dl class="groups">
        {[...groups.values()]
          .toSorted((a, b) => b.customerIds.length - a.customerIds.length)
          .map(({ name, href, customerIds }) => (
            <>
              <dt>
                <TextLink href={href} text={name} /> {isWhole ? formatNumber(customerIds.length) : null}
              </dt>
              <dd>
                {[...new Set(customerIds)].slice(0, NAMED_MAX).map((id, index) => (
                  <span key={id}>
                    {index === 0 ? "" : ", "}
                    <Customer id={id} isShort />
                  </span>
                ))}
                {new Set(customerIds).size > NAMED_MAX || !isWhole ? " …" : ""}
              </dd>
            </>
          ))}
      </dl>
      {isWhole ? null : <p class="hint">These are only the latest {formatNumber(found.data.length)}.</p>}
    </>
  );
}

function stateEntered({ eventType, metadata }: ListedEmission, since: string): Group {
  const state = String(metadata["new_lifecycle"]);
  return {
    name: eventType === "customer.created" ? "new customers" : `to ${state}`,
    href: address("emissions", { eventType, since }),
  };
}

/** Those who left are no members, so the changes are listed instead. */
function segmentChanged({ eventType, metadata }: ListedEmission, since: string): Group {
  const segment = String(metadata["segment"]);
  if (eventType === "segment.entered") return { name: `${segment} entered`, href: address("segment", { id: segment }) };
  return { name: `${segment} left`, href: address("emissions", { eventType, since }) };
}

function ruleActed({ ruleId }: RuleExecution, since: string): Group {
  return { name: ruleId, href: address("rule", { id: ruleId, result: "pass", since }) };
}

/** Webhooks that fail or are disabled; nothing if there are none. */
function Troubles({ webhooks }: { webhooks: readonly Webhook[] }) {
  const troubled = webhooks.filter(({ disabledAt, failingSince }) => disabledAt !== null || failingSince !== null);
  if (troubled.length === 0) return null;
  return (
    <Section id="webhooks" title="Webhooks with problems">
      {troubled.map(({ id, url, disabledAt, disabledReason, failingSince }) => (
        <p class="error" key={id}>
          <TextLink href={address("webhook", { id })} text={url} />{" "}
          {disabledAt === null ? (
            <>
              has failed since <At iso={failingSince!} />.
            </>
          ) : (
            <>
              has been disabled since <At iso={disabledAt} />: <Text>{disabledReason ?? "by a user"}</Text>
            </>
          )}
        </p>
      ))}
    </Section>
  );
}

/** The customers whose conditions change next without any activity. */
function Due({ due }: { due: readonly DueCustomer[] }) {
  if (due.length === 0) return null;
  return (
    <Section id="next" title="Next changes by time alone">
      <p class="hint">
        By then a count, a date or a score of these customers changes even without activity. Not every such change has
        an effect; each customer's page shows what is missing.
      </p>
      <ul>
        {due.map(({ customerId, nextDueAt, isHeld }) => (
          <li key={customerId}>
            <Customer id={customerId} />{" "}
            {isHeld ? (
              <>
                as soon as no more past events arrive, at the latest <Ago iso={nextDueAt} />
              </>
            ) : (
              <Ago iso={nextDueAt} />
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
