import type { AccessToken } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { At, LinkLine, Text } from "../parts.js";
import { FactList } from "../tables.js";
import { LastUsed } from "./keys.js";
import { Allowed, ChangeForm } from "../changes.js";
import { entryOf, missingEntry } from "./settings/parts.js";
import { ActsAs, TokenStatus, works } from "./tokens.js";

const PATH = "token";
const BACK = { href: "tokens", text: "Access tokens" };

/** An access token, and how it is ended. */
export const tokenPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const token = visit.may("list_tokens") ? await entryOf(visit, "/organization/tokens") : undefined;
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
      <FactList
        of={{
          Status: <TokenStatus token={token} />,
          "Acts as": <ActsAs token={token} />,
          Made: <At iso={token.createdAt} />,
          "Last used": <LastUsed at={token.lastUsedAt} />,
          Id: <Text>{token.id}</Text>,
        }}
      />
      {works(token, visit.look.now) ? (
        <ChangeForm visit={visit} path={PATH} hidden={{ id: token.id }}>
          <p>Whatever acts with it is refused at once.</p>
          <button>Revoke it</button>
        </ChangeForm>
      ) : null}
    </>
  );
}
