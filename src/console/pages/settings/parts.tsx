import type { ComponentChildren } from "preact";
import type { Member } from "../../../http/admin/answers.js";
import { given, type View, type Visit } from "../../console-page.js";
import type { Answers } from "../../source.js";
import { missing } from "../../list-page.js";
import { address, LinkLine, Empty, type Link } from "../../parts.js";

/** The roles, each of which may do all that those before it may. */
export const ROLE_TEXTS: Readonly<Record<Member["role"], string>> = {
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

/** The address of an entry's page, which finds the entry in the part of the list that begins with the cursor. */
export function entryHref(path: string, id: string, cursor: string | null): string {
  return address(path, { id, ...(cursor !== null && { cursor }) });
}

const PARTS_MAX = 5;

/** The lists whose entries have pages of their own. */
type Entries = "keys" | "/organization/members" | "/organization/invitations" | "/organization/tokens";
type Entry<List extends Entries> = Answers[List]["data"][number];

/** The entry of a list that the address of its page names: in the part that it names, or in those that follow. Null where it is not there. */
export async function entryOf<List extends Entries>({ ask, query }: Visit, list: List): Promise<Entry<List> | null> {
  const id = query.get("id");
  let cursor = given(query, "cursor");
  for (let part = 0; part < PARTS_MAX; part++) {
    const { data, nextCursor } = await ask(list, { limit: "200", cursor });
    const entries: readonly Entry<List>[] = data;
    const entry = entries.find((each) => ("userId" in each ? each.userId : each.id) === id);
    if (entry !== undefined) return entry;
    if (nextCursor === null) return null;
    cursor = nextCursor;
  }
  return null;
}

/** What the page of an entry shows that is not in its list, or not any more. */
export function missingEntry(what: string, back: Link): View {
  return missing(
    "Not found",
    <Empty>There is no such {what}: it ended since, or the address is not complete.</Empty>,
    back,
  );
}

/** A secret to be copied. */
export function Secret({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <input id={id} class="secret" value={value} readonly autocomplete="off" spellcheck={false} />
    </>
  );
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
        <Secret id="secret" label={label} value={secret} />
        {children}
        <LinkLine {...next} />
      </>
    ),
  };
}
