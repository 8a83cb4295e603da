import type { ComponentChildren } from "preact";
import type { Cause, ListPage, Trends } from "../http/admin/answers.js";
import type { ApiError } from "../http/errors.js";
import { distance, printable } from "../words/text.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { type Presentation, usePresentation, WithPresentation } from "./presentation.js";
import { dayIn } from "./span.js";

const formats = new Map<string, Intl.DateTimeFormat>();

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** Whether this is a date without a time: a calendar day, in no time zone. */
const isDay = (iso: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(iso);

/** An instant in a time zone: `12 Mar 2026, 10:04`; a calendar day: `12 Mar 2026`. */
export function dateTime(iso: string, timeZone: string): string {
  if (isDay(iso)) return dayFormat.format(new Date(iso));
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone });
    formats.set(timeZone, format);
  }
  return format.format(new Date(iso));
}

/** How far an instant is from now; for a calendar day in days. */
function away(iso: string, { now, timeZone }: Pick<Presentation, "now" | "timeZone">): string {
  if (!isDay(iso)) return distance(iso, now);
  const today = dayIn(now, timeZone);
  return iso === today ? "today" : distance(iso, Date.parse(today));
}

/** A tooltip of an instant, with the time zone; a calendar day has none. */
function withZone(text: string, iso: string, { timeZone }: Pick<Presentation, "timeZone">): string {
  return isDay(iso) ? text : `${text} (${timeZone})`;
}

/** Shows its children as of an instant, so that ages count from it. @param at the present unless given */
export function AsOf({ at, children }: { at: string | undefined; children: ComponentChildren }) {
  const presentation = usePresentation();
  return at === undefined ? (
    <>{children}</>
  ) : (
    <WithPresentation value={{ ...presentation, now: Date.parse(at) }}>{children}</WithPresentation>
  );
}

/** The time since or until an instant, with the date as a tooltip. @param by who did it */
export function Ago({ iso, by }: { iso: string; by?: string }) {
  const presentation = usePresentation();
  const date = dateTime(iso, presentation.timeZone);
  return (
    <>
      <time dateTime={iso} title={withZone(date, iso, presentation)}>
        {away(iso, presentation)}
      </time>
      <By name={by} />
    </>
  );
}

/** An instant as a date, with the time since or until then and the time zone as a tooltip. @param by who did it */
export function At({ iso, by }: { iso: string; by?: string }) {
  const presentation = usePresentation();
  return (
    <>
      <time dateTime={iso} title={withZone(away(iso, presentation), iso, presentation)}>
        {dateTime(iso, presentation.timeZone)}
      </time>
      <By name={by} />
    </>
  );
}

function By({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <>
      {" "}
      by <Text>{name}</Text>
    </>
  );
}

/** An instant as a date and as the time since or until then. */
export function AtAndAgo({ iso }: { iso: string }) {
  return (
    <>
      <At iso={iso} />{" "}
      <span class="faint">
        <Ago iso={iso} />
      </span>
    </>
  );
}

/** A day of the calendar: `12 Mar 2026`. */
export function Day({ day }: { day: string }) {
  return <time dateTime={day}>{dayFormat.format(new Date(day))}</time>;
}

/** Untrusted text: invisible characters are shown as escapes, and its direction does not affect the text around it. */
export function Text({ children }: { children: string }) {
  return <bdi>{printable(children)}</bdi>;
}

/** A link with untrusted text. */
export function TextLink({ href, text, class: kind }: Link & { class?: string | undefined }) {
  return (
    <a class={kind} href={href}>
      <Text>{text}</Text>
    </a>
  );
}

/** Untrusted text of several lines, preformatted. */
export function Lines({ children }: { children: string }) {
  const lines = children.replaceAll("\t", "  ").split(/\r?\n/);
  return (
    <pre tabIndex={0}>
      <bdi>{lines.map(printable).join("\n")}</bdi>
    </pre>
  );
}

/** The relative address of a customer's page. The id is in the query, because a path cannot contain every id. */
export function customerHref(customerId: string, more: Record<string, string> = {}): string {
  return address("customer", { id: customerId, ...more });
}

