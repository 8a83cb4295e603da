import type { Quarantined } from "../../http/admin/answers.js";
import { elementTexts, memberTexts } from "../../words/json-text.js";
import { plural, printable, shellWord } from "../../words/text.js";
import { readList } from "../client/pages.js";
import {
  type Context,
  csvPageOptions,
  defineCommand,
  type OptionValues,
  projectOptions,
  yesOption,
} from "../core/command.js";
import { failure, UsageError, type UserError } from "../core/errors.js";
import { sendChange } from "../output/change.js";
import { confirmation } from "../output/confirmation.js";
import { fields, printList } from "../output/table.js";

/** Options that filter the operations in quarantine. */
const filterOptions = {
  event: { type: "text", describe: "Only events of this name" },
  code: { type: "text", describe: "Only those whose first violation has this code, such as UNKNOWN_EVENT" },
} as const;

const allOption = {
  all: { type: "flag", describe: "All operations that match --event and --code, instead of one" },
} as const;

type Verb = "release" | "discard";

type Chosen = OptionValues<typeof filterOptions & typeof allOption> & { quarantineId: string | undefined };

export default {
  list: defineCommand({
    options: { ...projectOptions, ...filterOptions, ...csvPageOptions },
    examples: [
      ["svc events quarantine list --env live", "Operations that violate the schema, newest first"],
      ["svc events quarantine list --event order_placed --code UNKNOWN_PROPERTY", "Those of one event, for one reason"],
    ],
    async handler(context, { event, code, limit, cursor, csv }) {
      const { out } = context;
      await printList<Quarantined>(context, { event, code, limit, cursor }, ["quarantine"], {
        csv,
        none: "No such operation is in quarantine.",
        columns: [
          { title: "Accepted", value: ({ quarantinedAt }) => out.at(quarantinedAt), fixed: true },
          { title: "Customer", value: ({ customerId }) => customerId ?? "(none)" },
          // Only updates of traits have no event id; a call of the tracking API may lack the event's name.
          {
            title: "Event",
            value: ({ event, eventId }) => event ?? (eventId === null ? "(traits)" : "(no name)"),
            style: out.style.cyan,
          },
          { title: "What is wrong", value: ({ message }) => message },
          { title: "Code", value: ({ code }) => code, optional: true },
          { title: "Id", value: ({ quarantineId }) => quarantineId, fixed: true },
        ],
      });
    },
  }),

  show: defineCommand({
    args: { quarantineId: "The operation's id, or the id that its event will have" },
    options: projectOptions,
    examples: [
      ["svc events quarantine show qop_0000000000000400", "The operation as it was sent, and what is wrong with it"],
    ],
    async handler({ api, out, settings }, { quarantineId }) {
      const answer = await readList<Quarantined>(api, ["quarantine"], { id: quarantineId, limit: 1 });
      const [quarantined] = answer.data.data;
      if (quarantined === undefined) throw notInQuarantine(quarantineId, settings.environment);
      const [text = "{}"] = elementTexts(memberTexts(answer.text).get("data") ?? "[]");
      out.result({ text }, () =>
        fields(out, [
          ["Id", quarantined.quarantineId],
          ["Accepted", out.at(quarantined.quarantinedAt)],
          ["Checked against", quarantined.configVersion ?? "no version"],
          // From the answer's text, so that long numbers keep all their digits.
          ["Operation", printable(memberTexts(text).get("operation") ?? "")],
          ...quarantined.violations.map(({ code, path, message }) => [code, printable(`${path}: ${message}`)] as const),
        ]),
      );
    },
  }),

  release: defineCommand({
    args: { quarantineId: { describe: "The operation to release", optional: true } },
    options: { ...projectOptions, ...allOption, ...filterOptions, ...yesOption },
    examples: [
      ["svc events quarantine release --all --yes", "All that the active version accepts, for example after a deploy"],
      ["svc events quarantine release qop_0000000000000400", "One of them"],
    ],
    async handler(context, { quarantineId, all, event, code, yes }) {
      const { out, settings } = context;
      const { body, words } = quarantineSelection("release", { quarantineId, all, event, code });
      settings.credentials();
      const confirm = await confirmation(context, { action: "releasing operations", yes });
      await confirm(`Release ${words} in ${settings.place}, if the active version accepts it?`);
      const total = await stepByStep(context, "release", body, ["released", "kept", "expired"]);
      out.result({ document: total }, () =>
        [
          total.released === 0
            ? "Nothing was released."
            : `Released ${plural(total.released, "operation")}; they wait for evaluation.`,
          total.kept === 0
            ? ""
            : ` ${plural(total.kept, "operation still violates", "operations still violate")} the active version's schema and stay${total.kept === 1 ? "s" : ""} in quarantine.`,
          total.expired === 0
            ? ""
            : ` ${plural(total.expired, "operation is", "operations are")} too old and will be removed.`,
        ].join(""),
      );
    },
  }),

  discard: defineCommand({
    args: { quarantineId: { describe: "The operation to discard", optional: true } },
    options: { ...projectOptions, ...allOption, ...filterOptions, ...yesOption },
    examples: [
      ["svc events quarantine discard --all --event debug_ping", "Operations that were never meant to be events"],
      ["svc events quarantine discard qop_0000000000000400 --yes", "One of them, without being asked"],
    ],
    async handler(context, { quarantineId, all, event, code, yes }) {
      const { out, settings } = context;
      const { body, words } = quarantineSelection("discard", { quarantineId, all, event, code });
      settings.credentials();
      const confirm = await confirmation(context, { action: "discarding operations", yes });
      await confirm(`Discard ${words} in ${settings.place}, for good? Their idempotency keys may be used again.`);
      const total = await stepByStep(context, "discard", body, ["discarded"]);
      out.result({ document: total }, () =>
        total.discarded === 0 ? "Nothing was discarded." : `Discarded ${plural(total.discarded, "operation")}.`,
      );
    },
  }),
};

