import { nearest } from "../../../model/snapshot/suggestion.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { printable } from "../../../words/text.js";
import { activeVersion, getVersion, type Version } from "../config/stored-versions.js";

/** The types of what a model emits, as docs/webhooks.md lists them. */
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
 * Tells of each pattern that stands for nothing the active model emits, and of each trait to include that it does not declare: mostly they are
 * misspelt. Of a model that cannot be read nothing is told.
 * @throws {UserError} where the service does not say which model is active: it would not do what follows either
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

/** What the names of traits to include begin with. */
const TRAIT = "traits.";

/** What keeps a model from being read, and nothing else from being done. */
const UNREADABLE: readonly string[] = ["UNEXPECTED_ANSWER" satisfies LocalCode, "FORBIDDEN", "INTERNAL_ERROR"];

/** Null where none is active, or it cannot be read. */
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

/** Of types of the same family, `customer.` say, only what follows is compared: they are alike by the family already. */
function meantType(pattern: string, types: ReadonlySet<string>): string | undefined {
  const family = pattern.slice(0, pattern.indexOf(".") + 1);
  const alike = [...types].filter((type) => type.startsWith(family)).map((type) => type.slice(family.length));
  if (alike.length === 0) return nearest(pattern, types);
  const found = nearest(pattern.slice(family.length), alike);
  return found === undefined ? undefined : family + found;
}
