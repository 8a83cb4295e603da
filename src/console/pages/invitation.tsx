import { printable } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { At, LinkLine, Text } from "../parts.js";
import { Allowed, ChangeForm } from "../changes.js";
import { entryOf, missingEntry } from "./settings/parts.js";

const PATH = "invitation";
const BACK = { href: "members", text: "Members" };

/** Asks whether an invitation is to be revoked. */
export const invitationPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const invitation = visit.may("list_invitations") ? await entryOf(visit, "/organization/invitations") : undefined;
    if (invitation === null) return missingEntry("open invitation", BACK);
    return {
      title: invitation === undefined ? "Invitation" : `Invitation of ${printable(invitation.email)}`,
      body: (
        <>
          <Allowed visit={visit} operation="revoke_invitation" what="see or revoke invitations" who="an owner">
            {invitation && (
              <>
                <p>
                  <Text>{invitation.createdBy}</Text> invited <Text>{invitation.email}</Text> as {invitation.role} on{" "}
                  <At iso={invitation.createdAt} />;{" "}
                  {Date.parse(invitation.expiresAt) > visit.look.now ? (
                    <>
                      the link is good until <At iso={invitation.expiresAt} />. Revoked, it ends at once.
                    </>
                  ) : (
                    <>
                      the link ended on <At iso={invitation.expiresAt} />. Invite again to make another.
                    </>
                  )}
                </p>
                <ChangeForm visit={visit} path={PATH} hidden={{ id: invitation.id }}>
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
