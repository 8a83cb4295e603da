import type { Member, Whoami } from "../../../http/admin/answers.js";
import { readAll } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { printable } from "../../../words/text.js";

/** From the one who may do most. */
export const MEMBER_ROLES = [
  "owner",
  "administrator",
  "developer",
  "viewer",
] as const satisfies readonly Member["role"][];

/** What is said before a change of a member who is the one that makes it. */
export async function noteToYou({ api }: Context, { email }: Member): Promise<string> {
  const { data } = await api.get<Whoami>("/whoami", ["user"]);
  if (data.user.email !== email) return "";
  return " This is you: what you take from yourself, only another owner can give you again.";
}

/** The member of an address or an id. @throws {UserError} MEMBER_NOT_FOUND */
export async function memberOf({ api }: Context, addressOrId: string): Promise<Member> {
  const isThis = ({ email, userId }: Member) =>
    userId === addressOrId || email.toLowerCase() === addressOrId.trim().toLowerCase();
  for await (const { data } of readAll<Member>(api, "/organization/members")) {
    const member = data.data.find(isThis);
    if (member !== undefined) return member;
  }
  const message = `the organization has no member ${printable(addressOrId)}`;
  throw failure("MEMBER_NOT_FOUND", message, "see who there is: `svc members list`");
}
