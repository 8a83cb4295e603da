import type { CreatedKey, Key } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, given, type Visit } from "../console-page.js";
import { Ago, Empty, LinkLine, PageLinks, TextLink } from "../parts.js";
import { type TableColumn, Table } from "../tables.js";
import { Allowed, ChangeForm, inLive } from "../changes.js";
import { entryHref, shownOnce } from "./settings/parts.js";

const PATH = "keys";

/** The API keys of the environment, by which it is sent events. */
export const keysPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query, environment } = visit;
    const cursor = given(query, "cursor");
    const { data, nextCursor } = await ask("keys", { limit: "50", cursor });
    return {
      title: "API keys",
      body: (
        <>
          <p>
            What sends events to <strong>{environment}</strong> does so with one of these keys.
          </p>
          {data.length === 0 && cursor === undefined ? (
            <Empty>There is no key yet, so nothing can be sent here.</Empty>
          ) : (
            <Table name="The keys" rows={data} columns={columnsOf(query.get("cursor"))} />
          )}
          <PageLinks path={PATH} query={query} next={nextCursor} />
          <h2>A new key</h2>
          <Allowed visit={visit} operation="create_key" what="create keys" who="an administrator">
            <Create visit={visit} />
          </Allowed>
          <LinkLine href="settings" text="Settings" />
        </>
      ),
    };
  },
  change: {
    fields: ["name"],
    async make({ tell, environment, form: { name = "" } }) {
      const { key, secret } = (await tell("POST keys", {}, { name })) as CreatedKey;
      return shownOnce({
        title: `API key ${printable(key.name)}`,
        label: "API key",
        secret,
        children: <p>It sends events to {environment} from now on.</p>,
        next: { href: PATH, text: "API keys" },
      });
    },
  },
};

const columnsOf = (cursor: string | null): TableColumn<Key>[] => [
  ["Name", ({ id, name }) => <TextLink href={entryHref("key", id, cursor)} text={name} />],
  ["Key", ({ hint }) => <code>{hint}…</code>],
  ["Status", (key) => <KeyStatus of={key} />],
  ["Made", ({ createdAt, createdBy }) => <Ago iso={createdAt} by={createdBy} />],
  ["Last used", ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />],
];

/** Whether a key works, in words. */
export function KeyStatus({ of: { status, revokedAt } }: { of: Key }) {
  if (revokedAt === null) return <span class="good">works</span>;
  return status === "expiring" ? (
    <span class="warning">
      replaced, ends <Ago iso={revokedAt} />
    </span>
  ) : (
    <span class="faint">
      revoked <Ago iso={revokedAt} />
    </span>
  );
}

/** When something was used last. */
export function LastUsed({ at }: { at: string | null }) {
  return at === null ? <span class="faint">never</span> : <Ago iso={at} />;
}

function Create({ visit }: { visit: Visit }) {
  return (
    <ChangeForm visit={visit} path={PATH}>
      <label for="name">Name</label>
      <input id="name" name="name" required maxLength={256} autocomplete="off" aria-describedby="name-hint" />
      <p class="hint" id="name-hint">
        For people: what sends with it.
      </p>
      <p>
        <button>Create the key{inLive(visit)}</button>
      </p>
    </ChangeForm>
  );
}
