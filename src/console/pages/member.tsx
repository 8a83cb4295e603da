import type { Member, PasswordReset } from "../../http/admin/answers.js";
import { printable } from "../../words/text.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { At, LinkLine, Text } from "../parts.js";
import { FactList } from "../tables.js";
import { linkMade } from "./members.js";
import { Allowed, ChangeForm, changeIn } from "../changes.js";
import { entryOf, missingEntry, ROLE_TEXTS, Select } from "./settings/parts.js";

const PATH = "member";
const BACK = { href: "members", text: "Members" };

/** A member, and what can be done about it: another role, a new password, its end. */
export const memberPage: ConsolePage = {
  path: PATH,
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
              <p class="note">This is you: what you take from yourself, only another owner can give you again.</p>
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
      <h2>Another role</h2>
      <p>
        It holds from the next request on, also for the access tokens that the member made. Of an owner who becomes
        something else, open invitations and links to set passwords end.
      </p>
      <ChangeForm visit={visit} path={PATH} hidden={{ as: "role", id: userId }}>
        <Select label="Role" name="role" value={role} choices={ROLE_TEXTS} />
        <p>
          <button>Change the role</button>
        </p>
      </ChangeForm>
      <h2>A new password</h2>
      <p>Makes a link by which the member sets a password, good for 24 hours. The link made before ends.</p>
      <ChangeForm visit={visit} path={PATH} hidden={{ as: "password", id: userId }}>
        <button>Make a link</button>
      </ChangeForm>
      <h2>Removal</h2>
      <p>
        Ends the membership at once, with the access tokens that the member made for this organization, and with open
        invitations and links to set passwords. The account stays, with its other organizations.
      </p>
      <ChangeForm visit={visit} path={PATH} hidden={{ as: "removal", id: userId }}>
        <button>
          Remove <Text>{email}</Text>
        </button>
      </ChangeForm>
    </>
  );
}
