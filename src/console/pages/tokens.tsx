import type { AccessToken, CreatedAccessToken, ListPage } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, queryParam, type Visit } from "../console-page.js";
import { usePresentation } from "../presentation.js";
import { Ago, At, Empty, LinkLine, PageLinks, Text, TextLink } from "../parts.js";
import { FactList, Table, type TableColumn } from "../tables.js";
import { LastUsed } from "./keys.js";
import { Allowed, ChangeForm, TextField } from "../changes.js";
import { entryHref, entryOf, missingEntry, ROLE_TEXTS, Select, shownOnce } from "./settings/parts.js";

const LIST = "tokens";
const ENTRY = "token";
const BACK = { href: LIST, text: "Access tokens" };

/** The access tokens of the organization, with which programs act for it. */
export const tokensPage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query, may } = visit;
    const page = { limit: "50", cursor: queryParam(query, "cursor") };
    const tokens = may("list_tokens") ? await ask("/organization/tokens", page) : null;
    return {
      title: "Access tokens",
      body: (
        <>
          <p>
            Pipelines and scripts use these tokens with the API and the command line, and act as the member who created
            the token. Events are sent with <a href="keys">API keys</a>.
          </p>
          <Allowed visit={visit} operation="create_token" what="see or create access tokens" who="an owner">
            {tokens && <List query={query} tokens={tokens} />}
            <h2>New token</h2>
            <Create visit={visit} />
          </Allowed>
          <LinkLine href="settings" text="Settings" />
        </>
      ),
    };
  },
  change: {
    fields: ["label", "role", "days"],
    async make({ tell, form: { label = "", role = "", days = "" } }) {
      const body = { label, ...(role !== "" && { role }), ...(days !== "" && { expiresInDays: Number(days) }) };
      const { accessToken, expiresAt, ...token } = (await tell(
        "POST /organization/tokens",
        {},
        body,
      )) as CreatedAccessToken;
      return shownOnce({
        title: `Access token ${printable(token.label)}`,
        label: "Access token",
        secret: accessToken,
        children: (
          <p>
            It acts as you{token.role === null ? "" : `, as ${token.role} at most`}, until <At iso={expiresAt} />.
          </p>
        ),
        next: BACK,
      });
    },
  },
};

const columnsOf = (cursor: string | null): TableColumn<AccessToken>[] => [
  ["Label", ({ id, label }) => <TextLink href={entryHref(ENTRY, id, cursor)} text={label} />],
  ["Acts as", (token) => <ActsAs token={token} />],
  ["Status", (token) => <TokenStatus token={token} />],
  ["Last used", ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />],
];

function List({ query, tokens: { data, nextCursor } }: { query: URLSearchParams; tokens: ListPage<AccessToken> }) {
  return (
    <>
      {data.length === 0 && !query.has("cursor") ? (
        <Empty>There is no access token yet.</Empty>
      ) : (
        <Table name="Access tokens" rows={data} columns={columnsOf(query.get("cursor"))} />
      )}
      <PageLinks path={LIST} query={query} next={nextCursor} />
    </>
  );
}

/** The user that a token acts as, and its highest role. */
function ActsAs({ token: { user, role } }: { token: AccessToken }) {
  return (
    <>
      <Text>{user.email}</Text>
      {role === null ? "" : `, as ${role} at most`}
    </>
  );
}

/** Whether a token works at an instant. */
const works = ({ revokedAt, expiresAt }: AccessToken, now: number): boolean =>
  revokedAt === null && Date.parse(expiresAt) > now;

/** The status of a token. */
function TokenStatus({ token }: { token: AccessToken }) {
  const { revokedAt, expiresAt } = token;
  if (works(token, usePresentation().now))
    return (
      <>
        <span class="good">works</span>, expires <Ago iso={expiresAt} />
      </>
    );
  return (
    <span class="faint">
      {revokedAt === null ? "expired" : "revoked"} <Ago iso={revokedAt ?? expiresAt} />
    </span>
  );
}

const { owner: _, ...LESSER } = ROLE_TEXTS;

function Create({ visit }: { visit: Visit }) {
  return (
    <ChangeForm visit={visit} path={LIST}>
      <TextField label="Label" name="label" maxLength={256} hint="For people: which program uses it." />
      <Select label="Highest role" name="role" value="" choices={{ "": "the same as mine", ...LESSER }} />
      <TextField
        label="Days until it expires"
        name="days"
        type="number"
        isOptional
        min={1}
        hint="Leave it empty for the maximum."
      />
      <p>
        <button>Create the token</button>
      </p>
    </ChangeForm>
  );
}

/** An access token, with the form to revoke it. */
export const tokenPage: ConsolePage = {
  path: ENTRY,
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
          Created: <At iso={token.createdAt} />,
          "Last used": <LastUsed at={token.lastUsedAt} />,
          Id: <Text>{token.id}</Text>,
        }}
      />
      {works(token, visit.presentation.now) ? (
        <ChangeForm visit={visit} path={ENTRY} hidden={{ id: token.id }}>
          <p>Whatever still uses it is refused at once.</p>
          <button>Revoke it</button>
        </ChangeForm>
      ) : null}
    </>
  );
}
