import type { Context, OptionValues } from "../../../core/command.js";
import { failure, UsageError, type UserError } from "../../../core/errors.js";
import { sendChange } from "../../../output/change.js";
import { printable, shellWord } from "../../../../words/text.js";

/** Options that filter the operations in quarantine. */
export const filterOptions = {
  event: { type: "text", describe: "Only events of this name" },
  code: { type: "text", describe: "Only those whose first violation has this code, such as UNKNOWN_EVENT" },
} as const;

export const allOption = {
  all: { type: "flag", describe: "All operations that match --event and --code, instead of one" },
} as const;

type Verb = "release" | "discard";

type Chosen = OptionValues<typeof filterOptions & typeof allOption> & { quarantineId: string | undefined };

/** A request's selection, and the same in words. @throws {UsageError} unless it is either one operation or all */
export function quarantineSelection(verb: Verb, { quarantineId, event, code, all }: Chosen) {
  if ((quarantineId !== undefined) === all || (!all && (event !== undefined || code !== undefined))) {
    const fix = `see \`svc events quarantine ${verb} --help\``;
    throw new UsageError("give either an operation's id, or --all, optionally with --event and --code", fix);
  }
  if (quarantineId !== undefined) return { body: { ids: [quarantineId] }, words: printable(quarantineId) };
  const filters = [event, code].filter((text) => text !== undefined).map(printable);
  return { body: { event, code }, words: ["all that is in quarantine", ...filters].join(", ") };
}

/** The failure for an operation that is not in quarantine. */
export function notInQuarantine(quarantineId: string, environment: string): UserError {
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
export async function stepByStep<Key extends string>(
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
