import type { ComponentChildren } from "preact";
import type { Role } from "../../answers/organization.js";
import { type Filled, given, type View, type Visit } from "../../console-page.js";
import { PageError } from "../../page.js";
import { address, Empty } from "../../parts.js";
import type { ListPage } from "../../source.js";

/** The roles, each of which may do all that those before it may. */
export const ROLES: Readonly<Record<Role, string>> = {
  viewer: "viewer: reads",
  developer: "developer: changes test",
  administrator: "administrator: changes live, keys, webhooks and projects, too",
  owner: "owner: decides about people and access tokens, too",
};

/** A field of a form with one of several choices, by their values. */
export function Select<Value extends string>(props: {
  label: string;
  name: string;
  value: Value;
  choices: Readonly<Record<Value, string>>;
}) {
  const { label, name, value, choices } = props;
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {Object.entries<string>(choices).map(([choice, text]) => (
          <option value={choice} selected={choice === value} key={choice}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
}

/** What is there for those who may do an operation; others are told who may. */
export function Allowed(props: {
  visit: Visit;
  operation: string;
  /** What they may not. */
  what: string;
  /** Who may. */
  who: "an owner" | "an administrator";
  children: ComponentChildren;
}) {
  const { visit, operation, what, who, children } = props;
  return visit.may(operation) ? (
    <>{children}</>
  ) : (
    <Empty>
      Your role may not {what}; ask {who}.
    </Empty>
  );
}

interface Link {
  href: string;
  text: string;
}

/** A link back to a list. */
export function Back({ href, text }: Link) {
  return (
    <p>
      <a href={href}>{text}</a>
    </p>
  );
}

/** Which of these changes a form asks for. @throws {PageError} for none of them */
export function changeIn<Change extends string>(form: Filled, changes: readonly Change[]): Change {
  const asked = changes.find((each) => each === form["as"]);
  if (asked !== undefined) return asked;
  throw new PageError(400, {
    title: "Nothing was changed",
    message: "The form does not say what is to be changed.",
    fix: "Open the page again and send its form.",
  });
}

/** Says that what happens here happens to what is real; nothing in test. */
export function Live({ visit, children }: { visit: Visit; children: string }) {
  return visit.environment === "live" ? (
    <p class="error">
      This is <strong class="live">live</strong>: {children}
    </p>
  ) : null;
}

/** What the button of a change in an environment ends with. */
export const inLive = ({ environment }: Visit): string => (environment === "live" ? ", live" : "");

/** The address of an entry's page, which finds the entry in the part of the list that begins with the cursor. */
export function entryHref(path: string, id: string, cursor: string | null): string {
  return address(path, { id, ...(cursor !== null && { cursor }) });
}

const PARTS_MAX = 5;

/** The entry of a list that the address of its page names: in the part that it names, or in those that follow. Null where it is not there. */
export async function entryOf<Entry>(
  { query }: Visit,
  list: (part: { limit: string; cursor: string | undefined }) => Promise<ListPage<Entry>>,
  idOf: (entry: Entry) => string,
): Promise<Entry | null> {
  const id = query.get("id");
  let cursor = given(query, "cursor");
  for (let part = 0; part < PARTS_MAX; part++) {
    const { data, nextCursor } = await list({ limit: "200", cursor });
    const entry = data.find((each) => idOf(each) === id);
    if (entry !== undefined) return entry;
    if (nextCursor === null) return null;
    cursor = nextCursor;
  }
  return null;
}

/** What the page of an entry shows that is not in its list, or not any more. */
export function missing(what: string, back: Link): View {
  return {
    title: "Not found",
    status: 404,
    body: (
      <>
        <Empty>There is no such {what}: it ended since, or the address is not complete.</Empty>
        <Back {...back} />
      </>
    ),
  };
}

/** What a change answers that made a secret: the one page that ever shows it. */
export function shownOnce(made: {
  title: string;
  /** What the secret is. */
  label: string;
  secret: string;
  /** What it is good for. */
  children: ComponentChildren;
  next: Link;
}): View {
  const { title, label, secret, children, next } = made;
  return {
    title,
    body: (
      <>
        <p class="note" role="status">
          It is shown here and never again: copy it before you leave this page.
        </p>
        <label for="secret">{label}</label>
        <input id="secret" class="secret" value={secret} readonly autocomplete="off" spellcheck={false} />
        {children}
        <Back {...next} />
      </>
    ),
  };
}
