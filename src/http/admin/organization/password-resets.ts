import Type from "typebox";
import * as calls from "../../../db/calls-organization.js";
import { passwordMail } from "../../../mail/messages.js";
import { newLinkSecret } from "../../credentials.js";
import { passwordLink } from "../../links.js";
import { emptyObject, KIB } from "../parameters.js";
import { adminRoute } from "../route.js";
import { instant } from "../schemas-common.js";
import { sendLink } from "./mailed-link.js";
import { mailed } from "./schemas.js";

/** Makes a link by which a member sets a password. It is in this answer, and another one in the mail where mail is set up, and nowhere else, ever. */
export const createPasswordReset = adminRoute({
  operation: "create_password_reset",
  method: "POST",
  path: "/organization/members/:userId/password-reset",
  summary: "Make a link by which a member sets a password, good for 24 hours; stops the one before",
  body: { schema: emptyObject, bytesMax: KIB },
  answers: {
    201: Type.Object(
      { link: Type.String(), expiresAt: instant, mailed },
      { additionalProperties: false, title: "PasswordReset" },
    ),
  },
  refusals: { 404: ["MEMBER_NOT_FOUND"] },
  answer: async ({ deps, credentials, params }) => {
    const secret = newLinkSecret();
    const document = await calls.createPasswordReset(deps.sql, credentials, params["userId"]!, secret.hash);
    const { email: to, expiresAt } = JSON.parse(document) as { email: string; expiresAt: string };
    const isMailed = await sendLink(deps, credentials.requestId, secret, (mailed) =>
      passwordMail({ to, link: passwordLink(deps.publicUrl(), mailed), expiresAt }),
    );
    return { status: 201, document: { link: passwordLink(deps.publicUrl(), secret), expiresAt, mailed: isMailed } };
  },
});
