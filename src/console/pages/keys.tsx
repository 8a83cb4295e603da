import type { CreatedKey, Key, RotatedKey } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, queryParam, type Visit } from "../console-page.js";
import { Ago, At, Empty, LinkLine, PageLinks, TextLink } from "../parts.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { Allowed, ChangeForm, changeIn, inLive, Live, TextField } from "../changes.js";
import { entryHref, entryOf, missingEntry, Select, shownOnce } from "./settings/parts.js";

const LIST = "keys";
const ENTRY = "key";
const BACK = { href: LIST, text: "API keys" };

/** The API keys of the environment, with which backends send events. */
export const keysPage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query, environment } = visit;
    const cursor = queryParam(query, "cursor");
    const { data, nextCursor } = await ask("keys", { limit: "50", cursor });
    return {
      title: "API keys",
      body: (
        <>
          <p>
            Backends send events to <strong>{environment}</strong> with one of these keys.
          </p>
          {data.length === 0 && cursor === undefined ? (
            <Empty>There is no key yet, so nothing can be sent here.</Empty>
          ) : (
            <Table name="API keys" rows={data} columns={columnsOf(query.get("cursor"))} />
          )}
          <PageLinks path={LIST} query={query} next={nextCursor} />
          <h2>New key</h2>
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
        children: <p>Backends can use it to send events to {environment} from now on.</p>,
        next: BACK,
      });
    },
  },
};

const columnsOf = (cursor: string | null): TableColumn<Key>[] => [
  ["Name", ({ id, name }) => <TextLink href={entryHref(ENTRY, id, cursor)} text={name} />],
  ["Key", ({ hint }) => <code>{hint}…</code>],
  ["Status", (key) => <KeyStatus of={key} />],
  ["Created", ({ createdAt, createdBy }) => <Ago iso={createdAt} by={createdBy} />],
  ["Last used", ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />],
];

/** The status of a key. */
function KeyStatus({ of: { status, revokedAt } }: { of: Key }) {
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

/** When a key or token was last used. */
export function LastUsed({ at }: { at: string | null }) {
  return at === null ? <span class="faint">never</span> : <Ago iso={at} />;
}

function Create({ visit }: { visit: Visit }) {
  return (
    <ChangeForm visit={visit} path={LIST}>
      <TextField label="Name" name="name" maxLength={256} hint="For people: which program uses it." />
      <p>
        <button>Create the key{inLive(visit)}</button>
      </p>
    </ChangeForm>
  );
}

/** Choices for how long a replaced key still works. */
const GRACES = {
  "0m": "not at all, because it leaked",
  "1h": "1 hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
};

/** An API key, with forms to rotate or revoke it. */
export const keyPage: ConsolePage = {
  path: ENTRY,
  list: LIST,
  inService: true,
  async answer(visit) {
    const key = await entryOf(visit, "keys");
    if (key === null) return missingEntry("key in this environment", BACK);
    return {
      title: `API key ${printable(key.name)}`,
      body: (
        <>
          <Head of={key} />
          {key.status === "revoked" ? null : (
            <Allowed visit={visit} operation="revoke_key" what="rotate or revoke keys" who="an administrator">
              <Live visit={visit}>whatever still sends with a key that has ended is refused at once.</Live>
              {key.status === "active" ? <Rotate visit={visit} id={key.id} /> : null}
              <h2>Revoke it</h2>
              <p>It stops working at once, and no new key replaces it.</p>
              <ChangeForm visit={visit} path={ENTRY} hidden={{ as: "revoke", id: key.id }}>
                <button>Revoke it{inLive(visit)}</button>
              </ChangeForm>
            </Allowed>
          )}
          <LinkLine {...BACK} />
        </>
      ),
    };
  },
  change: {
    fields: ["as", "id", "grace"],
    async make({ tell, form }) {
      const { id: keyId = "", grace = "" } = form;
      if (changeIn(form, ["rotate", "revoke"]) === "revoke") {
        await tell("POST keys/:keyId/revoke", { keyId });
        return BACK.href;
      }
      const { key, secret, replaced } = (await tell("POST keys/:keyId/rotate", { keyId }, { grace })) as RotatedKey;
      return shownOnce({
        title: `API key ${printable(key.name)}`,
        label: "The new API key",
        secret,
        children: grace.startsWith("0") ? (
          <p>The old key has stopped working.</p>
        ) : (
          <p>
            The old key works until <At iso={replaced.revokedAt} />; switch everything to the new one by then.
          </p>
        ),
        next: BACK,
      });
    },
  },
};

function Head({ of: key }: { of: Key }) {
  return (
    <FactList
      of={{
        Status: <KeyStatus of={key} />,
        "Begins with": <code>{key.hint}</code>,
        Created: <At iso={key.createdAt} by={key.createdBy} />,
        "Last used": <LastUsed at={key.lastUsedAt} />,
        Id: key.id,
      }}
    />
  );
}

function Rotate({ visit, id }: { visit: Visit; id: string }) {
  return (
    <>
      <h2>Rotate it</h2>
      <p>Creates a new key with the same name. The old one works for a while, so that no events are lost meanwhile.</p>
      <ChangeForm visit={visit} path={ENTRY} hidden={{ as: "rotate", id }}>
        <Select label="The old key works for" name="grace" value="24h" choices={GRACES} />
        <p>
          <button>Rotate it{inLive(visit)}</button>
        </p>
      </ChangeForm>
    </>
  );
}
