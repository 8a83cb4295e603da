/** A user who invites an address can set its password: does that make them the owner of an organization that the operator creates for it later? */
import type { Answer } from "../sender.js";
import { messageOf } from "../../src/demo/failure.js";
import { untilAborted } from "../flood.js";
import type { Attack, Ground } from "./attack.js";

const PASSWORD = "a password of the attacker, long enough";

let taken = 0;

export const TAKEOVER: Attack = {
  name: "takeover",
  what: "invites an address, sets its password by the link, waits for the operator's bootstrap of that address",
  prepare: async (ground) => async (signal) => {
    taken += 1;
    const organization = `newcorp-${taken}`;
    const email = `boss@${organization}.example`;
    const { sender, stage, tally } = ground;
    const invitation = { email, role: "viewer" };
    const { status, text } = await sender.manage(
      { method: "POST", path: "/organization/invitations", body: invitation },
      signal,
    );
    // The invitation may be refused, or its link only mailed.
    const { link } = status === 201 ? (JSON.parse(text) as { link?: string }) : {};
    if (link !== undefined) await accept(ground, new URL(link), signal);
    await stage.service.bootstrap(organization, email).then(
      () => tally.answered("bootstrap done"),
      (error: unknown) =>
        tally.answered(/refus|exist/i.test(messageOf(error)) ? "bootstrap refused" : messageOf(error)),
    );
    if (await ownsByPassword(ground, organization, email))
      tally.breaches.add(
        "the user who chose the invited address's password owns the organization that was created for it",
      );
    await untilAborted(signal);
  },
};

/** Opens the link and sends the form of its page, as a browser does. */
async function accept({ sender, stage }: Ground, link: URL, signal: AbortSignal): Promise<Answer> {
  // The secret may be in the fragment, which the page's script would send.
  const token = link.searchParams.get("token") ?? new URLSearchParams(link.hash.slice(1)).get("token") ?? "";
  const page = await sender.anonymous({ path: `${link.pathname}?token=${token}` }, {}, signal);
  const cookies = [page.headers["set-cookie"] ?? []].flat().map((cookie) => cookie.split(";")[0]);
  const hidden = [...page.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  const form = new URLSearchParams({ token, password: PASSWORD, repeated: PASSWORD });
  for (const [, name = "", value = ""] of hidden) form.set(name, value);
  const headers = {
    origin: stage.service.url,
    cookie: cookies.join("; "),
    "content-type": "application/x-www-form-urlencoded",
  };
  return sender.anonymous({ method: "POST", path: link.pathname, body: Buffer.from(form.toString()) }, headers, signal);
}

async function ownsByPassword({ stage }: Ground, organization: string, email: string): Promise<boolean> {
  const [row] = await stage.cluster.query(
    (sql) => sql<{ owns: boolean }[]>`
      select exists (
        select from iam.organizations as o
        join iam.memberships as m on m.organization_id = o.organization_id and m.role = 'owner'
        join iam.users as u on u.user_id = m.user_id
        join iam.identities as i on i.user_id = u.user_id and i.password_hash is not null
        where o.slug = ${organization} and u.email = ${email}
      ) as owns`,
  );
  return row?.owns ?? false;
}