/** The address of a customer's page as of just after an instant, at the element with this id. */
export function customerAsOfHref(customerId: string, iso: string, id: string, now: number): string {
  // Instants on pages are truncated to milliseconds.
  const after = Date.parse(iso) + 1;
  return `${customerHref(customerId, after > now ? {} : { at: new Date(after).toISOString() })}#${id}`;
}

/** The address of a customer's page as of just before an instant, at the element with this id. */
export function customerBeforeHref(customerId: string, iso: string, id: string): string {
  return `${customerHref(customerId, { at: new Date(Date.parse(iso) - 1).toISOString() })}#${id}`;
}

/** The address of an event's page. */
export const eventHref = (id: string) => address("event", { id });

/** The address of an emission's page. */
export const emissionHref = (id: string) => address("emission", { id });

/** The address of a version's page. */
export const versionHref = (id: string, more: Record<string, string> = {}) => address("version", { id, ...more });

const CAUSES: Readonly<Record<string, string>> = {
  event: "an event",
  identify: "an update of traits",
  timer: "time alone",
  job: "a recompute",
};

/** The cause of a change; an event is a link. */
export function CauseLink({ cause: { type, id } }: { cause: Cause }) {
  const text = CAUSES[type] ?? type;
  return type === "event" && id !== null ? <a href={eventHref(id)}>{text}</a> : <>{text}</>;
}

const PAYLOAD_SHOWN = 100;

/** The beginning of a payload, on one line. */
export function Payload({ value }: { value: Record<string, unknown> }) {
  const text = Object.entries(value)
    .map(([name, member]) => `${name}: ${JSON.stringify(member)}`)
    .join(", ");
  const shown = text.length <= PAYLOAD_SHOWN ? text : `${[...text.slice(0, PAYLOAD_SHOWN)].slice(0, -1).join("")}…`;
  return (
    <span class="faint">
      <Text>{shown}</Text>
      <RoundedMark of={value} />
    </span>
  );
}

/** Marks a payload on one line if it has numbers that may be rounded. */
export function RoundedMark({ of: value }: { of: object }) {
  return hasRounded(value) ? <> (long numbers may be rounded)</> : null;
}

