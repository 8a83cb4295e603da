import type { Invitation, ListPage, Member, PasswordReset } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, queryParam, type View, type Visit } from "../console-page.js";
import { Ago, At, Empty, LinkLine, PageLinks, Section, Text, TextLink } from "../parts.js";
import { usePresentation } from "../presentation.js";
import { FactList, Table } from "../tables.js";
import { Allowed, ChangeForm, changeIn, TextField } from "../changes.js";
import { entryHref, entryOf, missingEntry, ROLE_TEXTS, Select, shownOnce } from "./settings/parts.js";

const LIST = "members";
const MEMBER = "member";
const INVITATION = "invitation";
const BACK = { href: LIST, text: "Members" };
const LIMIT = "50";
/** The parameter with the cursor of the invitations; that of the members is `cursor`. */
const INVITATIONS = "invitations";

/** The organization's members and open invitations. */
export const membersPage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query, may } = visit;
    const [members, invitations] = await Promise.all([
      ask("/organization/members", { limit: LIMIT, cursor: queryParam(query, "cursor") }),
      may("list_invitations")
        ? ask("/organization/invitations", { limit: LIMIT, cursor: queryParam(query, INVITATIONS) })
        : null,
    ]);
    return {
      title: "Members",
      body: (
        <>
          <Members query={query} members={members} />
          <Section id="invitations" title="Invitations">
            <Allowed visit={visit} operation="create_invitation" what="see or create invitations" who="an owner">
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
      const title = `Invitation for ${printable(made.email)}`;
      return linkMade(title, "Whoever opens this link joins the organization", made);
    },
  },
};

function Members({ query, members: { data, nextCursor } }: { query: URLSearchParams; members: ListPage<Member> }) {
  return (
    <>
      <Table
        name="Members"
        rows={data}
        columns={[
          [
            "Address",
            (each) => <TextLink href={entryHref(MEMBER, each.userId, query.get("cursor"))} text={each.email} />,
          ],
          ["Role", ({ role }) => role],
          ["Since", ({ createdAt }) => <At iso={createdAt} />],
        ]}
      />
      <PageLinks path={LIST} query={query} next={nextCursor} />
    </>
  );
}

function Invitations(props: { query: URLSearchParams; invitations: ListPage<Invitation> }) {
  const { query, invitations } = props;
  const { data, nextCursor } = invitations;
  return (
    <>
      {data.length === 0 && !query.has(INVITATIONS) ? (
        <Empty>There are no open invitations.</Empty>
      ) : (
        <Table
          name="Open invitations"
          rows={data}
          columns={[
            [
              "Address",
              (each) => <TextLink href={entryHref(INVITATION, each.id, query.get(INVITATIONS))} text={each.email} />,
            ],
            ["Role", ({ role }) => role],
            ["By", ({ createdBy }) => <Text>{createdBy}</Text>],
            [
              "Expires",
              ({ expiresAt }) => (Date.parse(expiresAt) > usePresentation().now ? <Ago iso={expiresAt} /> : "expired"),
            ],
          ]}
        />
      )}
      <PageLinks path={LIST} query={query} next={nextCursor} cursor={INVITATIONS} name="the invitations" />
    </>
  );
}

function Invite({ visit }: { visit: Visit }) {
  return (
    <>
      <h3>Invite somebody</h3>
      <p>Creates a link that is valid for 7 days. It replaces an open invitation for the same address.</p>
      <ChangeForm visit={visit} path={LIST}>
        <TextField label="E-mail address" name="email" type="email" maxLength={254} />
        <Select label="Role" name="role" value="viewer" choices={ROLE_TEXTS} />
        <p>
          <button>Invite</button>
        </p>
      </ChangeForm>
    </>
  );
}

/** Shows a new link to pass on. @param does what the link does, as the beginning of a sentence */
function linkMade(title: string, does: string, { link, expiresAt, mailed, mailFailed }: PasswordReset): View {
  const unsent = mailFailed ? "The mail server did not accept the mail" : "No mail was sent";
  return shownOnce({
    title,
    label: "Link",
    secret: link,
    children: (
      <p>
        {does}; it is valid until <At iso={expiresAt} />.{" "}
        {mailed ? "Another link for the same purpose was mailed." : `${unsent}: pass the link on.`}
      </p>
    ),
    next: BACK,
  });
}

