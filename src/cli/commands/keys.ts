import type { ChangedKey, CreatedKey, Key, RotatedKey } from "../../http/admin/answers.js";
import { printable, shellWord } from "../../words/text.js";
import { readAll } from "../client/pages.js";
import { type Context, defineCommand, pageOptions, projectOptions, yesOption } from "../core/command.js";
import { checkDurationOption } from "../core/values.js";
import { confirmAndRun } from "../output/change.js";
import { fields, printList } from "../output/table.js";

export default {
  list: defineCommand({
    options: { ...projectOptions, ...pageOptions },
    examples: [["svc keys list --env live", "The keys of live, and when each was last used"]],
    async handler(context, { limit, cursor }) {
      const { out } = context;
      const paint = { active: out.style.green, expiring: out.style.yellow, revoked: out.style.dim };
      const statusOf = ({ status, revokedAt }: Key) =>
        status === "expiring" && revokedAt !== null ? `ends ${out.ago(revokedAt)}` : status;
      const lastUsed = ({ lastUsedAt }: Key) => (lastUsedAt === null ? "never" : out.ago(lastUsedAt));
      await printList<Key>(context, { limit, cursor }, ["keys"], {
        none: "There is no key.",
        columns: [
          { title: "Id", value: ({ id }) => id, fixed: true },
          { title: "Name", value: ({ name }) => name },
          { title: "Key", value: ({ hint }) => `${hint}…`, kept: true },
          { title: "Status", value: statusOf, style: (text, { status }) => paint[status](text) },
          { title: "Last used", value: lastUsed, kept: true },
          { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true, optional: true },
          { title: "By", value: ({ createdBy }) => createdBy, optional: true },
        ],
      });
    },
  }),

  create: defineCommand({
    options: {
      name: {
        type: "text",
        required: true,
        describe: "Its name, for people, such as the application that sends with it",
      },
      ...projectOptions,
      ...yesOption,
    },
    examples: [["svc keys create --name backend --env live", "A key for a backend that sends events to live"]],
    async handler(context, { name, yes }) {
      const { api, out, settings } = context;
      const { environment, project } = settings;
      const answer = await confirmAndRun(context, {
        action: "creating a key",
        yes,
        seen: `\`svc keys list --env ${environment}\``,
        question: (place) => `Create the key ${printable(name)} in ${place}?`,
        request: (signal) => api.post<CreatedKey>(["keys"], { name }, ["key", "secret"], signal),
      });
      const { key, secret } = answer.data;
      const revoke = `\`svc keys revoke ${shellWord(key.id)} --env ${environment} --project ${project}\``;
      const facts = { Key: printable(secret), Id: printable(key.id) };
      const sentence = `Created the key ${printable(key.name)} in ${environment}. Keep it in a safe place: it is not shown again.`;
      out.secret(answer, () => fields(out, facts, sentence), {
        what: `the key ${printable(key.id)} was created`,
        fix: `revoke it, ${revoke}, and create another`,
      });
    },
  }),

  rotate: defineCommand({
    args: { keyId: "The id of the key to replace" },
    options: {
      grace: { type: "text", describe: "How long the old key still works, 0m to 30d; 24h unless given" },
      ...projectOptions,
      ...yesOption,
    },
    examples: [
      ["svc keys rotate key_0123456789abcdef0123", "A new key; the old one works for another 24 hours"],
      ["svc keys rotate key_0123456789abcdef0123 --grace 0m", "The old key stops working at once"],
    ],
    async handler(context, { keyId, grace, yes }) {
      const { api, out, settings } = context;
      const { environment, project } = settings;
      checkDurationOption("--grace", grace);
      const end = grace?.startsWith("0") ? "stops working at once" : `works for another ${grace ?? "24h"}`;
      const answer = await confirmAndRun(context, {
        action: "rotating a key",
        yes,
        seen: `\`svc keys list --env ${environment}\``,
        question: async (place) =>
          `Replace the key ${await describeKey(context, keyId)} in ${place}? The old one ${end}.`,
        request: (signal) =>
          api.post<RotatedKey>(["keys", keyId, "rotate"], { grace }, ["key", "secret", "replaced"], signal),
      });
      const { key, secret, replaced } = answer.data;
      const again = `\`svc keys rotate ${shellWord(key.id)} --env ${environment} --project ${project}\``;
      const ends = `${out.at(replaced.revokedAt)} (${out.ago(replaced.revokedAt)})`;
      const old = `${printable(replaced.id)}, ends ${ends}`;
      const facts = { "New key": printable(secret), Id: printable(key.id), "Old key": old };
      const sentence = `Replaced the key ${printable(key.name)} in ${environment}. Keep the new one in a safe place: it is not shown again.`;
      out.secret(answer, () => fields(out, facts, sentence), {
        what: `the new key is ${printable(key.id)}`,
        fix: `rotate that one too: ${again}`,
      });
    },
  }),

  revoke: defineCommand({
    args: { keyId: "The key's id" },
    options: { ...projectOptions, ...yesOption },
    examples: [
      ["svc keys revoke key_0123456789abcdef0123 --env live", "Revoke a key at once, for example when it leaked"],
    ],
    async handler(context, { keyId, yes }) {
      const { api, out, settings } = context;
      const { environment } = settings;
      const answer = await confirmAndRun(context, {
        action: "revoking a key",
        yes,
        seen: `\`svc keys list --env ${environment}\``,
        question: async (place) =>
          `Revoke the key ${await describeKey(context, keyId)} in ${place}? Requests with it are refused from then on.`,
        request: (signal) => api.post<ChangedKey>(["keys", keyId, "revoke"], {}, ["key"], signal),
      });
      const { key } = answer.data;
      out.result(answer, () => `Revoked the key ${printable(key.name)} (${printable(key.hint)}…) in ${environment}.`);
    },
  }),
};

/** A key by its name, hint and last use, for a question. By its id if there is no such key; the request then fails. */
async function describeKey({ api, out }: Context, keyId: string): Promise<string> {
  for await (const { data } of readAll<Key>(api, ["keys"])) {
    const key = data.data.find(({ id }) => id === keyId);
    if (key === undefined) continue;
    const used = key.lastUsedAt === null ? "never used" : `last used ${out.ago(key.lastUsedAt)}`;
    return `${printable(key.name)} (${printable(key.hint)}…, ${used})`;
  }
  return printable(keyId);
}