/** Whether a number may have had more digits where it was sent: JavaScript keeps 15 of any number. */
export function mayBeRounded(value: number): boolean {
  const digits = value.toExponential().replace(/e.*/, "").replaceAll(/\D/g, "");
  return digits.length > 15 || Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

const hasRounded = (value: unknown): boolean =>
  typeof value === "number"
    ? mayBeRounded(value)
    : typeof value === "object" && value !== null && Object.values(value).some(hasRounded);

/** A document as it was sent, on several lines, and a hint if it has numbers that may be rounded. */
export function Document({ of: value }: { of: object }) {
  return (
    <>
      <Lines>{JSON.stringify(value, null, 2)}</Lines>
      {hasRounded(value) ? (
        <p class="hint">Numbers of more than 15 digits may be rounded here; the API has all digits.</p>
      ) : null}
    </>
  );
}

/** A link to a customer by its displayed name, else by its id. @param isShort without the id after the name */
export function Customer({ id, isShort = false }: { id: string; isShort?: boolean }) {
  const { name } = usePresentation().displayedTraitsOf(id);
  return (
    <>
      <TextLink href={customerHref(id)} text={name ?? id} />
      {name === undefined || name === id || isShort ? null : (
        <>
          {" "}
          <span class="faint id">
            <Text>{id}</Text>
          </span>
        </>
      )}
    </>
  );
}

/**
 * A part of a page under its heading.
 *
 * @param id of the heading, which labels the section; leave it out if the section only contains a table of the same name, itself a landmark
 */
export function Section(props: { id?: string; title: ComponentChildren; class?: string; children: ComponentChildren }) {
  const { id, title, class: kind, children } = props;
  return (
    <section class={kind} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A link, or plain text if there is no address. */
export function MaybeLink({ href, children }: { href: string | null; children: ComponentChildren }) {
  return href === null ? <>{children}</> : <a href={href}>{children}</a>;
}

/** Links to the first and next pages of a list. A second list on a page has its own `cursor` parameter and `name`. */
export function PageLinks(props: {
  path: string;
  query: URLSearchParams;
  next: string | null;
  cursor?: string;
  name?: string;
}) {
  const { path, query, next, cursor = "cursor", name = "the list" } = props;
  const first = without(query, cursor);
  const following = new URLSearchParams(query);
  following.set(cursor, next ?? "");
  const links = [
    ...(query.has(cursor) ? [<a href={address(path, first)}>First page</a>] : []),
    ...(next === null ? [] : [<a href={address(path, following)}>Next page</a>]),
  ];
  return links.length === 0 ? null : (
    <nav class="pages" aria-label={`Pages of ${name}`}>
      {links}
    </nav>
  );
}

/** The parameters with the cursors of lists, and with what a release has done, which belong to one environment. */
const OF_ONE_ENVIRONMENT = ["cursor", "invitations", "backtests", "released", "stay"];

/** A query that leads to the first pages of all lists of a page, as it is opened. */
export function inAnyEnvironment(query: URLSearchParams): URLSearchParams {
  return OF_ONE_ENVIRONMENT.reduce(without, query);
}

/** A query without one of its parameters. */
export function without(query: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(name);
  return rest;
}

/** The table of a page of a list, or `none` if the list is empty; with a hint if a short page is not the last one. */
export function FoundList(props: {
  list: ListPage<unknown>;
  limit: number;
  none: ComponentChildren;
  children: ComponentChildren;
}) {
  const { data, nextCursor } = props.list;
  return (
    <>
      {data.length === 0 && nextCursor === null ? props.none : props.children}
      {data.length < props.limit && nextCursor !== null ? (
        <p class="hint">The search continues on the next page.</p>
      ) : null}
    </>
  );
}

/** The address of a page with its query, if there is any. */
export function address(path: string, query: URLSearchParams | Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Names in a row, each a link. */
export function Tags({ items }: { items: readonly { text: string; href: string; class?: string | undefined }[] }) {
  return (
    <span class="tags">
      {items.map(({ text, href, class: kind }) => (
        <a href={href} class={["tag", kind].filter(Boolean).join(" ")} key={href}>
          <Text>{text}</Text>
        </a>
      ))}
    </span>
  );
}

/** The fix of an error as the console can apply it, without mentions of endpoints; undefined if only a program can apply it. */
export function fixWithoutEndpoints(fix: string | undefined): string | undefined {
  if (fix?.includes("nextCursor")) return "The address is out of date: begin with the first page of the list.";
  return fix?.replace(/[;:] (?:GET|POST|PATCH|PUT|DELETE) \/.*$/, ".").replace("with `force: true`", `by "${FORCE}"`);
}

/** The mark in forms that stands for `force: true`. */
export const FORCE = "Even if it strands data";

/** An error message with what to do. */
export function ProblemNote({ error: { message, detail } }: { error: ApiError }) {
  return (
    <p class="error" role="alert">
      <Text>
        {[message, detail.reason, fixWithoutEndpoints(detail.fix)].filter((text) => text !== undefined).join(" ")}
      </Text>
    </p>
  );
}

/** A note that trends are not complete yet; nothing if they are. */
export function IncompleteTrendsNote({ trends: { complete } }: { trends: Trends }) {
  if (complete) return null;
  return (
    <p class="note" role="status">
      Earlier data is still being counted, so numbers may be too low. Reload the page in a few minutes.
    </p>
  );
}

export interface Link {
  href: string;
  text: string;
}

/** A link on its own line: back to a list, or to the next step. */
export function LinkLine({ href, text }: Link) {
  return (
    <p>
      <a href={href}>{text}</a>
    </p>
  );
}

/** The note for a model without parts of a kind (`segments`, for example), or for no model. */
export function NoPart({ model, what }: { model: Snapshot | null; what: string }) {
  return (
    <Empty>
      {model === null ? `No model is deployed yet; this page will show its ${what}.` : `The model has no ${what}.`}
    </Empty>
  );
}

/** A note shown in place of missing contents. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>;
}