/** A member, with forms to change the role, to make a password link, and to remove it. */
export const memberPage: ConsolePage = {
  path: MEMBER,
  inService: true,
  async answer(visit) {
    const [member, { user }] = await Promise.all([entryOf(visit, "/organization/members"), visit.ask("/whoami")]);
    if (member === null) return missingEntry("member", BACK);
    return {
      title: printable(member.email),
      body: (
        <>
          <FactList
            of={{
              Role: ROLE_TEXTS[member.role],
              Since: <At iso={member.createdAt} />,
              Id: <Text>{member.userId}</Text>,
            }}
          />
          <Allowed visit={visit} operation="update_member" what="change or remove members" who="an owner">
            {user.email === member.email ? (
              <p class="note">This is you: only another owner can give back what you take from yourself.</p>
            ) : null}
            <Changes visit={visit} member={member} />
          </Allowed>
          <LinkLine {...BACK} />
        </>
      ),
    };
  },
  change: {
    fields: ["as", "id", "role"],
    async make({ tell, form }) {
      const { id: userId = "", role = "" } = form;
      const change = changeIn(form, ["role", "password", "removal"]);
      if (change === "password") {
        const made = await tell("POST /organization/members/:userId/password-reset", { userId });
        return linkMade(
          "Link to set a password",
          "Whoever opens this link sets the password, once",
          made as PasswordReset,
        );
      }
      if (change === "removal") await tell("DELETE /organization/members/:userId", { userId });
      else await tell("PATCH /organization/members/:userId", { userId }, { role });
      return BACK.href;
    },
  },
};

function Changes({ visit, member: { userId, email, role } }: { visit: Visit; member: Member }) {
  return (
    <>
      <h2>Role</h2>
      <p>
        A new role takes effect with the next request, also for the access tokens that the member created. If an owner
        gets another role, the owner's open invitations and links to set passwords end.
      </p>
      <ChangeForm visit={visit} path={MEMBER} hidden={{ as: "role", id: userId }}>
        <Select label="Role" name="role" value={role} choices={ROLE_TEXTS} />
        <p>
          <button>Change the role</button>
        </p>
      </ChangeForm>
      <h2>Password</h2>
      <p>Creates a link with which the member sets a new password, valid for 24 hours. An earlier link ends.</p>
      <ChangeForm visit={visit} path={MEMBER} hidden={{ as: "password", id: userId }}>
        <button>Create a link</button>
      </ChangeForm>
      <h2>Removal</h2>
      <p>
        Ends the membership at once, and with it the access tokens that the member created for this organization, and
        the member's open invitations and links to set passwords. The account and its other memberships stay.
      </p>
      <ChangeForm visit={visit} path={MEMBER} hidden={{ as: "removal", id: userId }}>
        <button>
          Remove <Text>{email}</Text>
        </button>
      </ChangeForm>
    </>
  );
}

/** Asks for confirmation before an invitation is revoked. */
export const invitationPage: ConsolePage = {
  path: INVITATION,
  inService: true,
  async answer(visit) {
    const invitation = visit.may("list_invitations") ? await entryOf(visit, "/organization/invitations") : undefined;
    if (invitation === null) return missingEntry("open invitation", BACK);
    return {
      title: invitation === undefined ? "Invitation" : `Invitation for ${printable(invitation.email)}`,
      body: (
        <>
          <Allowed visit={visit} operation="revoke_invitation" what="see or revoke invitations" who="an owner">
            {invitation && (
              <>
                <p>
                  <Text>{invitation.createdBy}</Text> invited <Text>{invitation.email}</Text> as {invitation.role} on{" "}
                  <At iso={invitation.createdAt} />;{" "}
                  {Date.parse(invitation.expiresAt) > visit.presentation.now ? (
                    <>
                      the link is valid until <At iso={invitation.expiresAt} />. If you revoke it, it ends at once.
                    </>
                  ) : (
                    <>
                      the link expired on <At iso={invitation.expiresAt} />. Invite again to create a new one.
                    </>
                  )}
                </p>
                <ChangeForm visit={visit} path={INVITATION} hidden={{ id: invitation.id }}>
                  <button>Revoke the invitation</button>
                </ChangeForm>
              </>
            )}
          </Allowed>
          <LinkLine {...BACK} />
        </>
      ),
    };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      await tell("DELETE /organization/invitations/:invitationId", { invitationId: id });
      return BACK.href;
    },
  },
};
