import type { Key, RotatedKey } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { At, LinkLine } from "../parts.js";
import { FactList } from "../tables.js";
import { KeyStatus, LastUsed } from "./keys.js";
import { Allowed, ChangeForm, changeIn, inLive, Live } from "../changes.js";
import { entryOf, missingEntry, Select, shownOnce } from "./settings/parts.js";

const PATH = "key";
const BACK = { href: "keys", text: "API keys" };

/** How long a key that is replaced still works. */
const GRACES = {
  "0m": "not at all: it leaked",
  "1h": "1 hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
};

/** An API key, and how it is replaced or ended. */
export const keyPage: ConsolePage = {
  path: PATH,
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
              <Live visit={visit}>whatever sends with a key that ended is refused at once.</Live>
              {key.status === "active" ? <Rotate visit={visit} id={key.id} /> : null}
              <h2>Revoke it</h2>
              <p>It ends at once, without another in its place.</p>
              <ChangeForm visit={visit} path={PATH} hidden={{ as: "revoke", id: key.id }}>
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
          <p>The key before ended.</p>
        ) : (
          <p>
            The key before works until <At iso={replaced.revokedAt} />; let everything send with the new one by then.
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
        Made: <At iso={key.createdAt} by={key.createdBy} />,
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
      <p>Makes a new key of the same name. The old one works for a while, so that nothing is lost on the way.</p>
      <ChangeForm visit={visit} path={PATH} hidden={{ as: "rotate", id }}>
        <Select label="The old key works for" name="grace" value="24h" choices={GRACES} />
        <p>
          <button>Rotate it{inLive(visit)}</button>
        </p>
      </ChangeForm>
    </>
  );
}
