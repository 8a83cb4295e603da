import type { HistoryEntry } from "../../../http/admin/answers.js";
import { formatNumber, plural } from "../../../words/text.js";
import { At, Document, emissionHref, Empty, eventHref, RoundedMark, Text, TextLink } from "../../parts.js";
import { DeliveryStatus, deliveryHref } from "../deliveries.js";

/** The history, newest first, each entry with its cause. */
export function History({ entries }: { entries: readonly HistoryEntry[] }) {
  if (entries.length === 0) return <Empty>Nothing has happened yet.</Empty>;
  const here = new Set(entries.flatMap((entry) => idOf(entry) ?? []));
  return (
    <ol class="story">
      {entries.map((entry) => (
        <li id={idOf(entry)} key={`${entry.at} ${entry.kind} ${JSON.stringify(entry.details)}`}>
          <span class="faint">
            <At iso={entry.at} />
          </span>
          <span class="faint">{KINDS[entry.kind]}</span>
          <div>
            <What entry={entry} here={here} /> <Cause entry={entry} here={here} />
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Labels of the kinds of entries. */
export const KINDS: Readonly<Record<HistoryEntry["kind"], string>> = {
  event: "Event",
  traits: "Traits",
  transition: "State",
  score: "Health",
  rule: "Rule",
  emission: "Emission",
};

/** The id by which other entries on the page link to it. */
function idOf(entry: HistoryEntry): string | undefined {
  if (entry.kind === "event") return entry.details.eventId;
  return entry.kind === "emission" ? entry.details.emissionId : undefined;
}

function What({ entry, here }: { entry: HistoryEntry; here: ReadonlySet<string> }) {
  switch (entry.kind) {
    case "event":
      return (
        <>
          <TextLink href={eventHref(entry.details.eventId)} text={entry.details.event} />
          <Json value={entry.details.properties} />
        </>
      );
    case "traits":
      return <Json value={entry.details.traits} />;
    case "transition":
      return (
        <>
          {entry.details.from === null ? null : (
            <>
              <Text>{entry.details.from}</Text> →{" "}
            </>
          )}
          <strong>
            <Text>{entry.details.to}</Text>
          </strong>
        </>
      );
    case "score": {
      const { overall, band } = entry.details;
      if (overall === null) return <>none, because no component has a value any more</>;
      return (
        <>
          <strong>{formatNumber(overall)}</strong>, <Text>{band ?? ""}</Text>
        </>
      );
    }
    case "rule":
      return <Rule details={entry.details} here={here} />;
    case "emission":
      return <Emission details={entry.details} />;
  }
}

type DetailsOf<Kind> = Extract<HistoryEntry, { kind: Kind }>["details"];

function Rule({ details, here }: { details: DetailsOf<"rule">; here: ReadonlySet<string> }) {
  const { ruleId, result, error, emissionId } = details;
  return (
    <>
      <strong>
        <Text>{ruleId}</Text>
      </strong>{" "}
      {result === "error" ? (
        <span class="critical">
          failed: <Text>{error ?? ""}</Text>
        </span>
      ) : (
        "acted"
      )}
      {emissionId !== null && here.has(emissionId) ? (
        <>
          , <a href={`#${emissionId}`}>emitted</a>
        </>
      ) : null}
    </>
  );
}

function Emission({ details }: { details: DetailsOf<"emission"> }) {
  const { emissionId, eventType, metadata, deliveries } = details;
  return (
    <>
      <TextLink href={emissionHref(emissionId)} text={eventType} />
      <Json value={metadata} />
      {deliveries.map(({ webhookId, url, status, attempts }) => (
        <div key={webhookId}>
          <DeliveryStatus status={status} /> <TextLink href={deliveryHref(webhookId, emissionId)} text={url} />{" "}
          <span class="faint">{plural(attempts, "attempt")}</span>
        </div>
      ))}
    </>
  );
}

/** The members of a payload, folded if they are long; nothing for an empty payload. */
function Json({ value }: { value: Record<string, unknown> | null }) {
  if (value === null) return <span class="faint"> too large to show</span>;
  const members = Object.entries(value);
  if (members.length === 0) return null;
  const text = members.map(([name, member]) => `${name}: ${JSON.stringify(member)}`).join(", ");
  if (text.length <= 80) {
    return (
      <span class="faint">
        {" "}
        <Text>{text}</Text>
        <RoundedMark of={value} />
      </span>
    );
  }
  return (
    <details>
      <summary class="faint">{plural(members.length, "member")}</summary>
      <Document of={value} />
    </details>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  event: "event",
  identify: "traits",
  timer: "time alone",
  job: "a recompute",
};

/** The type of a cause in a word or two. */
export function causeText(type: string): string {
  return CAUSES[type] ?? type;
}

function Cause({ entry: { cause }, here }: { entry: HistoryEntry; here: ReadonlySet<string> }) {
  if (cause === null) return null;
  const text = causeText(cause.type);
  const isLinked = cause.type === "event" && cause.id !== null && here.has(cause.id);
  return <span class="faint">by {isLinked ? <a href={`#${cause.id}`}>{text}</a> : text}</span>;
}
