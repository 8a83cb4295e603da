import type { Diagnostic } from "../../../dsl-compiler/index.js";
import type { Condition, Snapshot } from "../../../model/snapshot/types.js";
import { componentText, actionText, conditionText, fieldText, triggerText } from "../../../model/snapshot/words.js";
import type { Out } from "../../output/out.js";
import { summary, printable } from "../../../words/text.js";
import { eventUses, traitUses, type TraitUse } from "./event-uses.js";

const conditionIfAny = (when: Condition | undefined) => (when ? conditionText(when) : null);

/** A model in words, part by part, with where its events and traits are read. @param warnings the compiler's warnings */
export function modelFacts(snapshot: Snapshot, warnings: readonly Diagnostic[]) {
  const { lifecycle, journeys, segments, health, rules, signals, events, traits, strictSchema } = snapshot;
  const ofEvents = eventUses(snapshot);
  const ofTraits = traitUses(snapshot);
  return {
    summary: summary(snapshot),
    strictSchema,
    lifecycle: lifecycle && {
      initial: lifecycle.initial,
      states: lifecycle.states.map(({ name, transitions }) => ({
        state: name,
        transitions: transitions.map(({ to, when }) => ({ to, when: conditionText(when) })),
      })),
    },
    journeys: journeys.map(({ id, start, steps, anyOrder = false, expiresAfter = null, repeat = false }) => ({
      journey: id,
      starts: conditionText(start),
      // A step of a funnel counts from the step before, one of a checklist from the start.
      steps: steps.map(({ id: step, when, since = null }) => ({ step, when: conditionText(when), since })),
      anyOrder,
      expiresAfter,
      repeats: repeat,
    })),
    segments: segments.map(({ id, when }) => ({ segment: id, when: conditionIfAny(when) })),
    health: health && {
      components: health.components.map((component) => ({
        component: component.id,
        weight: component.weight,
        score: componentText(component),
      })),
      bands: health.bands.map(({ id, from }) => ({ band: id, from })),
    },
    signals: signals.map(({ id, severity, when }) => ({ signal: id, severity, when: conditionIfAny(when) })),
    rules: rules.map(({ id, on, when, then, cooldown = null, once = false }) => ({
      rule: id,
      on: triggerText(on),
      when: conditionIfAny(when),
      then: actionText(then),
      cooldown,
      once,
    })),
    events: Object.entries(events).map(([event, { properties }]) => ({
      event,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [
          name,
          fieldText(field) + (field.optional ? ".optional()" : ""),
        ]),
      ),
      readBy: placesOf(ofEvents.get(event)),
    })),
    traits: Object.entries(traits).map(([trait, field]) => ({
      trait,
      type: fieldText(field),
      readBy: placesOf(ofTraits.get(trait)),
    })),
    findings: [
      ...warnings.map(({ message }) => message),
      ...[...ofTraits].filter(([, uses]) => uses.length === 0).map(([trait]) => `nothing reads the trait "${trait}"`),
    ],
  };
}

/** The distinct places: `lifecycle trial → activated`. */
export function placesOf(uses: readonly TraitUse[] = []): string[] {
  return [...new Set(uses.map(({ part, id }) => `${part} ${id}`))];
}

/** A model as text, part by part, one item a line. */
export function modelInWords(out: Out, facts: ReturnType<typeof modelFacts>): string {
  const { lifecycle, journeys, segments, health, signals, rules, events, traits, findings } = facts;
  const when = (condition: string | null, otherwise: string) => (condition === null ? otherwise : `when ${condition}`);
  const readBy = (places: string[]) => places.join("; ") || "nothing reads it";
  const sections: Record<string, string[]> = {
    Lifecycle: (lifecycle?.states ?? []).flatMap(({ state, transitions }) => [
      `${state}${state === lifecycle!.initial ? ", where customers begin" : ""}${transitions.length === 0 ? ", which has no transitions" : ""}`,
      ...transitions.map(({ to, when }) => `  to ${to} when ${when}`),
    ]),
    Journeys: journeys.flatMap(({ journey, starts, steps, anyOrder, expiresAfter, repeats }) => [
      `${journey} begins when ${starts}${expiresAfter === null ? "" : `, ends after ${expiresAfter}`}${repeats ? ", again and again" : ""}`,
      ...steps.map(({ step, when, since }, index) => {
        const place = anyOrder ? "-" : `${index + 1}.`;
        return `  ${place} ${step} when ${when}${since === null ? "" : `, since: ${since}`}`;
      }),
    ]),
    Segments: segments.map(({ segment, when: of }) => `${segment} ${when(of, "filled by rules")}`),
    Health: [
      ...(health?.components ?? []).map(({ component, weight, score }) => `${component}, weight ${weight}: ${score}`),
      ...(health === null ? [] : [health.bands.map(({ band, from }) => `${band} from ${from}`).join(", ")]),
    ],
    Signals: signals.map(({ signal, severity, when: of }) => `${signal} (${severity}) ${when(of, "raised by rules")}`),
    Rules: rules.map(({ rule, on, when: of, then, cooldown, once }) => {
      const rest = once ? ", once" : cooldown === null ? "" : `, then pauses for ${cooldown}`;
      return `${rule} on ${on}${of === null ? "" : ` when ${of}`}: ${then}${rest}`;
    }),
    Events: events.map(({ event, readBy: by }) => `${event}: ${readBy(by)}`),
    Traits: traits.map(({ trait, type, readBy: by }) => `${trait} ${type}: ${readBy(by)}`),
    "Worth a look": findings,
  };
  const { bold } = out.style;
  return [
    `The model has ${facts.summary}.`,
    ...Object.entries(sections)
      .filter(([, lines]) => lines.length > 0)
      .map(([title, lines]) => [bold(title), ...lines.map((line) => `  ${printable(line)}`)].join("\n")),
  ].join("\n\n");
}