/** A request's selection, and the same in words. @throws {UsageError} unless it is either one operation or all */
function quarantineSelection(verb: Verb, { quarantineId, event, code, all }: Chosen) {
  if ((quarantineId !== undefined) === all || (!all && (event !== undefined || code !== undefined))) {
    const fix = `see \`svc events quarantine ${verb} --help\``;
    throw new UsageError("give either an operation's id, or --all, optionally with --event and --code", fix);
  }
  if (quarantineId !== undefined) return { body: { ids: [quarantineId] }, words: printable(quarantineId) };
  const filters = [event, code].filter((text) => text !== undefined).map(printable);
  return { body: { event, code }, words: ["all that is in quarantine", ...filters].join(", ") };
}

/** The failure for an operation that is not in quarantine. */
function notInQuarantine(quarantineId: string, environment: string): UserError {
  return failure(
    "OPERATION_NOT_FOUND",
    `there is no operation ${printable(quarantineId)} in quarantine in ${environment}`,
    "it may have been released, discarded or removed because of its age",
  );
}

/**
 * Sends one request after the other, so that none takes long, and adds up their counts.
 *
 * @throws {UserError} OPERATION_NOT_FOUND if a named operation is in none of the counts
 */
async function stepByStep<Key extends string>(
  { api, settings }: Context,
  verb: Verb,
  body: { ids?: readonly string[] },
  counts: readonly Key[],
): Promise<Record<Key, number>> {
  const total = Object.fromEntries(counts.map((count) => [count, 0])) as Record<Key, number>;
  const seen = `\`svc events quarantine list --env ${shellWord(settings.environment)}\``;
  let cursor: string | null = null;
  do {
    const given: object = { ...body, cursor: cursor ?? undefined };
    const { data } = await sendChange(seen, (signal) =>
      api.post<{ nextCursor: string | null } & Record<Key, number>>(
        ["quarantine", verb],
        given,
        [...counts, "nextCursor"],
        signal,
      ),
    );
    for (const count of counts) total[count] += data[count];
    cursor = data.nextCursor;
  } while (cursor !== null);
  const [named] = body.ids ?? [];
  if (named !== undefined && counts.every((count) => total[count] === 0))
    throw notInQuarantine(named, settings.environment);
  return total;
}
