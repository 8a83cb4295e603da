import type { Invitation, ListPage, Member, PasswordReset } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, given, type View, type Visit } from "../console-page.js";
import { Ago, At, Empty, LinkLine, PageLinks, Section, Text, TextLink } from "../parts.js";
import { useLook } from "../look.js";
import { Table } from "../tables.js";
import { Allowed, ChangeForm } from "../changes.js";
import { entryHref, ROLE_TEXTS, Select, shownOnce } from "./settings/parts.js";

const PATH = "members";
const LIMIT = "50";
/** The parameter that has the cursor of the invitations: the members have the usual one. */
const INVITATIONS = "invitations";

/** Who belongs to the organization, and who is invited. */
export const membersPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query, may } = visit;
    const [members, invitations] = await Promise.all([
      ask("/organization/members", { limit: LIMIT, cursor: given(query, "cursor") }),
      may("list_invitations")
        ? ask("/organization/invitations", { limit: LIMIT, cursor: given(query, INVITATIONS) })
        : null,
    ]);
    return {
      title: "Members",
      body: (
        <>
          <Members query={query} members={members} />
          <Section id="invitations" title="Invitations">
            <Allowed visit={visit} operation="create_invitation" what="see or make invitations" who="an owner">
              {invitations && <Invitations query={query} invitations={invitations} />}
              <Invite visit={visit} />
            </Allowed>
          </Section>
          <LinkLine href="settings" text="Settings" />
        </>
      ),
    };
  },
  change: {
    fields: ["email", "role"],
    async make({ tell, form: { email = "", role = "" } }) {
      const made = (await tell("POST /organization/invitations", {}, { email, role })) as PasswordReset & {
        email: string;
      };
      const title = `Invitation of ${printable(made.email)}`;
      return linkMade(title, "Whoever opens this link joins the organization", made);
    },
  },
};

function Members({ query, members: { data, nextCursor } }: { query: URLSearchParams; members: ListPage<Member> }) {
  return (
    <>
      <Table
        name="The members"
        rows={data}
        columns={[
          [
            "Address",
            (each) => <TextLink href={entryHref("member", each.userId, query.get("cursor"))} text={each.email} />,
          ],
          ["Role", ({ role }) => role],
          ["Since", ({ createdAt }) => <At iso={createdAt} />],
        ]}
      />
      <PageLinks path={PATH} query={query} next={nextCursor} />
    </>
  );
}

function Invitations(props: { query: URLSearchParams; invitations: ListPage<Invitation> }) {
  const { query, invitations } = props;
  const { data, nextCursor } = invitations;
  return (
    <>
      {data.length === 0 && !query.has(INVITATIONS) ? (
        <Empty>Nobody is invited who did not come yet.</Empty>
      ) : (
        <Table
          name="Open invitations"
          rows={data}
          columns={[
            [
              "Address",
              (each) => <TextLink href={entryHref("invitation", each.id, query.get(INVITATIONS))} text={each.email} />,
            ],
            ["Role", ({ role }) => role],
            ["By", ({ createdBy }) => <Text>{createdBy}</Text>],
            ["Ends", ({ expiresAt }) => (Date.parse(expiresAt) > useLook().now ? <Ago iso={expiresAt} /> : "ended")],
          ]}
        />
      )}
      <PageLinks path={PATH} query={query} next={nextCursor} cursor={INVITATIONS} name="the invitations" />
    </>
  );
}

function Invite({ visit }: { visit: Visit }) {
  return (
    <>
      <h3>Invite somebody</h3>
      <p>Makes a link that is good for 7 days. An open invitation of the same address ends.</p>
      <ChangeForm visit={visit} path={PATH}>
        <label for="email">E-mail address</label>
        <input id="email" name="email" type="email" required maxLength={254} autocomplete="off" />
        <Select label="Role" name="role" value="viewer" choices={ROLE_TEXTS} />
        <p>
          <button>Invite</button>
        </p>
      </ChangeForm>
    </>
  );
}

/** Shows a link that was made for somebody. @param does what it is good for, as the beginning of a sentence */
export function linkMade(title: string, does: string, { link, expiresAt, mailed, mailFailed }: PasswordReset): View {
  const unsent = mailFailed ? "The mail server did not take the mail" : "No mail was sent";
  return shownOnce({
    title,
    label: "Link",
    secret: link,
    children: (
      <p>
        {does}; it is good until <At iso={expiresAt} />.{" "}
        {mailed ? "Another one to the same end was mailed." : `${unsent}: pass the link on.`}
      </p>
    ),
    next: { href: PATH, text: "Members" },
  });
}
