import type { ComponentChildren } from "preact";
import type { Cause, ListPage, Trends } from "../http/admin/answers.js";
import type { ApiError } from "../http/errors.js";
import { distance, printable } from "../words/text.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { type Look, useLook, WithLook } from "./look.js";
import { dayIn } from "./span.js";

const formats = new Map<string, Intl.DateTimeFormat>();

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** A date without a time is a day of the calendar, in no zone. */
const isDay = (iso: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(iso);

/** An instant in a zone: `12 Mar 2026, 10:04`; of a day `12 Mar 2026`. */
export function dateTime(iso: string, timeZone: string): string {
  if (isDay(iso)) return dayFormat.format(new Date(iso));
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone });
    formats.set(timeZone, format);
  }
  return format.format(new Date(iso));
}

/** How far an instant lies from now; of a day how many days lie between. */
function away(iso: string, { now, timeZone }: Pick<Look, "now" | "timeZone">): string {
  if (!isDay(iso)) return distance(iso, now);
  const today = dayIn(now, timeZone);
  return iso === today ? "today" : distance(iso, Date.parse(today));
}

/** What stood at an instant, seen from there: ages are those of then. @param at the present unless given */
export function AsOf({ at, children }: { at: string | undefined; children: ComponentChildren }) {
  const look = useLook();
  return at === undefined ? <>{children}</> : <WithLook value={{ ...look, now: Date.parse(at) }}>{children}</WithLook>;
}

/** An instant as the time that has passed since, or until then, with the date to be had by pointing at it. @param by whoever did it then */
export function Ago({ iso, by }: { iso: string; by?: string }) {
  const look = useLook();
  const date = dateTime(iso, look.timeZone);
  return (
    <>
      <time dateTime={iso} title={isDay(iso) ? date : `${date} (${look.timeZone})`}>
        {away(iso, look)}
      </time>
      <By name={by} />
    </>
  );
}

