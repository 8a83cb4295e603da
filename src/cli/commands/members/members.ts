import type { Member, Whoami } from "../../../http/admin/answers.js";
import { readAll } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { printable } from "../../../words/text.js";

/** The role with the most permissions first. */
export const MEMBER_ROLES = [
  "owner",
  "administrator",
  "developer",
  "viewer",
] as const satisfies readonly Member["role"][];

/** A warning for the confirmation question, if the member to change is the user; empty otherwise. */
export async function selfChangeWarning({ api }: Context, { email }: Member): Promise<string> {
  const { data } = await api.get<Whoami>("/whoami", ["user"]);
  if (data.user.email !== email) return "";
  return " This is you: only another owner can give you back what you take from yourself.";
}

/** The member with an address or an id. @throws {UserError} MEMBER_NOT_FOUND */
export async function memberOf({ api }: Context, addressOrId: string): Promise<Member> {
  const isThis = ({ email, userId }: Member) =>
    userId === addressOrId || email.toLowerCase() === addressOrId.trim().toLowerCase();
  for await (const { data } of readAll<Member>(api, "/organization/members")) {
    const member = data.data.find(isThis);
    if (member !== undefined) return member;
  }
  const message = `the organization has no member ${printable(addressOrId)}`;
  throw failure("MEMBER_NOT_FOUND", message, "list the members: `svc members list`");
}
