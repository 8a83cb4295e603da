import { nearest } from "../../../model/snapshot/suggestion.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { printable } from "../../../words/text.js";
import { activeVersion, getVersion, type Version } from "../config/stored-versions.js";

/** The emission types of a model, as docs/webhooks.md lists them. */
export function emissionTypes({ lifecycle, journeys, segments, health, signals, rules }: Snapshot): Set<string> {
  const own = rules.flatMap(({ then }) => (then.kind === "emit" ? [then.type] : []));
  return new Set([
    ...(lifecycle === null
      ? []
      : ["created", ...lifecycle.states.map(({ name }) => name)].map((state) => `customer.${state}`)),
    ...(journeys.length === 0
      ? []
      : ["started", "step_completed", "completed", "expired"].map((is) => `journey.${is}`)),
    ...(segments.length === 0 ? [] : ["segment.entered", "segment.exited"]),
    ...(health === null ? [] : ["health.changed"]),
    ...(signals.length === 0 ? [] : ["signal.raised", "signal.cleared"]),
    ...own,
    "webhook.test",
  ]);
}

/**
 * Warns of patterns that match nothing the active model emits, and of traits to include that it does not declare: mostly they are misspelt.
 * Without a readable model there are no warnings.
 * @throws {UserError} if the active version cannot be requested: the change that follows would fail as well
 */
export async function noteUnknown(
  context: Context,
  patterns: readonly string[],
  include: readonly string[] = [],
): Promise<void> {
  const { out, settings } = context;
  const traits = include.flatMap((name) => (name.startsWith(TRAIT) ? [name.slice(TRAIT.length)] : []));
  if (traits.length === 0 && patterns.every((pattern) => pattern === "*")) return;
  const active = await activeModel(context);
  if (active === null) return;
  const note = (what: string, meant: string | undefined) =>
    out.note(
      `warning: ${active.version}, active in ${settings.environment}, ${what}${meant === undefined ? "" : `; did you mean ${printable(meant)}?`}`,
    );
  const declared = Object.keys(active.snapshot.traits);
  for (const trait of traits) {
    if (!declared.includes(trait)) note(`declares no trait ${printable(trait)}`, nearest(trait, declared));
  }
  const types = emissionTypes(active.snapshot);
  for (const pattern of patterns) {
    const isKnown = pattern.endsWith("*")
      ? [...types].some((type) => type.startsWith(pattern.slice(0, -1)))
      : types.has(pattern);
    if (!isKnown) note(`emits nothing of the type ${printable(pattern)}`, meantType(pattern, types));
  }
}

/** The prefix of traits to include. */
const TRAIT = "traits.";

/** Failures to read a model that do not prevent the change itself. */
const UNREADABLE: readonly string[] = ["UNEXPECTED_ANSWER" satisfies LocalCode, "FORBIDDEN", "INTERNAL_ERROR"];

/** The active version; null if there is none, or it cannot be read. */
async function activeModel(context: Context): Promise<Version | null> {
  const version = await activeVersion(context);
  if (version === null) return null;
  try {
    return await getVersion(context, version);
  } catch (error) {
    if (error instanceof UserError && UNREADABLE.includes(error.code)) return null;
    throw error;
  }
}

/** The most similar type. Within a family, such as `customer.`, only the rest is compared, as the common prefix would make all similar. */
function meantType(pattern: string, types: ReadonlySet<string>): string | undefined {
  const family = pattern.slice(0, pattern.indexOf(".") + 1);
  const alike = [...types].filter((type) => type.startsWith(family)).map((type) => type.slice(family.length));
  if (alike.length === 0) return nearest(pattern, types);
  const found = nearest(pattern.slice(family.length), alike);
  return found === undefined ? undefined : family + found;
}