/** An instant as a date, with the distance from now to be had by pointing at it. @param by whoever did it then */
export function At({ iso, by }: { iso: string; by?: string }) {
  const look = useLook();
  return (
    <>
      <time dateTime={iso} title={away(iso, look)}>
        {dateTime(iso, look.timeZone)}
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

/** An instant as a date and as the time that has passed since. */
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

/** Text that came from elsewhere: what cannot be seen is shown as an escape, and its direction does not reach what stands around it. */
export function Text({ children }: { children: string }) {
  return <bdi>{printable(children)}</bdi>;
}

/** Text from elsewhere that leads somewhere. */
export function TextLink({ href, text, class: kind }: Link & { class?: string | undefined }) {
  return (
    <a class={kind} href={href}>
      <Text>{text}</Text>
    </a>
  );
}

/** Text of several lines from elsewhere, as they are laid out. */
export function Lines({ children }: { children: string }) {
  const lines = children.replaceAll("\t", "  ").split(/\r?\n/);
  return (
    <pre tabIndex={0}>
      <bdi>{lines.map(printable).join("\n")}</bdi>
    </pre>
  );
}

/** The address of a customer's page, from a page beside it. The id is in the query: a path could not hold every one. */
export function customerHref(customerId: string, more: Record<string, string> = {}): string {
  return address("customer", { id: customerId, ...more });
}

/** The address of a customer's page as it stood just after an instant, at what has this id there. */
export function storyHref(customerId: string, iso: string, id: string, now: number): string {
  // Instants on pages are cut to milliseconds.
  const after = Date.parse(iso) + 1;
  return `${customerHref(customerId, after > now ? {} : { at: new Date(after).toISOString() })}#${id}`;
}

/** The address of an event's page. */
export const eventHref = (id: string) => address("event", { id });

/** The address of an emission's page. */
export const emissionHref = (id: string) => address("emission", { id });

/** The address of a version's page. */
export const versionHref = (id: string, more: Record<string, string> = {}) => address("version", { id, ...more });

const CAUSES: Readonly<Record<string, string>> = {
  event: "an event",
  identify: "traits that were sent",
  timer: "time alone",
  job: "a recompute",
};

/** What brought something about. */
export function CauseLink({ cause: { type, id } }: { cause: Cause }) {
  const text = CAUSES[type] ?? type;
  return type === "event" && id !== null ? <a href={eventHref(id)}>{text}</a> : <>{text}</>;
}

const PAYLOAD_SHOWN = 100;

/** The beginning of a payload, in one line. */
export function Payload({ value }: { value: Record<string, unknown> }) {
  const text = Object.entries(value)
    .map(([name, member]) => `${name}: ${JSON.stringify(member)}`)
    .join(", ");
  const shown = text.length <= PAYLOAD_SHOWN ? text : `${[...text.slice(0, PAYLOAD_SHOWN)].slice(0, -1).join("")}…`;
  return (
    <span class="faint">
      <Text>{shown}</Text>
    </span>
  );
}

/** A customer by the name that the model gives it, else by its id. @param isShort without the id beside the name */
export function Customer({ id, isShort = false }: { id: string; isShort?: boolean }) {
  const { name } = useLook().shownOf(id);
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
 * @param id of the heading, by which the part is called that; none where a table of that name is all there is in it, which is a landmark itself
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

/** A link where there is something to lead to. */
export function MaybeLink({ href, children }: { href: string | null; children: ComponentChildren }) {
  return href === null ? <>{children}</> : <a href={href}>{children}</a>;
}

/** Links to the other parts of a list. Of two lists on a page the second says which parameter is its cursor, and what it is called. */
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
    <nav class="pages" aria-label={`Parts of ${name}`}>
      {links}
    </nav>
  );
}

/** A query without one of its parameters. */
export function without(query: URLSearchParams, name: string): URLSearchParams {
  const others = new URLSearchParams(query);
  others.delete(name);
  return others;
}

/** A part of a list as its table; what is said where the whole list is empty; and that a short part is not the last. */
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
        <p class="hint">The search goes on with the next page.</p>
      ) : null}
    </>
  );
}

/** A page with its query, which is left out where it is empty. */
export function address(path: string, query: URLSearchParams | Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Names side by side, each a link. */
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

/** What to do about an error, as far as a person at a page can: without an endpoint of the API; undefined where only a program can do it. */
export function fixForPeople(fix: string | undefined): string | undefined {
  if (fix?.includes("nextCursor")) return undefined;
  return fix?.replace(/[;:] (?:GET|POST|PATCH|PUT|DELETE) \/.*$/, ".");
}

/** What is wrong with what was asked for, and what to do. */
export function ProblemNote({ error: { message, detail } }: { error: ApiError }) {
  return (
    <p class="error" role="alert">
      <Text>{[message, detail.reason, fixForPeople(detail.fix)].filter((text) => text !== undefined).join(" ")}</Text>
    </p>
  );
}

/** Says that trends are not complete yet; nothing where they are. */
export function Counting({ trends: { complete } }: { trends: Trends }) {
  if (complete) return null;
  return (
    <p class="note" role="status">
      What came before is still being counted: numbers may be too low. Load the page again in some minutes.
    </p>
  );
}

export interface Link {
  href: string;
  text: string;
}

/** A link in a line of its own: back to a list, or on to what can be done next. */
export function LinkLine({ href, text }: Link) {
  return (
    <p>
      <a href={href}>{text}</a>
    </p>
  );
}

/** Where the model has nothing of a kind, `segments` say, or where there is none. */
export function NoPart({ model, what }: { model: Snapshot | null; what: string }) {
  return (
    <Empty>
      {model === null ? `No model is deployed yet; this page will show its ${what}.` : `The model has no ${what}.`}
    </Empty>
  );
}

/** A hint at what there could be, where there is nothing. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>;
}
