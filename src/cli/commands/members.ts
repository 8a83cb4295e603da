import type { Member, PasswordReset, Whoami } from "../../http/admin/answers.js";
import { printable, shellWord } from "../../words/text.js";
import { readAll } from "../client/pages.js";
import { type Context, defineCommand, pageOptions, yesOption } from "../core/command.js";
import { failure } from "../core/errors.js";
import { confirmAndRun } from "../output/change.js";
import { fields, printList } from "../output/table.js";

/** The role with the most permissions first. */
export const MEMBER_ROLES = [
  "owner",
  "administrator",
  "developer",
  "viewer",
] as const satisfies readonly Member["role"][];

export default {
  list: defineCommand({
    options: pageOptions,
    examples: [["svc members list", "Who belongs to the organization, and what they may do"]],
    async handler(context, { limit, cursor }) {
      await printList<Member>(context, { limit, cursor }, "/organization/members", {
        none: "The organization has no member.",
        columns: [
          { title: "Address", value: ({ email }) => email, kept: true },
          { title: "Role", value: ({ role }) => role, fixed: true },
          { title: "Since", value: ({ createdAt }) => context.out.at(createdAt), fixed: true, optional: true },
          { title: "Id", value: ({ userId }) => userId, fixed: true, optional: true },
        ],
      });
    },
  }),

  update: defineCommand({
    args: { member: "The member's address or id" },
    options: {
      role: { type: "text", choices: MEMBER_ROLES, required: true, describe: "What the member may do from now on" },
      ...yesOption,
    },
    examples: [["svc members update bob@example.com --role viewer", "Bob only reads from now on"]],
    async handler(context, { member: addressOrId, role, yes }) {
      const { api, out } = context;
      const answer = await confirmAndRun(context, {
        action: "changing a member's role",
        yes,
        of: "organization",
        seen: "`svc members list`",
        before: () => memberOf(context, addressOrId),
        question: async (place, member) =>
          `Make ${printable(member.email)}, ${member.role} of ${place}, ${role}?${await selfChangeWarning(context, member)}`,
        request: (signal, { userId }) =>
          api.patch<Member>(`/organization/members/${userId}`, { role }, ["email", "role"], signal),
      });
      out.result(answer, () => `${printable(answer.data.email)} is ${answer.data.role} now.`);
    },
  }),

  remove: defineCommand({
    args: { member: "The member's address or id" },
    options: yesOption,
    examples: [["svc members remove bob@example.com", "Remove a member, for example one who leaves"]],
    async handler(context, { member: addressOrId, yes }) {
      const { api, out } = context;
      const answer = await confirmAndRun(context, {
        action: "removing a member",
        yes,
        of: "organization",
        seen: "`svc members list`",
        before: () => memberOf(context, addressOrId),
        question: async (place, member) =>
          `Remove ${printable(member.email)}, ${member.role}, from ${place}? The member's tokens for it stop working at once.` +
          (await selfChangeWarning(context, member)),
        request: (signal, { userId }) => api.delete<Member>(`/organization/members/${userId}`, ["email"], signal),
      });
      out.result(answer, () => `Removed ${printable(answer.data.email)}. Its tokens for the organization are revoked.`);
    },
  }),

  "reset-password": defineCommand({
    args: { member: "The member's address or id" },
    options: yesOption,
    examples: [["svc members reset-password bob@example.com", "A link for Bob to set a new password, once"]],
    async handler(context, { member: addressOrId, yes }) {
      const { api, out } = context;
      const answer = await confirmAndRun(context, {
        action: "creating a link that sets a password",
        yes,
        of: "organization",
        seen: "`svc audit --action password_reset.created`",
        before: () => memberOf(context, addressOrId),
        question: (place, { email }) =>
          `Create a link for ${printable(email)}, of ${place}, to set a new password? Any previous link stops working.`,
        request: (signal, { userId }) =>
          api.post<PasswordReset>(
            `/organization/members/${userId}/password-reset`,
            {},
            ["link", "expiresAt", "mailed"],
            signal,
          ),
      });
      const { link, expiresAt, mailed, mailFailed } = answer.data;
      const unsent = mailFailed ? " The mail server refused the mail: pass the link on." : "";
      const sentence = `The first person who opens this link sets the password.${mailed ? " It was also mailed." : unsent}`;
      const shown = () => fields(out, { Link: printable(link), "Valid until": out.at(expiresAt) }, sentence);
      out.secret(answer, shown, {
        what: "a link that sets the password was created",
        fix: `create another, which ends that one: \`svc members reset-password ${shellWord(addressOrId)}\``,
      });
    },
  }),
};

/** A warning for the confirmation question, if the member to change is the user; empty otherwise. */
async function selfChangeWarning({ api }: Context, { email }: Member): Promise<string> {
  const { data } = await api.get<Whoami>("/whoami", ["user"]);
  if (data.user.email !== email) return "";
  return " This is you: only another owner can give you back what you take from yourself.";
}

/** The member with an address or an id. @throws {UserError} MEMBER_NOT_FOUND */
async function memberOf({ api }: Context, addressOrId: string): Promise<Member> {
  const isThis = ({ email, userId }: Member) =>
    userId === addressOrId || email.toLowerCase() === addressOrId.trim().toLowerCase();
  for await (const { data } of readAll<Member>(api, "/organization/members")) {
    const member = data.data.find(isThis);
    if (member !== undefined) return member;
  }
  const message = `the organization has no member ${printable(addressOrId)}`;
  throw failure("MEMBER_NOT_FOUND", message, "list the members: `svc members list`");
}
