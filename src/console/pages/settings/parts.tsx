import type { ComponentChildren } from "preact";
import type { Member } from "../../../http/admin/answers.js";
import { queryParam, type View, type Visit } from "../../console-page.js";
import type { Answers } from "../../source.js";
import { missing } from "../../list-page.js";
import { useSent } from "../../forms.js";
import { address, LinkLine, Empty, type Link } from "../../parts.js";

/** Descriptions of the roles; each includes the permissions of the one before. */
export const ROLE_TEXTS: Readonly<Record<Member["role"], string>> = {
  viewer: "viewer: can read",
  developer: "developer: can also change test",
  administrator: "administrator: can also change live, keys, webhooks and projects",
  owner: "owner: can also manage people and access tokens",
};

/** A labelled select field; `choices` has the text of each value. */
export function Select<Value extends string>(props: {
  label: string;
  name: string;
  value: Value;
  choices: Readonly<Record<Value, string>>;
}) {
  const { label, name, value, choices } = props;
  const selected = useSent(name) ?? value;
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {Object.entries<string>(choices).map(([choice, text]) => (
          <option value={choice} selected={choice === selected} key={choice}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
}

/** The address of an entry's page, which looks for the entry from this cursor of the list on. */
export function entryHref(path: string, id: string, cursor: string | null): string {
  return address(path, { id, ...(cursor !== null && { cursor }) });
}

const PARTS_MAX = 5;

/** The lists whose entries have pages of their own. */
type Entries = "keys" | "/organization/members" | "/organization/invitations" | "/organization/tokens";
type Entry<List extends Entries> = Answers[List]["data"][number];

/** Finds the entry with the query's id in the list, from the query's cursor on; null if it is not in the next PARTS_MAX pages. */
export async function entryOf<List extends Entries>({ ask, query }: Visit, list: List): Promise<Entry<List> | null> {
  const id = query.get("id");
  let cursor = queryParam(query, "cursor");
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

/** The page for an entry that is not, or no longer, in its list. */
export function missingEntry(what: string, back: Link): View {
  return missing(
    "Not found",
    <Empty>There is no such {what}: it has ended, or the address is incomplete.</Empty>,
    back,
  );
}

/** A field with a secret to copy. */
export function Secret({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <input id={id} class="secret" value={value} readonly autocomplete="off" spellcheck={false} />
    </>
  );
}

/** The view after a change that made a secret, which is shown only here. */
export function shownOnce(made: {
  title: string;
  /** The kind of secret. */
  label: string;
  secret: string;
  /** What it can be used for. */
  children: ComponentChildren;
  next: Link;
}): View {
  const { title, label, secret, children, next } = made;
  return {
    title,
    body: (
      <>
        <p class="note" role="status">
          Copy it before you leave this page: it is not shown again.
        </p>
        <Secret id="secret" label={label} value={secret} />
        {children}
        <LinkLine {...next} />
      </>
    ),
  };
}
