import type { AccessToken } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { At, LinkLine, Text } from "../parts.js";
import { LastUsed } from "./keys.js";
import { Allowed } from "../changes.js";
import { entryOf, missingEntry } from "./settings/parts.js";
import { ActsAs, TokenStatus, works } from "./tokens.js";

const PATH = "token";
const BACK = { href: "tokens", text: "Access tokens" };

/** An access token, and how it is ended. */
export const tokenPage: ConsolePage = {
  path: PATH,
  section: null,
  inService: true,
  async answer(visit) {
    const token = visit.may("list_tokens")
      ? await entryOf(
          visit,
          (part) => visit.ask("/organization/tokens", part),
          ({ id }) => id,
        )
      : undefined;
    if (token === null) return missingEntry("access token", BACK);
    return {
      title: token === undefined ? "Access token" : `Access token ${printable(token.label)}`,
      body: (
        <>
          <Allowed visit={visit} operation="revoke_token" what="see or revoke access tokens" who="an owner">
            {token && <Token visit={visit} token={token} />}
          </Allowed>
          <LinkLine {...BACK} />
        </>
      ),
    };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      await tell("DELETE /organization/tokens/:tokenId", { tokenId: id });
      return BACK.href;
    },
  },
};

function Token({ visit, token }: { visit: Visit; token: AccessToken }) {
  return (
    <>
      <dl>
        <dt>Status</dt>
        <dd>
          <TokenStatus token={token} />
        </dd>
        <dt>Acts as</dt>
        <dd>
          <ActsAs token={token} />
        </dd>
        <dt>Made</dt>
        <dd>
          <At iso={token.createdAt} />
        </dd>
        <dt>Last used</dt>
        <dd>
          <LastUsed at={token.lastUsedAt} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Text>{token.id}</Text>
        </dd>
      </dl>
      {works(token, visit.look.now) ? (
        <form method="post" action={PATH}>
          {visit.token}
          <input type="hidden" name="id" value={token.id} />
          <p>Whatever acts with it is refused at once.</p>
          <button>Revoke it</button>
        </form>
      ) : null}
    </>
  );
}
